/* The launchers that ranks can be started with. */
#ifndef DLB_LAUNCH_LAUNCHER_H
#define DLB_LAUNCH_LAUNCHER_H

#include "launch/launch.h"

typedef struct dlb_launcher {
    const char *name;
    const char *introduction;   /* stands in its answer to --version */
    int stop_signal;            /* which it hands on to all ranks, and else does nothing */
    const char *const *chatter; /* as in dlb_command_line */
    /* Add what stands between the launcher's path and the program. launch->binding is not AUTO. */
    void (*build)(dlb_command_line *line, const dlb_launch *launch,
                  const dlb_launch_machine *machine);
} dlb_launcher;

/* The one that answers so, or NULL. */
const dlb_launcher *dlb_launcher_find(const char *version);

/* Append the names of all. */
void dlb_launcher_list(dlb_str *names);

#endif
