/*
 * Reading comma-separated values, RFC 4180, record by record at about a gigabyte a second.
 *
 * Memory holds one block of the file, so files may be of any size, pipes too. A byte order mark,
 * CR LF and empty lines are skipped. A quote counts only where a field begins with one.
 *
 *     dlb_csv_reader *reader;
 *     if (dlb_csv_open(&reader, path, err) < 0)
 *         return err->code;
 *     dlb_csv_record record;
 *     int got;
 *     while ((got = dlb_csv_next(reader, &record, err)) > 0)
 *         use(record.fields, record.count);
 *     dlb_csv_close(reader);
 */
#ifndef DLB_BASE_CSV_READER_H
#define DLB_BASE_CSV_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Without the quotes around it; terminated, and may contain NUL bytes besides. */
typedef struct dlb_csv_field {
    char *text;
    size_t length;
} dlb_csv_field;

/* The fields are good, and may be changed in place, until the next call. */
typedef struct dlb_csv_record {
    dlb_csv_field *fields;
    size_t count;    /* at least 1 */
    size_t line;     /* where it begins, from 1 */
    uint64_t offset; /* where it begins, in bytes from the start of the file */
    bool cut;        /* the file ends before its line break: complete or not, it is the last */
    bool open;       /* ... and within a quoted field */
} dlb_csv_record;

typedef struct dlb_csv_reader dlb_csv_reader;

int dlb_csv_open(dlb_csv_reader **reader, const char *path, dlb_error *err);

/* The same of bytes in memory, which must outlive the reader; messages call them `name`. */
void dlb_csv_open_bytes(dlb_csv_reader **reader, const char *name, const char *bytes,
                        size_t length);

void dlb_csv_close(dlb_csv_reader *reader);

/*
 * 1 and the next record, 0 at the end, or negative. Text between a closing quote and the end of its
 * field, and a record of more than 16 MB, are DLB_BAD_INPUT with the line.
 */
int dlb_csv_next(dlb_csv_reader *reader, dlb_csv_record *record, dlb_error *err);

#endif
