/* What an output is capable of. */
#ifndef DLB_CLI_TERMINAL_H
#define DLB_CLI_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

enum { DLB_WIDTH_DEFAULT = 80 };

/* Whether it is a terminal that obeys escape sequences: TERM is set, and not dumb. */
bool dlb_terminal_obeys(FILE *out);

/* Its columns now; DLB_WIDTH_DEFAULT where it does not tell. */
int dlb_terminal_width(FILE *out);

#endif
