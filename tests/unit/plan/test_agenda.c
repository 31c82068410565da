#include <criterion/criterion.h>
#include <math.h>

#include "base/mem.h"
#include "base/str.h"
#include "plan/agenda.h"

static const dlb_repeats twice = {.min = 2, .max = 2};
static const dlb_repeats thrice = {.min = 3, .max = 3};
static const dlb_repeats to_ten_percent = {.min = 3, .max = 6, .precision = 0.1};

typedef double (*clock_of)(size_t point, int repeat);

static double steady(size_t point, int repeat)
{
    (void)point;
    return 10 + 0.01 * repeat;
}

/* Point 0 is steady, all others swing by a half. */
static double mixed(size_t point, int repeat)
{
    return point == 0 ? steady(point, repeat) : repeat % 2 ? 5 : 15;
}

static double none(size_t point, int repeat)
{
    (void)point, (void)repeat;
    return NAN;
}

/* Run the agenda to its end and describe it: "2.1 0.1 ..." of point and repeat. */
static char *run(dlb_agenda *s, clock_of seconds, size_t limit)
{
    dlb_str runs = DLB_STR_INIT;
    size_t point, count = 0;
    int repeat;
    dlb_str_add(&runs, "");
    for (; count < limit && dlb_agenda_next(s, 0, &point, &repeat); count++) {
        dlb_str_addf(&runs, "%s%zu.%d", count ? " " : "", point, repeat);
        dlb_agenda_done(s, point, repeat, seconds(point, repeat));
    }
    return runs.text;
}

static char *run_all(size_t points, const dlb_repeats *repeats, enum dlb_order order, uint64_t seed,
                     clock_of seconds)
{
    dlb_agenda *s = dlb_agenda_create(points, repeats, order, seed);
    char *runs = run(s, seconds, SIZE_MAX);
    dlb_agenda_free(s);
    return runs;
}

static void assert_runs(char *runs, const char *expected)
{
    cr_assert_str_eq(runs, expected, "%s", runs);
    free(runs);
}

Test(agenda, sequential_runs_all_repeats_of_a_point_then_the_next)
{
    assert_runs(run_all(2, &thrice, DLB_ORDER_SEQUENTIAL, 1, steady), "0.1 0.2 0.3 1.1 1.2 1.3");
}

/* These orders stand in the records of studies: they may never change. */
Test(agenda, the_order_of_blocks_is_the_same_on_every_machine)
{
    assert_runs(run_all(5, &twice, DLB_ORDER_BLOCKS, 1, steady),
                "0.1 4.1 3.1 2.1 1.1 0.2 2.2 3.2 4.2 1.2");
    assert_runs(run_all(5, &twice, DLB_ORDER_BLOCKS, 2, steady),
                "1.1 4.1 0.1 3.1 2.1 3.2 0.2 1.2 4.2 2.2");
}

Test(agenda, every_block_has_every_point_once)
{
    enum { POINTS = 100 };
    dlb_agenda *s = dlb_agenda_create(POINTS, &thrice, DLB_ORDER_BLOCKS, 7);
    size_t point;
    int repeat;
    for (int block = 1; block <= 3; block++) {
        bool seen[POINTS] = {false};
        for (int i = 0; i < POINTS; i++) {
            cr_assert(dlb_agenda_next(s, 0, &point, &repeat));
            cr_assert_eq(repeat, block);
            cr_assert_not(seen[point]);
            seen[point] = true;
            dlb_agenda_done(s, point, repeat, 1);
        }
    }
    cr_assert_not(dlb_agenda_next(s, 0, &point, &repeat));
    cr_assert_not(dlb_agenda_next(s, 0, &point, &repeat), "the end is the end");
    dlb_agenda_free(s);
}

/* All 6 orders of 3 points come about as often: chi squared of 5 degrees, 0.1 %. */
Test(agenda, all_orders_are_equally_likely)
{
    enum { SEEDS = 6000 };
    static const char *const orders[] = {"0.1 1.1 2.1", "0.1 2.1 1.1", "1.1 0.1 2.1",
                                         "1.1 2.1 0.1", "2.1 0.1 1.1", "2.1 1.1 0.1"};
    static const dlb_repeats once = {.min = 1, .max = 1};
    int counts[6] = {0};
    double chi2 = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        char *order = run_all(3, &once, DLB_ORDER_BLOCKS, seed, steady);
        for (int i = 0; i < 6; i++)
            counts[i] += strcmp(order, orders[i]) == 0;
        free(order);
    }
    for (int i = 0; i < 6; i++)
        chi2 += (counts[i] - SEEDS / 6.0) * (counts[i] - SEEDS / 6.0) / (SEEDS / 6.0);
    cr_assert_lt(chi2, 20.5);
}

/* However a sweep was cut short, what is left comes in the order of the uncut one. */
static void check_resumed(const dlb_repeats *repeats, enum dlb_order order, clock_of seconds)
{
    char *whole = run_all(4, repeats, order, 3, seconds);
    size_t total = 1;
    for (const char *c = whole; *c; c++)
        total += *c == ' ';
    for (size_t cut = 0; cut <= total; cut++) {
        dlb_agenda *first = dlb_agenda_create(4, repeats, order, 3);
        dlb_agenda *second = dlb_agenda_create(4, repeats, order, 3);
        size_t point;
        int repeat;
        for (size_t i = 0; i < cut; i++) {
            cr_assert(dlb_agenda_next(first, 0, &point, &repeat));
            dlb_agenda_done(first, point, repeat, seconds(point, repeat));
            dlb_agenda_done(second, point, repeat, seconds(point, repeat));
        }
        char *before = dlb_strdup(whole), *rest = before;
        for (size_t i = 0; i < cut; i++)
            rest += strcspn(rest, " ") + (rest[strcspn(rest, " ")] == ' ');
        assert_runs(run(second, seconds, SIZE_MAX), rest);
        free(before);
        dlb_agenda_free(second);
        dlb_agenda_free(first);
    }
    free(whole);
}

Test(agenda, a_resumed_sweep_goes_on_in_the_same_order)
{
    check_resumed(&thrice, DLB_ORDER_BLOCKS, steady);
    check_resumed(&thrice, DLB_ORDER_SEQUENTIAL, steady);
    check_resumed(&to_ten_percent, DLB_ORDER_BLOCKS, mixed);
    check_resumed(&to_ten_percent, DLB_ORDER_SEQUENTIAL, mixed);
}

Test(agenda, recorded_runs_are_not_run_again)
{
    dlb_agenda *s = dlb_agenda_create(2, &twice, DLB_ORDER_SEQUENTIAL, 1);
    dlb_agenda_done(s, 0, 2, 1);
    dlb_agenda_done(s, 1, 1, NAN);
    dlb_agenda_done(s, 1, 1, 1);  /* told twice */
    dlb_agenda_done(s, 1, 17, 1); /* of a study that once had more repeats */
    cr_assert_eq(dlb_agenda_left(s), 2);
    assert_runs(run(s, steady, SIZE_MAX), "0.1 1.2");
    cr_assert_eq(dlb_agenda_left(s), 0);
    dlb_agenda_free(s);
}

Test(agenda, left_counts_down)
{
    dlb_agenda *s = dlb_agenda_create(5, &twice, DLB_ORDER_BLOCKS, 1);
    cr_assert_eq(dlb_agenda_left(s), 10);
    free(run(s, steady, 4));
    cr_assert_eq(dlb_agenda_left(s), 6);
    dlb_agenda_free(s);
}

Test(agenda, a_precise_point_stops_and_a_vague_one_goes_on_to_the_limit)
{
    assert_runs(run_all(2, &to_ten_percent, DLB_ORDER_SEQUENTIAL, 1, mixed),
                "0.1 0.2 0.3 1.1 1.2 1.3 1.4 1.5 1.6");
}

Test(agenda, points_without_times_are_never_precise)
{
    assert_runs(run_all(1, &to_ten_percent, DLB_ORDER_BLOCKS, 1, none), "0.1 0.2 0.3 0.4 0.5 0.6");
}

static void check_budget(enum dlb_order order, size_t expected)
{
    dlb_repeats repeats = to_ten_percent;
    repeats.budget_s = 100;
    dlb_agenda *s = dlb_agenda_create(2, &repeats, order, 1);
    size_t point, count = 0;
    int repeat;
    double elapsed_s = 0;
    while (dlb_agenda_next(s, elapsed_s, &point, &repeat)) {
        cr_assert(repeat <= repeats.min || elapsed_s < 100);
        dlb_agenda_done(s, point, repeat, repeat % 2 ? 5 : 15);
        elapsed_s += 15;
        count++;
    }
    cr_assert_eq(count, expected, "%zu runs", count);
    dlb_agenda_free(s);
}

Test(agenda, the_budget_ends_further_repeats_but_not_the_first_ones)
{
    check_budget(DLB_ORDER_BLOCKS, 7);     /* 6, and one begun at 90 s */
    check_budget(DLB_ORDER_SEQUENTIAL, 9); /* the first point has had all of its own by then */
}

Test(agenda, a_budget_alone_asks_for_as_many_repeats_as_it_allows)
{
    static const dlb_repeats allowed = {.min = 1, .max = 3, .budget_s = 100};
    dlb_agenda *s = dlb_agenda_create(2, &allowed, DLB_ORDER_BLOCKS, 1);
    size_t point, count = 0;
    int repeat;
    for (double elapsed_s = 0; dlb_agenda_next(s, elapsed_s, &point, &repeat); elapsed_s += 40) {
        dlb_agenda_done(s, point, repeat, 40);
        count++;
    }
    cr_assert_eq(count, 3, "those begun at 0, 40 and 80 s, not at 120 s");
    cr_assert_eq(dlb_agenda_left(s), 0);
    dlb_agenda_free(s);
    assert_runs(run_all(1, &allowed, DLB_ORDER_BLOCKS, 1, none), "0.1 0.2 0.3");
}

static char *run_with_own(enum dlb_order order, double elapsed_s)
{
    static const dlb_repeats allowed = {.min = 1, .max = 2, .budget_s = 100};
    dlb_agenda *s = dlb_agenda_create(3, &allowed, order, 1);
    dlb_str runs = DLB_STR_INIT;
    size_t point;
    int repeat;
    dlb_agenda_set_repeats(s, 1, 3);
    dlb_agenda_set_repeats(s, 2, 1);
    cr_assert_eq(dlb_agenda_left(s), 5);
    while (dlb_agenda_next(s, elapsed_s, &point, &repeat)) {
        dlb_str_addf(&runs, "%zu.%d ", point, repeat);
        dlb_agenda_done(s, point, repeat, 1);
    }
    cr_assert_eq(dlb_agenda_left(s), 0);
    dlb_agenda_free(s);
    return runs.text;
}

Test(agenda, a_point_may_have_repeats_of_its_own_whatever_the_budget)
{
    assert_runs(run_with_own(DLB_ORDER_SEQUENTIAL, 0), "0.1 0.2 1.1 1.2 1.3 2.1 ");
    assert_runs(run_with_own(DLB_ORDER_SEQUENTIAL, 200), "0.1 1.1 1.2 1.3 2.1 ");
    assert_runs(run_with_own(DLB_ORDER_BLOCKS, 0), "2.1 1.1 0.1 1.2 0.2 1.3 ");
    assert_runs(run_with_own(DLB_ORDER_BLOCKS, 200), "2.1 1.1 0.1 1.2 1.3 ");
}

Test(agenda, a_study_of_ten_million_points_is_walked_through)
{
    enum { POINTS = 10000000 };
    static const dlb_repeats once = {.min = 1, .max = 1};
    dlb_agenda *s = dlb_agenda_create(POINTS, &once, DLB_ORDER_BLOCKS, 1);
    size_t point, count = 0, sum = 0;
    int repeat;
    for (; dlb_agenda_next(s, 0, &point, &repeat); count++) {
        dlb_agenda_done(s, point, repeat, 1);
        sum += point;
    }
    cr_assert_eq(count, POINTS);
    cr_assert_eq(sum, (size_t)POINTS * (POINTS - 1) / 2);
    dlb_agenda_free(s);
}
