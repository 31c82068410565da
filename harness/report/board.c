#include "report/board.h"

#include <math.h>
#include <stdint.h>

#include "report/figures.h"
#include "report/target.h"

static enum dlb_measure measure_of(const dlb_points *points, enum dlb_board_kind kind)
{
    static const enum dlb_measure measures[DLB_BOARD_KINDS] = {
        DLB_MEASURE_images_per_s, DLB_MEASURES, DLB_MEASURE_time_to_target_s,
        DLB_MEASURE_test_accuracy};
    return kind == DLB_BOARD_TIME ? dlb_time_measure(points) : measures[kind];
}

static bool less_is_better(const dlb_board *b)
{
    return b->kind == DLB_BOARD_TIME || b->kind == DLB_BOARD_TARGET;
}

double dlb_board_scale(const dlb_board *b)
{
    return b->kind == DLB_BOARD_ACCURACY ? 100 : 1;
}

static size_t find_point(const dlb_contest *c, const dlb_series *panel, size_t value)
{
    for (size_t i = 0; i < panel->count; i++)
        if (dlb_point_compare(c->points, c->parameter, panel->points[i], c->values[value]) == 0)
            return panel->points[i];
    return SIZE_MAX;
}

static void find_range(const dlb_board *b, dlb_board_entry *e)
{
    const double *values;
    size_t count = dlb_point_measure(b->points, e->point, b->measure, &values);
    e->least = fmin(e->value.value, e->value.low);
    e->most = fmax(e->value.value, e->value.high);
    for (size_t i = 0; i < count; i++) {
        e->least = fmin(e->least, dlb_board_scale(b) * values[i]);
        e->most = fmax(e->most, dlb_board_scale(b) * values[i]);
    }
}

static dlb_board_entry entry_of(const dlb_board *b, size_t point, double longest_s)
{
    dlb_board_entry e = {point, {0, NAN, NAN, NAN}, NAN, NAN, 0, NAN};
    if (point == SIZE_MAX)
        return e;
    if (b->kind == DLB_BOARD_TARGET) {
        dlb_target_time target = dlb_point_target(b->points, point, longest_s);
        e.value = target.time;
        e.reached = target.reached;
    } else {
        e.value = dlb_point_median(b->points, point, b->measure, dlb_board_scale(b));
    }
    find_range(b, &e);
    return e;
}

static bool is_better(const dlb_board *b, const dlb_board_entry *a, const dlb_board_entry *than)
{
    return less_is_better(b) ? a->value.value < than->value.value
                             : a->value.value > than->value.value;
}

const dlb_board_entry *dlb_board_best(const dlb_board *b, size_t panel, size_t except)
{
    const dlb_board_entry *best = NULL;
    for (size_t v = 0; v < b->contest->value_count; v++) {
        const dlb_board_entry *e = &b->entries[panel][v];
        if (v != except && !isnan(e->value.value) && (!best || is_better(b, e, best)))
            best = e;
    }
    return best;
}

/* Of times to a target only if all runs reached it: of others no ratio is known. */
static double ratio_of(const dlb_board *b, const dlb_board_entry *e, const dlb_board_entry *other)
{
    bool whole = b->kind != DLB_BOARD_TARGET ||
                 (e->reached == e->value.count && other->reached == other->value.count);
    if (b->kind == DLB_BOARD_ACCURACY || isnan(e->value.value) || !whole)
        return NAN;
    return less_is_better(b) ? dlb_point_ratio(b->points, other->point, e->point, b->measure).value
                             : dlb_point_ratio(b->points, e->point, other->point, b->measure).value;
}

static void fill_panel(dlb_board *b, size_t panel)
{
    const dlb_contest *c = b->contest;
    const dlb_series *series = &c->list.items[c->panels[panel]];
    double longest_s = dlb_series_longest(b->points, series);
    for (size_t v = 0; v < c->value_count; v++)
        b->entries[panel][v] = entry_of(b, find_point(c, series, v), longest_s);
    for (size_t v = 0; v < c->value_count; v++) {
        const dlb_board_entry *other = dlb_board_best(b, panel, v);
        if (other)
            b->entries[panel][v].ratio = ratio_of(b, &b->entries[panel][v], other);
    }
}

/* How good a value is, by the best of each panel; below 0 if it is nowhere. */
static double score_of(const dlb_board *b, size_t value)
{
    double sum = 0, panels = 0;
    for (size_t panel = 0; panel < b->contest->panel_count; panel++) {
        const dlb_board_entry *best = dlb_board_best(b, panel, SIZE_MAX);
        double here = b->entries[panel][value].value.value;
        if (isnan(here))
            continue;
        sum += less_is_better(b) ? best->value.value / here : here / best->value.value;
        panels++;
    }
    return isnan(sum) ? 0 : panels > 0 ? sum / panels : -1; /* NaN: all are 0 */
}

/* One order for all panels, that rows can be followed across. */
static void fill_places(dlb_board *b)
{
    size_t count = b->contest->value_count;
    double scores[DLB_CONTEST_VALUES];
    for (size_t v = 0; v < count; v++)
        scores[v] = score_of(b, v);
    for (size_t v = 0; v < count; v++) {
        b->places[v] = 1;
        for (size_t other = 0; other < count; other++)
            b->places[v] += scores[other] > scores[v] || (scores[other] == scores[v] && other < v);
    }
}

bool dlb_board_make(dlb_board *board, const dlb_contest *contest, enum dlb_board_kind kind)
{
    *board = (dlb_board){.points = contest->points, .contest = contest, .kind = kind};
    board->measure = measure_of(board->points, kind);
    bool any = false;
    for (size_t panel = 0; panel < contest->panel_count; panel++) {
        fill_panel(board, panel);
        any = any || dlb_board_best(board, panel, SIZE_MAX);
    }
    fill_places(board);
    return any;
}
