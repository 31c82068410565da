/*
 * One row of a table: a value or nothing in each column, and any number of counters.
 *
 * A missing value is an empty cell, never 0. A real that is not finite is kept as missing, since
 * no table has a place for it, and so is an empty text. Texts are copied.
 *
 *     dlb_row row;
 *     dlb_row_init(&row, &dlb_table_runs);
 *     dlb_row_set_int(&row, DLB_RUN_epochs, 5);
 *     dlb_row_set_counter(&row, "PAPI_TOT_INS", 123456);
 *     int status = dlb_row_append(&row, "runs.csv", &err);
 *     dlb_row_release(&row);
 */
#ifndef DLB_RECORD_ROW_H
#define DLB_RECORD_ROW_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"
#include "record/schema.h"

enum dlb_cell_kind { DLB_CELL_MISSING, DLB_CELL_INT, DLB_CELL_REAL, DLB_CELL_TEXT };

typedef struct dlb_cell {
    enum dlb_cell_kind kind;
    union {
        long long integer;
        double real; /* finite */
        char *text;
    };
} dlb_cell;

/* A counter's total, or why there is none. */
typedef struct dlb_row_counter {
    char *name;   /* as PAPI names it: perf::TASK-CLOCK */
    char *column; /* its name in a table: papi_perf_task_clock */
    bool missing;
    long long value;
    char *why; /* of a missing one; NULL otherwise */
} dlb_row_counter;

/* A column that this study's table has besides those of the schema: env.NAME, param.NAME, a metric.
 */
typedef struct dlb_row_extra {
    char *name;
    char *text; /* of the cell; "" is missing */
} dlb_row_extra;

/* Read the fields; change them through the functions. */
typedef struct dlb_row {
    const dlb_table *table;
    dlb_cell *cells; /* one a column of the table */
    dlb_row_extra *extras;
    size_t extra_count, extra_capacity;
    dlb_row_counter *counters;
    size_t counter_count, counter_capacity;
} dlb_row;

void dlb_row_init(dlb_row *row, const dlb_table *table);
void dlb_row_release(dlb_row *row);

/*
 * `column` is one of the enum of the row's table, and takes the kind of its type; an integer in a
 * REAL column becomes real. Setting a column again replaces its value.
 */
void dlb_row_set_int(dlb_row *row, int column, long long value);
void dlb_row_set_real(dlb_row *row, int column, double value);
void dlb_row_set_text(dlb_row *row, int column, const char *text);
void dlb_row_clear(dlb_row *row, int column);

/* What a column has: "" where there is no text; NaN, or `missing`, where there is no number. */
const char *dlb_row_text(const dlb_row *row, int column);
double dlb_row_real(const dlb_row *row, int column);
long long dlb_row_int(const dlb_row *row, int column, long long missing);

/* Set a column from the text of a cell, by the column's type; "" is missing. */
int dlb_row_parse(dlb_row *row, int column, const char *text, dlb_error *err);

/* Set an extra column of the row, added after the others when it is new; they stand before the
 * counters. The name is none of the table's own. */
void dlb_row_set_extra(dlb_row *row, const char *name, const char *text);

/*
 * Set a counter of the row, added after the others when it is new. Its column is named after the
 * event, in lower case, with "_" for all that is neither letter nor digit.
 */
void dlb_row_set_counter(dlb_row *row, const char *event, long long value);
void dlb_row_miss_counter(dlb_row *row, const char *event, const char *why);

/* The columns, 0 .. width - 1: those of the table, then the extra ones, then the counters. */
size_t dlb_row_width(const dlb_row *row);
const char *dlb_row_name(const dlb_row *row, size_t column);

/* Append the names of the columns, or the values, as a line of CSV without its newline. */
void dlb_row_header(const dlb_row *row, dlb_str *line);
void dlb_row_line(const dlb_row *row, dlb_str *line);

/* The same for a table with those columns: a cell that the row has no column for is empty. */
void dlb_row_line_as(const dlb_row *row, char *const *columns, size_t count, dlb_str *line);

/*
 * Append the row to a CSV file, which gets a header when it is new. A file whose columns are
 * others, be it only those of its counters, is refused and left as it is.
 */
int dlb_row_append(const dlb_row *row, const char *path, dlb_error *err);

/* Whether the row, once filled, could be appended; nothing is created or changed. */
int dlb_row_check(const dlb_row *row, const char *path, dlb_error *err);

#endif
