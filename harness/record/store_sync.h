/*
 * A thread that brings appended rows to the disk, so that no one who records a run waits for it,
 * and none stays in memory for more than about a second although no other follows.
 */
#ifndef DLB_RECORD_STORE_SYNC_H
#define DLB_RECORD_STORE_SYNC_H

#include <stddef.h>

#include "base/error.h"

enum { DLB_SYNC_FILES = 3 };

typedef struct dlb_store_sync dlb_store_sync;

int dlb_store_sync_start(dlb_store_sync **sync, dlb_error *err);

/* Ends the thread, once what was told is on the disk. NULL is allowed. */
void dlb_store_sync_stop(dlb_store_sync *sync);

/*
 * Something was appended to these files; -1 for none. They are synced in this order within a
 * second, and may be closed at once. A file in the place of another has replaced it, with all its
 * rows and synced: the other need not be any more.
 */
void dlb_store_sync_later(dlb_store_sync *sync, const int files[DLB_SYNC_FILES]);

/* Sync now; 0 or an errno. Files that cannot be synced, such as pipes, need not be. */
int dlb_store_sync_now(int fd);

/* The first error of a sync as an errno, 0 if there was none. */
int dlb_store_sync_error(dlb_store_sync *sync);

#endif
