/*
 * Points as lines of a figure: those that differ in what its axis shows and in nothing else.
 *
 * Parameters that follow from the axis within each grid (a batch that shrinks as ranks grow, a pool
 * as large as `threads`) do not tell series apart, and neither do grids: a point that two grids
 * share is recorded under the first only. A series belongs to the grid of most of its points.
 */
#ifndef DLB_REPORT_SERIES_H
#define DLB_REPORT_SERIES_H

#include "base/str.h"
#include "report/points.h"

typedef struct dlb_series {
    size_t *points; /* by the axis; no two at one place of it */
    size_t count;
    const char *grid;
} dlb_series;

typedef struct dlb_series_list {
    dlb_series *items;
    size_t count, capacity;
    int *keys; /* the parameters that tell series apart */
    size_t key_count;
    int *followers; /* those that vary along the axis, with it */
    size_t follower_count;
} dlb_series_list;

typedef struct dlb_series_request {
    const char *const *axis; /* the parameters that the axis shows, ended by NULL */
    const char *always;      /* a parameter that tells series apart in any case; NULL = none */
    bool learning; /* only what has a part in what is learnt tells series apart; of points that
                      differ in the rest one stands for all */
    bool (*takes)(const dlb_points *points, size_t point); /* NULL: every point */
} dlb_series_request;

void dlb_series_make(dlb_series_list *list, const dlb_points *points,
                     const dlb_series_request *request);
void dlb_series_release(dlb_series_list *list);

/* Append a copy of the part of a series. */
dlb_series *dlb_series_add(dlb_series_list *list, const size_t *points, size_t count,
                           const char *grid);

/* Append what tells the series from the `count` others given: "threads 2, warm-up 1"; else "". */
void dlb_series_title(const dlb_series_list *list, const dlb_points *points, const size_t *others,
                      size_t count, size_t series, dlb_str *title);

/* The same, from all others of its grid. */
void dlb_series_title_in_grid(const dlb_series_list *list, const dlb_points *points, size_t series,
                              dlb_str *title);

/* A parameter and a value of it for people: "warm-up", "threads"; "default" for an empty text. */
void dlb_parameter_label(const char *parameter, dlb_str *label);
const char *dlb_value_label(const char *text);

#endif
