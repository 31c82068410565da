/*
 * The text files of /proc and /sys, below a root folder: "" is this machine, any other folder a
 * recorded one. A file that cannot be read is `false`, not an error: what a kernel exposes varies.
 */
#ifndef DLB_MEASURE_SYSFILE_H
#define DLB_MEASURE_SYSFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* The file root/path, whole, appended to *text. */
bool dlb_sys_read(dlb_str *text, const char *root, const char *path_format, ...)
    __attribute__((format(printf, 3, 4)));

/* Its first line without surrounding blanks; `line` is "" when unreadable. */
bool dlb_sys_line(char *line, size_t size, const char *root, const char *path_format, ...)
    __attribute__((format(printf, 4, 5)));

/* Its first line as a decimal number. */
bool dlb_sys_number(long long *number, const char *root, const char *path_format, ...)
    __attribute__((format(printf, 3, 4)));

/* True if root/path exists. */
bool dlb_sys_exists(const char *root, const char *path_format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * The value of the first "key : value" line of `text`, as in /proc/cpuinfo, meminfo and status;
 * `value` is "" when there is none.
 */
bool dlb_sys_field(const char *text, const char *key, char *value, size_t size);

/* The same for "key: 123 kB", in bytes. */
bool dlb_sys_field_bytes(const char *text, const char *key, double *bytes);

/* The next line of *cursor, which advances behind it; false at the end. Lines are cut to size. */
bool dlb_next_line(const char **cursor, char *line, size_t size);

/* The next word between blanks of *cursor, likewise. */
bool dlb_next_word(const char **cursor, char *word, size_t size);

#endif
