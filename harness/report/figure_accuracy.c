/* Accuracy of training and test over the number of workers; a line for each warm-up. */
#include <math.h>

#include "base/mem.h"
#include "report/figures.h"

static const enum dlb_measure measures[] = {DLB_MEASURE_train_accuracy, DLB_MEASURE_test_accuracy};
static const char *const labels[] = {"train accuracy (%)", "test accuracy (%)"};
enum { MEASURES = sizeof measures / sizeof *measures };

/* A series of a figure and, since a line is drawn over places, those of its points that have one.
 */
typedef struct scene {
    const dlb_points *points;
    const dlb_series_list *list;
    size_t series[DLB_FIGURE_MAX_LINES];
    size_t count;
} scene;

static bool ended(const dlb_points *points, size_t point)
{
    return (dlb_point_value(points, point, DLB_MEASURE_test_accuracy) >= 0 ||
            dlb_point_value(points, point, DLB_MEASURE_train_accuracy) >= 0 ||
            dlb_point_diverged(points, point) > 0) &&
           dlb_point_named(points, point, "workers") > 0;
}

static double score_of(const dlb_points *points, const dlb_series *series)
{
    double best = 0;
    for (size_t i = 0; i < series->count; i++)
        best = fmax(best, dlb_point_value(points, series->points[i], measures[1]));
    return best + (double)series->count; /* long lines first */
}

static void add_point(const scene *s, dlb_lines *lines, size_t panel, size_t line, size_t point)
{
    const double *values;
    size_t runs = dlb_point_measure(s->points, point, measures[panel], &values);
    double workers = dlb_point_named(s->points, point, "workers");
    dlb_lines_row(lines,
                  (dlb_line_row){.panel = panel,
                                 .line = line,
                                 .x = workers,
                                 .y = dlb_point_median(s->points, point, measures[panel], 100),
                                 .lost = dlb_point_diverged(s->points, point)});
    dlb_lines_dots(lines, panel, line, workers, 100, values, runs);
}

static void add_line(const scene *s, dlb_lines *lines, size_t index)
{
    const dlb_series *series = &s->list->items[s->series[index]];
    dlb_str title = DLB_STR_INIT;
    dlb_series_title(s->list, s->points, s->series, s->count, s->series[index], &title);
    size_t line = dlb_lines_add(lines, title.text);
    for (size_t panel = 0; panel < MEASURES; panel++)
        for (size_t i = 0; i < series->count; i++)
            if (ended(s->points, series->points[i]))
                add_point(s, lines, panel, line, series->points[i]);
}

static void describe(const scene *s, const dlb_lines *lines, dlb_str *caption, dlb_figure *figure)
{
    size_t count;
    size_t *items = dlb_series_points(s->list, s->series, s->count, &count);
    dlb_str_add(caption, "Median and 95 % interval after the last epoch; dots: single runs. ");
    for (size_t i = 0; i < count; i++)
        if (dlb_point_diverged(s->points, items[i])) {
            dlb_str_add(caption, "Crosses: runs that diverged, counted. ");
            break;
        }
    if (dlb_lines_by_error(lines))
        dlb_str_add(caption, "The axis of accuracy is logarithmic in the error. ");
    dlb_shown shown = {s->points, items, count, dlb_lines_drawn(lines), NULL};
    dlb_caption_followers(caption, &shown, s->list);
    dlb_figure_describe(figure, "Accuracy against workers", caption, &shown);
    free(items);
}

static void add_figure(const scene *s, dlb_str *caption, const char *part, dlb_figures *figures)
{
    dlb_lines lines = {.panels = MEASURES,
                       .x = DLB_AXIS_LOG2,
                       .y = {DLB_AXIS_PERCENT, DLB_AXIS_PERCENT},
                       .apart = true};
    for (size_t i = 0; i < s->count; i++)
        add_line(s, &lines, i);
    if (dlb_lines_tell(&lines)) {
        dlb_figure *figure = dlb_figure_add(figures, "lines", "accuracy", part);
        dlb_figure_texts(figure, "ylabel", labels, MEASURES);
        dlb_figure_text(figure, "xlabel", "workers");
        describe(s, &lines, caption, figure);
        dlb_lines_finish(&lines, figure, NULL);
    }
    dlb_lines_release(&lines);
}

static size_t places(const dlb_points *points, const dlb_series *series)
{
    size_t count = 0;
    for (size_t i = 0; i < series->count; i++)
        count += ended(points, series->points[i]);
    return count;
}

/* The figure of the series at `first` and of all others of its grid, which are then taken. */
static void add_grid(const dlb_points *points, const dlb_series_list *list, bool *taken,
                     size_t first, dlb_figures *figures)
{
    const char *grid = list->items[first].grid;
    size_t *members = dlb_alloc(list->count, sizeof *members), count = 0;
    double *scores = dlb_alloc(list->count, sizeof *scores);
    for (size_t i = first; i < list->count; i++)
        if (!taken[i] && strcmp(list->items[i].grid, grid) == 0) {
            scores[count] = score_of(points, &list->items[i]);
            members[count++] = i;
            taken[i] = true;
        }
    size_t chosen[DLB_FIGURE_MAX_LINES];
    dlb_str caption = DLB_STR_INIT;
    scene s = {.points = points, .list = list};
    s.count = dlb_choose_lines(scores, count, chosen, &caption);
    for (size_t i = 0; i < s.count; i++)
        s.series[i] = members[chosen[i]];
    add_figure(&s, &caption, dlb_series_has_grids(list) ? grid : "", figures);
    dlb_str_release(&caption);
    free(scores);
    free(members);
}

void dlb_figures_accuracy(const dlb_report *report, dlb_figures *figures)
{
    static const char *const axis[] = {"workers", NULL};
    dlb_series_list list;
    dlb_series_make(&list, report->points, &(dlb_series_request){.axis = axis, .learning = true});
    bool *taken = dlb_alloc(list.count, sizeof *taken);
    for (size_t i = 0; i < list.count; i++)
        taken[i] = places(report->points, &list.items[i]) < 2;
    for (size_t i = 0; i < list.count; i++)
        if (!taken[i])
            add_grid(report->points, &list, taken, i, figures);
    free(taken);
    dlb_series_release(&list);
}
