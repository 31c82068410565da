/*
 * A study as its sweep file describes it (docs/sweeps.md): settings checked, lists and conditions
 * parsed, nothing expanded yet. What becomes of it is for plan/plan.h.
 */
#ifndef DLB_CONFIG_STUDY_H
#define DLB_CONFIG_STUDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "config/ini.h"

enum dlb_order { DLB_ORDER_BLOCKS, DLB_ORDER_SEQUENTIAL };

/* How often each point is run. */
typedef struct dlb_repeats {
    int min, max; /* equal unless a precision or a budget decides */
    double
        precision;   /* half width of the median's 95 % interval by the median; 0: none asked for */
    double budget_s; /* after which no more than `min` repeats are begun; 0: none */
} dlb_repeats;

enum dlb_metric_kind { DLB_METRIC_REGEX, DLB_METRIC_JSON, DLB_METRIC_CSV };

/* A number that a foreign program's run is to yield. */
typedef struct dlb_metric {
    const char *name;
    enum dlb_metric_kind kind;
    const char *file;    /* of JSON and CSV, braces not yet filled */
    const char *pattern; /* regular expression; path in JSON; column of CSV */
    dlb_place place;
} dlb_metric;

/* Words with braces not yet filled, ended by NULL; NULL where the file has none. */
typedef char *const *dlb_words;

/* Everything is owned by the study. */
typedef struct dlb_study {
    dlb_ini *ini; /* the workload and grid sections are read by plan/ */
    const char *name, *title;
    dlb_repeats repeats;
    double timeout_s;
    enum dlb_order order;
    uint64_t order_seed;

    dlb_words command; /* NULL: dlbench's own trainer */
    dlb_place command_place;
    const dlb_metric *metrics;
    size_t metric_count;

    const char *launcher; /* "auto", "none", "mpirun", "srun", "aprun" */
    dlb_words launch_options, wrap;
    dlb_place wrap_place;
} dlb_study;

int dlb_study_read(dlb_study **study, const char *path, dlb_error *err);
int dlb_study_parse(dlb_study **study, const char *name, const char *bytes, size_t count,
                    dlb_error *err);
void dlb_study_free(dlb_study *study);

/* The value of an entry as a number of repeats; of NULL, *repeats stays as it is. */
int dlb_study_read_repeats(const dlb_ini_entry *entry, int *repeats, dlb_error *err);

/* "90", "90s", "1.5h", "10m" as seconds; "2%" or "0.02" as 0.02. False if it is none. */
bool dlb_duration_parse(const char *text, double *seconds);
bool dlb_percentage_parse(const char *text, double *fraction);

#endif
