#include "train/schedule.h"

#include <criterion/criterion.h>
#include <math.h>

enum { STEPS = 10 }; /* of an epoch */

static dlb_workload w;

static void set(enum dlb_key key, const char *text)
{
    dlb_error err;
    cr_assert_eq(dlb_workload_set(&w, key, text, &err), 0, "%s", err.message);
}

static void init(void)
{
    dlb_workload_init(&w);
    set(DLB_KEY_lr, "0.01");
    set(DLB_KEY_epochs, "8");
}

static void release(void)
{
    dlb_workload_release(&w);
}

TestSuite(schedule, .init = init, .fini = release);

static dlb_schedule schedule_for(int workers)
{
    dlb_schedule schedule;
    dlb_schedule_init(&schedule, &w, workers, STEPS);
    return schedule;
}

static void expect_rate(const dlb_schedule *schedule, int epoch, int step, double expected)
{
    double rate = dlb_schedule_rate(schedule, epoch, step);
    cr_assert(fabs(rate - expected) <= 1e-15 * expected, "%.17g instead of %.17g in %d:%d", rate,
              expected, epoch, step);
}

Test(schedule, one_worker_has_its_own_rate_in_every_step)
{
    dlb_schedule s = schedule_for(1);
    cr_assert_eq(dlb_schedule_rate(&s, 1, 0), 0.01);
    cr_assert_eq(dlb_schedule_rate(&s, 4, 5), 0.01);
    cr_assert_eq(dlb_schedule_rate(&s, 8, 9), 0.01);
}

Test(schedule, the_rate_grows_with_the_workers_as_asked)
{
    const char *const forms[] = {"none", "sqrt", "linear"};
    const double rates[] = {0.01, 0.08, 0.64};
    for (int i = 0; i < 3; i++) {
        set(DLB_KEY_lr_scaling, forms[i]);
        dlb_schedule s = schedule_for(64);
        expect_rate(&s, 1, 0, rates[i]);
        expect_rate(&s, 8, 9, rates[i]);
    }
}

Test(schedule, a_flat_warmup_keeps_the_unscaled_rate_to_its_end)
{
    set(DLB_KEY_warmup_epochs, "2");
    set(DLB_KEY_warmup, "flat");
    dlb_schedule s = schedule_for(8);
    cr_assert_eq(dlb_schedule_rate(&s, 1, 0), 0.01);
    cr_assert_eq(dlb_schedule_rate(&s, 2, 9), 0.01);
    cr_assert_eq(dlb_schedule_rate(&s, 3, 0), 0.08);
    cr_assert_eq(dlb_schedule_rate(&s, 8, 9), 0.08);
}

Test(schedule, a_gradual_warmup_is_a_straight_line_with_exact_ends)
{
    set(DLB_KEY_warmup_epochs, "2");
    dlb_schedule s = schedule_for(8);
    cr_assert_eq(dlb_schedule_rate(&s, 1, 0), 0.01);
    expect_rate(&s, 1, 1, 0.01 + 0.07 / 20);
    expect_rate(&s, 2, 0, 0.045);
    expect_rate(&s, 2, 9, 0.01 + 0.07 * 19 / 20);
    cr_assert_eq(dlb_schedule_rate(&s, 3, 0), 0.08);
    cr_assert_eq(dlb_schedule_rate(&s, 3, 1), 0.08);
}

Test(schedule, a_warmup_may_end_within_an_epoch)
{
    set(DLB_KEY_warmup_epochs, "1.5");
    dlb_schedule s = schedule_for(4);
    cr_assert_eq(dlb_schedule_rate(&s, 1, 0), 0.01);
    expect_rate(&s, 2, 4, 0.01 + 0.03 * 14 / 15);
    cr_assert_eq(dlb_schedule_rate(&s, 2, 5), 0.04);
    set(DLB_KEY_warmup, "flat");
    s = schedule_for(4);
    cr_assert_eq(dlb_schedule_rate(&s, 2, 4), 0.01);
    cr_assert_eq(dlb_schedule_rate(&s, 2, 5), 0.04);
}

/* 1.1 * 10 is 11.000000000000002, and 0.14 epochs are no whole number of steps. */
Test(schedule, a_warmup_ends_at_the_nearest_step)
{
    set(DLB_KEY_warmup_epochs, "1.1");
    dlb_schedule s = schedule_for(4);
    expect_rate(&s, 2, 0, 0.01 + 0.03 * 10 / 11);
    cr_assert_eq(dlb_schedule_rate(&s, 2, 1), 0.04);
    set(DLB_KEY_warmup_epochs, "0.14");
    s = schedule_for(4);
    cr_assert_eq(dlb_schedule_rate(&s, 1, 0), 0.01);
    cr_assert_eq(dlb_schedule_rate(&s, 1, 1), 0.04);
    set(DLB_KEY_warmup_epochs, "0.01");
    s = schedule_for(4);
    cr_assert_eq(dlb_schedule_rate(&s, 1, 0), 0.04);
}

Test(schedule, steps_fall_after_every_so_many_epochs_from_the_start)
{
    set(DLB_KEY_schedule, "step");
    set(DLB_KEY_schedule_epochs, "3");
    set(DLB_KEY_schedule_factor, "0.5");
    dlb_schedule s = schedule_for(2);
    expect_rate(&s, 1, 0, 0.02);
    expect_rate(&s, 3, 9, 0.02);
    expect_rate(&s, 4, 0, 0.01);
    expect_rate(&s, 6, 9, 0.01);
    expect_rate(&s, 7, 0, 0.005);
    expect_rate(&s, 8, 9, 0.005);
}

Test(schedule, steps_within_the_warmup_have_fallen_at_its_end)
{
    set(DLB_KEY_schedule, "step");
    set(DLB_KEY_schedule_epochs, "1");
    set(DLB_KEY_schedule_factor, "0.5");
    set(DLB_KEY_warmup_epochs, "2");
    set(DLB_KEY_warmup, "flat");
    dlb_schedule s = schedule_for(8);
    expect_rate(&s, 2, 0, 0.01);
    expect_rate(&s, 3, 0, 0.02);
}

Test(schedule, a_cosine_leads_from_the_scaled_rate_to_nearly_nothing)
{
    set(DLB_KEY_schedule, "cosine");
    dlb_schedule s = schedule_for(4);
    cr_assert_eq(dlb_schedule_rate(&s, 1, 0), 0.04);
    expect_rate(&s, 3, 0, 0.04 * 0.85355339059327376); /* (1 + cos 45°) / 2 */
    expect_rate(&s, 5, 0, 0.02);
    cr_assert_float_eq(dlb_schedule_rate(&s, 8, 9), 0.04 * 0.000385505, 1e-9);
    for (int i = 1; i < 8 * STEPS; i++)
        cr_assert_lt(dlb_schedule_rate(&s, 1 + i / STEPS, i % STEPS),
                     dlb_schedule_rate(&s, 1 + (i - 1) / STEPS, (i - 1) % STEPS));
}

Test(schedule, a_cosine_begins_where_the_warmup_ends)
{
    set(DLB_KEY_schedule, "cosine");
    set(DLB_KEY_warmup_epochs, "2");
    dlb_schedule s = schedule_for(4);
    cr_assert_eq(dlb_schedule_rate(&s, 1, 0), 0.01);
    cr_assert_eq(dlb_schedule_rate(&s, 3, 0), 0.04);
    expect_rate(&s, 6, 0, 0.02);
}

static dlb_schedule plateau(const char *patience)
{
    set(DLB_KEY_schedule, "plateau");
    set(DLB_KEY_schedule_epochs, patience);
    set(DLB_KEY_schedule_factor, "0.5");
    return schedule_for(4);
}

/* The epochs of `losses`, up to 0; the rate of each next epoch must be that of `rates`. */
static void expect_course(dlb_schedule *s, const double *losses, const double *rates)
{
    for (int epoch = 1; losses[epoch - 1] != 0; epoch++) {
        dlb_schedule_end_epoch(s, epoch, losses[epoch - 1]);
        expect_rate(s, epoch + 1, 0, rates[epoch - 1]);
    }
}

/* What ReduceLROnPlateau(patience=2, factor=0.5, min_delta=0, cooldown=0) does in Keras. */
Test(schedule, a_plateau_lowers_the_rate_after_epochs_without_a_lower_loss)
{
    dlb_schedule s = plateau("2");
    const double losses[] = {1.0, 0.8, 0.9, 0.8, 0.7, 0.7, 0.71, 0.72, 0.73, 0.69, 0.7, 0.7, 0};
    const double rates[] = {.04, .04, .04, .02, .02, .02, .01, .01, .005, .005, .005, .0025};
    expect_rate(&s, 1, 0, 0.04);
    expect_course(&s, losses, rates);
}

Test(schedule, a_plateau_of_one_epoch_falls_at_once)
{
    dlb_schedule s = plateau("1");
    expect_course(&s, (double[]){1, 1, 0.5, 2, 2, 0}, (double[]){.04, .02, .02, .01, .005});
}

Test(schedule, a_loss_that_is_no_number_is_no_lower_one)
{
    dlb_schedule s = plateau("2");
    expect_course(&s, (double[]){1, NAN, NAN, 0}, (double[]){.04, .04, .02});
    cr_assert_eq(s.plateau.lowest, 1);
}

Test(schedule, a_plateau_waits_for_the_end_of_the_warmup)
{
    set(DLB_KEY_warmup_epochs, "3");
    dlb_schedule s = plateau("2");
    for (int epoch = 1; epoch <= 3; epoch++)
        dlb_schedule_end_epoch(&s, epoch, 1);
    expect_rate(&s, 4, 0, 0.04);
    dlb_schedule_end_epoch(&s, 4, 1);
    expect_rate(&s, 5, 0, 0.02);
}

Test(schedule, what_a_plateau_remembers_is_all_that_is_needed_to_go_on)
{
    const double losses[] = {1.0, 0.8, 0.9, 0.8, 0.7, 0.7, 0.71};
    dlb_schedule whole = plateau("2"), resumed = plateau("2");
    for (int epoch = 1; epoch <= 7; epoch++) {
        dlb_schedule_end_epoch(&whole, epoch, losses[epoch - 1]);
        dlb_plateau kept = resumed.plateau;
        resumed = schedule_for(4);
        resumed.plateau = kept;
        dlb_schedule_end_epoch(&resumed, epoch, losses[epoch - 1]);
        expect_rate(&resumed, epoch + 1, 0, dlb_schedule_rate(&whole, epoch + 1, 0));
    }
}

Test(schedule, other_forms_are_deaf_to_the_test_loss)
{
    const char *const forms[] = {"constant", "step", "cosine"};
    for (int i = 0; i < 3; i++) {
        set(DLB_KEY_schedule, forms[i]);
        dlb_schedule s = schedule_for(4);
        double before = dlb_schedule_rate(&s, 5, 0);
        for (int epoch = 1; epoch <= 4; epoch++)
            dlb_schedule_end_epoch(&s, epoch, 1);
        cr_assert_eq(dlb_schedule_rate(&s, 5, 0), before);
    }
}
