/* The program of another commit, built beside this one. */
#ifndef DLB_CLI_GATE_REVISION_H
#define DLB_CLI_GATE_REVISION_H

#include <limits.h>

#include "base/error.h"
#include "base/str.h"

/*
 * The program that `against` stands for: the path of one, or a commit as git names it in the tree
 * that the current folder belongs to. A commit is built by its own wrapper below build/against/ of
 * that tree, once; its folder stays for the next time. One that cannot be built is DLB_BAD_INPUT.
 *
 * `origin` receives the commit's whole name, or the program's path.
 */
int dlb_gate_program_of(const char *against, char program[PATH_MAX], char origin[PATH_MAX],
                        dlb_error *err);

/*
 * The commit to compare with where nobody has named one: where the history of HEAD left the main
 * line or, on the main line itself, the commit before HEAD. The main line is the first that there
 * is of $DLBENCH_CHECK_BASE, what GitLab and GitHub say that a change is to be merged into,
 * origin/HEAD, origin/main and origin/master.
 *
 * Appends the commit's whole name to *commit, and to *why a sentence for people. Outside a git
 * tree, and where no commit is before HEAD, it is DLB_BAD_INPUT.
 */
int dlb_gate_base(dlb_str *commit, dlb_str *why, dlb_error *err);

#endif
