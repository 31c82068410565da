#include "cli/cmd.h"
#include "cli/terminal.h"
#include "report/report.h"

static int print_summary(const char *path, dlb_error *err)
{
    dlb_report *report;
    dlb_str summary = DLB_STR_INIT;
    if (dlb_report_read(&report, path, err) < 0)
        return err->code;
    dlb_report_summary(report, dlb_terminal_width(stdout), dlb_terminal_colours(stdout), &summary);
    fputs(summary.text ? summary.text : "", stdout);
    dlb_str_release(&summary);
    dlb_report_free(report);
    return 0;
}

int cmd_report(int argc, char **argv)
{
    const dlb_command command = {
        .name = "dlbench report",
        .about = "Summarise a study from its CSV files alone: DIR is its folder, or a runs.csv.",
        .operands = "DIR"};
    dlb_arguments arguments;
    dlb_error err;
    int status;
    if (!dlb_cli_begin(&command, argc, argv, &arguments, &status))
        return status;
    status = print_summary(arguments.operands[0], &err);
    return status < 0 ? dlb_cli_fail(command.name, &err) : DLB_EXIT_OK;
}
