/* The one process at a time that writes to a folder. */
#ifndef DLB_RECORD_STORE_LOCK_H
#define DLB_RECORD_STORE_LOCK_H

#include "base/error.h"

/*
 * Create the folder with its parents and lock it: a descriptor that is the lock until it is closed
 * or this process ends, and that no program started from here inherits. A folder that cannot be
 * written to, or that another process has, is DLB_BAD_INPUT.
 */
int dlb_store_lock(const char *folder, dlb_error *err);

#endif
