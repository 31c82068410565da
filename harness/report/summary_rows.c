#include "report/summary_rows.h"

#include <stdint.h>

#include "base/mem.h"
#include "report/figures.h"
#include "report/series.h"

/* --- parameters --- */

typedef struct order {
    const dlb_points *points;
    const int *parameters;
    size_t count;
} order;

static int compare_points(const void *a, const void *b, void *context)
{
    const order *o = context;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    for (size_t i = 0; i < o->count; i++) {
        int difference = dlb_point_compare(o->points, o->parameters[i], x, y);
        if (difference)
            return difference;
    }
    return (x > y) - (x < y);
}

static bool varies_among(const dlb_points *points, const size_t *items, size_t count, int parameter)
{
    for (size_t i = 1; i < count; i++)
        if (dlb_point_compare(points, parameter, items[0], items[i]) != 0)
            return true;
    return false;
}

static bool same_everywhere(const dlb_points *points, const size_t *items, size_t count, int a,
                            int b)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(dlb_point_text(points, items[i], a), dlb_point_text(points, items[i], b)) != 0)
            return false;
    return true;
}

/* Whether the parameters chosen tell all apart that this one does. `sorted` is by them. */
static bool is_told(const order *chosen, const size_t *sorted, size_t count, int parameter)
{
    for (size_t i = 1; i < count; i++) {
        bool same = true;
        for (size_t c = 0; same && c < chosen->count; c++)
            same = dlb_point_compare(chosen->points, chosen->parameters[c], sorted[i - 1],
                                     sorted[i]) == 0;
        if (same && dlb_point_compare(chosen->points, parameter, sorted[i - 1], sorted[i]) != 0)
            return false;
    }
    return true;
}

/* What a reader looks for, although it may follow from others. */
static const char *const for_the_eye[] = {"model", "ranks", "threads", "workers", "warmup_epochs"};
enum { FOR_THE_EYE = sizeof for_the_eye / sizeof *for_the_eye };

static bool is_for_the_eye(const dlb_points *points, int parameter)
{
    for (int i = 0; i < FOR_THE_EYE; i++)
        if (dlb_points_find(points, for_the_eye[i]) == parameter)
            return true;
    return false;
}

/* Those for the eye that vary, but for what another already shows: workers that are ranks. */
static size_t choose_for_the_eye(const dlb_points *points, const size_t *items, size_t count,
                                 int *parameters)
{
    size_t chosen = 0;
    for (int i = 0; i < FOR_THE_EYE; i++) {
        int parameter = dlb_points_find(points, for_the_eye[i]);
        bool shown = parameter < 0 || !dlb_points_varies(points, parameter) ||
                     !varies_among(points, items, count, parameter);
        for (size_t c = 0; !shown && c < chosen; c++)
            shown = same_everywhere(points, items, count, parameters[c], parameter);
        if (!shown)
            parameters[chosen++] = parameter;
    }
    return chosen;
}

size_t dlb_summary_parameters(const dlb_points *points, const size_t *items, size_t count,
                              int *parameters)
{
    order chosen = {points, parameters, choose_for_the_eye(points, items, count, parameters)};
    size_t *sorted = dlb_alloc(count ? count : 1, sizeof *sorted);
    memcpy(sorted, items, count * sizeof *sorted);
    qsort_r(sorted, count, sizeof *sorted, compare_points, &chosen);
    int grid = dlb_points_find(points, "grid");
    for (int p = 0; p < (int)dlb_points_parameters(points); p++) {
        if (p == grid || !dlb_points_varies(points, p) || is_for_the_eye(points, p) ||
            is_told(&chosen, sorted, count, p))
            continue;
        parameters[chosen.count++] = p;
        qsort_r(sorted, count, sizeof *sorted, compare_points, &chosen);
    }
    free(sorted);
    return chosen.count;
}

void dlb_summary_setting(const dlb_points *points, size_t point, const int *parameters,
                         size_t count, dlb_str *out)
{
    if (count == 0)
        dlb_str_add(out, "the only point");
    for (size_t i = 0; i < count; i++) {
        dlb_str_add(out, i ? ", " : "");
        dlb_parameter_label(dlb_points_parameter(points, (size_t)parameters[i]), out);
        dlb_str_addf(out, " %s", dlb_value_label(dlb_point_text(points, point, parameters[i])));
    }
}

/* --- what can be compared --- */

static bool same_values(const dlb_points *points, const dlb_summary_group *group, const char *name)
{
    int parameter = dlb_points_find(points, name);
    return !dlb_points_varies(points, parameter) ||
           !varies_among(points, group->points, group->count, parameter);
}

static bool all_of(const dlb_points *points, const dlb_summary_group *group,
                   bool (*is)(const dlb_points *points, size_t point))
{
    for (size_t i = 0; i < group->count; i++)
        if (!is(points, group->points[i]))
            return false;
    return true;
}

static bool scales(const dlb_points *points, const dlb_summary_group *group)
{
    return same_values(points, group, "workers") || all_of(points, group, dlb_point_is_real);
}

/* --- groups --- */

static dlb_summary_group *group_of(dlb_summary_groups *groups, const char *grid)
{
    for (size_t i = 0; i < groups->count; i++)
        if (strcmp(groups->items[i].grid, grid) == 0)
            return &groups->items[i];
    groups->items =
        dlb_grow(groups->items, &groups->capacity, groups->count + 1, sizeof *groups->items);
    dlb_summary_group *group = &groups->items[groups->count++];
    *group = (dlb_summary_group){.grid = grid};
    return group;
}

static void sort_group(dlb_summary_group *group, const dlb_points *points)
{
    group->parameters = dlb_alloc(dlb_points_parameters(points) + 1, sizeof *group->parameters);
    group->parameter_count =
        dlb_summary_parameters(points, group->points, group->count, group->parameters);
    order by = {points, group->parameters, group->parameter_count};
    qsort_r(group->points, group->count, sizeof *group->points, compare_points, &by);
}

void dlb_summary_groups_make(dlb_summary_groups *groups, const dlb_points *points)
{
    int grid = dlb_points_find(points, "grid");
    *groups = (dlb_summary_groups){0};
    for (size_t p = 0; p < dlb_points_count(points); p++) {
        dlb_summary_group *group = group_of(groups, dlb_point_text(points, p, grid));
        group->points =
            dlb_grow(group->points, &group->capacity, group->count + 1, sizeof *group->points);
        group->points[group->count++] = p;
    }
    for (size_t i = 0; i < groups->count; i++) {
        sort_group(&groups->items[i], points);
        groups->items[i].scales = scales(points, &groups->items[i]);
    }
}

void dlb_summary_groups_release(dlb_summary_groups *groups)
{
    for (size_t i = 0; i < groups->count; i++) {
        free(groups->items[i].parameters);
        free(groups->items[i].points);
    }
    free(groups->items);
    *groups = (dlb_summary_groups){0};
}

/* --- what is best --- */

static bool has_accuracy(const dlb_points *points, const dlb_summary_group *group)
{
    for (size_t i = 0; i < group->count; i++)
        if (dlb_point_count(points, group->points[i], DLB_MEASURE_test_accuracy) > 0)
            return true;
    return false;
}

enum dlb_ranking dlb_summary_ranking(const dlb_points *points, const dlb_summary_group *group)
{
    bool same = group->scales && same_values(points, group, "model") &&
                same_values(points, group, "epochs");
    if (same && all_of(points, group, dlb_point_is_weak))
        return DLB_RANK_RATE;
    if (same && same_values(points, group, "train_images"))
        return DLB_RANK_TIME;
    return has_accuracy(points, group) ? DLB_RANK_ACCURACY : DLB_RANK_NOTHING;
}

/* --- numbers --- */

dlb_summary_ends dlb_summary_ends_of(const dlb_points *points, size_t point)
{
    const dlb_point_run *runs;
    dlb_summary_ends ends = {.runs = dlb_point_runs(points, point, &runs)};
    for (size_t i = 0; i < ends.runs; i++)
        ends.with[runs[i].status]++;
    return ends;
}

/* SIZE_MAX if only one core count of the series has a time. */
static size_t base_of(const dlb_points *points, const dlb_series *series)
{
    size_t base = dlb_series_base(points, series);
    for (size_t i = 0; base != SIZE_MAX && i < series->count; i++)
        if (dlb_point_cores(points, series->points[i]) != dlb_point_cores(points, base) &&
            dlb_point_has_time(points, series->points[i]))
            return base;
    return SIZE_MAX;
}

/* What has a base already keeps it. */
static void add_bases(const dlb_points *points, const dlb_series_request *request, size_t *bases)
{
    dlb_series_list list;
    dlb_series_make(&list, points, request);
    for (size_t s = 0; s < list.count; s++) {
        size_t base = base_of(points, &list.items[s]);
        for (size_t i = 0; base != SIZE_MAX && i < list.items[s].count; i++) {
            size_t p = list.items[s].points[i];
            bases[p] = bases[p] == SIZE_MAX ? base : bases[p];
        }
    }
    dlb_series_release(&list);
}

/*
 * Among points whose ranks play one worker each, and among those with one number of workers: other
 * times are of other work.
 */
size_t *dlb_summary_bases(const dlb_points *points)
{
    static const char *const axis[] = {"ranks", "threads", NULL};
    size_t count = dlb_points_count(points);
    size_t *bases = dlb_alloc(count ? count : 1, sizeof *bases);
    for (size_t p = 0; p < count; p++)
        bases[p] = SIZE_MAX;
    add_bases(points, &(dlb_series_request){.axis = axis, .takes = dlb_point_is_real}, bases);
    add_bases(points, &(dlb_series_request){.axis = axis, .always = "workers"}, bases);
    return bases;
}
