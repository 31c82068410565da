#include <criterion/criterion.h>

#include "config/flags.h"

static dlb_workload w;
static const char *csv;
static bool quiet;

static const dlb_flag flags[] = {
    {"csv", "append one row to this file", .value = "FILE", .text = &csv},
    {"quiet", "print nothing but errors", .on = &quiet},
};

static dlb_command command = {
    .name = "dlbench train",
    .about = "Train a model.",
    .operands = "",
    .flags = flags,
    .flag_count = 2,
    .workload = &w,
};

static dlb_arguments arguments;
static dlb_error err;

static void init(void)
{
    dlb_workload_init(&w);
}

static void release(void)
{
    dlb_workload_release(&w);
}

TestSuite(flags, .init = init, .fini = release);
TestSuite(operands, .init = init, .fini = release);
TestSuite(help, .init = init, .fini = release);

static int parse(const char *const *words)
{
    int count = 0;
    while (words[count])
        count++;
    return dlb_flags_parse(&command, count, (char *const *)(const void *)words, &arguments, &err);
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define accept(...)                                                                                \
    do {                                                                                           \
        int parsed = parse(WORDS(__VA_ARGS__));                                                    \
        cr_assert_eq(parsed, 0, "%s", err.message);                                                \
    } while (0)
#define refuse(message_, ...)                                                                      \
    do {                                                                                           \
        cr_assert_eq(parse(WORDS(__VA_ARGS__)), DLB_BAD_INPUT);                                    \
        cr_assert_str_eq(err.message, message_);                                                   \
    } while (0)

Test(flags, no_arguments_leave_all_defaults)
{
    cr_assert_eq(dlb_flags_parse(&command, 0, (char *const[]){NULL}, &arguments, &err), 0);
    cr_assert_eq(w.given, 0);
    cr_assert_not(arguments.help);
}

Test(flags, values_come_as_next_argument_or_after_an_equals_sign)
{
    accept("--epochs", "7", "--batch=32", "--csv", "rows.csv", "--quiet");
    cr_assert_eq(w.epochs, 7);
    cr_assert_eq(w.batch, 32);
    cr_assert_str_eq(csv, "rows.csv");
    cr_assert(quiet);
}

Test(flags, a_value_may_hold_equals_signs_and_be_empty)
{
    accept("--kmp-affinity=granularity=fine,compact", "--counters=", "--csv=");
    cr_assert_str_eq(w.kmp_affinity, "granularity=fine,compact");
    cr_assert_str_eq(w.counters, "");
    cr_assert_str_eq(csv, "");
}

Test(flags, a_key_may_be_written_with_underscores)
{
    accept("--target_accuracy", "0.99");
    cr_assert_eq(w.target_accuracy, 0.99);
}

Test(flags, a_boolean_alone_means_yes)
{
    accept("--drop-last");
    cr_assert(w.drop_last);
    accept("--drop-last", "no", "--nesterov", "--epochs", "2");
    cr_assert_not(w.drop_last);
    cr_assert(w.nesterov);
    cr_assert_eq(w.epochs, 2);
    accept("--drop-last=yes");
    cr_assert(w.drop_last);
    refuse("drop_last = maybe: must be yes or no", "--drop-last=maybe");
}

Test(flags, of_a_flag_given_twice_the_last_counts)
{
    accept("--epochs", "2", "--epochs", "3");
    cr_assert_eq(w.epochs, 3);
}

Test(flags, an_unknown_flag_is_told_with_the_closest_known_one)
{
    refuse("unknown flag --epocs; did you mean --epochs?", "--epocs", "3");
    refuse("unknown flag --epocs; did you mean --epochs?", "--epocs=3");
    refuse("unknown flag --drop-lats; did you mean --drop-last?", "--drop-lats");
    refuse("unknown flag --quite; did you mean --quiet?", "--quite");
    refuse("unknown flag --halp; did you mean --help?", "--halp");
    refuse("unknown flag --frobnicate; dlbench train --help lists all", "--frobnicate");
    refuse("unknown flag -q; dlbench train --help lists all", "-q");
    refuse("unknown flag -epochs; did you mean --epochs?", "-epochs", "3");
}

Test(flags, a_very_long_flag_is_unknown)
{
    static char flag[5000] = "--epochs";
    memset(flag + 8, 's', sizeof flag - 9);
    cr_assert_eq(parse(WORDS(flag)), DLB_BAD_INPUT);
    cr_assert(strstr(err.message, "--help lists all"));
}

Test(flags, a_missing_value_is_told_with_what_is_expected)
{
    refuse("--epochs needs a value: --epochs N", "--epochs");
    refuse("--csv needs a value: --csv FILE", "--quiet", "--csv");
    refuse("--optimizer needs a value: --optimizer sgd|adam|adagrad|lars|larc", "--optimizer");
}

Test(flags, a_value_that_looks_like_a_flag_needs_an_equals_sign)
{
    refuse("--csv needs a value: --csv FILE; one that begins with -- is given as --csv=--quiet",
           "--csv", "--quiet");
    accept("--csv=--quiet");
    cr_assert_str_eq(csv, "--quiet");
    refuse("epochs = -1: must be an integer from 1 to 100000 epochs", "--epochs", "-1");
}

Test(flags, a_flag_without_value_refuses_one)
{
    refuse("--quiet takes no value, but was given yes", "--quiet=yes");
}

Test(flags, help_wins_over_what_follows)
{
    accept("--help", "--nonsense");
    cr_assert(arguments.help);
    accept("--epochs", "3", "-h");
    cr_assert(arguments.help);
}

Test(flags, a_command_without_workload_knows_no_keys)
{
    command.workload = NULL;
    refuse("unknown flag --epochs; dlbench train --help lists all", "--epochs", "3");
    accept("--quiet");
}

Test(operands, none_are_taken_where_none_are_declared)
{
    refuse("dlbench train takes no argument keras_cnn", "keras_cnn");
}

Test(operands, they_are_collected_between_flags)
{
    command.operands = "A B";
    accept("x", "--quiet", "y");
    cr_assert_eq(arguments.operand_count, 2);
    cr_assert_str_eq(arguments.operands[0], "x");
    cr_assert_str_eq(arguments.operands[1], "y");
    refuse("dlbench train takes no argument z after the others", "x", "y", "z");
    refuse("dlbench train needs B", "x");
    refuse("dlbench train needs A", "--quiet");
}

Test(operands, those_in_brackets_may_be_left_out)
{
    command.operands = "FILE [DIR]";
    accept("x");
    cr_assert_eq(arguments.operand_count, 1);
    accept("x", "y");
    cr_assert_eq(arguments.operand_count, 2);
}

Test(operands, what_follows_two_dashes_is_no_flag)
{
    command.operands = "A B C";
    accept("--", "--quiet", "-", "--");
    cr_assert_str_eq(arguments.operands[0], "--quiet");
    cr_assert_str_eq(arguments.operands[1], "-");
    cr_assert_str_eq(arguments.operands[2], "--");
}

Test(operands, help_asks_for_none)
{
    command.operands = "FILE";
    accept("--help");
}

static void assert_lines_fit(const char *text, size_t width)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        cr_assert_leq(length, width, "%.*s", (int)length, text);
        cr_assert(length == 0 || text[length - 1] != ' ', "a space ends '%.*s'", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

/* The help text with every run of blanks and line breaks made one space. */
static void flatten(const char *text, dlb_str *flat)
{
    dlb_str_add(flat, "");
    for (; *text; text++) {
        bool blank = *text == ' ' || *text == '\n';
        if (!blank)
            dlb_str_add_bytes(flat, text, 1);
        else if (flat->length && flat->text[flat->length - 1] != ' ')
            dlb_str_add(flat, " ");
    }
}

Test(help, lines_fit_the_width_asked_for)
{
    const int widths[] = {60, 80, DLB_HELP_WIDTH, 200};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        dlb_str text = DLB_STR_INIT;
        dlb_flags_help(&command, widths[i], &text);
        assert_lines_fit(text.text, (size_t)widths[i]);
        dlb_str_release(&text);
    }
}

Test(help, every_flag_and_key_is_there_with_default_range_and_unit)
{
    dlb_str text = DLB_STR_INIT, flat = DLB_STR_INIT;
    dlb_flags_help(&command, DLB_HELP_WIDTH, &text);
    flatten(text.text, &flat);
    for (int key = 0; key < DLB_KEY_COUNT; key++) {
        dlb_str flag = DLB_STR_INIT;
        dlb_key_flag(key, &flag);
        dlb_str_addf(&flag, " %s %s", dlb_key_info(key)->value, dlb_key_info(key)->help);
        cr_assert(strstr(flat.text, flag.text), "%s", flag.text);
        dlb_str_release(&flag);
    }
    cr_assert(strstr(flat.text, "usage: dlbench train [--flag value]... Train a model."));
    cr_assert(strstr(flat.text, "--csv FILE append one row to this file"));
    cr_assert(strstr(flat.text, "--quiet print nothing but errors"));
    cr_assert(strstr(flat.text, "(1 to 65536 images; default 128; the model's own where it has "
                                "one)"));
    cr_assert(strstr(flat.text, "(1 to 100000 epochs; default 5)"));
    cr_assert(strstr(flat.text, "(default auto)"));
    dlb_str_release(&flat);
    dlb_str_release(&text);
}

Test(help, a_command_without_workload_lists_its_own_flags_only)
{
    command.workload = NULL;
    dlb_str text = DLB_STR_INIT;
    dlb_flags_help(&command, DLB_HELP_WIDTH, &text);
    cr_assert(strstr(text.text, "--csv FILE"));
    cr_assert_null(strstr(text.text, "--epochs"));
    dlb_str_release(&text);
}
