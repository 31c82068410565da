#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "cli/terminal.h"

static int keeper;

/* A terminal of our own; 0 columns: it does not tell, as those that launchers give. */
static FILE *open_terminal(int columns)
{
    keeper = posix_openpt(O_RDWR | O_NOCTTY);
    cr_assert(keeper >= 0 && grantpt(keeper) == 0 && unlockpt(keeper) == 0);
    FILE *out = fopen(ptsname(keeper), "w");
    cr_assert_not_null(out);
    struct winsize size = {.ws_col = (unsigned short)columns};
    cr_assert_eq(ioctl(keeper, TIOCSWINSZ, &size), 0);
    return out;
}

static void close_terminal(FILE *out)
{
    fclose(out);
    close(keeper);
}

static void setup(void)
{
    setenv("TERM", "xterm", 1);
    unsetenv("DLBENCH_TERMINAL");
}

TestSuite(terminal, .init = setup);

Test(terminal, one_with_a_width_obeys_and_tells_it)
{
    FILE *out = open_terminal(132);
    cr_assert(dlb_terminal_obeys(out));
    cr_assert_eq(dlb_terminal_width(out), 132);
    close_terminal(out);
}

Test(terminal, one_that_a_launcher_made_gets_plain_lines)
{
    FILE *out = open_terminal(0);
    cr_assert_not(dlb_terminal_obeys(out));
    close_terminal(out);
}

Test(terminal, a_file_is_none)
{
    FILE *out = tmpfile();
    cr_assert_not(dlb_terminal_obeys(out));
    cr_assert_eq(dlb_terminal_width(out), DLB_WIDTH_DEFAULT);
    fclose(out);
}

Test(terminal, ranks_believe_what_they_are_told_of_where_their_output_goes)
{
    FILE *file = tmpfile(), *terminal = open_terminal(132);
    dlb_terminal_tell(terminal);
    cr_assert(dlb_terminal_obeys(file));
    cr_assert_eq(dlb_terminal_width(file), 132);
    unsetenv("DLBENCH_TERMINAL");
    dlb_terminal_tell(file);
    cr_assert_not(dlb_terminal_obeys(terminal));
    close_terminal(terminal);
    fclose(file);
}

Test(terminal, what_is_no_number_tells_nothing)
{
    FILE *out = open_terminal(132);
    static const char *const values[] = {"", "yes", "-1", "99999999", "80x24"};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        setenv("DLBENCH_TERMINAL", values[i], 1);
        cr_assert(dlb_terminal_obeys(out));
        cr_assert_eq(dlb_terminal_width(out), 132);
    }
    close_terminal(out);
}
