/*
 * The runs of a study, grouped by point: what every table and figure is reduced from.
 *
 * Read from a runs.csv alone. Runs of one point have equal parameters; where the file has no ids of
 * points they are grouped by their parameters. A measure is missing (NaN) where its cell is empty;
 * a run that is not ok has no times, whatever its cells say, and no accuracy and no loss either.
 */
#ifndef DLB_REPORT_POINTS_H
#define DLB_REPORT_POINTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Numbers of a run: DLB_MEASURE_time_to_solution_s, ... */
enum dlb_measure {
#define MEASURE(name, kind) DLB_MEASURE_##name,
#include "report/measures.def"
    DLB_MEASURES
};

enum dlb_run_status { DLB_STATUS_OK, DLB_STATUS_FAILED, DLB_STATUS_TIMEOUT, DLB_STATUS_DIVERGED };

/* A run: repeat k of any point belongs to block k. */
typedef struct dlb_point_run {
    int repeat;
    enum dlb_run_status status;
} dlb_point_run;

typedef struct dlb_points dlb_points;

/* `path` is a runs.csv. Memory: some 100 bytes a run. */
int dlb_points_read(dlb_points **points, const char *path, dlb_error *err);
void dlb_points_free(dlb_points *points);

size_t dlb_points_count(const dlb_points *points);
size_t dlb_points_runs(const dlb_points *points); /* of all points */

/* The parameters: columns of runs.csv that are keys of a workload, env.NAME, param.NAME, grid and
 * mode. */
size_t dlb_points_parameters(const dlb_points *points);
const char *dlb_points_parameter(const dlb_points *points, size_t parameter);
int dlb_points_find(const dlb_points *points, const char *parameter); /* or -1 */
bool dlb_points_varies(const dlb_points *points, int parameter);

/* A point, 0 .. count - 1, in the order of its first run in the file. `parameter` -1 gives "" and
 * NaN. */
const char *dlb_point_id(const dlb_points *points, size_t point);
const char *dlb_point_text(const dlb_points *points, size_t point, int parameter);
double dlb_point_number(const dlb_points *points, size_t point, int parameter);

/* The order of two points' values: numbers first, by size; then what is none, by its text. */
int dlb_point_compare(const dlb_points *points, int parameter, size_t a, size_t b);

/* Its runs by repeat, and their measures: `values` points at one number a run. */
size_t dlb_point_runs(const dlb_points *points, size_t point, const dlb_point_run **runs);
size_t dlb_point_measure(const dlb_points *points, size_t point, enum dlb_measure measure,
                         const double **values);
const char *dlb_measure_name(enum dlb_measure measure); /* its column */

/*
 * Numbers under other names, at most DLB_MAX_METRICS: the metrics of a foreign program. A run that
 * is not ok has none.
 */
enum { DLB_MAX_METRICS = 8 };
size_t dlb_points_metrics(const dlb_points *points);
const char *dlb_points_metric(const dlb_points *points, size_t metric);
size_t dlb_point_metric(const dlb_points *points, size_t point, size_t metric,
                        const double **values);
bool dlb_points_more_metrics(const dlb_points *points); /* whether the file may have others */

/*
 * How long each run lasted that a timeout ended, NaN for others: no time of anything, but until
 * then it had not come to its end.
 */
size_t dlb_point_timeouts(const dlb_points *points, size_t point, const double **values);

/* Why runs failed or timed out: different reasons, in the order of the file. */
typedef struct dlb_reason {
    char *text;
    enum dlb_run_status status; /* of the first such run, */
    size_t point;               /* and its point */
    size_t runs;
} dlb_reason;

/* The first DLB_MAX_REASONS of them; *others: how many more there are. */
enum { DLB_MAX_REASONS = 3 };
size_t dlb_points_reasons(const dlb_points *points, const dlb_reason **reasons, size_t *others);

/* Whether some run of it had more threads than cores. */
bool dlb_point_oversubscribed(const dlb_points *points, size_t point);

/* The hosts and commits that the runs came from, each once, in the order of the file. */
size_t dlb_points_hosts(const dlb_points *points, const char *const **hosts);
size_t dlb_points_commits(const dlb_points *points, const char *const **commits);

#endif
