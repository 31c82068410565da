#include <math.h>

#include "base/clock.h"
#include "cli/cmd.h"
#include "cli/figures.h"
#include "cli/stop.h"
#include "cli/sweep_estimate.h"
#include "cli/sweep_index.h"
#include "cli/sweep_judge.h"
#include "cli/sweep_list.h"
#include "cli/sweep_provenance.h"
#include "cli/sweep_run.h"
#include "cli/terminal.h"
#include "cli/text.h"
#include "plan/agenda.h"
#include "record/provenance.h"
#include "report/report.h"

static const char name[] = "dlbench sweep";

typedef struct options {
    const char *file, *out, *only;
    bool dry_run, retry_failed, fresh, fail_fast, no_plots;
} options;

typedef struct sweep {
    const options *options;
    const dlb_sweep_scene *scene;
    dlb_store *store;
    dlb_agenda *agenda;
    dlb_sweep_estimate *estimate;
    dlb_sweep_display display;
    dlb_sweep_index *index;
    double start;   /* dlb_clock_s */
    double spent_s; /* on runs of the plan that were recorded before */
    long long sequence;
    size_t bad; /* runs of the plan that failed or timed out, now or earlier */
} sweep;

static int print_error(const dlb_error *err)
{
    return dlb_cli_fail(name, err);
}

/* ---- What is recorded already ---- */

static bool is_to_be_redone(const dlb_stored_run *run, void *arg)
{
    const sweep *s = arg;
    size_t point;
    return dlb_sweep_index_find(s->index, run->point, &point) &&
           (s->options->fresh || dlb_sweep_is_bad(run->status));
}

/* Of runs that were recorded before. */
typedef struct history {
    size_t kept, others; /* of this plan, and of other points */
    size_t other_build;
    const char *build; /* one of those */
} history;

/* What a precision goes by. Of a foreign program that does not tell a time it is what one waits. */
static double time_of(const sweep *s, bool bad, double time_to_solution_s, double wall_s)
{
    bool told = !s->scene->study->command || bad || !isnan(time_to_solution_s);
    return told ? time_to_solution_s : wall_s;
}

static bool is_asked_for(const sweep *s, size_t point, int repeat)
{
    int own = dlb_plan_repeats(s->scene->plan, point);
    return repeat <= (own ? own : s->scene->study->repeats.max);
}

static void take_in(sweep *s, const dlb_stored_run *run, history *h)
{
    size_t point;
    if (!dlb_sweep_index_find(s->index, run->point, &point) ||
        !is_asked_for(s, point, run->repeat)) {
        h->others++;
        return;
    }
    bool bad = dlb_sweep_is_bad(run->status);
    h->kept++;
    s->bad += bad;
    s->spent_s += isnan(run->wall_s) ? 0 : run->wall_s;
    if (strcmp(run->commit, dlb_commit()) != 0) {
        h->other_build++;
        h->build = run->commit;
    }
    dlb_agenda_done(s->agenda, point, run->repeat,
                    time_of(s, bad, run->time_to_solution_s, run->wall_s));
    dlb_sweep_estimate_learn(s->estimate, point, run->wall_s);
}

/* How many runs are certain, and whether there may be more. */
static void tell_work(const sweep *s)
{
    const dlb_repeats *repeats = &s->scene->study->repeats;
    size_t left = dlb_agenda_left(s->agenda), points = dlb_plan_count(s->scene->plan);
    printf("%s: %zu point%s, %zu run%s to do", s->scene->study->name, points,
           points == 1 ? "" : "s", left, left == 1 ? "" : "s");
    if (repeats->max > repeats->min && repeats->budget_s == 0)
        printf(", more where the precision asks for them");
    else if (repeats->max > repeats->min && s->spent_s < repeats->budget_s)
        printf(", more while the budget lasts (%s of %s are left)",
               dlb_text_seconds(repeats->budget_s - s->spent_s).text,
               dlb_text_seconds(repeats->budget_s).text);
}

static void tell_history(const sweep *s, const history *h)
{
    tell_work(s);
    if (h->kept)
        printf(", %zu recorded before", h->kept);
    if (h->others)
        printf(", %zu of other points kept", h->others);
    puts("");
    if (dlb_store_mended(s->store))
        printf("%zu rows that an earlier sweep had begun to write were removed\n",
               dlb_store_mended(s->store));
    if (h->other_build)
        printf("warning: %zu runs were recorded by another build (%s, this is %s); --fresh "
               "runs them anew\n",
               h->other_build, h->build, dlb_commit());
    fflush(stdout);
}

/* Also after runs that are about to be taken back. */
static void continue_sequence(sweep *s)
{
    for (size_t i = 0; i < dlb_store_count(s->store); i++) {
        long long sequence = dlb_store_run(s->store, i)->sequence;
        s->sequence = sequence > s->sequence ? sequence : s->sequence;
    }
}

static int resume(sweep *s, dlb_error *err)
{
    const dlb_study *study = s->scene->study;
    history h = {0};
    continue_sequence(s);
    if ((s->options->fresh || s->options->retry_failed) &&
        dlb_store_supersede(s->store, is_to_be_redone, s, NULL, err) < 0)
        return err->code;
    s->agenda = dlb_agenda_create(dlb_plan_count(s->scene->plan), &study->repeats, study->order,
                                  study->order_seed);
    for (size_t point = 0; point < dlb_plan_count(s->scene->plan); point++)
        if (dlb_plan_repeats(s->scene->plan, point))
            dlb_agenda_set_repeats(s->agenda, point, dlb_plan_repeats(s->scene->plan, point));
    s->estimate = dlb_sweep_estimate_create(s->scene);
    for (size_t i = 0; i < dlb_store_count(s->store); i++)
        take_in(s, dlb_store_run(s->store, i), &h);
    s->display.total = dlb_agenda_left(s->agenda);
    tell_history(s, &h);
    return 0;
}

/* ---- Running ---- */

static void announce(sweep *s, size_t point, int repeat)
{
    dlb_str text = DLB_STR_INIT;
    dlb_sweep_describe(s->scene, point, &text);
    if (repeat > 1 || s->scene->study->repeats.max > 1 || dlb_sweep_repeats(s->scene, point) > 1)
        dlb_str_addf(&text, ", repeat %d", repeat);
    dlb_sweep_display_begin(&s->display, text.text, dlb_sweep_estimate_run(s->estimate, point),
                            dlb_sweep_estimate_left(s->estimate, dlb_agenda_left(s->agenda) + 1));
    dlb_str_release(&text);
}

/* Record the run; *bad: it failed. */
static int record(sweep *s, size_t point, int repeat, dlb_result *result, bool *bad, dlb_error *err)
{
    dlb_row_set_int(&result->run, DLB_RUN_sequence, ++s->sequence);
    if (dlb_store_add(s->store, result, err) < 0)
        return DLB_FAIL;
    double wall_s = dlb_row_real(&result->run, DLB_RUN_wall_s);
    double time_s = dlb_row_real(&result->run, DLB_RUN_time_to_solution_s);
    *bad = dlb_sweep_is_bad(dlb_row_text(&result->run, DLB_RUN_status));
    s->bad += *bad;
    dlb_agenda_done(s->agenda, point, repeat,
                    s->scene->study->command && isnan(time_s) && !*bad ? wall_s : time_s);
    dlb_sweep_estimate_learn(s->estimate, point, wall_s);
    dlb_sweep_display_end(&s->display, &result->run);
    return 0;
}

static int run_one(sweep *s, const dlb_sweep_runner *runner, size_t point, int repeat, bool *bad,
                   dlb_error *err)
{
    dlb_result result;
    announce(s, point, repeat);
    int status = dlb_sweep_perform(runner, point, repeat, &result, err);
    if (status < 0)
        return status;
    status = record(s, point, repeat, &result, bad, err);
    dlb_result_release(&result);
    return status;
}

static int write_provenance(const sweep *s, dlb_error *err)
{
    dlb_str path = DLB_STR_INIT;
    dlb_store_path(s->store, "host.json", &path);
    int status = dlb_sweep_provenance_write(s->scene, path.text, err);
    dlb_str_release(&path);
    return status;
}

static bool next_run(sweep *s, size_t *point, int *repeat)
{
    return dlb_agenda_next(s->agenda, s->spent_s + dlb_clock_s() - s->start, point, repeat);
}

/* What was asked for and not done. */
static void tell_left(const sweep *s, bool failed)
{
    size_t left = dlb_agenda_left(s->agenda), vague = dlb_agenda_vague(s->agenda);
    if (failed)
        printf("stopped after the first failure; runs left to do: %zu\n", left);
    else if (vague)
        printf("the precision of %g %% was not reached at %zu point%s: max_repeats or the budget "
               "came first\n",
               100 * s->scene->study->repeats.precision, vague, vague == 1 ? "" : "s");
}

static int run_all(sweep *s, dlb_error *err)
{
    dlb_sweep_runner runner = {.scene = s->scene, .store = s->store, .display = &s->display};
    size_t point;
    int repeat, status = 0;
    bool bad = false, more = next_run(s, &point, &repeat);
    if (more)
        status = write_provenance(s, err);
    if (more && status == 0)
        status = dlb_sweep_runner_prepare(&runner, err);
    for (; more && status == 0;
         more = !(bad && s->options->fail_fast) && next_run(s, &point, &repeat))
        status = dlb_stop_asked() ? dlb_fail(err, DLB_STOPPED, "stopped")
                                  : run_one(s, &runner, point, repeat, &bad, err);
    dlb_sweep_display_clear(&s->display);
    if (status == 0)
        tell_left(s, bad && s->options->fail_fast);
    return status;
}

/* ---- Before and after ---- */

static int open_store(sweep *s, const char *folder, dlb_error *err)
{
    dlb_row columns;
    dlb_row_init(&columns, &dlb_table_runs);
    dlb_sweep_columns(s->scene, &columns);
    int status = dlb_store_open(&s->store, folder, &columns, err);
    dlb_row_release(&columns);
    return status;
}

static int draw(const dlb_report *report, const char *folder, dlb_error *err)
{
    dlb_str plots = DLB_STR_INIT, formats = DLB_STR_INIT;
    size_t count;
    dlb_str_addf(&plots, "%s/plots", folder);
    dlb_figure_options figures = {.folder = plots.text, .drawn = &formats};
    int status = dlb_report_figures(report, &figures, &count, err);
    if (status == 0)
        dlb_figures_tell(&figures, count);
    dlb_str_release(&formats);
    dlb_str_release(&plots);
    return status;
}

/* What the runs say, as text and as figures. */
static int report(const sweep *s, const char *folder, dlb_error *err)
{
    dlb_report *report;
    dlb_str summary = DLB_STR_INIT;
    if (dlb_report_read(&report, folder, err) < 0)
        return err->code;
    dlb_report_summary(report, dlb_terminal_width(stdout), s->display.colour, &summary);
    printf("\n%s", summary.text ? summary.text : "");
    fflush(stdout);
    dlb_str_release(&summary);
    int status = s->options->no_plots ? 0 : draw(report, folder, err);
    dlb_report_free(report);
    return status;
}

static int stop(const sweep *s, const dlb_error *err)
{
    if (err->code != DLB_STOPPED)
        return print_error(err);
    fprintf(stderr, "%s: stopped; recorded runs: %zu; the same command%s goes on\n", name,
            dlb_store_count(s->store), s->options->fresh ? " without --fresh" : "");
    return DLB_EXIT_SHORT;
}

static int carry_out(sweep *s, const char *folder)
{
    dlb_error err;
    s->index = dlb_sweep_index_create(s->scene);
    int status = resume(s, &err);
    if (status == 0)
        status = run_all(s, &err);
    int result = status < 0 ? stop(s, &err) : DLB_EXIT_OK;
    bool any = dlb_store_count(s->store) > 0;
    if (dlb_store_close(s->store, &err) < 0)
        result = print_error(&err);
    if (result == DLB_EXIT_OK && any && report(s, folder, &err) < 0)
        result = print_error(&err);
    return result == DLB_EXIT_OK && s->bad ? DLB_EXIT_SHORT : result;
}

static int run_sweep(const options *o, const dlb_sweep_scene *scene, const char *folder)
{
    sweep s = {.options = o, .scene = scene, .start = dlb_clock_s()};
    dlb_error err;
    if (dlb_sweep_check_metrics(scene->study, &err) < 0 ||
        dlb_sweep_check_commands(scene, &err) < 0 || open_store(&s, folder, &err) < 0)
        return print_error(&err);
    dlb_stop_catch();
    dlb_sweep_display_init(&s.display, stdout);
    int status = carry_out(&s, folder);
    dlb_sweep_display_release(&s.display);
    dlb_sweep_estimate_free(s.estimate);
    dlb_agenda_free(s.agenda);
    dlb_sweep_index_free(s.index);
    return status;
}

static int run(const options *o)
{
    dlb_sweep_scene scene;
    dlb_error err;
    if (dlb_sweep_scene_open(&scene, o->file, o->only, &err) < 0)
        return print_error(&err);
    dlb_str folder = DLB_STR_INIT;
    dlb_str_addf(&folder, "%s%s", o->out ? "" : "results/", o->out ? o->out : scene.study->name);
    int status = DLB_EXIT_OK;
    if (o->dry_run)
        dlb_sweep_list(&scene, folder.text, stdout);
    else
        status = run_sweep(o, &scene, folder.text);
    dlb_str_release(&folder);
    dlb_sweep_scene_close(&scene);
    return status;
}

int cmd_sweep(int argc, char **argv)
{
    options o = {0};
    const dlb_flag flags[] = {
        {"out", "the study's folder; by default results/NAME", "DIR", &o.out, NULL},
        {"only", "run only points for which this expression is true", "EXPR", &o.only, NULL},
        {"dry-run", "print the points, their commands and the expected time; run nothing", NULL,
         NULL, &o.dry_run},
        {"retry-failed", "run again what failed or timed out", NULL, NULL, &o.retry_failed},
        {"fresh", "run everything again; earlier rows move to superseded.csv", NULL, NULL,
         &o.fresh},
        {"fail-fast", "stop after the first run that fails", NULL, NULL, &o.fail_fast},
        {"no-plots", "draw no figures at the end", NULL, NULL, &o.no_plots},
    };
    const dlb_command command = {
        .name = name,
        .about = "Run what is missing of a study, then summarise and plot it. Ctrl-C ends it "
                 "cleanly; the same command goes on. docs/sweeps.md describes the file.",
        .operands = "FILE.ini",
        .flags = flags,
        .flag_count = sizeof flags / sizeof *flags};
    dlb_arguments arguments;
    int status;
    if (!dlb_cli_begin(&command, argc, argv, &arguments, &status))
        return status;
    o.file = arguments.operands[0];
    return run(&o);
}
