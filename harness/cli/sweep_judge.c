#include "cli/sweep_judge.h"

#include <math.h>
#include <signal.h>
#include <unistd.h>

#include "cli/sweep_placement.h"
#include "record/metrics.h"
#include "record/provenance.h"

static const char wrap_column[] = "wrap";

enum { SEEN_LINES = 30, SEEN_BYTES = 4096, TAIL_LINES = 3, TAIL_BYTES = 400 };

/* ---- Parameters ---- */

static void fill_parameter(dlb_row *row, const char *name, const char *value)
{
    int column = dlb_table_find(&dlb_table_runs, name);
    if (column >= 0)
        dlb_row_parse(row, column, value, NULL);
    else if (dlb_key_find(name) < 0)
        dlb_row_set_extra(row, name, value);
}

static void fill_shape(dlb_row *row, const dlb_sweep_shape *shape)
{
    dlb_row_set_int(row, DLB_RUN_ranks, shape->ranks);
    dlb_row_set_int(row, DLB_RUN_threads, shape->threads);
    dlb_row_set_int(row, DLB_RUN_seed, shape->seed);
    dlb_row_set_text(row, DLB_RUN_oversubscribed, shape->oversubscribed ? "yes" : "no");
}

/* Of a training the row shall name every key, given or not. */
static void fill_workload(dlb_row *row, const dlb_sweep_scene *scene, const dlb_sweep_run *run)
{
    dlb_workload workload;
    dlb_plan_workload(scene->plan, run->point, &workload);
    for (enum dlb_key key = 0; key < DLB_KEY_COUNT; key++) {
        dlb_str value = DLB_STR_INIT;
        dlb_str_add(&value, "");
        dlb_workload_get(&workload, key, &value);
        fill_parameter(row, dlb_key_info(key)->name, value.text);
        dlb_str_release(&value);
    }
    long long workers = workload.workers ? workload.workers : workload.ranks ? workload.ranks : 1;
    dlb_row_set_int(row, DLB_RUN_workers, workers);
    dlb_row_set_int(row, DLB_RUN_global_batch, workers * workload.batch);
    dlb_workload_release(&workload);
}

static void fill_given(dlb_row *row, const dlb_sweep_scene *scene, const dlb_sweep_run *run)
{
    for (size_t p = 0; p < dlb_plan_parameters(scene->plan); p++)
        fill_parameter(row, dlb_plan_parameter(scene->plan, p),
                       dlb_plan_value(scene->plan, run->point, (int)p));
}

/* The tool before each rank as the file has it, so that its runs are told from others. */
static void fill_wrap(dlb_row *row, dlb_words wrap)
{
    dlb_str text = DLB_STR_INIT;
    for (; wrap && *wrap; wrap++)
        dlb_str_addf(&text, "%s%s", text.length ? " " : "", *wrap);
    if (text.length)
        dlb_row_set_extra(row, wrap_column, text.text);
    dlb_str_release(&text);
}

/* env.NAME and param.NAME, which no trainer knows of. */
static void fill_extras(dlb_row *row, const dlb_sweep_scene *scene, const dlb_sweep_run *run)
{
    for (size_t p = 0; p < dlb_plan_parameters(scene->plan); p++) {
        const char *name = dlb_plan_parameter(scene->plan, p);
        if (dlb_key_find(name) < 0)
            dlb_row_set_extra(row, name, dlb_plan_value(scene->plan, run->point, (int)p));
    }
}

static void fill_host(dlb_row *row)
{
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    dlb_row_set_text(row, DLB_RUN_host, host);
    dlb_row_set_text(row, DLB_RUN_commit, dlb_commit());
}

static void fill_noise(dlb_row *row, const dlb_noise_report *noise)
{
    if (noise->steal_pct.known)
        dlb_row_set_real(row, DLB_RUN_steal_pct, noise->steal_pct.number);
    if (noise->load.known)
        dlb_row_set_real(row, DLB_RUN_load, noise->load.number);
}

void dlb_sweep_columns(const dlb_sweep_scene *scene, dlb_row *row)
{
    dlb_sweep_run first = {0};
    fill_extras(row, scene, &first);
    for (size_t m = 0; m < scene->study->metric_count; m++) {
        const char *name = scene->study->metrics[m].name;
        if (dlb_table_find(&dlb_table_runs, name) < 0)
            dlb_row_set_extra(row, name, "");
    }
    if (scene->study->wrap)
        dlb_row_set_extra(row, wrap_column, "");
    for (size_t e = 0; e < row->extra_count; e++)
        dlb_row_set_extra(row, row->extras[e].name, "");
}

bool dlb_sweep_is_bad(const char *status)
{
    return strcmp(status, "failed") == 0 || strcmp(status, "timeout") == 0;
}

/* ---- Reasons ---- */

/* What a launcher has to say of the end of ranks tells less than what they said themselves. */
static bool is_chatter(const char *line, size_t length, const char *const *phrases)
{
    for (; phrases && *phrases; phrases++)
        if (memmem(line, length, *phrases, strlen(*phrases)))
            return true;
    return length == 0 || strspn(line, "-") >= length;
}

/* The last of these lines that are worth it, "|" between. */
static void add_worthy(dlb_str *words, const char *lines, size_t length, const char *const *phrases,
                       int most)
{
    if (length == 0 || most == 0)
        return;
    const char *newline = memrchr(lines, '\n', length);
    const char *last = newline ? newline + 1 : lines;
    size_t last_length = length - (size_t)(last - lines);
    bool worthy = !is_chatter(last, last_length, phrases);
    if (newline)
        add_worthy(words, lines, (size_t)(newline - lines), phrases, most - worthy);
    if (worthy)
        dlb_str_addf(words, "%s%.*s", words->length ? "|" : "", (int)last_length, last);
}

static void add_last_words(dlb_str *reason, const dlb_sweep_evidence *e)
{
    dlb_str tail = DLB_STR_INIT, words = DLB_STR_INIT;
    dlb_log_tail(e->log, SEEN_LINES, SEEN_BYTES, &tail);
    add_worthy(&words, tail.text, tail.length, e->chatter, TAIL_LINES);
    if (words.length)
        dlb_str_addf(reason, "; it ended with: %.*s", TAIL_BYTES, words.text);
    dlb_str_release(&words);
    dlb_str_release(&tail);
}

static void add_exit(dlb_str *reason, int status)
{
    if (status > 128 && status < 128 + NSIG)
        dlb_str_addf(reason, "ended by signal %d (%s)", status - 128, strsignal(status - 128));
    else if (status != 0)
        dlb_str_addf(reason, "exit status %d", status);
    else
        dlb_str_add(reason, "exit status 0");
}

static void conclude(dlb_row *row, const char *status, const char *reason)
{
    dlb_row_set_text(row, DLB_RUN_status, status);
    dlb_row_set_text(row, DLB_RUN_reason, reason);
}

static void conclude_failed(dlb_row *row, const dlb_sweep_evidence *e, const char *why)
{
    dlb_str reason = DLB_STR_INIT;
    if (e->end->timed_out)
        dlb_str_addf(&reason, "no end within %g s", e->timeout_s);
    else
        add_exit(&reason, e->end->status);
    if (*why)
        dlb_str_addf(&reason, "; %s", why);
    add_last_words(&reason, e);
    conclude(row, e->end->timed_out ? "timeout" : "failed", reason.text);
    dlb_str_release(&reason);
}

/* ---- A training ---- */

static const char *setting(const dlb_result *result, const char *key)
{
    for (size_t i = 0; i < result->workload.count; i++)
        if (strcmp(result->workload.settings[i].key, key) == 0)
            return result->workload.settings[i].value;
    return "";
}

/* What decides about the training must be what was asked for: the file might be another run's. */
static int check_settings(const dlb_result *result, const dlb_workload *asked, dlb_error *err)
{
    for (enum dlb_key key = 0; key < DLB_KEY_COUNT; key++) {
        const struct dlb_key_info *info = dlb_key_info(key);
        bool decides = info->of_learning || key == DLB_KEY_epochs;
        bool open = key == DLB_KEY_workers && asked->workers == 0;
        if (!decides || open || !dlb_workload_is_set(asked, key))
            continue;
        dlb_str value = DLB_STR_INIT;
        dlb_str_add(&value, "");
        dlb_workload_get(asked, key, &value);
        bool same = strcmp(setting(result, info->name), value.text) == 0;
        dlb_str_release(&value);
        if (!same)
            return dlb_fail(err, DLB_FAIL, "its result has another %s than was asked for",
                            info->name);
    }
    return 0;
}

static long long expected_steps(const dlb_workload *asked, const dlb_result *result)
{
    long long images = dlb_row_int(&result->run, DLB_RUN_train_images, 0);
    long long batch = dlb_row_int(&result->run, DLB_RUN_batch, 0);
    long long workers = dlb_row_int(&result->run, DLB_RUN_workers, 0);
    if (workers < 1 || batch < 1)
        return -1;
    long long most = (images + workers - 1) / workers;
    long long steps = asked->drop_last ? images / workers / batch : (most + batch - 1) / batch;
    return steps * asked->epochs;
}

static int check_ranks(const dlb_result *result, const dlb_sweep_shape *shape, long long steps,
                       dlb_error *err)
{
    if (result->ranks_ended != shape->ranks || result->ranks.count != (size_t)shape->ranks)
        return dlb_fail(err, DLB_FAIL, "%d of %d ranks reported their end", result->ranks_ended,
                        shape->ranks);
    for (size_t r = 0; r < result->ranks.count; r++) {
        long long taken = dlb_row_int(&result->ranks.rows[r], DLB_RANK_steps, -1);
        if (taken != steps)
            return dlb_fail(err, DLB_FAIL, "rank %zu took %lld steps where %lld were expected", r,
                            taken, steps);
    }
    return 0;
}

static int check_epochs(const dlb_result *result, const dlb_workload *asked, dlb_error *err)
{
    if (result->epochs.count != (size_t)asked->epochs)
        return dlb_fail(err, DLB_FAIL, "it has %zu of %lld epochs", result->epochs.count,
                        asked->epochs);
    for (size_t e = 0; e < result->epochs.count; e++)
        if (result->epochs.rows[e].cells[DLB_EPOCH_train_loss].kind != DLB_CELL_REAL)
            return dlb_fail(err, DLB_FAIL, "epoch %zu has no finite loss", e + 1);
    return 0;
}

static int check_training(const dlb_sweep_scene *scene, const dlb_sweep_evidence *e,
                          const dlb_result *result, dlb_error *err)
{
    dlb_workload asked;
    char seed[24];
    dlb_plan_workload(scene->plan, e->run->point, &asked);
    snprintf(seed, sizeof seed, "%lld", e->shape->seed);
    int status = dlb_workload_set(&asked, DLB_KEY_seed, seed, err);
    if (status == 0)
        status = check_settings(result, &asked, err);
    if (status == 0)
        status = check_epochs(result, &asked, err);
    if (status == 0)
        status = check_ranks(result, e->shape, expected_steps(&asked, result), err);
    dlb_workload_release(&asked);
    return status;
}

static bool has_status(const dlb_result *result, const char *status)
{
    return strcmp(dlb_row_text(&result->run, DLB_RUN_status), status) == 0;
}

/* Whether the result file can be taken for what it says; else *why. */
static bool is_credible(const dlb_sweep_scene *scene, const dlb_sweep_evidence *e,
                        const dlb_result *result, dlb_error *why)
{
    if (has_status(result, "diverged"))
        return !e->end->timed_out && e->end->status <= 128;
    if (has_status(result, "failed"))
        dlb_fail(why, DLB_FAIL, "%s", dlb_row_text(&result->run, DLB_RUN_reason));
    return has_status(result, "ok") && e->end->status == 0 && !e->end->timed_out &&
           check_training(scene, e, result, why) == 0;
}

static void judge_training(const dlb_sweep_scene *scene, const dlb_sweep_evidence *e,
                           dlb_result *result)
{
    dlb_error why = {0};
    if (dlb_result_read(result, e->run->result, &why) == 0) {
        why.message[0] = '\0';
        if (is_credible(scene, e, result, &why)) {
            fill_extras(&result->run, scene, e->run);
            dlb_sweep_check_placement(result, e->shape);
            return;
        }
        dlb_result_release(result);
    } else if (e->end->status == 0 && !e->end->timed_out) {
        dlb_fail(&why, DLB_FAIL, "it left no result");
    } else {
        why.message[0] = '\0';
    }
    dlb_result_init(result);
    fill_workload(&result->run, scene, e->run);
    fill_given(&result->run, scene, e->run);
    fill_shape(&result->run, e->shape);
    fill_noise(&result->run, e->noise);
    conclude_failed(&result->run, e, why.message);
}

/* ---- A foreign program ---- */

static void take_word(void *path, const char *word)
{
    dlb_str_add(path, word);
}

static int fill_file(const dlb_sweep_scene *scene, const dlb_sweep_evidence *e,
                     const dlb_metric *metric, dlb_str *path, dlb_error *err)
{
    char *words[] = {(char *)metric->file, NULL};
    dlb_fill fill = {.repeat = e->run->repeat, .seed = e->shape->seed, .run_dir = e->run->run_dir};
    if (metric->file[0] != '/' && strncmp(metric->file, "{run_dir}", strlen("{run_dir}")) != 0)
        dlb_str_addf(path, "%s/", e->run->run_dir);
    return dlb_plan_fill(scene->plan, e->run->point, words, &fill, take_word, path, err);
}

static int find_metric(const dlb_sweep_scene *scene, const dlb_sweep_evidence *e,
                       const dlb_metric *metric, double *value, dlb_error *err)
{
    if (metric->kind == DLB_METRIC_REGEX) {
        int found = dlb_metric_regex(e->log, metric->pattern, value, err);
        size_t path = strlen(e->log) + 2; /* and ": ", which would make every reason another */
        if (found < 0 && strncmp(err->message, e->log, path - 2) == 0)
            memmove(err->message, err->message + path, strlen(err->message + path) + 1);
        return found;
    }
    dlb_str path = DLB_STR_INIT;
    int status = fill_file(scene, e, metric, &path, err);
    if (status == 0)
        status = metric->kind == DLB_METRIC_JSON
                     ? dlb_metric_json(path.text, metric->pattern, value, err)
                     : dlb_metric_csv(path.text, metric->pattern, value, err);
    dlb_str_release(&path);
    return status;
}

/* NaN is no value, and an empty cell. */
static void set_metric(dlb_row *row, const char *name, double value)
{
    int column = dlb_table_find(&dlb_table_runs, name);
    char text[32] = "";
    if (!isnan(value))
        dlb_format_real(value, text, sizeof text);
    if (column < 0)
        dlb_row_set_extra(row, name, text);
    else
        dlb_row_set_real(row, column, value);
}

/* A result of a training that is a real number, and that the sweep does not measure itself. */
static bool can_be_filled(int column)
{
    const char *name = dlb_table_runs.columns[column].name;
    return dlb_table_runs.columns[column].type == DLB_COLUMN_REAL && dlb_key_find(name) < 0 &&
           column != DLB_RUN_wall_s && column != DLB_RUN_steal_pct && column != DLB_RUN_load;
}

int dlb_sweep_check_metrics(const dlb_study *study, dlb_error *err)
{
    for (size_t m = 0; m < study->metric_count; m++) {
        int column = dlb_table_find(&dlb_table_runs, study->metrics[m].name);
        if (column >= 0 && !can_be_filled(column))
            return dlb_place_fail(err, &study->metrics[m].place, 0,
                                  "%s is a column of runs.csv that no metric can fill; take "
                                  "another name",
                                  study->metrics[m].name);
    }
    return 0;
}

static int take_metrics(const dlb_sweep_scene *scene, const dlb_sweep_evidence *e, dlb_row *row,
                        dlb_error *err)
{
    for (size_t m = 0; m < scene->study->metric_count; m++) {
        const dlb_metric *metric = &scene->study->metrics[m];
        double value;
        if (find_metric(scene, e, metric, &value, err) < 0)
            return dlb_error_prefix(err, "%s", metric->name);
        set_metric(row, metric->name, value);
    }
    return 0;
}

static void clear_metrics(const dlb_sweep_scene *scene, dlb_row *row)
{
    for (size_t m = 0; m < scene->study->metric_count; m++) {
        const char *name = scene->study->metrics[m].name;
        int column = dlb_table_find(&dlb_table_runs, name);
        if (column >= 0)
            dlb_row_clear(row, column);
        else
            dlb_row_set_extra(row, name, "");
    }
}

static void judge_foreign(const dlb_sweep_scene *scene, const dlb_sweep_evidence *e,
                          dlb_result *result)
{
    dlb_error why = {0};
    dlb_row *row = &result->run;
    dlb_result_init(result);
    fill_given(row, scene, e->run);
    fill_shape(row, e->shape);
    fill_noise(row, e->noise);
    bool ended = e->end->status == 0 && !e->end->timed_out;
    if (ended && take_metrics(scene, e, row, &why) == 0) {
        conclude(row, "ok", "");
        return;
    }
    clear_metrics(scene, row);
    conclude_failed(row, e, why.message);
}

/* ---- All ---- */

static void name_point(const dlb_sweep_scene *scene, const dlb_sweep_run *run, dlb_row *row)
{
    char id[DLB_POINT_ID_SIZE], name[DLB_POINT_ID_SIZE + 16];
    dlb_plan_id(scene->plan, run->point, id);
    snprintf(name, sizeof name, "%s-%d", id, run->repeat);
    dlb_row_set_text(row, DLB_RUN_run, name);
    dlb_row_set_text(row, DLB_RUN_point, id);
    dlb_row_set_int(row, DLB_RUN_repeat, run->repeat);
    dlb_row_set_text(row, DLB_RUN_grid, dlb_plan_grid(scene->plan, run->point));
    dlb_row_set_text(row, DLB_RUN_mode, dlb_plan_mode(scene->plan, run->point));
    fill_wrap(row, scene->study->wrap);
}

void dlb_sweep_judge(const dlb_sweep_scene *scene, const dlb_sweep_evidence *e, dlb_result *result)
{
    if (scene->study->command)
        judge_foreign(scene, e, result);
    else
        judge_training(scene, e, result);
    name_point(scene, e->run, &result->run);
    fill_host(&result->run);
    dlb_row_set_text(&result->run, DLB_RUN_launcher, e->shape->launcher);
    dlb_row_set_real(&result->run, DLB_RUN_wall_s, e->end->wall_s);
}

void dlb_sweep_judge_unstarted(const dlb_sweep_scene *scene, const dlb_sweep_run *run,
                               const dlb_error *why, dlb_result *result)
{
    dlb_result_init(result);
    if (!scene->study->command)
        fill_workload(&result->run, scene, run);
    fill_given(&result->run, scene, run);
    name_point(scene, run, &result->run);
    fill_host(&result->run);
    conclude(&result->run, "failed", why->message);
}
