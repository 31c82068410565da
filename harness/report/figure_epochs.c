/* Accuracy and loss by epoch: a figure for each series over workers, a line for each point. */
#include <math.h>

#include "base/mem.h"
#include "report/figures.h"
#include "report/join.h"
#include "report/points_state.h"
#include "stats/spread.h"

enum { PANELS = 2, MOST_FIGURES = 4, NO_LINE = 255 };

static const dlb_frame_want wants[] = {{"epoch", DLB_FRAME_NUMBER},
                                       {"test_accuracy", DLB_FRAME_NUMBER},
                                       {"train_loss", DLB_FRAME_NUMBER}};
static const double scales[PANELS] = {100, 1};
static const char *const labels[PANELS] = {"test accuracy (%)", "training loss"};

/* The values of one point's runs by epoch. */
typedef struct sample {
    unsigned char panel, line;
    double epoch, value;
} sample;

typedef struct samples {
    sample *items;
    size_t count, capacity;
} samples;

static int compare_samples(const void *a, const void *b)
{
    const sample *x = a, *y = b;
    if (x->panel != y->panel)
        return x->panel < y->panel ? -1 : 1;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return (x->epoch > y->epoch) - (x->epoch < y->epoch);
}

/* Rows of diverged and failed runs are left out, as their ends are elsewhere. */
static void add_row(const dlb_report *report, const dlb_join *join, const unsigned char *line_of,
                    size_t row, samples *all)
{
    size_t run;
    if (!dlb_join_run(join, row, &run) || report->points->runs[run].status != DLB_STATUS_OK ||
        line_of[join->point_of[run]] == NO_LINE)
        return;
    double epoch = dlb_frame_number(join->frame, dlb_frame_column(join->frame, "epoch"), row);
    for (int panel = 0; panel < PANELS; panel++) {
        int column = dlb_frame_column(join->frame, wants[panel + 1].column);
        double value = dlb_frame_number(join->frame, column, row);
        if (isnan(value) || !isfinite(epoch))
            continue;
        all->items = dlb_grow(all->items, &all->capacity, all->count + 1, sizeof *all->items);
        all->items[all->count++] =
            (sample){(unsigned char)panel, line_of[join->point_of[run]], epoch, value};
    }
}

static void add_medians(dlb_lines *lines, samples *all)
{
    if (all->count == 0)
        return;
    qsort(all->items, all->count, sizeof *all->items, compare_samples);
    double *values = dlb_alloc(all->count, sizeof *values);
    for (size_t begin = 0, end; begin < all->count; begin = end) {
        const sample *s = &all->items[begin];
        for (end = begin; end < all->count && compare_samples(&all->items[end], s) == 0; end++)
            values[end - begin] = all->items[end].value;
        double y = scales[s->panel] * dlb_median(values, end - begin);
        dlb_lines_row(lines, (dlb_line_row){.panel = s->panel,
                                            .line = s->line,
                                            .x = s->epoch,
                                            .y = {end - begin, y, NAN, NAN}});
    }
    free(values);
}

/* What a figure shows: points, each with the title of its line. */
typedef struct scene {
    size_t points[DLB_FIGURE_MAX_LINES];
    char *titles[DLB_FIGURE_MAX_LINES];
    size_t count;
    dlb_str title, caption;
} scene;

static void add_figure(const dlb_report *report, const dlb_join *join, scene *s, const char *part,
                       dlb_figures *figures)
{
    samples all = {0};
    size_t points = dlb_points_count(report->points);
    unsigned char *line_of = dlb_alloc(points, 1);
    memset(line_of, NO_LINE, points);
    dlb_lines lines = {
        .panels = PANELS, .x = DLB_AXIS_LINEAR, .y = {DLB_AXIS_PERCENT, DLB_AXIS_LOG10}};
    for (size_t i = 0; i < s->count; i++)
        line_of[s->points[i]] = (unsigned char)dlb_lines_add(&lines, s->titles[i]);
    for (size_t row = 0; row < dlb_frame_rows(join->frame); row++)
        add_row(report, join, line_of, row, &all);
    add_medians(&lines, &all);
    if (dlb_lines_tell(&lines)) {
        dlb_figure *figure = dlb_figure_add(figures, "lines", "epochs", part);
        dlb_figure_texts(figure, "ylabel", labels, PANELS);
        dlb_figure_text(figure, "xlabel", "epoch");
        dlb_str_add(&s->caption, "Median over the repeats that ended ok. ");
        if (dlb_lines_by_error(&lines))
            dlb_str_add(&s->caption, "The axis of accuracy is logarithmic in the error. ");
        dlb_figure_describe(
            figure, s->title.text, &s->caption,
            &(dlb_shown){report->points, s->points, s->count, dlb_lines_drawn(&lines), NULL});
        dlb_lines_finish(&lines, figure, NULL);
    }
    dlb_lines_release(&lines);
    free(line_of);
    free(all.items);
}

/* Evenly over the series, its ends included. */
static void choose_points(const dlb_report *report, const dlb_series *series, scene *s)
{
    size_t most = DLB_FIGURE_MAX_LINES;
    s->count = series->count < most ? series->count : most;
    for (size_t i = 0; i < s->count; i++) {
        size_t at = s->count > 1 ? i * (series->count - 1) / (s->count - 1) : 0;
        double workers = dlb_point_named(report->points, series->points[at], "workers");
        dlb_str title = DLB_STR_INIT;
        dlb_str_addf(&title, "%g worker%s", workers, workers == 1 ? "" : "s");
        s->points[i] = series->points[at];
        s->titles[i] = title.text;
    }
    if (s->count < series->count)
        dlb_str_addf(&s->caption, "%zu of %zu lines are shown. ", s->count, series->count);
}

/* "accuracy_warm-up_0", for its files: the grid, if there are several, and what tells it there. */
static void add_part(const dlb_series_list *list, size_t series, const char *title, dlb_str *part)
{
    dlb_str_add(part, dlb_series_has_grids(list) ? list->items[series].grid : "");
    dlb_str_addf(part, "%s%s", part->length && *title ? "_" : "", title);
}

static void add_series(const dlb_report *report, const dlb_join *join, const dlb_series_list *list,
                       size_t series, const char *note, dlb_figures *figures)
{
    scene s = {0};
    dlb_str title = DLB_STR_INIT, part = DLB_STR_INIT;
    dlb_series_title_in_grid(list, report->points, series, &title);
    add_part(list, series, title.text, &part);
    dlb_str_addf(&s.title, "Accuracy and loss by epoch%s%s", title.length ? ", " : "", title.text);
    dlb_str_add(&s.caption, note);
    choose_points(report, &list->items[series], &s);
    add_figure(report, join, &s, part.text, figures);
    dlb_str_release(&s.caption);
    dlb_str_release(&s.title);
    dlb_str_release(&part);
    dlb_str_release(&title);
}

/* Without a series over workers: one figure, a line for each setting. */
static void add_settings(const dlb_report *report, const dlb_join *join,
                         const dlb_series_list *list, dlb_figures *figures)
{
    scene s = {0};
    size_t series[DLB_FIGURE_MAX_LINES], most = DLB_FIGURE_MAX_LINES;
    s.count = list->count < most ? list->count : most;
    for (size_t i = 0; i < s.count; i++)
        series[i] = i;
    for (size_t i = 0; i < s.count; i++) {
        dlb_str title = DLB_STR_INIT;
        dlb_series_title(list, report->points, series, s.count, i, &title);
        s.points[i] = list->items[i].points[0];
        s.titles[i] = title.text;
    }
    dlb_str_add(&s.title, "Accuracy and loss by epoch");
    if (s.count < list->count)
        dlb_str_addf(&s.caption, "The first %zu of %zu settings are shown. ", s.count, list->count);
    add_figure(report, join, &s, "", figures);
    dlb_str_release(&s.caption);
    dlb_str_release(&s.title);
}

/* A figure for each series over workers, up to MOST_FIGURES. */
static void add_all(const dlb_report *report, const dlb_join *join, const dlb_series_list *list,
                    dlb_figures *figures)
{
    size_t several = 0, drawn = 0;
    for (size_t i = 0; i < list->count; i++)
        several += list->items[i].count > 1;
    dlb_str note = DLB_STR_INIT;
    dlb_str_add(&note, "");
    if (several > MOST_FIGURES)
        dlb_str_addf(&note, "The first %d of %zu settings have such a figure. ", MOST_FIGURES,
                     several);
    for (size_t i = 0; i < list->count && drawn < MOST_FIGURES; i++)
        if (list->items[i].count > 1) {
            add_series(report, join, list, i, note.text, figures);
            drawn++;
        }
    if (several == 0)
        add_settings(report, join, list, figures);
    dlb_str_release(&note);
}

int dlb_figures_epochs(const dlb_report *report, dlb_figures *figures, dlb_error *err)
{
    dlb_join join;
    int status =
        dlb_join_read(&join, report, "epochs.csv", wants, sizeof wants / sizeof *wants, err);
    if (status <= 0)
        return status;
    static const char *const axis[] = {"workers", NULL};
    dlb_series_list list;
    dlb_series_make(&list, report->points, &(dlb_series_request){.axis = axis, .learning = true});
    add_all(report, &join, &list, figures);
    dlb_series_release(&list);
    dlb_join_release(&join);
    return 0;
}
