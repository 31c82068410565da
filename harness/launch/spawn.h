/* A command as a child process that ends when this process does. */
#ifndef DLB_LAUNCH_SPAWN_H
#define DLB_LAUNCH_SPAWN_H

#include <sys/types.h>

#include "launch/launch.h"

typedef struct dlb_child {
    pid_t pid;  /* the caller waits for it */
    int output; /* read end of the stream that was asked for, to be closed; -1 without one */
} dlb_child;

/*
 * Start the command: in a process group of its own, with empty input, no signal blocked, none
 * handled, and none ignored but a hangup that is ignored here. `stream`, STDOUT_FILENO or
 * STDERR_FILENO, goes into child->output; -1: none does. A command that cannot be executed is
 * DLB_FAIL.
 */
int dlb_spawn(dlb_child *child, const dlb_command_line *line, int stream, dlb_error *err);

#endif
