#include "cli/sweep_list.h"

#include <math.h>

#include "cli/bench_table.h"
#include "cli/sweep_command.h"
#include "cli/sweep_estimate.h"
#include "cli/sweep_index.h"
#include "record/frame.h"
#include "record/schema.h"

enum { TABLE_POINTS = 2000 };    /* a longer table tells nobody anything */
enum { CHECKED_POINTS = 10000 }; /* one by one; of the others only how they are launched */

static int make_line(const dlb_sweep_scene *scene, size_t point, const char *folder,
                     dlb_command_line *line, dlb_error *err)
{
    char id[DLB_POINT_ID_SIZE];
    dlb_str result = DLB_STR_INIT, run_dir = DLB_STR_INIT;
    dlb_sweep_shape shape;
    dlb_plan_id(scene->plan, point, id);
    dlb_str_addf(&result, "%s/tmp/%s-1.json", folder, id);
    dlb_str_addf(&run_dir, "%s/runs/%s-1", folder, id);
    dlb_sweep_run run = {
        .point = point, .repeat = 1, .result = result.text, .run_dir = run_dir.text};
    int status = dlb_sweep_command(scene, &run, line, &shape, err);
    dlb_str_release(&run_dir);
    dlb_str_release(&result);
    return status;
}

/* Whether a point's ranks are started just as those of the one before. */
static bool is_launched_alike(const dlb_plan *plan, size_t point)
{
    static const char *const keys[] = {"ranks", "ranks_per_node", "threads", "threads_per_core",
                                       "binding"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        int p = dlb_plan_find(plan, keys[i]);
        if (p >= 0 &&
            strcmp(dlb_plan_value(plan, point - 1, p), dlb_plan_value(plan, point, p)) != 0)
            return false;
    }
    return true;
}

int dlb_sweep_check_commands(const dlb_sweep_scene *scene, dlb_error *err)
{
    for (size_t point = 0; point < dlb_plan_count(scene->plan); point++) {
        dlb_command_line line;
        if (point >= CHECKED_POINTS && is_launched_alike(scene->plan, point))
            continue;
        int status = make_line(scene, point, "", &line, err);
        if (status < 0) {
            dlb_str point_text = DLB_STR_INIT;
            dlb_sweep_describe(scene, point, &point_text);
            dlb_error_prefix(err, "point %s", point_text.text);
            dlb_str_release(&point_text);
            return status;
        }
        dlb_command_line_release(&line);
    }
    return 0;
}

/* ---- The table ---- */

static void add_titles(dlb_bench_table *table, const dlb_plan *plan)
{
    dlb_bench_table_add(table, "point");
    for (size_t p = 0; p < dlb_plan_parameters(plan); p++)
        if (dlb_plan_varies(plan, p))
            dlb_bench_table_add(table, dlb_plan_parameter(plan, p));
    dlb_bench_table_add(table, "expected");
}

static void add_point(dlb_bench_table *table, const dlb_plan *plan, size_t point, double expected_s)
{
    char id[DLB_POINT_ID_SIZE];
    dlb_plan_id(plan, point, id);
    dlb_bench_table_add(table, id);
    for (size_t p = 0; p < dlb_plan_parameters(plan); p++)
        if (dlb_plan_varies(plan, p))
            dlb_bench_table_add(table, dlb_plan_value(plan, point, (int)p));
    dlb_bench_table_add(table, isnan(expected_s) ? "unknown" : dlb_text_seconds(expected_s).text);
}

static void print_table(const dlb_sweep_scene *scene, dlb_sweep_estimate *estimate, FILE *out)
{
    dlb_bench_table table;
    size_t varying = 0, count = dlb_plan_count(scene->plan);
    for (size_t p = 0; p < dlb_plan_parameters(scene->plan); p++)
        varying += dlb_plan_varies(scene->plan, p);
    dlb_bench_table_init(&table, varying + 2, true);
    add_titles(&table, scene->plan);
    for (size_t point = 0; point < count && point < TABLE_POINTS; point++)
        add_point(&table, scene->plan, point, dlb_sweep_estimate_run(estimate, point));
    dlb_bench_table_print(&table, out);
    dlb_bench_table_release(&table);
    if (count > TABLE_POINTS)
        fprintf(out, "... and %s more\n", dlb_text_count((double)(count - TABLE_POINTS)).text);
}

/* A study may be looked at elsewhere than where it is to run. */
static void print_commands(const dlb_sweep_scene *scene, const char *folder, FILE *out)
{
    fprintf(out, "\nCommands of repeat 1:\n");
    for (size_t point = 0; point < dlb_plan_count(scene->plan) && point < TABLE_POINTS; point++) {
        dlb_command_line line;
        dlb_str text = DLB_STR_INIT;
        dlb_error why;
        dlb_sweep_describe(scene, point, &text);
        dlb_str_add(&text, "\n    ");
        if (make_line(scene, point, folder, &line, &why) < 0) {
            dlb_str_addf(&text, "cannot be run here: %s", why.message);
        } else {
            dlb_command_line_describe(&line, &text);
            dlb_command_line_release(&line);
        }
        fprintf(out, "%s\n", text.text);
        dlb_str_release(&text);
    }
}

/* From what is recorded, also by a sweep that runs just now. */
static void learn(dlb_sweep_estimate *estimate, const dlb_sweep_scene *scene, const char *folder)
{
    static const dlb_frame_want wants[] = {{"point", DLB_FRAME_WORD}, {"wall_s", DLB_FRAME_NUMBER}};
    dlb_str path = DLB_STR_INIT;
    dlb_frame *frame;
    dlb_str_addf(&path, "%s/%s", folder, dlb_table_runs.file);
    if (dlb_frame_read(&frame, path.text, wants, 2, &(dlb_error){0}) == 0) {
        dlb_sweep_index *index = dlb_sweep_index_create(scene);
        int id = dlb_frame_column(frame, "point"), wall_s = dlb_frame_column(frame, "wall_s");
        size_t point;
        for (size_t row = 0; row < dlb_frame_rows(frame); row++)
            if (id >= 0 && dlb_sweep_index_find(index, dlb_frame_word(frame, id, row), &point))
                dlb_sweep_estimate_learn(estimate, point, dlb_frame_number(frame, wall_s, row));
        dlb_sweep_index_free(index);
        dlb_frame_free(frame);
    }
    dlb_str_release(&path);
}

void dlb_sweep_list(const dlb_sweep_scene *scene, const char *folder, FILE *out)
{
    dlb_sweep_estimate *estimate = dlb_sweep_estimate_create(scene);
    learn(estimate, scene, folder);
    size_t runs = dlb_sweep_runs(scene);
    print_table(scene, estimate, out);
    print_commands(scene, folder, out);
    size_t missing = dlb_sweep_estimate_missing(estimate);
    double total_s = dlb_sweep_estimate_left(estimate, missing);
    fprintf(out, "\n%zu points, %zu runs into %s", dlb_plan_count(scene->plan), runs, folder);
    if (missing < runs)
        fprintf(out, ", %zu of them still to do", missing);
    if (!isnan(total_s))
        fprintf(out, ", about %s%s", dlb_text_seconds(total_s).text,
                dlb_sweep_estimate_has_learnt(estimate) ? "" : " (a guess until some have run)");
    fputs("\n", out);
    dlb_sweep_estimate_free(estimate);
}
