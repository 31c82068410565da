/* The files that `train` writes. */
#ifndef DLB_CLI_TRAIN_FILES_H
#define DLB_CLI_TRAIN_FILES_H

#include "record/result.h"
#include "train/ranks.h"
#include "train/session.h"

/* Paths; NULL: not asked for. */
typedef struct dlb_train_files {
    const char *csv, *result;
    const char *steps;      /* a row a rank and step */
    const char *trace;      /* of rank 0; rank N writes to trace.N */
    const char *checkpoint; /* written while training */
} dlb_train_files;

/* Refuse, before hours of training, files that could not be written or would replace each other. */
int dlb_train_files_check(const dlb_train_files *files, dlb_session *session, dlb_error *err);

/*
 * Write each but the trace and the checkpoint, whatever becomes of the others. What failed is told
 * on stderr, as by dlb_cli_fail; the result is then DLB_FAIL.
 */
int dlb_train_files_write(const dlb_train_files *files, const char *command,
                          const dlb_result *result, const dlb_rank_reports *reports);

/* Every rank: write its trace, if asked for. */
int dlb_train_files_trace(const dlb_train_files *files, const char *command, dlb_session *session);

#endif
