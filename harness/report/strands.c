#include "report/strands.h"

#include <math.h>
#include <stdint.h>

#include "base/mem.h"
#include "report/figures.h"
#include "report/target.h"

void dlb_strands_release(dlb_strands *all)
{
    for (size_t i = 0; i < all->count; i++)
        free(all->items[i].points);
    free(all->items);
    *all = (dlb_strands){0};
}

/* Good enough to tell which lines are the best. */
static double rough_speedup(const dlb_points *points, size_t point, size_t base)
{
    enum dlb_measure time = dlb_time_measure(points);
    return dlb_point_is_weak(points, point)
               ? dlb_point_value(points, point, DLB_MEASURE_images_per_s)
               : dlb_point_value(points, base, time) / dlb_point_value(points, point, time);
}

/* The points of the family with that value of a parameter. */
static void add_strand(dlb_strands *all, const dlb_points *points, const dlb_series *family,
                       dlb_strand like, const char *fixed)
{
    like.points = dlb_alloc(family->count, sizeof *like.points);
    for (size_t i = 0; i < family->count; i++) {
        size_t p = family->points[i];
        if (!(dlb_point_cores(points, p) > 0) || dlb_point_named(points, p, fixed) != like.fixed)
            continue;
        like.points[like.count++] = p;
        like.timed += dlb_point_has_time(points, p);
        like.best = fmax(like.best, rough_speedup(points, p, like.base));
    }
    if (like.count < 2) {
        free(like.points);
        return;
    }
    all->items = dlb_grow(all->items, &all->capacity, all->count + 1, sizeof *all->items);
    all->items[all->count++] = like;
}

/* Whether the value of the parameter at i has not been before it. */
static bool is_new(const dlb_points *points, const dlb_series *family, size_t i, const char *name)
{
    double value = dlb_point_named(points, family->points[i], name);
    for (size_t j = 0; j < i; j++)
        if (dlb_point_named(points, family->points[j], name) == value)
            return false;
    return !isnan(value);
}

void dlb_strands_add(dlb_strands *all, const dlb_points *points, const dlb_series *family,
                     size_t number)
{
    dlb_strand like = {.family = number,
                       .base = dlb_series_base(points, family),
                       .over_ranks = true,
                       .longest_s = dlb_series_longest(points, family)};
    if (like.base == SIZE_MAX)
        return;
    for (size_t i = 0; i < family->count; i++) {
        if (!is_new(points, family, i, "threads"))
            continue;
        like.fixed = dlb_point_named(points, family->points[i], "threads");
        add_strand(all, points, family, like, "threads");
    }
    like.over_ranks = false;
    like.fixed = dlb_point_named(points, like.base, "ranks");
    add_strand(all, points, family, like, "ranks");
}
