/*
 * Columns of a CSV file in memory: what reports are made from.
 *
 * Only the columns asked for are kept, in compact form: whole numbers in 1, 2 or 4 bytes, others as
 * doubles, NaN being missing; words as indices of 1, 2 or 4 bytes into the words of their column. A
 * million rows of a runs.csv are read in about a second. Files of other programs, spreadsheets and
 * other versions of this one are welcome: any order of columns, CR LF, a byte order mark, quoted
 * fields, unknown columns, empty lines, and a last row cut short by a crash, which is left out. The
 * cells that a shorter row lacks are missing.
 */
#ifndef DLB_RECORD_FRAME_H
#define DLB_RECORD_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum dlb_frame_kind { DLB_FRAME_NUMBER, DLB_FRAME_WORD };

typedef struct dlb_frame_want {
    const char *column;
    enum dlb_frame_kind kind;
} dlb_frame_want;

typedef struct dlb_frame dlb_frame;

/*
 * Read the wanted columns; those that the file lacks are not there. A file without a header line,
 * a column twice, a text where a number is wanted (base/csv_number.h), a row with more fields than
 * columns are DLB_BAD_INPUT with the line.
 */
int dlb_frame_read(dlb_frame **frame, const char *path, const dlb_frame_want *wants, size_t count,
                   dlb_error *err);
int dlb_frame_parse(dlb_frame **frame, const char *name, const char *bytes, size_t length,
                    const dlb_frame_want *wants, size_t count, dlb_error *err);
void dlb_frame_free(dlb_frame *frame);

/* The names in a file's header, ended by NULL, to be freed with dlb_frame_header_free. */
int dlb_frame_header(char ***names, const char *path, dlb_error *err);
void dlb_frame_header_free(char **names);

size_t dlb_frame_rows(const dlb_frame *frame);

/* The column of that name, or -1 if it was not wanted or is not in the file. */
int dlb_frame_column(const dlb_frame *frame, const char *name);

/* The cells of a column are no longer needed; only dlb_frame_text may still be asked of it. */
void dlb_frame_drop(dlb_frame *frame, int column);

/* A cell of a NUMBER column; NaN if missing. A column of -1 is missing throughout. */
double dlb_frame_number(const dlb_frame *frame, int column, size_t row);

/*
 * A cell of a WORD column; "" if missing. Equal words of a column have equal codes, from 1 in the
 * order of their first appearance; 0 is missing.
 */
const char *dlb_frame_word(const dlb_frame *frame, int column, size_t row);
uint32_t dlb_frame_code(const dlb_frame *frame, int column, size_t row);
uint32_t dlb_frame_codes(const dlb_frame *frame, int column); /* all codes are below this */
const char *dlb_frame_text(const dlb_frame *frame, int column, uint32_t code);

#endif
