/*
 * The kinds of figures. Each function adds those that the study has something to say for, one for
 * each grid where series belong to several.
 *
 * A time of virtual workers, several to a rank, is no scaling result: scaling, efficiency and time
 * to solution are over ranks and threads, and the points of a line have one number of workers or
 * as many as ranks.
 */
#ifndef DLB_REPORT_FIGURES_H
#define DLB_REPORT_FIGURES_H

#include "report/caption.h"
#include "report/figure.h"
#include "report/lines.h"
#include "report/report_state.h"
#include "report/series.h"

void dlb_figures_scaling(const dlb_report *report, dlb_figures *figures);
void dlb_figures_accuracy(const dlb_report *report, dlb_figures *figures);
void dlb_figures_heatmaps(const dlb_report *report, dlb_figures *figures);

/*
 * Contests between words (report/contest.h), and the effect of single parameters. in_scoreboard, of
 * each point and false at first: whether a scoreboard tells its speed and accuracy, which then need
 * no other figure.
 */
void dlb_figures_scoreboard(const dlb_report *report, bool *in_scoreboard, dlb_figures *figures);
void dlb_figures_effects(const dlb_report *report, const bool *in_scoreboard, dlb_figures *figures);

int dlb_figures_epochs(const dlb_report *report, dlb_figures *figures, dlb_error *err);
int dlb_figures_phases(const dlb_report *report, dlb_figures *figures, dlb_error *err);

/* ---- drawing ------------------------------------------------------------------------------- */

/* The caption_columns of figures that are drawn so. */
int dlb_figures_columns(const dlb_figure_options *options);

/* Draw them to files, or as text. */
int dlb_figures_draw(const dlb_figures *figures, const dlb_figure_options *options, dlb_error *err);

/* ---- what they share ----------------------------------------------------------------------- */

/* time_to_solution_s or, where no run has it, wall_s. */
enum dlb_measure dlb_time_measure(const dlb_points *points);

/* What a point's measure comes to over its repeats, all times `scale`. */
dlb_interval dlb_point_median(const dlb_points *points, size_t point, enum dlb_measure measure,
                              double scale);

/* The median alone, which costs much less. */
double dlb_point_value(const dlb_points *points, size_t point, enum dlb_measure measure);

/* The runs that have it, which the median is made of. */
size_t dlb_point_count(const dlb_points *points, size_t point, enum dlb_measure measure);

/* above / below within the blocks that both points ran in. */
dlb_interval dlb_point_ratio(const dlb_points *points, size_t above, size_t below,
                             enum dlb_measure measure);

size_t dlb_point_diverged(const dlb_points *points, size_t point);
dlb_interval dlb_interval_scaled(dlb_interval interval, double scale);

/* Numbers of a point by the name of a parameter; NaN without. */
double dlb_point_named(const dlb_points *points, size_t point, const char *parameter);

/* ranks * threads; NaN if either is not known. */
double dlb_point_cores(const dlb_points *points, size_t point);

/* Whether no rank plays several workers; true where workers are unknown. */
bool dlb_point_is_real(const dlb_points *points, size_t point);

/* Whether the work grows with the workers, so that rates are compared and not times. */
bool dlb_point_is_weak(const dlb_points *points, size_t point);

/* Whether some run of it has a time, and its cores are known. */
bool dlb_point_has_time(const dlb_points *points, size_t point);

/* What speed-ups within a series are against: the point with a time and the fewest cores, or
 * SIZE_MAX. */
size_t dlb_series_base(const dlb_points *points, const dlb_series *series);

/* How many times as fast as the base, within blocks; where the work grows, in images a second. */
dlb_interval dlb_point_speedup(const dlb_points *points, size_t point, size_t base);

/* The points of those series, one after the other; *total: how many. free() them. */
size_t *dlb_series_points(const dlb_series_list *list, const size_t *chosen, size_t count,
                          size_t *total);

/* Whether it is so, by point, of each of these. */
bool dlb_all_of(const bool *which, const size_t *points, size_t count);

/* Whether ranks, threads or workers vary along with the axis, and are seen instead of it. */
bool dlb_series_confounded(const dlb_series_list *list, const dlb_points *points);

/* Of a point without a value, what became of its last run: "failed", "timeout", "diverged"; "?" of
 * one that ended. */
const char *dlb_point_end(const dlb_points *points, size_t point);

/* Whether series belong to several grids, so that figures are named after them. */
bool dlb_series_has_grids(const dlb_series_list *list);

/*
 * Of `count` candidates the DLB_FIGURE_MAX_LINES with the highest scores, in their order; returns
 * how many. Without scores (NULL) it is the first ones. What is left out is told in the caption.
 */
size_t dlb_choose_lines(const double *scores, size_t count, size_t *chosen, dlb_str *caption);

/* Title and caption of a figure: the caption that is there, then what every caption says. */
void dlb_figure_describe(dlb_figure *figure, const char *title, dlb_str *caption,
                         const dlb_shown *shown);

#endif
