/*
 * How long a sweep will take: a guess that learns.
 *
 * A point's run is expected to take as long as its earlier runs did; before there are any, as long
 * as its arithmetic takes at the speed that other points have shown, and before any run at one that
 * common processors reach. Runs of a foreign program are all alike until they have been seen.
 */
#ifndef DLB_CLI_SWEEP_ESTIMATE_H
#define DLB_CLI_SWEEP_ESTIMATE_H

#include "cli/sweep_scene.h"

typedef struct dlb_sweep_estimate dlb_sweep_estimate;

dlb_sweep_estimate *dlb_sweep_estimate_create(const dlb_sweep_scene *scene);
void dlb_sweep_estimate_free(dlb_sweep_estimate *estimate);

/* A run of the point took so long. */
void dlb_sweep_estimate_learn(dlb_sweep_estimate *estimate, size_t point, double wall_s);

/* Of one run of the point; NaN where nothing is known yet (foreign programs). */
double dlb_sweep_estimate_run(dlb_sweep_estimate *estimate, size_t point);

/* Of so many runs that are left to do. */
double dlb_sweep_estimate_left(dlb_sweep_estimate *estimate, size_t runs);

/* Certain runs that have not been learnt of. */
size_t dlb_sweep_estimate_missing(const dlb_sweep_estimate *estimate);

/* Whether any run has been seen: before that it is a mere guess. */
bool dlb_sweep_estimate_has_learnt(const dlb_sweep_estimate *estimate);

#endif
