/*
 * host.json: what made the numbers. Program, compiler, libraries, processor, caches, governor,
 * cores allowed, kernel, MPI, environment, the study and its data.
 *
 * Where the file is there already and tells of another build or machine, what it told moves into
 * its list "earlier": rows of either stay explained.
 */
#ifndef DLB_CLI_SWEEP_PROVENANCE_H
#define DLB_CLI_SWEEP_PROVENANCE_H

#include "cli/sweep_scene.h"

int dlb_sweep_provenance_write(const dlb_sweep_scene *scene, const char *path, dlb_error *err);

#endif
