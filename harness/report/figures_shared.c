#include <math.h>
#include <stdint.h>

#include "base/mem.h"
#include "report/figures.h"
#include "report/points_state.h"
#include "stats/spread.h"

enum dlb_measure dlb_time_measure(const dlb_points *points)
{
    return points->measures[DLB_MEASURE_time_to_solution_s] ? DLB_MEASURE_time_to_solution_s
                                                            : DLB_MEASURE_wall_s;
}

double dlb_point_value(const dlb_points *points, size_t point, enum dlb_measure measure)
{
    const double *values;
    size_t count = dlb_point_measure(points, point, measure, &values);
    return dlb_median(values, count);
}

dlb_interval dlb_interval_scaled(dlb_interval interval, double scale)
{
    return (dlb_interval){interval.count, interval.value * scale, interval.low * scale,
                          interval.high * scale};
}

dlb_interval dlb_point_median(const dlb_points *points, size_t point, enum dlb_measure measure,
                              double scale)
{
    const double *values;
    size_t count = dlb_point_measure(points, point, measure, &values);
    return dlb_interval_scaled(dlb_interval_median(values, count), scale);
}

size_t dlb_point_count(const dlb_points *points, size_t point, enum dlb_measure measure)
{
    const double *values;
    size_t count = dlb_point_measure(points, point, measure, &values), known = 0;
    for (size_t i = 0; i < count; i++)
        known += !isnan(values[i]);
    return known;
}

/* The value of that repeat, or NaN; runs stand by repeat. */
static double value_of_repeat(const dlb_point_run *runs, const double *values, size_t count,
                              int repeat)
{
    for (size_t i = 0; i < count && runs[i].repeat <= repeat; i++)
        if (runs[i].repeat == repeat && !isnan(values[i]))
            return values[i];
    return NAN;
}

dlb_interval dlb_point_ratio(const dlb_points *points, size_t above, size_t below,
                             enum dlb_measure measure)
{
    const dlb_point_run *runs, *other_runs;
    const double *values, *others;
    size_t count = dlb_point_runs(points, above, &runs);
    size_t other_count = dlb_point_runs(points, below, &other_runs);
    dlb_point_measure(points, above, measure, &values);
    dlb_point_measure(points, below, measure, &others);
    double *partners = dlb_alloc(count, sizeof *partners);
    for (size_t i = 0; i < count; i++)
        partners[i] = value_of_repeat(other_runs, others, other_count, runs[i].repeat);
    dlb_interval ratio = dlb_interval_paired_ratio(values, partners, count);
    free(partners);
    return ratio;
}

size_t dlb_point_diverged(const dlb_points *points, size_t point)
{
    const dlb_point_run *runs;
    size_t count = dlb_point_runs(points, point, &runs), diverged = 0;
    for (size_t i = 0; i < count; i++)
        diverged += runs[i].status == DLB_STATUS_DIVERGED;
    return diverged;
}

double dlb_point_named(const dlb_points *points, size_t point, const char *parameter)
{
    return dlb_point_number(points, point, dlb_points_find(points, parameter));
}

double dlb_point_cores(const dlb_points *points, size_t point)
{
    return dlb_point_named(points, point, "ranks") * dlb_point_named(points, point, "threads");
}

bool dlb_point_is_real(const dlb_points *points, size_t point)
{
    double workers = dlb_point_named(points, point, "workers");
    return isnan(workers) || workers == dlb_point_named(points, point, "ranks");
}

bool dlb_point_is_weak(const dlb_points *points, size_t point)
{
    return strcmp(dlb_point_text(points, point, dlb_points_find(points, "mode")), "weak") == 0;
}

bool dlb_point_has_time(const dlb_points *points, size_t point)
{
    const double *times;
    size_t count = dlb_point_measure(points, point, dlb_time_measure(points), &times);
    for (size_t i = 0; i < count; i++)
        if (times[i] > 0)
            return dlb_point_cores(points, point) > 0;
    return false;
}

size_t dlb_series_base(const dlb_points *points, const dlb_series *series)
{
    size_t base = SIZE_MAX;
    for (size_t i = 0; i < series->count; i++) {
        size_t p = series->points[i];
        if (dlb_point_has_time(points, p) &&
            (base == SIZE_MAX || dlb_point_cores(points, p) < dlb_point_cores(points, base)))
            base = p;
    }
    return base;
}

dlb_interval dlb_point_speedup(const dlb_points *points, size_t point, size_t base)
{
    return dlb_point_is_weak(points, point)
               ? dlb_point_ratio(points, point, base, DLB_MEASURE_images_per_s)
               : dlb_point_ratio(points, base, point, dlb_time_measure(points));
}

size_t *dlb_series_points(const dlb_series_list *list, const size_t *chosen, size_t count,
                          size_t *total)
{
    size_t all = 0;
    for (size_t i = 0; i < count; i++)
        all += list->items[chosen[i]].count;
    size_t *points = dlb_alloc(all, sizeof *points);
    *total = 0;
    for (size_t i = 0; i < count; i++) {
        const dlb_series *series = &list->items[chosen[i]];
        memcpy(points + *total, series->points, series->count * sizeof *points);
        *total += series->count;
    }
    return points;
}

bool dlb_series_confounded(const dlb_series_list *list, const dlb_points *points)
{
    static const char *const of_place[] = {"ranks", "threads", "workers"};
    for (size_t i = 0; i < list->follower_count; i++)
        for (size_t j = 0; j < sizeof of_place / sizeof *of_place; j++)
            if (list->followers[i] == dlb_points_find(points, of_place[j]))
                return true;
    return false;
}

bool dlb_all_of(const bool *which, const size_t *points, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!which[points[i]])
            return false;
    return true;
}

const char *dlb_point_end(const dlb_points *points, size_t point)
{
    static const char *const words[] = {"?", "failed", "timeout", "diverged"};
    const dlb_point_run *runs;
    size_t count = dlb_point_runs(points, point, &runs);
    return words[runs[count - 1].status];
}

bool dlb_series_has_grids(const dlb_series_list *list)
{
    for (size_t i = 1; i < list->count; i++)
        if (strcmp(list->items[i].grid, list->items[0].grid) != 0)
            return true;
    return false;
}

static int compare_indices(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

size_t dlb_choose_lines(const double *scores, size_t count, size_t *chosen, dlb_str *caption)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        size_t place = kept; /* chosen[] has the best so far, best first */
        while (scores && place > 0 && scores[chosen[place - 1]] < scores[i])
            place--;
        kept += kept < DLB_FIGURE_MAX_LINES;
        for (size_t j = kept; j-- > place + 1;)
            chosen[j] = chosen[j - 1];
        if (place < DLB_FIGURE_MAX_LINES)
            chosen[place] = i;
    }
    qsort(chosen, kept, sizeof *chosen, compare_indices);
    if (kept < count)
        dlb_str_addf(caption, "The %s %zu of %zu lines are shown. ", scores ? "best" : "first",
                     kept, count);
    return kept;
}

void dlb_figure_describe(dlb_figure *figure, const char *title, dlb_str *caption,
                         const dlb_shown *shown)
{
    dlb_str whole = DLB_STR_INIT;
    dlb_str_addf(&whole, "%s%s%s", title, *figure->study ? " · " : "", figure->study);
    dlb_caption_add(caption, shown);
    dlb_figure_text(figure, "title", whole.text);
    dlb_str_release(&whole);
    dlb_figure_caption(figure, caption->text);
}
