/* What a sweep would do, without doing it. */
#ifndef DLB_CLI_SWEEP_LIST_H
#define DLB_CLI_SWEEP_LIST_H

#include <stdio.h>

#include "cli/sweep_scene.h"

/* Refuse points that this machine cannot run, before anything is started. */
int dlb_sweep_check_commands(const dlb_sweep_scene *scene, dlb_error *err);

/* Print the points as a table with expected times, and the exact command of each. */
void dlb_sweep_list(const dlb_sweep_scene *scene, const char *folder, FILE *out);

#endif
