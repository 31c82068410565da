/* The points of a plan by their ids. */
#ifndef DLB_CLI_SWEEP_INDEX_H
#define DLB_CLI_SWEEP_INDEX_H

#include "cli/sweep_scene.h"

typedef struct dlb_sweep_index dlb_sweep_index;

dlb_sweep_index *dlb_sweep_index_create(const dlb_sweep_scene *scene);
void dlb_sweep_index_free(dlb_sweep_index *index);

/* False if the plan has no point of that id. */
bool dlb_sweep_index_find(const dlb_sweep_index *index, const char *id, size_t *point);

#endif
