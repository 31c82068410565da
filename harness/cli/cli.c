#include "cli/cmd.h"

#include <unistd.h>

int dlb_cli_fail(const char *command, const dlb_error *err)
{
    bool named = strncmp(err->message, command, strlen(command)) == 0;
    fprintf(stderr, "%s%s%s\n", named ? "" : command, named ? "" : ": ", err->message);
    return err->code == DLB_BAD_INPUT ? DLB_EXIT_USAGE : DLB_EXIT_SHORT;
}

enum { LAST_WORDS_S = 1 }; /* for another rank to say why it all ends */

int dlb_cli_fail_rank(const char *command, const dlb_comm *comm, const dlb_error *err)
{
    int status = err->code == DLB_BAD_INPUT ? DLB_EXIT_USAGE : DLB_EXIT_SHORT;
    bool speaks = dlb_comm_speaks(comm);
    if (speaks)
        dlb_cli_fail(command, err);
    if (dlb_comm_is_broken(comm)) {
        sleep(speaks ? 0 : LAST_WORDS_S); /* the end of one rank is the end of all */
        dlb_comm_abort(comm, status);
    }
    return status;
}

static void print_help(const dlb_command *command)
{
    dlb_str help = DLB_STR_INIT;
    dlb_flags_help(command, DLB_HELP_WIDTH, &help);
    fputs(help.text, stdout);
    dlb_str_release(&help);
}

bool dlb_cli_begin(const dlb_command *command, int argc, char **argv, dlb_arguments *arguments,
                   int *status)
{
    dlb_error err;
    if (dlb_flags_parse(command, argc - 1, argv + 1, arguments, &err) < 0) {
        *status = dlb_cli_fail(command->name, &err);
        return false;
    }
    if (!arguments->help)
        return true;
    print_help(command);
    *status = DLB_EXIT_OK;
    return false;
}
