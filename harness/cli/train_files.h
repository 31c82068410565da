/* The files that `train` writes. */
#ifndef DLB_CLI_TRAIN_FILES_H
#define DLB_CLI_TRAIN_FILES_H

#include "record/result.h"
#include "train/session.h"

/* Paths; NULL: not asked for. */
typedef struct dlb_train_files {
    const char *csv, *result, *trace;
} dlb_train_files;

/* Refuse, before hours of training, files that could not be written or would replace each other. */
int dlb_train_files_check(const dlb_train_files *files, dlb_session *session, dlb_error *err);

/*
 * Write each, whatever becomes of the others. What failed is told on stderr, as by dlb_cli_fail;
 * the result is then DLB_FAIL.
 */
int dlb_train_files_write(const dlb_train_files *files, const char *command, dlb_session *session,
                          const dlb_result *result);

#endif
