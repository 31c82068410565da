/*
 * A command in the hands of a process of its own, the keeper, which leaves nothing of it behind.
 *
 *     dlb_keeper keeper;
 *     dlb_keeper_start(&keeper, &line, &streams, &err)
 *     … poll keeper.line; dlb_keeper_tell(&keeper, SIGUSR1) …
 *     dlb_keeper_finish(&keeper, &end, &err);
 *
 * The keeper is the command's parent, and whatever the command starts becomes the keeper's child
 * once its own parent is gone, in whatever process group or session it is. So the keeper knows when
 * all of it has ended. It ends what is left when the command itself has ended, when it is told to,
 * and when this process dies, however that happens: SIGTERM, and some seconds later SIGKILL.
 *
 * It is a fork of this process: umask, limits and CPU mask are those of the moment. It has a
 * process group of its own, heeds no signal of a terminal, and holds none of our files open.
 */
#ifndef DLB_LAUNCH_KEEPER_H
#define DLB_LAUNCH_KEEPER_H

#include <stdint.h>
#include <sys/types.h>

#include "launch/launch.h"

typedef struct dlb_keeper {
    pid_t pid;
    pid_t leader; /* of the command's process group: the command */
    int line;     /* to the keeper; readable when there is nothing left to wait for */
} dlb_keeper;

/* What the command's standard streams are; its input is empty. */
typedef struct dlb_streams {
    int output, errors;
} dlb_streams;

typedef struct dlb_keeper_end {
    int status;       /* of waitpid */
    int64_t ended_ns; /* when the command itself had ended, by dlb_clock_ns */
} dlb_keeper_end;

/* Start the command, as dlb_launch_run does. One that cannot be executed is DLB_FAIL. */
int dlb_keeper_start(dlb_keeper *keeper, const dlb_command_line *line, const char *folder,
                     dlb_streams streams, dlb_error *err);

/* Send the command a signal, its group if it is SIGTSTP or SIGCONT; or, with DLB_KEEPER_END, end
 * everything. */
enum { DLB_KEEPER_END = 0 };
void dlb_keeper_tell(const dlb_keeper *keeper, int signal_number);

/* Wait until nothing is left, and release the keeper. DLB_FAIL if somebody killed the keeper. */
int dlb_keeper_finish(dlb_keeper *keeper, dlb_keeper_end *end, dlb_error *err);

#endif
