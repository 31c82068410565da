#include <criterion/criterion.h>

#include "launch/chatter.h"

#define RULE "--------------------------------------------------------------------------\n"

static const char *const phrases[] = {"Forwarding signal", "non-zero status", NULL};

/* What is kept of a text that comes in pieces of `step` bytes. */
static void expect_kept(const char *text, const char *expected, size_t step)
{
    dlb_chatter chatter = {.phrases = phrases};
    dlb_str kept = DLB_STR_INIT;
    size_t length = strlen(text);
    for (size_t at = 0; at < length; at += step)
        dlb_chatter_filter(&chatter, text + at, length - at < step ? length - at : step, &kept);
    dlb_chatter_end(&chatter, &kept);
    cr_assert_str_eq(kept.text ? kept.text : "", expected, "in pieces of %zu", step);
    dlb_str_release(&kept);
}

static void expect_kept_however_it_comes(const char *text, const char *expected)
{
    for (size_t step = 1; step <= strlen(text); step++)
        expect_kept(text, expected, step);
}

Test(chatter, lines_of_ranks_pass_and_remarks_of_the_launcher_do_not)
{
    expect_kept_however_it_comes("one\nmpirun: Forwarding signal 10 to job\ntwo\n", "one\ntwo\n");
}

Test(chatter, a_box_is_left_out_as_a_whole)
{
    expect_kept_however_it_comes("one\n" RULE "exited with\nnon-zero status\n" RULE "two\n",
                                 "one\ntwo\n");
}

Test(chatter, a_box_that_tells_something_is_kept_as_it_is)
{
    expect_kept_however_it_comes(RULE "non-zero status\n" RULE RULE
                                      "rank 1 exited on signal 9\n" RULE,
                                 RULE "rank 1 exited on signal 9\n" RULE);
}

Test(chatter, nothing_is_lost_at_the_end)
{
    expect_kept_however_it_comes("killed in the mid", "killed in the mid");
    expect_kept_however_it_comes(RULE "a box without an end\nand",
                                 RULE "a box without an end\nand");
}

Test(chatter, a_line_of_dashes_of_a_rank_does_not_hold_back_all_that_follows)
{
    dlb_chatter chatter = {.phrases = phrases};
    dlb_str kept = DLB_STR_INIT;
    dlb_chatter_filter(&chatter, RULE, strlen(RULE), &kept);
    for (int i = 0; i < 1000; i++)
        dlb_chatter_filter(&chatter, "a line of output\n", strlen("a line of output\n"), &kept);
    cr_assert_gt(kept.length, 4096);
    dlb_chatter_end(&chatter, &kept);
    cr_assert_eq(kept.length, strlen(RULE) + 1000 * strlen("a line of output\n"));
    dlb_str_release(&kept);
}
