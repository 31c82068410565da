#include <criterion/criterion.h>

#include "support/named_scope.h"

static const char *const names[] = {"cores",     "ranks",     "lr", "kernels",
                                    "drop_last", "env.OMP_X", NULL};
static const dlb_scalar values[] = {
    {DLB_SCALAR_INT, {.integer = 12}},  {DLB_SCALAR_INT, {.integer = 5}},
    {DLB_SCALAR_REAL, {.real = 0.01}},  {DLB_SCALAR_TEXT, {.text = "ref"}},
    {DLB_SCALAR_BOOL, {.truth = true}}, {DLB_SCALAR_TEXT, {.text = "5"}},
};

static const dlb_expr_scope scope = NAMED_SCOPE(names);

static dlb_expr *parse_whole(const char *text)
{
    dlb_expr_fault fault;
    size_t end;
    dlb_expr *expr = dlb_expr_parse(text, &end, &scope, &fault);
    cr_assert_not_null(expr, "%s: %s", text, fault.message);
    cr_assert_eq(end, strlen(text), "%s: ends at %zu", text, end);
    return expr;
}

static void gives(const char *text, enum dlb_scalar_kind kind, const char *value)
{
    dlb_expr_fault fault;
    dlb_scalar result;
    dlb_str shown = DLB_STR_INIT;
    dlb_expr *expr = parse_whole(text);
    cr_assert_eq(dlb_expr_eval(expr, values, &result, &fault), 0, "%s: %s", text, fault.message);
    dlb_scalar_format(&result, &shown);
    cr_assert_str_eq(shown.text, value, "%s is %s, not %s", text, shown.text, value);
    cr_assert_eq(result.kind, kind, "%s is of another kind", text);
    dlb_str_release(&shown);
    dlb_expr_free(expr);
}

static void gives_int(const char *text, const char *value)
{
    gives(text, DLB_SCALAR_INT, value);
}

static void gives_real(const char *text, const char *value)
{
    gives(text, DLB_SCALAR_REAL, value);
}

static void is_true(const char *text)
{
    gives(text, DLB_SCALAR_BOOL, "yes");
}

static void is_false(const char *text)
{
    gives(text, DLB_SCALAR_BOOL, "no");
}

/* `at` is what the caret is to stand below. */
static void assert_fault(const char *text, const dlb_expr_fault *fault, const char *at,
                         const char *message)
{
    cr_assert_str_eq(fault->message, message, "%s: %s", text, fault->message);
    cr_assert_leq(fault->offset, strlen(text));
    cr_assert_str_eq(text + fault->offset, at, "%s: at %zu", text, fault->offset);
}

static void no_expression(const char *text, const char *at, const char *message)
{
    dlb_expr_fault fault;
    size_t end;
    cr_assert_null(dlb_expr_parse(text, &end, &scope, &fault), "%s", text);
    assert_fault(text, &fault, at, message);
}

static void no_value(const char *text, const char *at, const char *message)
{
    dlb_expr_fault fault;
    dlb_scalar result;
    dlb_expr *expr = parse_whole(text);
    cr_assert_eq(dlb_expr_eval(expr, values, &result, &fault), DLB_BAD_INPUT, "%s", text);
    assert_fault(text, &fault, at, message);
    dlb_expr_free(expr);
}

Test(expr, numbers_are_exact)
{
    gives_int("9223372036854775807", "9223372036854775807");
    gives_int("-9223372036854775808", "-9223372036854775808");
    gives_int("9007199254740993", "9007199254740993");
    gives_real("0.01", "0.01");
    gives_real(".5", "0.5");
    gives_real("-2.5e-3", "-0.0025");
    gives_real("1e3", "1000");
    no_expression("9223372036854775808", "9223372036854775808", "9223372036854775808 is too large");
    no_expression("1 + 1e999", "1e999", "1e999 is too large");
    no_expression("1 + 64k", "k", "a number cannot go on like this");
    no_expression("1.", ".", "a number cannot go on like this");
}

Test(expr, operators_bind_as_usual)
{
    gives_int("1 + 2 * 3", "7");
    gives_int("(1+2)*3", "9");
    gives_int("10 - 3 - 2", "5");
    gives_int("24 / 4 / 2", "3");
    gives_int("7 % 4 * 2", "6");
    gives_int("-2 * -3", "6");
    gives_int("2 - -ranks", "7");
    gives_int("-(cores - 2) / --ranks", "-2");
    is_true("1 + 1 == 2 and not 1 > 2 or no");
    is_true("yes or yes and no");
    is_false("not no == no");
    is_true("(not no) != no");
}

Test(expr, names_are_values_of_the_point)
{
    gives_int("cores", "12");
    gives_real("lr * 2", "0.02");
    gives("kernels", DLB_SCALAR_TEXT, "ref");
    gives("env.OMP_X", DLB_SCALAR_TEXT, "5");
    is_true("drop_last");
    no_expression("1 + crores", "crores", "there is no crores; did you mean cores?");
    no_expression("nothing_of_that_kind", "nothing_of_that_kind",
                  "there is no nothing_of_that_kind");
    no_expression("env.OTHER", "env.OTHER", "there is no env.OTHER");
}

Test(expr, every_operator_notices_overflow)
{
    no_value("9223372036854775807 + 1", "+ 1", "9223372036854775807 + 1 is too large for 64 bits");
    no_value("-9223372036854775808 - 1", "- 1",
             "-9223372036854775808 - 1 is too large for 64 bits");
    no_value("4294967296 * 2147483648", "* 2147483648",
             "4294967296 * 2147483648 is too large for 64 bits");
    no_value("-9223372036854775808 / -1", "/ -1",
             "-9223372036854775808 / -1 is too large for 64 bits");
    no_value("-(-9223372036854775808)", "-(-9223372036854775808)",
             "0 - -9223372036854775808 is too large for 64 bits");
    no_value("floor(-9223372036854775808 / -1)", "/ -1)",
             "-9223372036854775808 / -1 is too large for 64 bits");
    no_value("floor(1e19)", "floor(1e19)", "the result of floor is too large for 64 bits");
    no_value("1e300 * 1e300", "* 1e300", "the result of * is not finite");
    gives_int("-9223372036854775808 % -1", "0");
    gives_int("4294967296 * 2147483647", "9223372032559808512");
}

Test(expr, integers_divide_evenly_or_not_at_all)
{
    gives_int("cores / 4", "3");
    no_value("cores / ranks", "/ ranks", "12 / 5 leaves a remainder; floor(a / b) rounds it down");
    no_value("1 + cores / (ranks - 5)", "/ (ranks - 5)", "12 / 0 has no value");
    no_value("cores % 0", "% 0", "12 % 0 has no value");
    no_value("1.5 / 0", "/ 0", "a division by 0 has no value");
    no_value("5.5 % 2", "% 2", "% needs integers");
    gives_real("12.0 / ranks", "2.4");
}

Test(expr, rounding_makes_integers_of_any_division)
{
    gives_int("floor(cores / ranks)", "2");
    gives_int("ceil(cores / ranks)", "3");
    gives_int("floor(-7 / 2)", "-4");
    gives_int("ceil(-7 / 2)", "-3");
    gives_int("floor(7 / -2)", "-4");
    gives_int("floor(cores / ranks + 0.7)", "3");
    gives_int("floor(lr * 250)", "2");
    gives_int("ceil(7.0 / 2)", "4");
    gives_int("floor(9223372036854775807 / 2)", "4611686018427387903");
    gives_int("floor(9223372036854775807)", "9223372036854775807");
    no_value("floor(1 / 0)", "/ 0)", "1 / 0 has no value");
    no_value("floor(cores / ranks) + cores / ranks", "/ ranks",
             "12 / 5 leaves a remainder; floor(a / b) rounds it down");
}

Test(expr, functions_compute)
{
    gives_int("min(cores, 3)", "3");
    gives_int("max(cores, 3.5)", "12");
    gives_real("min(1.5, 2)", "1.5");
    gives_real("log2(8)", "3");
    gives_real("sqrt(2.25)", "1.5");
    gives_int("max (1, min( 2 , 3))", "2");
    no_value("log2(0)", "log2(0)", "log2 needs a number above 0, but has the integer 0");
    no_value("sqrt(-0.5)", "sqrt(-0.5)", "sqrt needs 0 or more, but has the real -0.5");
    no_value("min(1, kernels)", "min(1, kernels)", "min needs numbers, but has the text ref");
    no_expression("min(1)", ")", "min takes 2 values, separated by commas");
    no_expression("log2(1, 2)", ", 2)", "log2 takes no more than 1 value");
    no_expression("min 1", "1", "min needs ( and 2 values here");
    no_expression("abs(1)", "abs(1)",
                  "there is no function abs; there are if, min, max, log2, sqrt, floor, ceil");
    no_expression("min(1, 2", "", "a ) is missing here, for that of min");
}

Test(expr, comparisons_are_exact_across_kinds_of_numbers)
{
    is_true("2 == 2.0");
    is_true("9007199254740993 > 9007199254740992.0");
    is_true("9223372036854775807 < 9223372036854775808.0");
    is_true("-9223372036854775808 == -9223372036854775808.0");
    is_true("1 < 1.5 and 2 > 1.5 and -1 > -1.5");
    is_true("1e300 > 9223372036854775807");
    is_true("kernels == \"ref\" and kernels != \"\"");
    is_false("drop_last != yes");
}

Test(expr, comparisons_of_different_kinds_are_refused)
{
    no_value("env.OMP_X == 5", "== 5", "== compares the text 5 with the integer 5");
    no_value("drop_last == 1", "== 1", "== compares yes with the integer 1");
    no_value("kernels < \"s\"", "< \"s\"", "< needs numbers, but has the text ref");
    no_expression("1 < ranks < 8", "< 8", "comparisons do not form chains: write a < b and b < c");
}

Test(expr, what_is_not_needed_is_not_evaluated)
{
    is_false("no and 1 / 0 == 1");
    is_true("yes or 1 / 0 == 1");
    gives_int("if(ranks == 5, 1, 1 / 0)", "1");
    gives_int("if(ranks == 4, 1 / 0, 2)", "2");
    no_value("yes and 1 / 0 == 1", "/ 0 == 1", "1 / 0 has no value");
}

Test(expr, conditions_need_truth_values)
{
    no_value("cores and yes", "and yes",
             "and needs yes or no, such as of a comparison, but has the integer 12");
    no_value("yes and kernels", "and kernels",
             "and needs yes or no, such as of a comparison, but has the text ref");
    no_value("not 0", "not 0",
             "not needs yes or no, such as of a comparison, but has the integer 0");
    no_value("if(1, 2, 3)", "if(1, 2, 3)",
             "if needs yes or no, such as of a comparison, but has the integer 1");
    no_value("1 + kernels", "+ kernels", "+ needs numbers, but has the text ref");
    no_value("-drop_last", "-drop_last", "- needs numbers, but has yes");
}

Test(expr, faults_stand_where_they_are)
{
    no_expression("", "", "a value is missing at the end");
    no_expression("1 + ", "", "a value is missing at the end");
    no_expression("1 + * 2", "* 2", "a value is missing here");
    no_expression("(1 + 2", "(1 + 2", "this ( is not closed");
    no_expression("(1 2)", "2)", "an operator or ) is missing before this");
    no_expression("kernels == \"ref", "\"ref", "this quote is not closed");
    no_expression("and 1", "and 1", "a value is missing before and");
    no_expression("cores && yes", "&& yes", "there is no &; did you mean and?");
    no_expression("cores = 2", "= 2", "there is no =; did you mean ==?");
}

Test(expr, it_ends_before_what_cannot_continue_it)
{
    static const struct {
        const char *text;
        size_t end, primary_end;
    } cases[] = {
        {"1 2", 2, 2},       {"1..8", 1, 1},         {"cores..8", 5, 5},   {"1 + 2 3", 6, 2},
        {"1 * 2}", 5, 2},    {"(1 + 2) * 3", 11, 8}, {"cores (2)", 6, 6},  {"-1 -2", 5, 3},
        {" cores /2", 9, 7}, {"1 or2", 2, 2},        {"-cores*2 ]", 9, 6}, {"min(1, 2)..3", 9, 9},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dlb_expr_fault fault;
        size_t end;
        dlb_expr *expr = dlb_expr_parse(cases[i].text, &end, &scope, &fault);
        cr_assert_not_null(expr, "%s", cases[i].text);
        cr_assert_eq(end, cases[i].end, "%s ends at %zu", cases[i].text, end);
        dlb_expr_free(expr);
        expr = dlb_expr_parse_primary(cases[i].text, &end, &scope, &fault);
        cr_assert_not_null(expr, "%s", cases[i].text);
        cr_assert_eq(end, cases[i].primary_end, "%s ends at %zu", cases[i].text, end);
        dlb_expr_free(expr);
    }
}

Test(expr, it_knows_the_slots_that_it_depends_on)
{
    const int *slots;
    dlb_expr *expr = parse_whole("ranks * cores + ranks - if(no, lr, 1)");
    cr_assert_eq(dlb_expr_slots(expr, &slots), 3);
    cr_assert_eq(slots[0], 1);
    cr_assert_eq(slots[1], 0);
    cr_assert_eq(slots[2], 2);
    dlb_expr_free(expr);
    expr = parse_whole("1 + 2");
    cr_assert_eq(dlb_expr_slots(expr, &slots), 0);
    dlb_expr_free(expr);
}

/* `count` times the one, a number, and `count` times the other. */
static char *surround(const char *before, size_t count, const char *after)
{
    dlb_str text = DLB_STR_INIT;
    for (size_t i = 0; i < count; i++)
        dlb_str_add(&text, before);
    dlb_str_add(&text, "2");
    for (size_t i = 0; i < count; i++)
        dlb_str_add(&text, after);
    return text.text;
}

static void nests_64_levels(const char *before, const char *after)
{
    dlb_expr_fault fault;
    size_t end;
    char *allowed = surround(before, 64, after), *deeper = surround(before, 65, after);
    char *bottomless = surround(before, 300000, after);
    dlb_expr *expr = dlb_expr_parse(allowed, &end, &scope, &fault);
    cr_assert_not_null(expr, "%s", fault.message);
    dlb_expr_free(expr);
    cr_assert_null(dlb_expr_parse(deeper, &end, &scope, &fault));
    cr_assert_str_eq(fault.message, "nested more than 64 levels deep");
    cr_assert_null(dlb_expr_parse(bottomless, &end, &scope, &fault));
    free(bottomless);
    free(deeper);
    free(allowed);
}

Test(expr, nesting_is_limited)
{
    nests_64_levels("(", ")");
    nests_64_levels("floor(", ")");
    nests_64_levels("not ", "");
    nests_64_levels("- ", "");
}

Test(expr, the_size_is_limited)
{
    dlb_expr_fault fault;
    size_t end;
    char *largest = surround("", 499, "+2"), *larger = surround("", 500, "+2");
    dlb_expr *expr = parse_whole(largest);
    dlb_scalar result;
    cr_assert_eq(dlb_expr_eval(expr, values, &result, &fault), 0);
    cr_assert_eq(result.integer, 1000);
    dlb_expr_free(expr);
    cr_assert_null(dlb_expr_parse(larger, &end, &scope, &fault));
    cr_assert_str_eq(fault.message, "the expression has more than 1000 parts");
    free(larger);
    free(largest);
}

Test(expr, values_are_written_as_a_sweep_file_has_them)
{
    gives_real("2.0", "2");
    gives_real("0.1 + 0.2", "0.30000000000000004");
    gives_real("-0.0", "0");
    gives_real("1000000.0", "1000000");
    gives("\"a b\"", DLB_SCALAR_TEXT, "a b");
    gives("\"\"", DLB_SCALAR_TEXT, "");
    is_true("yes");
    is_false("no");
}
