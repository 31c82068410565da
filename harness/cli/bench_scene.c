#include "cli/bench_scene.h"

#include "base/mem.h"
#include "measure/host.h"
#include "record/provenance.h"

dlb_bench_scene dlb_bench_scene_now(void)
{
    dlb_bench_scene scene = {.start = dlb_noise_now()};
    scene.load = dlb_noise_since(&scene.start).load;
    return scene;
}

static void print_value(const char *what, const dlb_value *value, const char *unit)
{
    if (value->known)
        printf(", %s %.2f%s", what, value->number, unit);
}

void dlb_bench_scene_print(const dlb_bench_scene *scene, int ranks)
{
    dlb_noise_report noise = dlb_noise_since(&scene->start);
    dlb_host *host = dlb_alloc(1, sizeof *host);
    dlb_host_probe(host, "");
    printf("%s (%s), %d ranks, %s, dlbench %s (%s)", host->name, host->cpu, ranks, host->mpi,
           dlb_version(), dlb_commit());
    print_value("load before", &scene->load, "");
    print_value("at the end", &noise.load, "");
    print_value("steal", &noise.steal_pct, " %");
    printf("\n");
    free(host);
}
