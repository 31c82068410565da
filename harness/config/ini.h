/*
 * A sweep file as sections and entries, each with its place, and errors that point at the place.
 *
 * The grammar is that of docs/sweeps.md, "Lines": comments are gone, continued lines are joined, an
 * `include` has been followed and its entries replaced where the including file sets them anew.
 * What the sections and keys mean is for others (config/study.h).
 */
#ifndef DLB_CONFIG_INI_H
#define DLB_CONFIG_INI_H

#include <stddef.h>

#include "base/error.h"

/* Where a text stands: good as long as its dlb_ini. */
typedef struct dlb_place {
    const char *file;
    int line;         /* from 1 */
    int column;       /* of the text's first byte, from 1, in bytes */
    const char *text; /* the whole line, for showing; without its newline */
    size_t length;    /* of what stands on this line, in bytes; of interest if there is a rest */
    const struct dlb_place *rest; /* where it goes on, of a continued line, else NULL */
} dlb_place;

typedef struct dlb_ini_entry {
    const char *key;
    const char *value; /* without comment and surrounding blanks; "" if there is none */
    dlb_place key_place, value_place;
} dlb_ini_entry;

typedef struct dlb_ini_section {
    const char *kind; /* "grid" of [grid scaling] */
    const char *name; /* "scaling"; "" without one */
    dlb_place place;
    const dlb_ini_entry *entries;
    size_t count;
} dlb_ini_section;

typedef struct dlb_ini dlb_ini;

/*
 * Read a file, or text whose includes are relative to the folder of `name`. What is no sweep file
 * is DLB_BAD_INPUT: no UTF-8 or a NUL byte, a line that is neither section nor entry, an entry
 * outside of a section, a key or section twice (but for "where"), includes that form a circle.
 */
int dlb_ini_read(dlb_ini **ini, const char *path, dlb_error *err);
int dlb_ini_parse(dlb_ini **ini, const char *name, const char *bytes, size_t count, dlb_error *err);
void dlb_ini_free(dlb_ini *ini);

/* In the order of the file; included ones first. */
size_t dlb_ini_count(const dlb_ini *ini);
const dlb_ini_section *dlb_ini_section_at(const dlb_ini *ini, size_t index);

/*
 * Fill *err with "FILE:LINE: message" and, below it, the line with a caret under the byte `offset`
 * bytes after the place. Long lines are cut around the caret, tabs become blanks. Returns
 * DLB_BAD_INPUT.
 */
int dlb_place_fail(dlb_error *err, const dlb_place *place, size_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif
