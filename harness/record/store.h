/*
 * The folder of a study's results: runs.csv, epochs.csv, ranks.csv, host.json, logs/.
 *
 * One process at a time writes to it. A run's rows are appended with one write a file, that of
 * runs.csv last: a run is recorded when its row in runs.csv is. Whatever kills the process, or the
 * machine, every file stays readable; opening the folder again removes a line that was cut short
 * and rows of epochs.csv and ranks.csv that belong to no run.
 */
#ifndef DLB_RECORD_STORE_H
#define DLB_RECORD_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "record/result.h"

/* A recorded run; the texts are the store's. */
typedef struct dlb_stored_run {
    const char *run, *point, *status, *commit, *host;
    int repeat;                        /* 0 if missing */
    long long sequence;                /* likewise */
    double time_to_solution_s, wall_s; /* NaN if missing */
} dlb_stored_run;

typedef struct dlb_store dlb_store;

/*
 * Open the folder, created with its parents if it is not there, and lock it. `columns` is an empty
 * row of runs with the extra columns and counters that are to come: a file that lacks some of them
 * gets them, empty in its rows, and is replaced whole; what it has besides is kept. Another process
 * that has the folder, by its number: DLB_BAD_INPUT. No folder, no space, a file that is none of
 * ours: refused before anything is changed. The lock ends with this process and is inherited by
 * none.
 */
int dlb_store_open(dlb_store **store, const char *folder, const dlb_row *columns, dlb_error *err);

/* Sync and close. */
int dlb_store_close(dlb_store *store, dlb_error *err);

/* What is recorded, in the order of the file; good until the store is changed. */
size_t dlb_store_count(const dlb_store *store);
const dlb_stored_run *dlb_store_run(const dlb_store *store, size_t index);

/* Lines and rows that opening the folder had to remove; 0 after a clean end. */
size_t dlb_store_mended(const dlb_store *store);

/*
 * Record a run: result->run has run, point, repeat and status; epochs and ranks get the run's name.
 * Synced to disk within about a second, without waiting for that. If the disk is full nothing of
 * the run is recorded. A run that is recorded already is DLB_BAD_INPUT.
 */
int dlb_store_add(dlb_store *store, const dlb_result *result, dlb_error *err);

/*
 * Take back the runs for which `is` holds, that they may be run anew: their rows move to
 * superseded.csv (as far as its columns are the same, else superseded.2.csv, ...), and each file is
 * replaced whole. *count, if not NULL: how many. After a failure close the store.
 */
int dlb_store_supersede(dlb_store *store, bool (*is)(const dlb_stored_run *run, void *arg),
                        void *arg, size_t *count, dlb_error *err);

/* Append the path of a file in the folder: dlb_store_path(store, "logs/x.log", &path). */
void dlb_store_path(const dlb_store *store, const char *name, dlb_str *path);

#endif
