/* How the words of a command line come together. A zeroed line is empty. */
#ifndef DLB_LAUNCH_COMMAND_LINE_H
#define DLB_LAUNCH_COMMAND_LINE_H

#include "launch/launch.h"

/* Append a word to argv; one that is put together has at most 63 bytes. */
void dlb_command_line_add(dlb_command_line *line, const char *word);
void dlb_command_line_addf(dlb_command_line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Add "NAME=value" to the environment, in the place of an earlier value. */
void dlb_command_line_set(dlb_command_line *line, const char *variable);

#endif
