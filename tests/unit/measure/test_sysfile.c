#include <criterion/criterion.h>

#include "machines.h"
#include "measure/sysfile.h"

Test(sysfile, fields_are_found_by_their_whole_key)
{
    const char text[] = "model\t\t: 6\nmodel name\t: A CPU : fast\nempty\t:\n";
    char value[64];
    cr_assert(dlb_sys_field(text, "model name", value, sizeof value));
    cr_expect_str_eq(value, "A CPU : fast");
    cr_assert(dlb_sys_field(text, "model", value, sizeof value));
    cr_expect_str_eq(value, "6");
    cr_assert(dlb_sys_field(text, "empty", value, sizeof value));
    cr_expect_str_eq(value, "");
    cr_expect_not(dlb_sys_field(text, "name", value, sizeof value));
}

Test(sysfile, kilobytes_become_bytes_and_other_units_are_not_guessed)
{
    double bytes;
    cr_assert(dlb_sys_field_bytes("VmHWM:\t   12 kB\n", "VmHWM", &bytes));
    cr_expect_eq(bytes, 12 * 1024.0);
    cr_expect_not(dlb_sys_field_bytes("VmHWM:\t   12 MB\n", "VmHWM", &bytes));
    cr_expect_not(dlb_sys_field_bytes("VmHWM:\n", "VmHWM", &bytes));
}

Test(sysfile, an_unreadable_file_gives_an_empty_line)
{
    char line[8] = "before";
    long long number;
    cr_expect_not(dlb_sys_line(line, sizeof line, MACHINE("container"), "/sys/no/such/file"));
    cr_expect_str_eq(line, "");
    cr_expect_not(dlb_sys_number(&number, MACHINE("container"), "/proc/self/status"));
}

Test(sysfile, long_lines_are_cut_to_the_buffer)
{
    const char *cursor = "0123456789\nnext\n";
    char line[5];
    cr_assert(dlb_next_line(&cursor, line, sizeof line));
    cr_expect_str_eq(line, "0123");
    cr_assert(dlb_next_line(&cursor, line, sizeof line));
    cr_expect_str_eq(line, "next");
    cr_expect_not(dlb_next_line(&cursor, line, sizeof line));
}
