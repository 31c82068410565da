#include <criterion/criterion.h>

#include "config/list.h"
#include "support/named_scope.h"

static const char *const names[] = {"cores", "ranks", "hostname", NULL};
static const dlb_scalar values[] = {
    {DLB_SCALAR_INT, {.integer = 12}},
    {DLB_SCALAR_INT, {.integer = 5}},
    {DLB_SCALAR_TEXT, {.text = "node 1"}},
};

static const dlb_expr_scope scope = NAMED_SCOPE(names);

enum { LIMIT = 1000 };

/* Values as "1|2|…", and the offset of the last one's item. */
typedef struct joined {
    dlb_str text;
    size_t count, offset;
    enum dlb_scalar_kind kind;
    size_t stop_after; /* values; 0: never */
} joined;

static int join(void *arg, const dlb_scalar *value, size_t offset)
{
    joined *j = arg;
    if (j->count++)
        dlb_str_add(&j->text, "|");
    dlb_scalar_format(value, &j->text);
    j->offset = offset;
    j->kind = value->kind;
    return j->count == j->stop_after ? 7 : 0;
}

static dlb_list *parse(const char *text, enum dlb_list_kind kind)
{
    dlb_expr_fault fault;
    dlb_list *list = dlb_list_parse(text, kind, &scope, &fault);
    cr_assert_not_null(list, "%s: %s", text, fault.message);
    return list;
}

static void gives(const char *text, enum dlb_list_kind kind, const char *expected)
{
    dlb_expr_fault fault;
    joined j = {0};
    dlb_list *list = parse(text, kind);
    dlb_str_add(&j.text, "");
    int status = dlb_list_eval(list, values, LIMIT, join, &j, &fault);
    cr_assert_eq(status, 0, "%s: %s", text, fault.message);
    cr_assert_str_eq(j.text.text, expected, "%s: %s", text, j.text.text);
    dlb_str_release(&j.text);
    dlb_list_free(list);
}

static void numbers(const char *text, const char *expected)
{
    gives(text, DLB_LIST_NUMBERS, expected);
}

static void texts(const char *text, const char *expected)
{
    gives(text, DLB_LIST_TEXTS, expected);
}

/* `at` is what the caret is to stand below. */
static void assert_fault(const char *text, const dlb_expr_fault *fault, const char *at,
                         const char *message)
{
    cr_assert_str_eq(fault->message, message, "%s: %s", text, fault->message);
    cr_assert_leq(fault->offset, strlen(text));
    cr_assert_str_eq(text + fault->offset, at, "%s: at %zu", text, fault->offset);
}

static void no_list(const char *text, enum dlb_list_kind kind, const char *at, const char *message)
{
    dlb_expr_fault fault;
    cr_assert_null(dlb_list_parse(text, kind, &scope, &fault), "%s", text);
    assert_fault(text, &fault, at, message);
}

static void no_values(const char *text, enum dlb_list_kind kind, const char *at,
                      const char *message)
{
    dlb_expr_fault fault;
    joined j = {0};
    dlb_list *list = parse(text, kind);
    cr_assert_eq(dlb_list_eval(list, values, LIMIT, join, &j, &fault), DLB_BAD_INPUT, "%s", text);
    assert_fault(text, &fault, at, message);
    dlb_str_release(&j.text);
    dlb_list_free(list);
}

Test(list, numbers_are_expressions_separated_by_blanks)
{
    numbers("1 2 4", "1|2|4");
    numbers(" 0.5\tcores  (-3) ", "0.5|12|-3");
    numbers("cores / 2 (cores-2)/ranks", "6|2");
    numbers("yes no ranks > 3", "yes|no|yes");
    numbers("5 -3", "2");
    numbers("-5 (-3)", "-5|-3");
    numbers("if(ranks > 3, 1, 2) cores", "1|12");
}

Test(list, ranges_step_by_sums_or_products)
{
    numbers("1..8", "1|2|3|4|5|6|7|8");
    numbers("0..10 +2", "0|2|4|6|8|10");
    numbers("1..128 *2", "1|2|4|8|16|32|64|128");
    numbers("1..cores *2", "1|2|4|8");
    numbers("1..10 +4", "1|5|9");
    numbers("1..8*2 16 1..2", "1|2|4|8|16|1|2");
    numbers("cores / 4 .. ranks", "3|4|5");
    numbers("1..(cores / 4) 7", "1|2|3|7");
    numbers("1..min(cores, 3) +(ranks - 4)", "1|2|3");
    numbers("3..3 4..4 *2", "3|4");
    numbers("-3..-1 (-1)..1", "-3|-2|-1|-1|0|1");
}

Test(list, ranges_fall_with_a_step_that_does)
{
    numbers("3..1 +-1", "3|2|1");
    numbers("8..1 *0.5", "8|4|2|1");
    numbers("-1..-8 *2", "-1|-2|-4|-8");
}

Test(list, ranges_of_reals_have_neat_values)
{
    numbers("0.1..0.5 +0.1", "0.1|0.2|0.3|0.4|0.5");
    numbers("0.001..1 *10", "0.001|0.01|0.1|1");
    numbers("1..2 +0.25", "1|1.25|1.5|1.75|2");
    numbers("1e-5..1e-3 *10", "1e-05|0.0001|0.001");
    numbers("0..1.5", "0|1");
}

Test(list, ranges_reach_the_ends_of_64_bits)
{
    numbers("9223372036854775806..9223372036854775807", "9223372036854775806|9223372036854775807");
    numbers("(-9223372036854775808)..9223372036854775807 +9223372036854775807",
            "-9223372036854775808|-1|9223372036854775806");
    numbers("2305843009213693952..9223372036854775807 *2",
            "2305843009213693952|4611686018427387904");
}

Test(list, a_range_must_advance_towards_its_end)
{
    const char *stands = "the range does not advance: its steps stay at 1";
    no_values("7 1..8 *1", DLB_LIST_NUMBERS, "1..8 *1", stands);
    no_values("1..8 +0", DLB_LIST_NUMBERS, "1..8 +0", stands);
    no_values("1..8 +0.0", DLB_LIST_NUMBERS, "1..8 +0.0", stands);
    no_values("1..1 *1", DLB_LIST_NUMBERS, "1..1 *1", stands);
    no_values("0..8 *2", DLB_LIST_NUMBERS, "0..8 *2",
              "the range does not advance: its steps stay at 0");
    no_values("1..8 *0", DLB_LIST_NUMBERS, "1..8 *0",
              "a range cannot be multiplied by 0: the factor must be above 0");
    no_values("1..8 *-2", DLB_LIST_NUMBERS, "1..8 *-2",
              "a range cannot be multiplied by -2: the factor must be above 0");
    no_values("8..1", DLB_LIST_NUMBERS, "8..1",
              "the range is empty: its steps lead from 8 away from 1");
    no_values("1..8 *0.5", DLB_LIST_NUMBERS, "1..8 *0.5",
              "the range is empty: its steps lead from 1 away from 8");
    no_values("9223372036854775807..9223372036854775806", DLB_LIST_NUMBERS,
              "9223372036854775807..9223372036854775806",
              "the range is empty: its steps lead from 9.22337e+18 away from 9.22337e+18");
}

Test(list, ends_and_steps_that_are_computed_need_parentheses)
{
    const char *message =
        "an end or step of a range that is computed needs parentheses: 1..(cores / 2)";
    no_list("1..cores / 2", DLB_LIST_NUMBERS, "/ 2", message);
    no_list("1..8 *2 +1", DLB_LIST_NUMBERS, "+1", message);
    no_list("1..", DLB_LIST_NUMBERS, "", "a value is missing at the end");
    no_list("1..8 *", DLB_LIST_NUMBERS, "", "a value is missing at the end");
    no_values("1..hostname", DLB_LIST_NUMBERS, "hostname", "a range needs numbers");
}

/* The limit holds before anything is handed out, however many values a range would have. */
Test(list, more_values_than_the_limit_are_refused, .timeout = 60)
{
    dlb_expr_fault fault;
    const char *const huge[] = {"1..1001", "1..10000000000",
                                "(-9223372036854775808)..9223372036854775807"};
    for (size_t i = 0; i < sizeof huge / sizeof *huge; i++) {
        joined j = {0};
        dlb_list *list = parse(huge[i], DLB_LIST_NUMBERS);
        cr_assert_eq(dlb_list_eval(list, values, LIMIT, join, &j, &fault), DLB_BAD_INPUT);
        assert_fault(huge[i], &fault, huge[i], "the list has more than 1000 values");
        cr_assert_eq(j.count, 0);
        cr_assert_eq(dlb_list_eval(list, values, 0, join, &j, &fault), DLB_BAD_INPUT);
        dlb_list_free(list);
    }
    no_values("1 2 1..999 5", DLB_LIST_NUMBERS, "1..999 5", "the list has more than 1000 values");
    no_values("1..1000 5", DLB_LIST_NUMBERS, "5", "the list has more than 1000 values");
    no_values("1..2 *1.0000001", DLB_LIST_NUMBERS, "1..2 *1.0000001",
              "the list has more than 1000 values");
    no_values("0..1e300", DLB_LIST_NUMBERS, "0..1e300", "the list has more than 1000 values");
}

Test(list, exactly_the_limit_is_allowed)
{
    dlb_expr_fault fault;
    joined j = {0};
    dlb_list *list = parse("1..900 1..100", DLB_LIST_NUMBERS);
    cr_assert_eq(dlb_list_eval(list, values, LIMIT, join, &j, &fault), 0);
    cr_assert_eq(j.count, 1000);
    dlb_str_release(&j.text);
    dlb_list_free(list);
}

Test(list, faults_of_numbers_stand_where_they_are)
{
    no_list("", DLB_LIST_NUMBERS, "", "a value is missing here");
    no_list("  ", DLB_LIST_NUMBERS, "", "a value is missing here");
    no_list("1, 2", DLB_LIST_NUMBERS, ", 2", "items are separated by blanks, not by commas");
    no_list("1 (2)(3)", DLB_LIST_NUMBERS, "(3)",
            "an operator, or a blank between two items, is missing here");
    no_list("1 crores 2", DLB_LIST_NUMBERS, "crores 2", "there is no crores; did you mean cores?");
    no_list("1 2 (3", DLB_LIST_NUMBERS, "(3", "this ( is not closed");
    no_values("1 cores / ranks", DLB_LIST_NUMBERS, "/ ranks",
              "12 / 5 leaves a remainder; floor(a / b) rounds it down");
    no_values("1 2..(1 / 0)", DLB_LIST_NUMBERS, "/ 0)", "1 / 0 has no value");
}

Test(list, texts_are_words)
{
    texts("ref blas", "ref|blas");
    texts("granularity=fine,compact,1,0  \"a b\"\t\"\" x", "granularity=fine,compact,1,0|a b||x");
    texts("--title=\"a b\"c 1..8 -3 *", "--title=a bc|1..8|-3|*");
    texts("gr\xc3\xb6\xc3\x9f"
          "er",
          "gr\xc3\xb6\xc3\x9f"
          "er");
}

Test(list, braces_are_replaced_by_values)
{
    texts("cores({ranks})", "cores(5)");
    texts("{ranks}{cores} {ranks + 1}x {hostname}", "512|6x|node 1");
    texts("\"{cores / 2} of { cores }\"", "6 of 12");
    texts("{{ranks}} {{{ranks}}} }}", "{ranks}|{5}|}");
    texts("{if(ranks > 3, \"a b\", \"\")} {if(ranks > 5, 1, \"\")}", "a b|");
}

Test(list, faults_of_texts_stand_where_they_are)
{
    no_list("", DLB_LIST_TEXTS, "", "a value is missing here");
    no_list("a \"b c", DLB_LIST_TEXTS, "\"b c", "this quote is not closed");
    no_list("a x}b", DLB_LIST_TEXTS, "}b", "this } closes nothing; }} is a brace");
    no_list("a {ranks", DLB_LIST_TEXTS, "{ranks", "this { is not closed; {{ is a brace");
    no_list("a {ranks cores}", DLB_LIST_TEXTS, "cores}", "an operator or } is missing before this");
    no_list("a {rnks}", DLB_LIST_TEXTS, "rnks}", "there is no rnks; did you mean ranks?");
    no_list("a {}", DLB_LIST_TEXTS, "}", "a value is missing here");
    no_values("a x{cores / ranks}", DLB_LIST_TEXTS, "/ ranks}",
              "12 / 5 leaves a remainder; floor(a / b) rounds it down");
}

Test(list, it_knows_the_slots_that_its_items_depend_on)
{
    const int *slots;
    dlb_list *list = parse("1 ranks 1..cores *ranks", DLB_LIST_NUMBERS);
    cr_assert_eq(dlb_list_slots(list, &slots), 2);
    cr_assert_eq(slots[0], 1);
    cr_assert_eq(slots[1], 0);
    dlb_list_free(list);
    list = parse("a{hostname}{hostname} b", DLB_LIST_TEXTS);
    cr_assert_eq(dlb_list_slots(list, &slots), 1);
    cr_assert_eq(slots[0], 2);
    dlb_list_free(list);
    list = parse("1..8 a", DLB_LIST_TEXTS);
    cr_assert_eq(dlb_list_slots(list, &slots), 0);
    dlb_list_free(list);
}

Test(list, values_come_with_the_place_of_their_item)
{
    dlb_expr_fault fault;
    joined j = {0};
    dlb_list *list = parse("1 22 4..6", DLB_LIST_NUMBERS);
    cr_assert_eq(dlb_list_eval(list, values, LIMIT, join, &j, &fault), 0);
    cr_assert_eq(j.offset, 5);
    cr_assert_eq(j.kind, DLB_SCALAR_INT);
    dlb_str_release(&j.text);
    dlb_list_free(list);
}

Test(list, the_receiver_can_stop_it)
{
    dlb_expr_fault fault;
    const char *const lists[] = {"1 2 3 4", "1..9", "1..9 *2", "1..9 *1.5"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        joined j = {.stop_after = 2};
        dlb_list *list = parse(lists[i], DLB_LIST_NUMBERS);
        cr_assert_eq(dlb_list_eval(list, values, LIMIT, join, &j, &fault), 7);
        cr_assert_eq(j.count, 2);
        dlb_str_release(&j.text);
        dlb_list_free(list);
    }
}

/* Half a million items, which only a parser in linear time gets through. */
Test(list, a_large_list_is_read_whole, .timeout = 60)
{
    enum { ITEMS = 500000 };
    dlb_str text = DLB_STR_INIT;
    for (int i = 0; i < ITEMS; i++)
        dlb_str_add(&text, i % 2 ? "7 " : "\"x\" ");
    for (int kind = DLB_LIST_NUMBERS; kind <= DLB_LIST_TEXTS; kind++) {
        dlb_expr_fault fault;
        joined j = {0};
        dlb_list *list = parse(text.text, (enum dlb_list_kind)kind);
        cr_assert_eq(dlb_list_eval(list, values, ITEMS, join, &j, &fault), 0);
        cr_assert_eq(j.count, ITEMS);
        cr_assert_eq(j.offset, text.length - 2);
        dlb_str_release(&j.text);
        dlb_list_free(list);
    }
    dlb_str_release(&text);
}
