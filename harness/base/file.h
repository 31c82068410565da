/* Whole files, read into memory and written so that a reader sees the old or the new, never half;
 * and folders. */
#ifndef DLB_BASE_FILE_H
#define DLB_BASE_FILE_H

#include "base/error.h"
#include "base/str.h"

/*
 * Append the file's bytes to *text, which is terminated text even for an empty file. A file of
 * more than `limit` bytes is refused.
 */
int dlb_file_read(const char *path, size_t limit, dlb_str *text, dlb_error *err);

bool dlb_file_exists(const char *path);

/* The path of a program in the folders of PATH; false, and "", if it is in none. */
bool dlb_file_on_path(const char *program, char *found, size_t size);

/*
 * Whether dlb_file_write_atomic could write to `path` now. Where it would create a file, one is
 * created and removed.
 */
int dlb_file_writable(const char *path, dlb_error *err);

/* Whether both paths lead to one file, which need not exist yet. */
bool dlb_file_same(const char *path, const char *other);

/*
 * Write to a temporary file beside `path`, sync it, and rename it into place. A symbolic link stays
 * and the file that it leads to is replaced. What is no file (a device, a pipe) is written to.
 */
int dlb_file_write_atomic(const char *path, const char *bytes, size_t count, dlb_error *err);

/* Write all of the bytes, in one write unless a signal or a full disk cuts it; 0, or -1 with errno.
 */
int dlb_file_write_all(int fd, const char *bytes, size_t count);

/* Make a folder, and those that it is to be in; one that is there is fine. */
int dlb_file_make_folder(const char *path, dlb_error *err);

/* Remove a folder and all that is in it, following no links; what cannot be removed stays. */
void dlb_file_remove_tree(const char *path);

#endif
