#include "cli/sweep_scene.h"

#include <errno.h>
#include <unistd.h>

#include "data/fingerprint.h"
#include "graph/model.h"
#include "measure/topology.h"
#include "train/defaults.h"

/* ---- What a plan asks of the trainer ---- */

static int apply_model_defaults(void *arg, dlb_workload *workload, dlb_error *err)
{
    (void)arg;
    dlb_model model;
    int status = dlb_model_load(&model, workload->model, err);
    if (status < 0)
        return status;
    status = dlb_defaults_apply(&model, workload, err);
    dlb_model_release(&model);
    return status;
}

static int identify_data(void *arg, const dlb_workload *workload, long long *images, uint64_t *hash,
                         dlb_error *err)
{
    (void)arg;
    dlb_fingerprint fingerprint;
    if (dlb_fingerprint_take(&fingerprint, workload->data, err) < 0)
        return DLB_BAD_INPUT;
    *images = fingerprint.images ? fingerprint.images : LLONG_MAX;
    *hash = fingerprint.hash;
    return 0;
}

/* ---- The machine ---- */

/* A launcher is asked who it is only where some point needs one. */
static bool needs_launcher(const dlb_sweep_scene *scene)
{
    int ranks = dlb_plan_find(scene->plan, "ranks");
    if (strcmp(scene->study->launcher, "auto") != 0)
        return strcmp(scene->study->launcher, "none") != 0;
    for (size_t point = 0; ranks >= 0 && point < dlb_plan_count(scene->plan); point++) {
        const char *text = dlb_plan_value(scene->plan, point, ranks);
        if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
            return true;
    }
    return false;
}

static int find_own_path(char path[PATH_MAX], dlb_error *err)
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (length < 0)
        return dlb_fail(err, DLB_FAIL, "/proc/self/exe does not tell where this program is: %s",
                        strerror(errno));
    path[length] = '\0';
    return 0;
}

static int expand(dlb_sweep_scene *scene, const char *only, dlb_error *err)
{
    char name[256] = "";
    dlb_topology topology = {.sockets = 1, .numa_nodes = 1};
    gethostname(name, sizeof name - 1);
    dlb_topology_probe(&topology, "", NULL);
    dlb_plan_host host = {.cores = scene->machine.cores,
                          .hwthreads = scene->machine.hwthreads,
                          .sockets = topology.sockets,
                          .numa_nodes = topology.numa_nodes,
                          .nodes = scene->machine.nodes,
                          .hostname = name,
                          .defaults = apply_model_defaults,
                          .data = identify_data};
    int status = dlb_plan_create(&scene->plan, scene->study, &host, err);
    if (status == 0 && only && (status = dlb_plan_select(scene->plan, only, err)) < 0)
        dlb_plan_free(scene->plan);
    return status;
}

int dlb_sweep_scene_open(dlb_sweep_scene *scene, const char *path, const char *only, dlb_error *err)
{
    *scene = (dlb_sweep_scene){.path = path};
    int status = find_own_path(scene->program, err);
    if (status == 0)
        status = dlb_study_read(&scene->study, path, err);
    if (status < 0)
        return status;
    dlb_launch_here_alone(&scene->machine);
    status = expand(scene, only, err);
    if (status < 0)
        dlb_study_free(scene->study);
    else if (needs_launcher(scene))
        dlb_launch_here(&scene->machine);
    return status;
}

void dlb_sweep_scene_close(dlb_sweep_scene *scene)
{
    dlb_plan_free(scene->plan);
    dlb_study_free(scene->study);
}
