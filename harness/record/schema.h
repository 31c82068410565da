/*
 * The tables that results are kept in, derived from schema.def: columns as enums and as data.
 * Nothing here is to be freed.
 */
#ifndef DLB_RECORD_SCHEMA_H
#define DLB_RECORD_SCHEMA_H

#include <stdbool.h>

/* DLB_RUN_run, DLB_RUN_point, ... */
enum dlb_run_column {
#define RUN(name, ...) DLB_RUN_##name,
#include "record/schema.def"
    DLB_RUN_COUNT
};

enum dlb_epoch_column {
#define EPOCH(name, ...) DLB_EPOCH_##name,
#include "record/schema.def"
    DLB_EPOCH_COUNT
};

enum dlb_rank_column {
#define RANK(name, ...) DLB_RANK_##name,
#include "record/schema.def"
    DLB_RANK_COUNT
};

enum dlb_step_column {
#define STEP(name, ...) DLB_STEP_##name,
#include "record/schema.def"
    DLB_STEP_COUNT
};

enum dlb_column_type { DLB_COLUMN_INT, DLB_COLUMN_REAL, DLB_COLUMN_TEXT };

typedef struct dlb_column {
    const char *name;
    enum dlb_column_type type;
    const char *unit; /* of a TEXT with a closed set of values that set: "yes|no"; "" = none */
    const char *meaning;
} dlb_column;

typedef struct dlb_table {
    const char *file; /* its name in a study's folder */
    const dlb_column *columns;
    int count;
    bool has_counters; /* one column a counter follows */
} dlb_table;

extern const dlb_table dlb_table_runs, dlb_table_epochs, dlb_table_ranks, dlb_table_steps;

/* The column of that name, or -1. */
int dlb_table_find(const dlb_table *table, const char *name);

/* Whether the column may hold that text: any, or one of its closed set. */
bool dlb_column_allows(const dlb_column *column, const char *text);

#endif
