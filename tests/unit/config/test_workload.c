#include <criterion/criterion.h>

#include "config/workload.h"

static dlb_workload w;

static void init(void)
{
    dlb_workload_init(&w);
}

static void release(void)
{
    dlb_workload_release(&w);
}

TestSuite(keys, .init = init, .fini = release);
TestSuite(workload, .init = init, .fini = release);

static void set(enum dlb_key key, const char *text)
{
    dlb_error err;
    cr_assert_eq(dlb_workload_set(&w, key, text, &err), 0, "%s", err.message);
}

static void assert_value(enum dlb_key key, const char *expected)
{
    dlb_str text = DLB_STR_INIT;
    dlb_workload_get(&w, key, &text);
    cr_assert_str_eq(text.text, expected);
    dlb_str_release(&text);
}

/* The message, after the value has been refused and nothing changed. */
static const char *refusal(enum dlb_key key, const char *text)
{
    static dlb_error err;
    dlb_str before = DLB_STR_INIT;
    dlb_workload_get(&w, key, &before);
    uint64_t given = w.given;
    cr_assert_eq(dlb_workload_set(&w, key, text, &err), DLB_BAD_INPUT, "%s = %s",
                 dlb_key_info(key)->name, text);
    assert_value(key, before.text);
    cr_assert_eq(w.given, given);
    dlb_str_release(&before);
    return err.message;
}

Test(keys, a_name_is_found_with_dashes_or_underscores)
{
    cr_assert_eq(dlb_key_find("drop_last"), DLB_KEY_drop_last);
    cr_assert_eq(dlb_key_find("drop-last"), DLB_KEY_drop_last);
    cr_assert_eq(dlb_key_find("lr"), DLB_KEY_lr);
}

Test(keys, what_is_no_key_is_not_found)
{
    const char *const wrong[] = {"", "drop", "drop_last_", "Lr", "drop last", "--lr"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        cr_assert_eq(dlb_key_find(wrong[i]), -1, "%s", wrong[i]);
}

Test(keys, each_key_has_a_name_of_its_own_a_help_and_a_valid_default)
{
    for (int key = 0; key < DLB_KEY_COUNT; key++) {
        const struct dlb_key_info *info = dlb_key_info(key);
        cr_assert_eq(dlb_key_find(info->name), key);
        cr_assert_gt(strlen(info->help), 0);
        cr_assert_gt(strlen(info->value), 0);
        set(key, info->preset);
    }
}

static bool learns_from(enum dlb_key key)
{
    return dlb_key_info(key)->of_learning;
}

/* A training goes on from its checkpoint with other values of those that have none. */
Test(keys, what_has_a_part_in_what_is_learnt_is_told_from_what_has_none)
{
    cr_assert(learns_from(DLB_KEY_batch) && dlb_key_info(DLB_KEY_batch)->of_model);
    cr_assert(learns_from(DLB_KEY_workers) && !dlb_key_info(DLB_KEY_workers)->of_model);
    cr_assert(learns_from(DLB_KEY_seed) && learns_from(DLB_KEY_shuffle));
    cr_assert_not(learns_from(DLB_KEY_ranks) || learns_from(DLB_KEY_threads));
    cr_assert_not(learns_from(DLB_KEY_epochs) || learns_from(DLB_KEY_comm));
}

Test(keys, the_limits_of_a_number_are_allowed_themselves)
{
    for (int key = 0; key < DLB_KEY_COUNT; key++) {
        const struct dlb_key_info *info = dlb_key_info(key);
        if (info->type != DLB_TYPE_INT)
            continue;
        char text[32];
        snprintf(text, sizeof text, "%.0f", info->max);
        set(key, text);
        snprintf(text, sizeof text, "%.0f", info->max + 1);
        refusal(key, text);
        snprintf(text, sizeof text, "%.0f", info->min - 1);
        refusal(key, text);
    }
}

Test(workload, defaults_are_those_of_the_documentation)
{
    cr_assert_str_eq(w.model, "keras_cnn");
    cr_assert_eq(w.epochs, 5);
    cr_assert_eq(w.batch, 128);
    cr_assert_eq(w.optimizer, DLB_optimizer_adam);
    cr_assert_eq(w.lr, 0.001);
    cr_assert_eq(w.epsilon, 1e-7);
    cr_assert_not(w.drop_last);
    cr_assert_eq(w.given, 0);
}

Test(workload, values_of_every_type_are_set_and_marked_as_given)
{
    set(DLB_KEY_seed, "4294967295");
    set(DLB_KEY_lr, "2.5e-4");
    set(DLB_KEY_drop_last, "yes");
    set(DLB_KEY_model, "my/net.model");
    set(DLB_KEY_optimizer, "sgd");
    cr_assert_eq(w.seed, 4294967295);
    cr_assert_eq(w.lr, 2.5e-4);
    cr_assert(w.drop_last);
    cr_assert_str_eq(w.model, "my/net.model");
    cr_assert_eq(w.optimizer, DLB_optimizer_sgd);
    cr_assert(dlb_workload_is_set(&w, DLB_KEY_optimizer));
    cr_assert_not(dlb_workload_is_set(&w, DLB_KEY_batch));
}

Test(workload, a_wrong_number_is_told_with_key_value_range_and_unit)
{
    cr_assert_str_eq(refusal(DLB_KEY_batch, "0"),
                     "batch = 0: must be an integer from 1 to 65536 images");
    cr_assert_str_eq(refusal(DLB_KEY_momentum, "1.5"),
                     "momentum = 1.5: must be a number from 0 to 1");
    const char *const wrong[] = {"", "1.5", "ten", "1e3", " 1", "99999999999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refusal(DLB_KEY_batch, wrong[i]);
}

Test(workload, a_real_is_finite_and_in_range)
{
    const char *const wrong[] = {"nan", "inf", "-inf", "-0.1", "1001", "1e999", "", "0,1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        refusal(DLB_KEY_lr, wrong[i]);
}

Test(workload, a_wrong_choice_is_told_with_all_choices_and_the_closest)
{
    cr_assert_str_eq(
        refusal(DLB_KEY_optimizer, "adm"),
        "optimizer = adm: must be one of sgd|adam|adagrad|lars|larc; did you mean adam?");
    cr_assert_str_eq(refusal(DLB_KEY_optimizer, "lion"),
                     "optimizer = lion: must be one of sgd|adam|adagrad|lars|larc");
    refusal(DLB_KEY_optimizer, "");
    refusal(DLB_KEY_optimizer, "sgd|adam");
}

Test(workload, a_boolean_is_yes_or_no)
{
    set(DLB_KEY_nesterov, "no");
    cr_assert_str_eq(refusal(DLB_KEY_nesterov, "true"), "nesterov = true: must be yes or no");
}

Test(workload, a_text_may_be_empty_only_where_that_is_the_default)
{
    set(DLB_KEY_counters, "");
    refusal(DLB_KEY_model, "");
}

Test(workload, a_very_long_wrong_value_does_not_push_the_advice_out_of_the_message)
{
    static char text[5000];
    memset(text, '9', sizeof text - 1);
    cr_assert(strstr(refusal(DLB_KEY_epochs, text), "from 1 to 100000 epochs"));
}

Test(workload, a_text_can_be_set_to_itself)
{
    set(DLB_KEY_model, "a.model");
    set(DLB_KEY_model, w.model);
    cr_assert_str_eq(w.model, "a.model");
}

Test(workload, a_model_default_does_not_override_the_user)
{
    set(DLB_KEY_batch, "32");
    cr_assert_eq(dlb_workload_set_default(&w, DLB_KEY_batch, "64", NULL), 0);
    cr_assert_eq(dlb_workload_set_default(&w, DLB_KEY_lr, "0.01", NULL), 0);
    cr_assert_eq(w.batch, 32);
    cr_assert_eq(w.lr, 0.01);
    cr_assert_not(dlb_workload_is_set(&w, DLB_KEY_lr));
}

Test(workload, a_wrong_model_default_is_refused_even_where_the_user_gave_a_value)
{
    set(DLB_KEY_batch, "32");
    cr_assert_eq(dlb_workload_set_default(&w, DLB_KEY_batch, "many", NULL), DLB_BAD_INPUT);
    cr_assert_eq(dlb_workload_set_default(&w, DLB_KEY_lr, "-1", NULL), DLB_BAD_INPUT);
    cr_assert_eq(w.batch, 32);
    cr_assert_eq(w.lr, 0.001);
}

Test(workload, the_text_of_every_value_reads_back_as_the_same)
{
    set(DLB_KEY_lr, "0.30000000000000004");
    set(DLB_KEY_isa, "avx512");
    set(DLB_KEY_kmp_affinity, "granularity=fine,compact,1,0");
    dlb_workload again;
    dlb_workload_init(&again);
    for (int key = 0; key < DLB_KEY_COUNT; key++) {
        dlb_str text = DLB_STR_INIT;
        dlb_workload_get(&w, key, &text);
        cr_assert_eq(dlb_workload_set(&again, key, text.text, NULL), 0);
        dlb_str_release(&text);
    }
    cr_assert_eq(again.lr, w.lr);
    cr_assert_eq(again.isa, w.isa);
    cr_assert_str_eq(again.kmp_affinity, w.kmp_affinity);
    dlb_workload_release(&again);
}

Test(workload, a_copy_is_equal_and_independent)
{
    set(DLB_KEY_data, "synthetic");
    set(DLB_KEY_threads, "3");
    dlb_workload copy;
    dlb_workload_copy(&copy, &w);
    set(DLB_KEY_data, "mnist");
    cr_assert_str_eq(copy.data, "synthetic");
    cr_assert_eq(copy.threads, 3);
    cr_assert(dlb_workload_is_set(&copy, DLB_KEY_data));
    dlb_workload_release(&copy);
}
