/* What checks have found, commit after commit: the rows of a history (report/history.h). */
#ifndef DLB_CLI_GATE_HISTORY_H
#define DLB_CLI_GATE_HISTORY_H

#include "cli/gate.h"

/* Whether a check could be appended to the file, and all that it has already be drawn. */
int dlb_gate_history_check(const char *path, dlb_error *err);

/* Append a row a kernel, all of them or none. `before`: the commit, or the path of a program. */
int dlb_gate_history_save(const dlb_gate *gate, const char *before, const char *path,
                          dlb_error *err);

/* Draw the file, beside it, and say where that is. What is no file of its own has no picture. */
int dlb_gate_history_draw(const char *path, dlb_error *err);

#endif
