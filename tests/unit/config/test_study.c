#include <criterion/criterion.h>

#include "config/study.h"

static dlb_study *study_of(const char *text)
{
    dlb_study *study;
    dlb_error err;
    cr_assert_eq(dlb_study_parse(&study, "sweeps/quick.ini", text, strlen(text), &err), 0, "%s",
                 err.message);
    return study;
}

static void assert_refused(const char *text, const char *part, const char *shown)
{
    dlb_study *study;
    dlb_error err;
    cr_assert_eq(dlb_study_parse(&study, "quick.ini", text, strlen(text), &err), DLB_BAD_INPUT,
                 "accepted: %s", text);
    cr_assert(strstr(err.message, part), "'%s' is not in:\n%s", part, err.message);
    cr_assert(strstr(err.message, shown), "the caret is elsewhere in:\n%s", err.message);
}

static void assert_words(dlb_words words, const char *const *expected)
{
    size_t i = 0;
    for (; expected[i]; i++) {
        cr_assert(words[i], "word %zu is missing", i);
        cr_assert_str_eq(words[i], expected[i]);
    }
    cr_assert_null(words[i]);
}

Test(study, has_the_documented_defaults)
{
    dlb_study *s = study_of("");
    cr_assert_str_eq(s->name, "quick");
    cr_assert_str_eq(s->title, "");
    cr_assert_eq(s->repeats.min, 1);
    cr_assert_eq(s->repeats.max, 1);
    cr_assert_eq(s->repeats.precision, 0);
    cr_assert_eq(s->timeout_s, 3600);
    cr_assert_eq(s->order, DLB_ORDER_BLOCKS);
    cr_assert_eq(s->order_seed, 1);
    cr_assert_str_eq(s->launcher, "auto");
    cr_assert(!s->command && !s->wrap && !s->launch_options && !s->metric_count);
    dlb_study_free(s);
}

Test(study, reads_its_settings)
{
    dlb_study *s = study_of("[study]\nname = a-1.b_2\ntitle = \"What; is it?\"\ntimeout = 90s\n"
                            "order = sequential\norder_seed = 7\nrepeats = 5\n");
    cr_assert_str_eq(s->name, "a-1.b_2");
    cr_assert_str_eq(s->title, "What; is it?");
    cr_assert_eq(s->timeout_s, 90);
    cr_assert_eq(s->order, DLB_ORDER_SEQUENTIAL);
    cr_assert_eq(s->order_seed, 7);
    cr_assert_eq(s->repeats.min, 5);
    cr_assert_eq(s->repeats.max, 5);
    dlb_study_free(s);
}

Test(study, repeats_until_a_precision_within_bounds)
{
    dlb_study *s = study_of("[study]\nprecision = 2%\nmax_repeats = 20\nbudget = 2h\n");
    cr_assert_eq(s->repeats.min, 3);
    cr_assert_eq(s->repeats.max, 20);
    cr_assert_float_eq(s->repeats.precision, 0.02, 1e-15);
    cr_assert_eq(s->repeats.budget_s, 7200);
    dlb_study_free(s);
}

Test(study, repeats_as_often_as_a_budget_allows)
{
    dlb_study *s = study_of("[study]\nmin_repeats = 1\nmax_repeats = 2\nbudget = 8m\n");
    cr_assert_eq(s->repeats.min, 1);
    cr_assert_eq(s->repeats.max, 2);
    cr_assert_eq(s->repeats.precision, 0);
    cr_assert_eq(s->repeats.budget_s, 480);
    dlb_study_free(s);
}

Test(study, settings_of_repeats_may_not_contradict_each_other)
{
    assert_refused("[study]\nprecision = 2%\n", "quick.ini:2: precision needs max_repeats",
                   "\n    precision = 2%\n    ^");
    assert_refused("[study]\nbudget = 1h\nmin_repeats = 2\n", "budget needs max_repeats", "^");
    assert_refused("[study]\nrepeats = 3\nprecision = 2%\nmax_repeats = 9\n",
                   "repeats is an exact number", "\n    repeats = 3\n");
    assert_refused("[study]\nbudget = 2h\nrepeats = 3\n", "where budget is to decide", "^");
    assert_refused("[study]\nmin_repeats = 3\n", "what is to decide?", "^");
    assert_refused("[study]\nmax_repeats = 3\n", "what is to decide?", "^");
    assert_refused("[study]\nprecision = 2%\nmin_repeats = 9\nmax_repeats = 4\n",
                   "max_repeats = 4 is less than min_repeats = 9",
                   "\n    max_repeats = 4\n                  ^");
    assert_refused("[study]\nprecision = 2%\nmax_repeats = 2\n", "less than min_repeats = 3", "^");
}

Test(study, wrong_settings_are_pointed_at)
{
    assert_refused("[study]\nrepeats = 0\n", "repeats must be a number of runs",
                   "\n    repeats = 0\n              ^");
    assert_refused("[study]\nrepeats = 2.5\n", "not '2.5'", "^");
    assert_refused("[study]\nprecision = 200%\nmax_repeats = 4\n", "precision must be", "^");
    assert_refused("[study]\ntimeout = soon\n", "timeout must be a time", "^");
    assert_refused("[study]\ntimeout = 0\n", "timeout must be a time", "^");
    assert_refused("[study]\norder = blcks\n", "did you mean blocks?", "\n            ^");
    assert_refused("[study]\norder_seed = -1\n", "order_seed must be an integer", "^");
    assert_refused("[study]\nname = ../x\n", "name must be letters", "^");
    assert_refused("[launch]\nlauncher = mpiexec\n", "unknown launcher 'mpiexec'", "^");
    assert_refused("[launch]\nlauncher = mpirnu\n", "did you mean mpirun?", "^");
}

Test(study, unknown_keys_and_sections_are_named_with_the_closest_one)
{
    assert_refused("[study]\nrepeat = 3\n", "unknown key 'repeat'; did you mean repeats?",
                   "\n    repeat = 3\n    ^");
    assert_refused("[launch]\nwarp = perf\n", "did you mean wrap?", "^");
    assert_refused("[gird]\n", "unknown section 'gird'; did you mean grid?", "^");
    assert_refused("[workload b]\n", "only a grid has a name", "^");
}

Test(study, a_name_that_a_file_cannot_give_must_be_set)
{
    dlb_study *study;
    dlb_error err;
    cr_assert_eq(dlb_study_parse(&study, "my study.ini", "", 0, &err), DLB_BAD_INPUT);
    cr_assert(strstr(err.message, "give one as name in [study]"), "%s", err.message);
}

Test(study, commands_are_words)
{
    dlb_study *s =
        study_of("[workload]\ncommand = python3 \"my train.py\" --lr={lr * 2} \"\" a\"b c\"d \\\n"
                 "   {{x}} \"{if(lr > 1, \"} a\", \"b\")} c\"\n"
                 "[launch]\noptions = --mca btl  self\nwrap = perf -o {run_dir}/p\n");
    assert_words(s->command,
                 (const char *const[]){"python3", "my train.py", "--lr={lr * 2}", "", "ab cd",
                                       "{{x}}", "{if(lr > 1, \"} a\", \"b\")} c", NULL});
    assert_words(s->launch_options, (const char *const[]){"--mca", "btl", "self", NULL});
    assert_words(s->wrap, (const char *const[]){"perf", "-o", "{run_dir}/p", NULL});
    cr_assert_eq(s->command_place.line, 2);
    dlb_study_free(s);
}

Test(study, words_that_do_not_end_are_pointed_at)
{
    assert_refused("[workload]\ncommand = a \"b\n", "this quote is not closed",
                   "\n    command = a \"b\n                ^");
    assert_refused("[workload]\ncommand = a {b c\n", "this brace is not closed",
                   "\n    command = a {b c\n                ^");
    assert_refused("[workload]\ncommand = \"a {\" b\n", "not closed", "^");
    assert_refused("[workload]\ncommand =\n", "a word is missing", "^");
}

Test(study, metrics_say_where_a_number_is)
{
    dlb_study *s = study_of("[workload]\ncommand = x\n[metrics]\nloss = regex loss: ([0-9.]+)\n"
                            "acc = json {run_dir}/out.json results.0.acc\n"
                            "t = csv \"my log.csv\" wall time\nq = regex \" ; ([0-9]+)\"\n");
    cr_assert_eq(s->metric_count, 4);
    cr_assert_eq(s->metrics[0].kind, DLB_METRIC_REGEX);
    cr_assert_str_eq(s->metrics[0].name, "loss");
    cr_assert_str_eq(s->metrics[0].pattern, "loss: ([0-9.]+)");
    cr_assert_eq(s->metrics[1].kind, DLB_METRIC_JSON);
    cr_assert_str_eq(s->metrics[1].file, "{run_dir}/out.json");
    cr_assert_str_eq(s->metrics[1].pattern, "results.0.acc");
    cr_assert_eq(s->metrics[2].kind, DLB_METRIC_CSV);
    cr_assert_str_eq(s->metrics[2].file, "my log.csv");
    cr_assert_str_eq(s->metrics[2].pattern, "wall time");
    cr_assert_str_eq(s->metrics[3].pattern, " ; ([0-9]+)");
    dlb_study_free(s);
}

Test(study, wrong_metrics_are_pointed_at)
{
#define FOREIGN "[workload]\ncommand = x\n[metrics]\n"
    assert_refused("[metrics]\na = regex (b)\n", "[workload] has no command", "^");
    assert_refused(FOREIGN "a-b = regex (b)\n", "'a-b' is no name of a metric", "^");
    assert_refused(FOREIGN "wall_s = regex (b)\n", "wall_s is always there", "^");
    assert_refused(FOREIGN "a = xml b\n", "regex PATTERN, json FILE PATH, or csv FILE COLUMN", "^");
    assert_refused(FOREIGN "a = regex b(\n", "no regular expression",
                   "\n    a = regex b(\n              ^");
    assert_refused(FOREIGN "a = regex b\n", "a group is missing", "^");
    assert_refused(FOREIGN "a = regex\n", "a group is missing", "^");
    assert_refused(FOREIGN "a = json f.json\n", "is missing here", "^");
    assert_refused(FOREIGN "a = csv\n", "a word is missing", "^");
}

Test(study, times_are_read_with_their_units)
{
    static const struct {
        const char *text;
        double seconds;
    } times[] = {{"90", 90},     {"90s", 90},     {"1.5h", 5400}, {"10m", 600},
                 {"2d", 172800}, {"250ms", 0.25}, {"0", 0}};
    static const char *const none[] = {"", "s", "1x", "-1", "1 h", "nan", "inf", "1e400", "1hh"};
    double seconds;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        cr_assert(dlb_duration_parse(times[i].text, &seconds), "%s", times[i].text);
        cr_assert_eq(seconds, times[i].seconds, "%s", times[i].text);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        cr_assert_not(dlb_duration_parse(none[i], &seconds), "%s", none[i]);
}

Test(study, percentages_are_read)
{
    double fraction;
    cr_assert(dlb_percentage_parse("2%", &fraction));
    cr_assert_float_eq(fraction, 0.02, 1e-15);
    cr_assert(dlb_percentage_parse("0.02", &fraction));
    cr_assert_float_eq(fraction, 0.02, 1e-15);
    static const char *const none[] = {"", "%", "-2%", "two", "nan", "2%%"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        cr_assert_not(dlb_percentage_parse(none[i], &fraction), "%s", none[i]);
}
