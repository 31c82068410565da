/*
 * Tables for people: columns as wide as what stands in them, numbers to the right.
 *
 *     dlb_bench_table table;
 *     dlb_bench_table_init(&table, 3, true);
 *     dlb_bench_table_add(&table, "size");          the titles are the first row
 *     ...
 *     dlb_bench_table_print(&table, stdout);
 *     dlb_bench_table_release(&table);
 */
#ifndef DLB_CLI_BENCH_TABLE_H
#define DLB_CLI_BENCH_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/text.h"
#include "stats/interval.h"
#include "stats/spread.h"

typedef struct dlb_bench_table {
    size_t columns, count, capacity;
    char **cells; /* row by row */
    bool named;   /* the first column has names, which stand to the left */
} dlb_bench_table;

void dlb_bench_table_init(dlb_bench_table *table, size_t columns, bool named);
void dlb_bench_table_release(dlb_bench_table *table);

/* The next cell of the row; the next row begins when it is full. */
void dlb_bench_table_add(dlb_bench_table *table, const char *text);

/* Two cells: the median, and the quartiles in the same unit. */
void dlb_bench_table_add_time(dlb_bench_table *table, const dlb_spread *seconds);
void dlb_bench_table_add_ratio(dlb_bench_table *table, const dlb_spread *ratio);

/* The same of an estimate and its interval; and the interval of a number alone. */
void dlb_bench_table_add_time_interval(dlb_bench_table *table, const dlb_interval *seconds);
void dlb_bench_table_add_interval(dlb_bench_table *table, const dlb_interval *number);

void dlb_bench_table_print(const dlb_bench_table *table, FILE *out);

/* Three digits that count and a unit: 152 ns, 12.3 ms; "–" for a missing value. */
dlb_text dlb_bench_time(double seconds);

/* 2.13; "–" for a missing value. */
dlb_text dlb_bench_ratio(double ratio);

/* 1 KB, 64 MB: in powers of 1024. */
dlb_text dlb_bench_size(size_t bytes);

#endif
