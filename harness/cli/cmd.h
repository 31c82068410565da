/*
 * The subcommands. Each takes its own name as argv[0], prints for people, and returns the exit
 * status of the program.
 */
#ifndef DLB_CLI_CMD_H
#define DLB_CLI_CMD_H

#include "base/error.h"
#include "comm/comm.h"
#include "config/flags.h"

enum {
    DLB_EXIT_OK = 0,
    DLB_EXIT_SHORT = 1, /* the work failed or fell short */
    DLB_EXIT_USAGE = 2, /* wrong usage or input */
    DLB_EXIT_INCONCLUSIVE = 3,
};

int cmd_bench(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_plot(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_selftest(int argc, char **argv);
int cmd_summary(int argc, char **argv);
int cmd_sweep(int argc, char **argv);
int cmd_train(int argc, char **argv);

/*
 * Print the error on stderr as "dlbench COMMAND: message", without the name where the message
 * begins with it; returns the exit status for it.
 */
int dlb_cli_fail(const char *command, const dlb_error *err);

/*
 * The same on one of several ranks, of which one speaks. If the ranks are no longer connected, all
 * are ended. NULL stands for the last comm of the process.
 */
int dlb_cli_fail_rank(const char *command, const dlb_comm *comm, const dlb_error *err);

/*
 * Parse the arguments after argv[0]. False if the command is to end now, with *status: --help was
 * printed, or the arguments were wrong and that was said.
 */
bool dlb_cli_begin(const dlb_command *command, int argc, char **argv, dlb_arguments *arguments,
                   int *status);

#endif
