/*
 * What checks of kernels have found, commit after commit: a CSV file with a row a check and kernel,
 * in the order of the checks, and its figure, which is made of nothing else.
 *
 * Of a row, before_s and after_s are seconds of a call; changes and the resolution are in percent.
 * An empty cell is a missing value. Rows of one check stand together and agree in all cells that
 * say what was compared where.
 */
#ifndef DLB_REPORT_HISTORY_H
#define DLB_REPORT_HISTORY_H

#include "report/report.h"
#include "stats/judgement.h"

#define DLB_HISTORY_HEADER                                                                         \
    "date,host,cpu,isa,kernels,commit_before,commit_after,model,kernel,before_s,after_s,"          \
    "change_pct,low_pct,high_pct,resolution_pct,verdict,rounds"

typedef struct dlb_history_kernel {
    char *model, *name;
    double change, low, high; /* 0.05 is 5 % slower; NaN: missing */
    dlb_judgement_kind verdict;
} dlb_history_kernel;

typedef struct dlb_history_check {
    char *date; /* UTC, 2026-11-18T15:47:03Z */
    char *host, *cpu, *isa, *kernels;
    char *before, *after; /* commits; `before` may be the path of a program */
    size_t first, count;  /* among the history's kernels */
    bool follows;         /* it goes on from what the check before it has ended with */
} dlb_history_check;

/* Valid when zeroed. */
typedef struct dlb_history {
    size_t count, capacity;
    dlb_history_check *checks;
    size_t kernel_count, kernel_capacity;
    dlb_history_kernel *kernels;
} dlb_history;

/* Whether the file begins with the header of a history. */
bool dlb_history_is(const char *path);

/* Read it; a cell that makes no sense is DLB_BAD_INPUT with file and line. Release it either way.
 */
int dlb_history_read(dlb_history *history, const char *path, dlb_error *err);

/* The same of bytes in memory, which messages call `name`. */
int dlb_history_parse(dlb_history *history, const char *name, const char *bytes, size_t length,
                      dlb_error *err);

void dlb_history_release(dlb_history *history);

/*
 * Whether `before`, a whole commit, is the one that a program calls itself built of: `after` is as
 * git describes a commit. A changed tree ("-dirty") is no commit.
 */
bool dlb_history_same_commit(const char *before, const char *after);

/* Append the folder that it is in, which is where its figure is unless somebody wants it elsewhere.
 */
void dlb_history_folder(const char *path, dlb_str *folder);

/* Whether that can be the name of a history: with another ending than .csv it could be that of its
 * own figure. */
int dlb_history_check_name(const char *path, dlb_error *err);

/*
 * Draw the history at `path`, as a figure that has the file's name. *count: of figures, 0 if no
 * check is in the file.
 */
int dlb_history_figure(const char *path, const dlb_figure_options *options, size_t *count,
                       dlb_error *err);

#endif
