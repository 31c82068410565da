#include "cli/sweep_provenance.h"

#include <inttypes.h>
#include <jansson.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "data/fingerprint.h"
#include "dlk/dispatch.h"
#include "measure/host.h"
#include "record/provenance.h"

enum { MAX_BYTES = 16 << 20 };

static json_t *text(const char *value)
{
    return value && *value ? json_string_nocheck(value) : json_null();
}

static json_t *number(const dlb_value *value)
{
    return value->known ? json_real(value->number) : json_null();
}

/* ---- Parts ---- */

static json_t *pack_program(void)
{
    return json_pack("{s:s, s:s, s:s, s:s}", "version", dlb_version(), "commit", dlb_commit(),
                     "compiler", dlb_compiler(), "flags", dlb_compiler_flags());
}

static json_t *pack_libraries(const dlb_host *h)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}",                      //
                     "openmp", text(h->openmp.name),                   //
                     "blas", text(h->blas.loaded ? h->blas.name : ""), //
                     "blas_core", text(h->blas.core),                  //
                     "mpi", text(h->mpi),                              //
                     "counters", text(h->counter_library));
}

static json_t *pack_caches(const dlb_topology *t)
{
    json_t *caches = json_array();
    for (int i = 0; i < t->cache_count; i++) {
        char name[16];
        snprintf(name, sizeof name, "L%d%s", t->caches[i].level, t->caches[i].kind);
        json_array_append_new(caches, json_pack("{s:s, s:f, s:i}", "cache", name, "bytes",
                                                t->caches[i].bytes, "count", t->caches[i].count));
    }
    return caches;
}

static json_t *pack_cores(const dlb_host *h)
{
    dlb_str cpus = DLB_STR_INIT;
    dlb_cpus_format(&h->cores.cpus, &cpus);
    json_t *cores = json_pack("{s:i, s:i, s:i, s:i, s:i, s:o, s:o}", //
                              "sockets", h->topology.sockets,        //
                              "numa_nodes", h->topology.numa_nodes,  //
                              "cores", h->topology.cores,            //
                              "cpus", h->topology.cpus,              //
                              "allowed", h->cores.allowed,           //
                              "cpus_allowed", text(cpus.text),       //
                              "quota", number(&h->cores.quota));
    dlb_str_release(&cpus);
    return cores;
}

static json_t *pack_machine(const dlb_host *h)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", //
                     "name", text(h->name),                                     //
                     "cpu", text(h->cpu),                                       //
                     "isa", text(h->isa),                                       //
                     "hypervisor", text(h->hypervisor),                         //
                     "kernel", text(h->kernel),                                 //
                     "governor", text(h->governor),                             //
                     "turbo", text(h->turbo),                                   //
                     "huge_pages", text(h->thp),                                //
                     "memory_bytes", number(&h->memory_total),                  //
                     "cores", pack_cores(h),                                    //
                     "caches", pack_caches(&h->topology));
}

/* What threads, MPI, batch systems and loaders go by; the rest of it is nobody's business. */
static bool is_telling(const char *variable)
{
    static const char *const beginnings[] = {
        "DLBENCH_", "OMP_",   "KMP_",    "GOMP_",           "OPENBLAS_", "MKL_",    "OMPI_MCA_",
        "I_MPI_",   "MPICH_", "SLURM_J", "SLURM_N",         "SLURM_CPU", "COBALT_", "PMIX_MCA_",
        "UCX_",     "PAPI_",  "MALLOC_", "LD_LIBRARY_PATH", "LD_PRELOAD"};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(variable, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

static json_t *pack_environment(void)
{
    json_t *environment = json_object();
    for (char **variable = environ; *variable; variable++) {
        size_t name = strcspn(*variable, "=");
        if (is_telling(*variable) && (*variable)[name])
            json_object_setn_new(environment, *variable, name, text(*variable + name + 1));
    }
    return environment;
}

/* Each data set of the study and a hash of its files. */
static json_t *pack_data(const dlb_sweep_scene *scene)
{
    json_t *sets = json_object();
    int data = dlb_plan_find(scene->plan, "data");
    size_t points = scene->study->command ? 0 : data < 0 ? 1 : dlb_plan_count(scene->plan);
    for (size_t point = 0; point < points; point++) {
        const char *name = data < 0 ? dlb_key_info(DLB_KEY_data)->preset
                                    : dlb_plan_value(scene->plan, point, data);
        dlb_fingerprint taken;
        char hash[24];
        if (json_object_get(sets, name) || dlb_fingerprint_take(&taken, name, NULL) < 0)
            continue;
        snprintf(hash, sizeof hash, "%016" PRIx64, taken.hash);
        json_object_set_new(sets, name, json_string(hash));
    }
    return sets;
}

static json_t *pack_study(const dlb_sweep_scene *scene)
{
    const dlb_study *s = scene->study;
    dlb_str file = DLB_STR_INIT;
    if (dlb_file_read(scene->path, MAX_BYTES, &file, NULL) < 0)
        dlb_str_clear(&file);
    json_t *study = json_pack("{s:s, s:o, s:I, s:s, s:I, s:o, s:o}",                           //
                              "name", s->name,                                                 //
                              "title", text(s->title),                                         //
                              "points", (json_int_t)dlb_plan_count(scene->plan),               //
                              "order", s->order == DLB_ORDER_BLOCKS ? "blocks" : "sequential", //
                              "order_seed", (json_int_t)s->order_seed,                         //
                              "data", pack_data(scene),                                        //
                              "file", text(file.text));
    dlb_str_release(&file);
    return study;
}

/* ---- The whole ---- */

/* The BLAS is seen only once it is loaded; that it cannot be is for runs to say. */
static void probe(dlb_host *host, bool with_kernels)
{
    dlk_kernels kernels;
    if (with_kernels)
        dlk_kernels_select(&kernels, DLK_FAMILY_AUTO, DLK_ISA_AUTO, &(dlb_error){0});
    dlb_host_probe(host, "");
}

static json_t *pack_all(const dlb_sweep_scene *scene)
{
    dlb_host host;
    char now[DLB_DATE_SIZE];
    probe(&host, !scene->study->command);
    dlb_date_now(now);
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}",   //
                     "since", now,                       //
                     "dlbench", pack_program(),          //
                     "machine", pack_machine(&host),     //
                     "libraries", pack_libraries(&host), //
                     "environment", pack_environment(),  //
                     "study", pack_study(scene));
}

/* Whether both tell of the same, apart from when. */
static bool tells_the_same(const json_t *a, const json_t *b)
{
    static const char *const parts[] = {"dlbench", "machine", "libraries", "environment", "study"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!json_equal(json_object_get(a, parts[i]), json_object_get(b, parts[i])))
            return false;
    return true;
}

/* Put what the file tells now into the new one's list of earlier ones. */
static void keep_earlier(json_t *all, const char *path)
{
    json_t *before = json_load_file(path, 0, NULL);
    if (!json_is_object(before)) {
        json_decref(before);
        return;
    }
    json_t *list = json_object_get(before, "earlier");
    json_t *earlier = json_is_array(list) ? json_copy(list) : json_array();
    json_object_del(before, "earlier");
    if (tells_the_same(all, before))
        json_object_set(all, "since", json_object_get(before, "since"));
    else
        json_array_append(earlier, before);
    json_object_set_new(all, "earlier", earlier);
    json_decref(before);
}

int dlb_sweep_provenance_write(const dlb_sweep_scene *scene, const char *path, dlb_error *err)
{
    json_t *all = pack_all(scene);
    if (all)
        keep_earlier(all, path);
    char *dump = all ? json_dumps(all, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) : NULL;
    json_decref(all);
    if (!dump)
        return dlb_fail(err, DLB_FAIL, "%s: what is known of this host is no JSON", path);
    int status = dlb_file_write_atomic(path, dump, strlen(dump), err);
    free(dump);
    return status;
}
