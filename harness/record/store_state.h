/* What a store holds; for the files that make it. */
#ifndef DLB_RECORD_STORE_STATE_H
#define DLB_RECORD_STORE_STATE_H

#include "record/store.h"
#include "record/store_file.h"
#include "record/store_sync.h"
#include "record/word_set.h"

/* In the order in which they are written: a run is recorded when its row in the last one is. */
enum { STORE_EPOCHS, STORE_RANKS, STORE_RUNS, STORE_FILES };

struct dlb_store {
    char *folder;
    int lock;
    dlb_store_file files[STORE_FILES];
    dlb_stored_run *runs;
    size_t count, capacity;
    dlb_word_set run_names; /* of `runs` */
    dlb_word_set words;     /* its other texts */
    size_t mended;
    dlb_store_sync *sync;
};

/* The keepers of epochs and ranks: rows of a recorded run; `arg` is a dlb_store_member. */
typedef struct dlb_store_member {
    const dlb_store *store;
    const dlb_store_file *file;
} dlb_store_member;

bool dlb_store_is_of_run(const dlb_store_row *row, void *arg);

/* Bring a supersession that was cut short to its end, or undo it. */
int dlb_store_settle(const dlb_store *store, dlb_error *err);

#endif
