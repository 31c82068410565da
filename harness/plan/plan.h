/*
 * The points of a study: what its sections and grids come to on a given host.
 *
 *     dlb_plan *plan;
 *     if (dlb_plan_create(&plan, study, &host, &err) < 0) ...
 *     for (size_t p = 0; p < dlb_plan_count(plan); p++)
 *         dlb_plan_value(plan, p, dlb_plan_find(plan, "threads"))
 *
 * A plan is read-only. A point holds an index into a table of values for each parameter, so that a
 * million points take some tens of megabytes and under a second to expand.
 */
#ifndef DLB_PLAN_PLAN_H
#define DLB_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "config/study.h"
#include "config/workload.h"

/* What expressions may ask of the host, and what a plan needs to know from elsewhere. */
typedef struct dlb_plan_host {
    int cores, hwthreads, sockets, numa_nodes, nodes;
    const char *hostname;
    /* Give keys that are not set a model's own values, as the trainer does; workload->model is the
     * model. A model that is not there is DLB_BAD_INPUT. Called once a model. */
    int (*defaults)(void *arg, dlb_workload *workload, dlb_error *err);
    /* The number of training images of workload->data, and a hash of the data. Once a data set. */
    int (*data)(void *arg, const dlb_workload *workload, long long *images, uint64_t *hash,
                dlb_error *err);
    void *arg;
    size_t max_points; /* 0: DLB_PLAN_MAX_POINTS */
} dlb_plan_host;

enum { DLB_PLAN_MAX_POINTS = 10000000, DLB_POINT_ID_SIZE = 17 };

typedef struct dlb_plan dlb_plan;

/*
 * Expand the study, which must outlive the plan; the host need not. Conditions and derived values
 * see what the file sets, what comes after sees what a mode made of it. Wrong or unknown keys,
 * wrong values, points that contradict themselves (dlb_workload_check, dlb_workload_check_images)
 * and a study without points are DLB_BAD_INPUT with their place in the file and, where it is one
 * point's fault, the point.
 */
int dlb_plan_create(dlb_plan **plan, const dlb_study *study, const dlb_plan_host *host,
                    dlb_error *err);
void dlb_plan_free(dlb_plan *plan);

/* Keep only the points for which the expression is true; none is DLB_BAD_INPUT. */
int dlb_plan_select(dlb_plan *plan, const char *expression, dlb_error *err);

size_t dlb_plan_count(const dlb_plan *plan);

/*
 * The parameters that the file sets or that a mode derives, in the order of keys.def, then env.NAME
 * and param.NAME: those that vary between points, and those that all share.
 */
size_t dlb_plan_parameters(const dlb_plan *plan);
const char *dlb_plan_parameter(const dlb_plan *plan, size_t parameter);
bool dlb_plan_varies(const dlb_plan *plan, size_t parameter);
int dlb_plan_find(const dlb_plan *plan, const char *name); /* the parameter, or -1 */

/*
 * A point's value in its canonical form: as dlb_workload_get gives it. "" where its grid does not
 * set what is no key of a training: env.NAME, param.NAME, keys of a foreign program.
 */
const char *dlb_plan_value(const dlb_plan *plan, size_t point, int parameter);
bool dlb_plan_has(const dlb_plan *plan, size_t point, int parameter); /* "" may be a value, too */

const char *dlb_plan_grid(const dlb_plan *plan, size_t point); /* the first that has it; "" */

/* How often that grid has the point run, exactly; 0: as the study does. */
int dlb_plan_repeats(const dlb_plan *plan, size_t point);

const char *dlb_plan_mode(const dlb_plan *plan, size_t point); /* "strong", ...; "" for none */

/*
 * 16 hexadecimal digits, a hash of everything that decides what a run of the point does: every key
 * of the workload as resolved, env.*, param.*, the command, mode, and the data. Independent of the
 * order of keys and grids, of the study's name and of the host.
 */
void dlb_plan_id(const dlb_plan *plan, size_t point, char id[DLB_POINT_ID_SIZE]);

/* Make *workload, which holds nothing yet: what the file sets, or a mode derives, is given; the
 * rest is the model's own or default. */
void dlb_plan_workload(const dlb_plan *plan, size_t point, dlb_workload *workload);

/* What braces in the words of a command may name besides expressions over parameters. */
typedef struct dlb_fill {
    int repeat;
    long long seed;      /* of this repeat: the point's seed + repeat - 1; also what {seed} gives */
    const char *run_dir; /* a folder for the run's own files */
} dlb_fill;

/*
 * Append each word, braces filled for a point, to `argv` through `add`. Faults were found by
 * dlb_plan_create: only values of a point can still be wrong, and are DLB_BAD_INPUT.
 */
int dlb_plan_fill(const dlb_plan *plan, size_t point, dlb_words words, const dlb_fill *fill,
                  void (*add)(void *arg, const char *word), void *arg, dlb_error *err);

#endif
