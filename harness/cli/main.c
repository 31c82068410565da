#include "base/str.h"
#include "cli/cmd.h"

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *about;
} commands[] = {
    {"sweep", cmd_sweep, "run a study: what is missing of it, then its summary and figures"},
    {"train", cmd_train, "train a model once, with live progress"},
    {"plot", cmd_plot, "draw the figures of a study from its CSV files alone"},
    {"report", cmd_report, "summarise a study from its CSV files alone"},
    {"compare", cmd_compare, "put two studies side by side: times, accuracies, what made them"},
    {"bench", cmd_bench, "measure a part of the program on this machine"},
    {"check", cmd_check, "judge whether kernels are slower than those of another commit"},
    {"selftest", cmd_selftest, "show what check can see: its false alarms and its power"},
    {"summary", cmd_summary, "print the layers of a model: shapes, parameters, FLOPs, bytes"},
    {"doctor", cmd_doctor, "show what this machine offers, and what is missing"},
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_usage(FILE *out)
{
    fprintf(out, "dlbench %s: benchmarks and scaling studies of deep learning on CPUs\n\n",
            DLB_VERSION);
    fprintf(out, "usage: dlbench COMMAND [--flag value …]\n\n");
    for (int i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].about);
    fprintf(out, "\ndlbench COMMAND --help lists the flags of a command.\n");
}

static int fail_unknown(const char *name)
{
    const char *names[COMMANDS];
    for (int i = 0; i < COMMANDS; i++)
        names[i] = commands[i].name;
    const char *close = dlb_closest(name, names, COMMANDS);
    if (close)
        fprintf(stderr, "dlbench: unknown command '%s'; did you mean %s?\n", name, close);
    else
        fprintf(stderr, "dlbench: unknown command '%s'; dlbench --help lists them\n", name);
    return DLB_EXIT_USAGE;
}

static int run_command(int argc, char **argv)
{
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(argv[0], commands[i].name) == 0)
            return commands[i].run(argc, argv);
    return fail_unknown(argv[0]);
}

static bool asks_for_usage(const char *argument)
{
    return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0 ||
           strcmp(argument, "help") == 0;
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return DLB_EXIT_USAGE;
    }
    if (asks_for_usage(argv[1])) {
        print_usage(stdout);
        return DLB_EXIT_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("dlbench %s\n", DLB_VERSION);
        return DLB_EXIT_OK;
    }
    return run_command(argc - 1, argv + 1);
}

/* What could not be printed was not done, whatever else went well. */
int main(int argc, char **argv)
{
    int status = run(argc, argv);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    fputs("dlbench: standard output could not be written; it is not whole\n", stderr);
    return status ? status : DLB_EXIT_SHORT;
}
