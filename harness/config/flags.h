/*
 * The command line of a subcommand: `--long-name value` or `--long-name=value`.
 *
 * A command declares its own flags in a table and, where it trains, takes every workload key as
 * a flag, too. Its help derives from the same two.
 *
 *     const char *csv = NULL;
 *     bool quiet = false;
 *     const dlb_flag flags[] = {
 *         {"csv", "append one row to this file", .value = "FILE", .text = &csv},
 *         {"quiet", "print nothing but errors", .on = &quiet},
 *     };
 *     const dlb_command command = {"dlbench train", "Train a model.", "", flags, 2, &workload};
 */
#ifndef DLB_CONFIG_FLAGS_H
#define DLB_CONFIG_FLAGS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"
#include "config/workload.h"

/* One flag of a command: with a value, which goes to *text, or without one, which sets *on. */
typedef struct dlb_flag {
    const char *name; /* without the leading dashes */
    const char *help;
    const char *value; /* what help calls the value: "FILE"; NULL = the flag takes none */
    const char **text; /* receives the value, a pointer into argv */
    bool *on;          /* set to true */
} dlb_flag;

typedef struct dlb_command {
    const char *name;     /* "dlbench train" */
    const char *about;    /* a sentence for help */
    const char *operands; /* the arguments that are no flags: "MODEL", "A B", "[DIR]", "" */
    const dlb_flag *flags;
    size_t flag_count;
    dlb_workload *workload; /* receives the workload keys; NULL = the command takes none */
} dlb_command;

enum { DLB_MAX_OPERANDS = 8 };

typedef struct dlb_arguments {
    bool help; /* --help or -h was there; what follows it has not been read */
    int operand_count;
    const char *operands[DLB_MAX_OPERANDS]; /* pointers into argv */
} dlb_arguments;

/*
 * Read the arguments that follow the command's name. A boolean key without a value means yes. A
 * value that begins with "--" needs the form --name=value; "--" alone ends the flags; of a flag
 * given twice the last counts. Anything wrong is DLB_BAD_INPUT: an unknown flag (with the closest
 * known one), a missing or wrong value, too few or too many operands. The workload and variables
 * of flags may then have been set in part.
 */
int dlb_flags_parse(const dlb_command *command, int argc, char *const *argv,
                    dlb_arguments *arguments, dlb_error *err);

enum { DLB_HELP_WIDTH = 100 };

/* Append the help of a command, in lines of at most `width` columns, but no less than 60. */
void dlb_flags_help(const dlb_command *command, int width, dlb_str *out);

#endif
