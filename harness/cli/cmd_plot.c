#include "cli/cmd.h"
#include "cli/figures.h"
#include "cli/terminal.h"
#include "report/history.h"

#include <sys/stat.h>

/* A study's figures are in its folder; those of a file, beside it, and a history's right beside it,
 * where check has put it. */
static void default_folder(const char *path, bool history, dlb_str *folder)
{
    struct stat info;
    const char *slash = strrchr(path, '/');
    if (history)
        dlb_history_folder(path, folder);
    else if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        dlb_str_addf(folder, "%s/plots", path);
    else if (slash)
        dlb_str_addf(folder, "%.*s/plots", (int)(slash - path), path);
    else
        dlb_str_add(folder, "plots");
}

static int plot(const char *path, const dlb_figure_options *options, size_t *count, dlb_error *err)
{
    dlb_report *report;
    if (options->among_others)
        return dlb_history_figure(path, options, count, err);
    int status = dlb_report_read(&report, path, err);
    if (status < 0)
        return status;
    status = dlb_report_figures(report, options, count, err);
    dlb_report_free(report);
    return status;
}

int cmd_plot(int argc, char **argv)
{
    const char *out = NULL;
    bool terminal = false;
    const dlb_flag flags[] = {
        {"out",
         "put data, scripts and pictures there; default plots/ beside runs.csv, or beside a "
         "history",
         .value = "DIR", .text = &out},
        {"terminal", "draw here instead, and write no files", .on = &terminal},
    };
    const dlb_command command = {
        .name = "dlbench plot",
        .about = "Draw the figures of a study (its folder, or a runs.csv, with the epochs.csv and "
                 "ranks.csv beside it), or that of check's --history, from these files alone.",
        .operands = "DIR|FILE",
        .flags = flags,
        .flag_count = sizeof flags / sizeof *flags};
    dlb_arguments arguments;
    int status;
    if (!dlb_cli_begin(&command, argc, argv, &arguments, &status))
        return status;

    dlb_error err;
    dlb_str folder = DLB_STR_INIT, drawn = DLB_STR_INIT;
    size_t count;
    bool history = dlb_history_is(arguments.operands[0]);
    if (out)
        dlb_str_add(&folder, out);
    else
        default_folder(arguments.operands[0], history, &folder);
    dlb_figure_options options = {.folder = folder.text,
                                  .among_others = history,
                                  .terminal = terminal,
                                  .width = dlb_terminal_width(stdout),
                                  .colour = dlb_terminal_colours(stdout),
                                  .drawn = &drawn};
    status = plot(arguments.operands[0], &options, &count, &err);
    if (status < 0)
        status = dlb_cli_fail(command.name, &err);
    else
        dlb_figures_tell(&options, count);
    dlb_str_release(&drawn);
    dlb_str_release(&folder);
    return status;
}
