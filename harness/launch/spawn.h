/* A program that is ready to be executed, and its execution as a child process. */
#ifndef DLB_LAUNCH_SPAWN_H
#define DLB_LAUNCH_SPAWN_H

#include <spawn.h>
#include <sys/types.h>

#include "launch/launch.h"

typedef struct dlb_executable {
    char path[4096];
    char **argv;        /* borrowed from the command line */
    char **environment; /* ours with the line's additions, ended by NULL; its texts are borrowed */
    posix_spawnattr_t attributes;
} dlb_executable;

/* Find the line's program and merge its environment. Nothing is to be released after an error. */
int dlb_executable_prepare(dlb_executable *executable, const dlb_command_line *line,
                           dlb_error *err);
void dlb_executable_release(dlb_executable *executable);

/*
 * Start it in a process group of its own, with the files of this process that stay open, no signal
 * blocked, none handled, and none ignored but SIGTTOU (a background group may write to its terminal
 * also after `stty tostop`) and a hangup that was ignored here when it was prepared. SIGTTOU of
 * this process is ignored from now on.
 *
 * Returns 0, or the errno of what failed. It may be called after a fork of a process with threads.
 */
int dlb_spawn(const dlb_executable *executable, pid_t *child);

#endif
