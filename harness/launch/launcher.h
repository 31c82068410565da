/* The launchers that ranks can be started with. */
#ifndef DLB_LAUNCH_LAUNCHER_H
#define DLB_LAUNCH_LAUNCHER_H

#include "launch/launch.h"

typedef struct dlb_launcher {
    const char *name;
    const char *introduction;   /* of an mpirun: stands in its answer to --version */
    int stop_signal;            /* which it hands on to all ranks, and else does nothing */
    const char *const *chatter; /* as in dlb_command_line */
    /*
     * Add what stands between the launcher's path and the program. launch->binding is not AUTO, and
     * the line's environment is that of the ranks.
     */
    void (*build)(dlb_command_line *line, const dlb_launch *launch,
                  const dlb_launch_machine *machine);
} dlb_launcher;

extern const dlb_launcher dlb_launcher_srun, dlb_launcher_aprun;

/* The mpirun that answers so, or NULL. */
const dlb_launcher *dlb_launcher_find(const char *version);

/* Append the names of all of which there is an mpirun. */
void dlb_launcher_list(dlb_str *names);

/* Cores that a rank wants, or hardware threads where it is bound to those. */
int dlb_launch_units_of_rank(const dlb_launch *launch);

/* Whether each rank gets such units of its own. */
bool dlb_binding_owns(dlb_binding binding);

#endif
