#include "cli/cmd.h"
#include "cli/terminal.h"
#include "report/report.h"

/* Columns where lines go to a file or a pipe, so that nothing is left out. */
enum { WIDTH_ELSEWHERE = 160 };

int cmd_compare(int argc, char **argv)
{
    const dlb_command command = {
        .name = "dlbench compare",
        .about = "Put two studies side by side, each a folder or a runs.csv: the points of both "
                 "with the ratios of their times, the whole, and what differs in program, machine, "
                 "libraries and environment.",
        .operands = "A B"};
    dlb_arguments arguments;
    int status = DLB_EXIT_OK;
    if (!dlb_cli_begin(&command, argc, argv, &arguments, &status))
        return status;

    dlb_error err;
    dlb_str text = DLB_STR_INIT;
    int width = dlb_terminal_obeys(stdout) ? dlb_terminal_width(stdout) : WIDTH_ELSEWHERE;
    if (dlb_report_compare(arguments.operands[0], arguments.operands[1], width,
                           dlb_terminal_colours(stdout), &text, &err) < 0)
        status = dlb_cli_fail(command.name, &err);
    else
        fputs(text.text, stdout);
    dlb_str_release(&text);
    return status;
}
