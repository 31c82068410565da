/* Where and amid what a measurement was made: a line for people at its end. */
#ifndef DLB_CLI_BENCH_SCENE_H
#define DLB_CLI_BENCH_SCENE_H

#include "measure/noise.h"

typedef struct dlb_bench_scene {
    dlb_noise start;
    dlb_value load; /* of the minute before */
} dlb_bench_scene;

dlb_bench_scene dlb_bench_scene_now(void);

/* Print this host, `ranks` of it, versions, and how much others disturbed the measurement. */
void dlb_bench_scene_print(const dlb_bench_scene *scene, int ranks);

#endif
