/* What a sweep is about: a study, its points on this machine, and the machine. */
#ifndef DLB_CLI_SWEEP_SCENE_H
#define DLB_CLI_SWEEP_SCENE_H

#include <limits.h>

#include "launch/launch.h"
#include "plan/plan.h"

typedef struct dlb_sweep_scene {
    const char *path; /* of the sweep file */
    dlb_study *study;
    dlb_plan *plan;
    dlb_launch_machine machine;
    char program[PATH_MAX];      /* this one, which trains */
    struct dlb_grid_view *grids; /* what varies within each */
    size_t grid_count, grid_capacity;
} dlb_sweep_scene;

/*
 * Read the sweep file and expand it; `only`, if not NULL, is an expression that keeps some of the
 * points. Nothing is to be closed after an error.
 */
int dlb_sweep_scene_open(dlb_sweep_scene *scene, const char *path, const char *only,
                         dlb_error *err);
void dlb_sweep_scene_close(dlb_sweep_scene *scene);

/* Whether a parameter tells points of that grid apart. */
bool dlb_sweep_tells(const dlb_sweep_scene *scene, const char *grid, size_t parameter);

/* Runs of a point that are certain to be wanted, and of all points. */
int dlb_sweep_repeats(const dlb_sweep_scene *scene, size_t point);
size_t dlb_sweep_runs(const dlb_sweep_scene *scene);

#endif
