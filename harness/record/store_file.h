/*
 * One CSV file of a store: read once when the store is opened, appended to afterwards, replaced
 * whole where more than its end is to change.
 */
#ifndef DLB_RECORD_STORE_FILE_H
#define DLB_RECORD_STORE_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/csv_reader.h"
#include "record/row.h"

typedef struct dlb_store_file {
    const dlb_table *table;
    char *folder, *path;
    char **columns; /* of its header; none before there is a file */
    size_t count, capacity;
    int fd;         /* for appending; -1 before dlb_store_file_prepare */
    off_t size;     /* where the next row goes */
    bool overhangs; /* what lies beyond could not be taken back yet, and nothing may follow it */

    /* What loading found wrong. */
    off_t kept_end; /* after the last row that is to be kept */
    size_t dropped; /* rows that are not, and a torn one */
    bool holes;     /* some of them stand before one that is */
} dlb_store_file;

/* A row as it was read, good while it is looked at. */
typedef struct dlb_store_row {
    size_t index; /* from 0 below the header */
    const dlb_csv_field *fields;
    size_t count;
} dlb_store_row;

/* Whether a row is to be kept. */
typedef bool dlb_store_keep(const dlb_store_row *row, void *arg);
bool dlb_store_keep_all(const dlb_store_row *row, void *arg);

void dlb_store_file_init(dlb_store_file *file, const char *folder, const dlb_table *table);
void dlb_store_file_release(dlb_store_file *file);

/*
 * Read the file, if it is there; each row is shown to `keep` once, in order, with the columns
 * already known. Nothing is changed. A file that lacks the columns by which rows of the table are
 * told apart is DLB_BAD_INPUT.
 */
int dlb_store_file_load(dlb_store_file *file, dlb_store_keep *keep, void *arg, dlb_error *err);

/* The place of a column in the file, or -1; and what a row has there, "" if nothing. */
int dlb_store_file_find(const dlb_store_file *file, const char *name);
const char *dlb_store_field(const dlb_store_row *row, int place);

/* Remove what loading found was not to be kept. */
int dlb_store_file_mend(dlb_store_file *file, dlb_store_keep *keep, void *arg, dlb_error *err);

/* Make the file if there is none, give it the columns of the row that it lacks, and open it. */
int dlb_store_file_prepare(dlb_store_file *file, const dlb_row *row, dlb_error *err);

/* Append with one write; what could not be written whole is taken back. */
int dlb_store_file_append(dlb_store_file *file, const dlb_str *rows, dlb_error *err);

/* Take back what was appended after that size. */
void dlb_store_file_cut(dlb_store_file *file, off_t size);

/*
 * Write the columns and the rows to be kept, none if `keep` is NULL, to a file beside this one, and
 * sync it; then put that into its place.
 */
int dlb_store_file_rewrite(dlb_store_file *file, dlb_store_keep *keep, void *arg, dlb_error *err);
int dlb_store_file_replace(dlb_store_file *file, dlb_error *err);

/* Append the path of that file beside one. */
void dlb_store_new_path(const char *path, dlb_str *out);

#endif
