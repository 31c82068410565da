/*
 * Where the four files of a data set are: a name such as "mnist" or a folder, resolved to paths.
 * A zeroed dlb_files is valid; release it with dlb_files_release, also after a failure.
 */
#ifndef DLB_DATA_FILES_H
#define DLB_DATA_FILES_H

#include <limits.h>

#include "base/error.h"
#include "base/str.h"

typedef enum dlb_file {
    DLB_TRAIN_IMAGES,
    DLB_TRAIN_LABELS,
    DLB_TEST_IMAGES,
    DLB_TEST_LABELS,
    DLB_FILE_COUNT,
} dlb_file;

typedef struct dlb_files {
    char folder[PATH_MAX]; /* absolute, without symbolic links */
    dlb_str path[DLB_FILE_COUNT];
    int classes; /* of a set that is known by name, else 0 */
} dlb_files;

/* Every file that is missing is named in the message. */
int dlb_files_find(dlb_files *files, const char *name, dlb_error *err);
void dlb_files_release(dlb_files *files);

#endif
