/* The program of another commit, built beside this one. */
#ifndef DLB_CLI_GATE_REVISION_H
#define DLB_CLI_GATE_REVISION_H

#include <limits.h>

#include "base/error.h"

/*
 * The program that `against` stands for: the path of one, or a commit as git names it in the tree
 * that the current folder belongs to. A commit is built by its own wrapper below build/against/ of
 * that tree, once; its folder stays for the next time.
 */
int dlb_gate_program_of(const char *against, char program[PATH_MAX], dlb_error *err);

#endif
