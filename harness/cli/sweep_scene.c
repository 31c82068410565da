#include "cli/sweep_scene.h"

#include <unistd.h>

#include "base/mem.h"
#include "cli/relaunch.h"
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

/* ---- What varies in a grid ---- */

typedef struct dlb_grid_view {
    const char *name;
    size_t first; /* of its points */
    bool *varies; /* [parameters] */
} dlb_grid_view;

static dlb_grid_view *find_grid(const dlb_sweep_scene *scene, const char *name)
{
    for (size_t g = 0; g < scene->grid_count; g++)
        if (strcmp(scene->grids[g].name, name) == 0)
            return &scene->grids[g];
    return NULL;
}

static dlb_grid_view *add_grid(dlb_sweep_scene *scene, const char *name, size_t first)
{
    scene->grids =
        dlb_grow(scene->grids, &scene->grid_capacity, scene->grid_count + 1, sizeof *scene->grids);
    dlb_grid_view *grid = &scene->grids[scene->grid_count++];
    *grid = (dlb_grid_view){name, first, dlb_alloc(dlb_plan_parameters(scene->plan), sizeof(bool))};
    return grid;
}

static void look_at_grids(dlb_sweep_scene *scene)
{
    const dlb_plan *plan = scene->plan;
    for (size_t point = 0; point < dlb_plan_count(plan); point++) {
        const char *name = dlb_plan_grid(plan, point);
        dlb_grid_view *grid = find_grid(scene, name);
        if (!grid)
            grid = add_grid(scene, name, point);
        for (size_t p = 0; p < dlb_plan_parameters(plan); p++)
            if (!grid->varies[p])
                grid->varies[p] = strcmp(dlb_plan_value(plan, point, (int)p),
                                         dlb_plan_value(plan, grid->first, (int)p)) != 0;
    }
}

bool dlb_sweep_tells(const dlb_sweep_scene *scene, const char *grid, size_t parameter)
{
    return find_grid(scene, grid)->varies[parameter];
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
    int status = dlb_relaunch_path(scene->program, err);
    if (status == 0)
        status = dlb_study_read(&scene->study, path, err);
    if (status < 0)
        return status;
    dlb_launch_here_alone(&scene->machine);
    status = expand(scene, only, err);
    if (status < 0)
        dlb_study_free(scene->study);
    if (status < 0)
        return status;
    look_at_grids(scene);
    if (needs_launcher(scene))
        dlb_launch_here(&scene->machine);
    return 0;
}

void dlb_sweep_scene_close(dlb_sweep_scene *scene)
{
    for (size_t g = 0; g < scene->grid_count; g++)
        free(scene->grids[g].varies);
    free(scene->grids);
    dlb_plan_free(scene->plan);
    dlb_study_free(scene->study);
}

int dlb_sweep_repeats(const dlb_sweep_scene *scene, size_t point)
{
    int own = dlb_plan_repeats(scene->plan, point);
    return own ? own : scene->study->repeats.min;
}

size_t dlb_sweep_runs(const dlb_sweep_scene *scene)
{
    size_t runs = 0;
    for (size_t point = 0; point < dlb_plan_count(scene->plan); point++)
        runs += (size_t)dlb_sweep_repeats(scene, point);
    return runs;
}
