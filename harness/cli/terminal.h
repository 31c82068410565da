/*
 * What an output is capable of.
 *
 * A launcher gives the ranks an output of its own, often a pseudo terminal without a width. So
 * whoever starts ranks tells them what theirs leads to by DLBENCH_TERMINAL in the environment: the
 * columns of a terminal that obeys, as it is at the start, or 0 where there is none.
 */
#ifndef DLB_CLI_TERMINAL_H
#define DLB_CLI_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

enum { DLB_WIDTH_DEFAULT = 80 };

/*
 * Whether it is a terminal that obeys escape sequences: TERM is set, and not dumb, and it has a
 * width; or DLBENCH_TERMINAL says so.
 */
bool dlb_terminal_obeys(FILE *out);

/* Whether it is one that shows colours, and the user has not set NO_COLOR. */
bool dlb_terminal_colours(FILE *out);

/* Its columns now, or those of DLBENCH_TERMINAL; DLB_WIDTH_DEFAULT where neither tells. */
int dlb_terminal_width(FILE *out);

/* Set DLBENCH_TERMINAL for ranks that are to be started and whose output goes to `out`. */
void dlb_terminal_tell(FILE *out);

#endif
