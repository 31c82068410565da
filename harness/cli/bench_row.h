/* A row of raw measurements for a CSV file, cell by cell. */
#ifndef DLB_CLI_BENCH_ROW_H
#define DLB_CLI_BENCH_ROW_H

#include "base/csv.h"

typedef struct dlb_bench_row {
    dlb_str line;
    size_t cells;
} dlb_bench_row;

void dlb_bench_row_text(dlb_bench_row *row, const char *text);

/* An empty cell for what is not finite. */
void dlb_bench_row_number(dlb_bench_row *row, double number);

/* Append it to the file, as dlb_csv_append, and empty it. */
int dlb_bench_row_append(dlb_bench_row *row, const char *path, const char *header, dlb_error *err);

#endif
