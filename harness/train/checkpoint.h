/*
 * A training between two steps, as a file: enough to go on with the same result on any number of
 * ranks.
 *
 * The file is a text of "key value" lines in a fixed order, an empty line, the arrays as 32-bit
 * floats, and a checksum of all that. It appears whole or not at all; one that is cut, changed, or
 * of another version is refused with a message and nothing of it is used. Little-endian machines
 * only.
 */
#ifndef DLB_TRAIN_CHECKPOINT_H
#define DLB_TRAIN_CHECKPOINT_H

#include <stdint.h>

#include "config/workload.h"
#include "train/schedule.h"
#include "train/session.h"

#define DLB_CHECKPOINT_BYTES_MAX ((size_t)4 << 30)

enum { DLB_CHECKPOINT_ARRAYS = 3 }; /* parameters and at most two of the optimizer's */

/* All pointers are owned: dlb_checkpoint_release. */
typedef struct dlb_checkpoint {
    dlb_workload workload;  /* as resolved, workers included */
    uint64_t data_checksum; /* of the data it was trained on */
    char setting[256];      /* how it ran: "2 ranks x 1 threads on vm, blas avx512, shm" */

    int epoch_count; /* that ended, the one under way not included */
    dlb_epoch *epochs;
    bool evaluation_due; /* the last of them was not evaluated yet */
    int step;            /* steps done of the epoch under way; 0: none is */
    dlb_epoch under_way;
    double loss_sum; /* of the epoch under way */
    long correct;

    long steps, images; /* in all */
    long long updates;  /* of the optimizer */
    bool timed;         /* the times below and those of the epochs are of one setting */
    double time_to_solution_s, time_to_target_s, eval_s;
    dlb_plateau plateau;

    size_t count;    /* floats of an array */
    int array_count; /* parameters first */
    float *arrays[DLB_CHECKPOINT_ARRAYS];
} dlb_checkpoint;

/* A zeroed checkpoint with an initialised workload. */
void dlb_checkpoint_init(dlb_checkpoint *checkpoint);
void dlb_checkpoint_release(dlb_checkpoint *checkpoint);

/*
 * Write to a file; the one that was there stays as it was if that fails. DLB_BAD_INPUT where a text
 * has a line break. Counts are not negative, and array_count is at least 1.
 */
int dlb_checkpoint_write(const dlb_checkpoint *checkpoint, const char *path, dlb_error *err);

/* The bytes of that file, in *bytes, which holds nothing yet and still does on failure. */
int dlb_checkpoint_format(const dlb_checkpoint *checkpoint, dlb_str *bytes, dlb_error *err);

/*
 * Make *checkpoint, which holds nothing yet, from a file. DLB_BAD_INPUT if it is no whole
 * checkpoint; *checkpoint then holds nothing.
 */
int dlb_checkpoint_read(dlb_checkpoint *checkpoint, const char *path, dlb_error *err);

/* The same from memory; `name` is for messages. */
int dlb_checkpoint_parse(dlb_checkpoint *checkpoint, const char *name, const char *bytes,
                         size_t count, dlb_error *err);

/*
 * Whether a training with this (resolved) workload and data may go on from the checkpoint: every
 * key that has a part in what is learnt must be the same (keys.def), and the data; with
 * schedule = cosine the epochs, too. The message names the first key that differs and both values.
 */
int dlb_checkpoint_fits(const dlb_checkpoint *checkpoint, const dlb_workload *workload,
                        uint64_t data_checksum, const char *path, dlb_error *err);

#endif
