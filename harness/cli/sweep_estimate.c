#include "cli/sweep_estimate.h"

#include <math.h>

#include "base/mem.h"
#include "data/fingerprint.h"
#include "graph/cost.h"

static const double common_flops = 1.2e11, /* of a core, in training, as if dense */
    start_s = 0.4;                         /* of a run, before it trains */

enum { MOST_POINTS = 10000 }; /* that are added up one by one */

typedef struct known {
    double work_s;  /* as common_flops would have it; 0: not computed yet */
    double seconds; /* of all its runs */
    int runs;
} known;

struct dlb_sweep_estimate {
    const dlb_sweep_scene *scene;
    known *points;
    double seconds, work_s; /* of all runs */
    long long runs;
    char *model, *data; /* which the following are of; NULL: none yet */
    double flops, images;
};

dlb_sweep_estimate *dlb_sweep_estimate_create(const dlb_sweep_scene *scene)
{
    dlb_sweep_estimate *e = dlb_alloc(1, sizeof *e);
    e->scene = scene;
    e->points = dlb_alloc(dlb_plan_count(scene->plan), sizeof *e->points);
    return e;
}

void dlb_sweep_estimate_free(dlb_sweep_estimate *e)
{
    if (!e)
        return;
    free(e->data);
    free(e->model);
    free(e->points);
    free(e);
}

/* ---- What a point has to compute ---- */

/* Whether *name is `wanted` now but was not before. */
static bool renew(char **name, const char *wanted)
{
    if (*name && strcmp(*name, wanted) == 0)
        return false;
    free(*name);
    *name = dlb_strdup(wanted);
    return true;
}

/* FLOPs of an image. */
static double flops_of(dlb_sweep_estimate *e, const dlb_workload *workload)
{
    dlb_model model;
    if (renew(&e->model, workload->model) && dlb_model_load(&model, workload->model, NULL) == 0) {
        e->flops = dlb_model_train_cost(&model, 1).flops;
        dlb_model_release(&model);
    }
    return e->flops;
}

static double images_of(dlb_sweep_estimate *e, const dlb_workload *workload)
{
    dlb_fingerprint data = {0};
    if (workload->train_images)
        return (double)workload->train_images;
    if (renew(&e->data, workload->data)) {
        dlb_fingerprint_take(&data, workload->data, NULL);
        e->images = data.images;
    }
    return e->images;
}

/* Cores that a training keeps busy. */
static double cores_of(const dlb_sweep_scene *scene, const dlb_workload *workload)
{
    double threads = workload->threads ? (double)workload->threads : scene->machine.cores;
    double wanted = (workload->ranks ? (double)workload->ranks : 1) * threads;
    double there = (double)scene->machine.cores * scene->machine.nodes;
    return fmin(wanted, there);
}

static double compute_work(dlb_sweep_estimate *e, size_t point)
{
    if (e->scene->study->command)
        return 1;
    dlb_workload workload;
    dlb_plan_workload(e->scene->plan, point, &workload);
    double flops = flops_of(e, &workload) * images_of(e, &workload) * (double)workload.epochs;
    double work_s = start_s + flops / common_flops / cores_of(e->scene, &workload);
    dlb_workload_release(&workload);
    return work_s;
}

/* Seconds that the training would take at the speed of common_flops; 1 of a foreign run. */
static double work_of(dlb_sweep_estimate *e, size_t point)
{
    known *k = &e->points[point];
    if (k->work_s == 0)
        k->work_s = compute_work(e, point);
    return k->work_s;
}

/* ---- Learning and telling ---- */

void dlb_sweep_estimate_learn(dlb_sweep_estimate *e, size_t point, double wall_s)
{
    if (!(wall_s >= 0))
        return;
    e->points[point].seconds += wall_s;
    e->points[point].runs++;
    e->seconds += wall_s;
    e->work_s += work_of(e, point);
    e->runs++;
}

double dlb_sweep_estimate_run(dlb_sweep_estimate *e, size_t point)
{
    const known *k = &e->points[point];
    if (k->runs)
        return k->seconds / k->runs;
    if (e->runs == 0 && e->scene->study->command)
        return NAN;
    return work_of(e, point) * (e->runs ? e->seconds / e->work_s : 1);
}

double dlb_sweep_estimate_left(dlb_sweep_estimate *e, size_t runs)
{
    size_t points = dlb_plan_count(e->scene->plan);
    if (points > MOST_POINTS)
        return e->runs ? e->seconds / (double)e->runs * (double)runs : NAN;
    double left_s = 0, counted = 0;
    for (size_t p = 0; p < points; p++) {
        int left = dlb_sweep_repeats(e->scene, p) - e->points[p].runs;
        if (left > 0) {
            left_s += left * dlb_sweep_estimate_run(e, p);
            counted += left;
        }
    }
    double mean_s = counted > 0 ? left_s / counted : e->seconds / (double)e->runs;
    return runs > 0 ? mean_s * (double)runs : 0;
}

size_t dlb_sweep_estimate_missing(const dlb_sweep_estimate *e)
{
    size_t missing = 0;
    for (size_t p = 0; p < dlb_plan_count(e->scene->plan); p++) {
        int left = dlb_sweep_repeats(e->scene, p) - e->points[p].runs;
        missing += left > 0 ? (size_t)left : 0;
    }
    return missing;
}

bool dlb_sweep_estimate_has_learnt(const dlb_sweep_estimate *e)
{
    return e->runs > 0;
}
