/*
 * A table for a terminal: columns as wide as their widest cell, empty ones left out, and the least
 * important ones, too, where the terminal is not wide enough.
 */
#ifndef DLB_REPORT_SUMMARY_SHEET_H
#define DLB_REPORT_SUMMARY_SHEET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum { DLB_SHEET_COLUMNS = 32, DLB_SHEET_NEEDED = 100 };

typedef struct dlb_sheet_column {
    char *title;
    bool left;      /* texts stand at the left, numbers at the right */
    int importance; /* DLB_SHEET_NEEDED: never left out for want of width */
} dlb_sheet_column;

typedef struct dlb_sheet_row {
    char *cells[DLB_SHEET_COLUMNS]; /* NULL is empty */
    char *note;                     /* instead of cells, across all columns */
    bool marked;                    /* stands out, in colour */
} dlb_sheet_row;

/* Valid when zeroed. */
typedef struct dlb_sheet {
    dlb_sheet_column columns[DLB_SHEET_COLUMNS];
    size_t column_count;
    dlb_sheet_row *rows;
    size_t row_count, row_capacity;
} dlb_sheet;

void dlb_sheet_release(dlb_sheet *sheet);

/* Add a column and return its number; beyond DLB_SHEET_COLUMNS they share the last. */
size_t dlb_sheet_column_add(dlb_sheet *sheet, const char *title, bool left, int importance);

/* Add a row, whose cells are set next. */
void dlb_sheet_row_add(dlb_sheet *sheet);
void dlb_sheet_note_add(dlb_sheet *sheet, const char *text);
void dlb_sheet_set(dlb_sheet *sheet, size_t column, const char *text);
void dlb_sheet_setf(dlb_sheet *sheet, size_t column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Append the table, for a terminal of that many columns. */
void dlb_sheet_print(const dlb_sheet *sheet, int width, bool colour, dlb_str *out);

/* Append words and break lines before that many columns; those after the first are indented. */
void dlb_sheet_wrap(const char *text, int width, const char *first, const char *indent,
                    dlb_str *out);

#endif
