/*
 * Files of rows written anew. Anything that goes wrong in between is remembered, so that only the
 * end needs a check.
 */
#ifndef DLB_RECORD_STORE_COPY_H
#define DLB_RECORD_STORE_COPY_H

#include "record/store_file.h"

typedef struct dlb_store_copy {
    char *path;
    FILE *out;
    int status;
    dlb_error err;
} dlb_store_copy;

int dlb_store_copy_begin(dlb_store_copy *copy, const char *path, dlb_error *err);

/* Sync and close; after a failure there is no file. */
int dlb_store_copy_end(dlb_store_copy *copy, dlb_error *err);

/* Add the columns of the file, as those of its rows will be: more than it has now if it widens. */
void dlb_store_copy_header(dlb_store_copy *copy, const dlb_store_file *file);

/* Add its rows that are to be kept, each with as many fields. */
void dlb_store_copy_rows(dlb_store_copy *copy, const dlb_store_file *file, dlb_store_keep *keep,
                         void *arg);

/* Add the bytes of another file. */
void dlb_store_copy_file(dlb_store_copy *copy, const char *path);

/* Bring renamed files to the disk. */
int dlb_store_sync_folder(const char *folder, dlb_error *err);

#endif
