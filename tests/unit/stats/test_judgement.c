#include "stats/judgement.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { ROUNDS = 12 };

static const dlb_judgement_rule rule = {
    .threshold = 0.02, .floor_s = 1e-8, .chance = 0.05, .kernels = 3};

/* Rounds of a kernel of 100 µs; every time has its own share of noise, up to ± `noise`. */
typedef struct made_rounds {
    double change[ROUNDS], control[ROUNDS];
} made_rounds;

/* 0 … 1, by splitmix64. */
static double uniform(uint64_t number)
{
    uint64_t z = (number + 1) * 0x9E3779B97F4A7C15U;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27) * 0x94D049BB133111EBU;
    return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

static double noisy(uint32_t seed, uint32_t index, double noise)
{
    return 1 + noise * (2 * uniform((uint64_t)seed << 32 | index) - 1);
}

static made_rounds make(uint32_t seed, double slowdown, double noise)
{
    made_rounds r;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        double before = noisy(seed, 3 * i, noise);
        r.change[i] = log((1 + slowdown) * noisy(seed, 3 * i + 1, noise) / before);
        r.control[i] = log(noisy(seed, 3 * i + 2, noise) / before);
    }
    return r;
}

static dlb_judgement judge(const made_rounds *r, const dlb_judgement_rule *by)
{
    dlb_judgement_rounds rounds = {ROUNDS, r->change, r->control, 100e-6};
    return dlb_judgement_of(by, &rounds);
}

static dlb_judgement judge_made(double slowdown, double noise)
{
    made_rounds t = make(1, slowdown, noise);
    return judge(&t, &rule);
}

Test(judgement, a_change_beyond_the_threshold_is_found_in_either_direction)
{
    dlb_judgement slower = judge_made(0.05, 0.005), faster = judge_made(-0.05, 0.005);
    cr_assert_eq(slower.kind, DLB_JUDGED_SLOWER);
    cr_assert_eq(faster.kind, DLB_JUDGED_FASTER);
    cr_assert_float_eq(slower.effect, 0.05, 0.005);
    cr_assert_float_eq(faster.effect, -0.05, 0.005);
    cr_assert(slower.low > 0.02 && slower.low <= slower.effect && slower.effect <= slower.high);
}

Test(judgement, what_lies_within_the_threshold_as_a_whole_is_the_same)
{
    cr_assert_eq(judge_made(0, 0.005).kind, DLB_JUDGED_SAME);
    cr_assert_eq(judge_made(0.005, 0.005).kind, DLB_JUDGED_SAME);
}

Test(judgement, an_interval_that_crosses_the_threshold_tells_nothing)
{
    cr_assert_eq(judge_made(0.02, 0.005).kind, DLB_JUDGED_INCONCLUSIVE);
    cr_assert_eq(judge_made(0, 0.2).kind, DLB_JUDGED_INCONCLUSIVE);
    cr_assert_eq(judge_made(0.05, 0.2).kind, DLB_JUDGED_INCONCLUSIVE);
}

Test(judgement, below_what_the_control_differs_by_nothing_is_said)
{
    made_rounds t = make(1, 0.05, 0.002), same = make(1, 0, 0.002);
    for (int i = 0; i < ROUNDS; i++) {
        t.control[i] += 0.06;
        same.control[i] += 0.03;
    }
    dlb_judgement verdict = judge(&t, &rule);
    cr_assert_eq(verdict.kind, DLB_JUDGED_INCONCLUSIVE);
    cr_assert(verdict.resolution > 0.05);
    cr_assert_eq(judge(&same, &rule).kind, DLB_JUDGED_INCONCLUSIVE);
}

Test(judgement, less_than_the_floor_is_no_change)
{
    dlb_judgement_rule high = rule;
    high.floor_s = 1;
    made_rounds t = make(1, 0.5, 0.002);
    cr_assert_eq(judge(&t, &high).kind, DLB_JUDGED_INCONCLUSIVE);
    cr_assert_eq(judge(&t, &rule).kind, DLB_JUDGED_SLOWER);
}

Test(judgement, more_kernels_need_more_rounds_and_wider_intervals)
{
    dlb_judgement_rule one = rule, many = rule;
    one.kernels = 1;
    many.kernels = 40;
    cr_assert_eq(dlb_judgement_needed(&one), 6);
    cr_assert_eq(dlb_judgement_needed(&rule), 7);
    cr_assert_eq(dlb_judgement_needed(&many), 11);
    made_rounds t = make(3, 0.05, 0.02);
    dlb_judgement narrow = judge(&t, &one), wide = judge(&t, &many);
    cr_assert(wide.low < narrow.low && wide.high > narrow.high);
}

Test(judgement, missing_rounds_are_left_out_and_too_few_tell_nothing)
{
    made_rounds t = make(1, 0.05, 0.002);
    t.change[1] = t.control[2] = NAN;
    cr_assert_eq(judge(&t, &rule).kind, DLB_JUDGED_SLOWER);
    for (int i = 6; i < ROUNDS; i++)
        t.change[i] = NAN;
    dlb_judgement verdict = judge(&t, &rule);
    cr_assert_eq(verdict.kind, DLB_JUDGED_INCONCLUSIVE);
    cr_assert(isnan(verdict.effect) && isnan(verdict.low) && isnan(verdict.resolution));
}

Test(judgement, a_change_is_believed_only_if_a_repetition_says_the_same)
{
    dlb_judgement slower = judge_made(0.05, 0.005), faster = judge_made(-0.05, 0.005);
    dlb_judgement same = judge_made(0, 0.005);
    cr_assert(dlb_judgement_needs_repetition(&slower) && dlb_judgement_needs_repetition(&faster));
    cr_assert_not(dlb_judgement_needs_repetition(&same));
    cr_assert_eq(dlb_judgement_confirmed(&slower, &slower).kind, DLB_JUDGED_SLOWER);
    cr_assert_eq(dlb_judgement_confirmed(&slower, &same).kind, DLB_JUDGED_INCONCLUSIVE);
    cr_assert_eq(dlb_judgement_confirmed(&slower, &faster).kind, DLB_JUDGED_INCONCLUSIVE);
    cr_assert_eq(dlb_judgement_confirmed(&slower, &same).effect, same.effect);
}

/* The rate that the correction promises: no more than 5 % of checks of three kernels have one whose
 * interval misses; an alarm needs it to miss by more than the threshold besides. */
Test(judgement, equal_programs_are_told_apart_no_more_often_than_the_rule_allows)
{
    dlb_judgement_rule strict = rule;
    strict.threshold = 0;
    strict.floor_s = 0;
    int alarms = 0;
    enum { CHECKS = 1000, KERNELS = 3 };
    for (uint32_t seed = 0; seed < CHECKS; seed++) {
        int missed = 0;
        for (uint32_t kernel = 0; kernel < KERNELS; kernel++) {
            made_rounds t = make(KERNELS * seed + kernel, 0, 0.03);
            dlb_judgement verdict = judge(&t, &strict);
            missed |= verdict.low > 0 || verdict.high < 0;
        }
        alarms += missed;
    }
    cr_assert(alarms <= 50, "%d of %d", alarms, CHECKS);
}

/* ---- Against another time ---- */

/* Kernels beside a reference, then and now, each in rounds of their own. */
static dlb_judgement judge_since(uint32_t seed, double slowdown, double noise, double shift)
{
    double then[ROUNDS], now[ROUNDS], control[ROUNDS];
    for (uint32_t i = 0; i < ROUNDS; i++) {
        then[i] = log(0.25 * noisy(seed, 4 * i, noise));
        now[i] = log(0.25 * (1 + slowdown) * noisy(seed, 4 * i + 1, noise));
        control[i] = log(noisy(seed, 4 * i + 2, noise) / noisy(seed, 4 * i + 3, noise));
    }
    dlb_judgement_past past = {ROUNDS, ROUNDS, then, now, control, shift, 100e-6};
    return dlb_judgement_since(&rule, &past);
}

Test(judgement, a_change_since_another_time_is_found_in_either_direction)
{
    dlb_judgement slower = judge_since(1, 0.05, 0.003, 0), faster = judge_since(1, -0.05, 0.003, 0);
    cr_assert_eq(slower.kind, DLB_JUDGED_SLOWER);
    cr_assert_float_eq(slower.effect, 0.05, 0.005);
    cr_assert_eq(faster.kind, DLB_JUDGED_FASTER);
    cr_assert_eq(judge_since(1, 0, 0.003, 0).kind, DLB_JUDGED_SAME);
}

Test(judgement, where_references_have_moved_apart_less_than_that_is_not_said)
{
    cr_assert_eq(judge_since(1, 0.05, 0.003, 0.06).kind, DLB_JUDGED_INCONCLUSIVE);
    cr_assert_eq(judge_since(1, 0.05, 0.003, -0.06).kind, DLB_JUDGED_INCONCLUSIVE);
    cr_assert_eq(judge_since(1, 0, 0.003, 0.03).kind, DLB_JUDGED_INCONCLUSIVE);
    cr_assert_eq(judge_since(1, 0, 0.003, NAN).kind, DLB_JUDGED_INCONCLUSIVE);
    cr_assert_eq(judge_since(1, 0.2, 0.003, 0.06).kind, DLB_JUDGED_SLOWER);
}

Test(judgement, the_same_program_at_two_times_is_told_apart_no_more_often_than_the_rule_allows)
{
    int missed = 0;
    enum { CHECKS = 2000 };
    for (uint32_t seed = 0; seed < CHECKS; seed++) {
        dlb_judgement verdict = judge_since(seed, 0, 0.03, 0);
        missed += verdict.low > 0 || verdict.high < 0;
    }
    cr_assert(missed <= CHECKS * 0.05 / 3, "%d of %d", missed, CHECKS);
}

Test(judgement, has_a_word_for_each)
{
    for (int kind = 0; kind < DLB_JUDGEMENTS; kind++)
        cr_assert(strlen(dlb_judgement_name((dlb_judgement_kind)kind)) > 0);
}
