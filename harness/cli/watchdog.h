/*
 * The last resort of a rank: a thread that ends the process when nothing has moved for too long.
 *
 * Ranks that wait for each other notice a lost one by themselves (comm/comm.h), unless they are
 * held inside MPI: in its initialisation, when another rank never came to it, or in a connection to
 * a node that is gone. The launcher then ends the other ranks. Time in which the process was
 * stopped does not count.
 */
#ifndef DLB_CLI_WATCHDOG_H
#define DLB_CLI_WATCHDOG_H

/*
 * In a process that a launcher started: from now on, end it some seconds after `hang_timeout`
 * seconds without a pat; 0: never.
 */
void dlb_watchdog_start(const char *command, int hang_timeout);

/* Something moved. */
void dlb_watchdog_pat(void);

#endif
