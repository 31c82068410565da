/* Sections while a sweep file is read: what stands twice, and what replaces what. For ini.c. */
#ifndef DLB_CONFIG_INI_SECTIONS_H
#define DLB_CONFIG_INI_SECTIONS_H

#include "config/ini.h"

/* Valid when zeroed. Owns the sections and their arrays of entries, not the texts. */
typedef struct dlb_sections {
    dlb_ini_section *items;
    size_t count, capacity;
} dlb_sections;

void dlb_sections_release(dlb_sections *sections);

/* Append a section; its array of entries is taken over. */
void dlb_sections_add(dlb_sections *sections, const dlb_ini_section *section);

/* Refuse the first key that the section has twice, but for "where". */
int dlb_section_check(const dlb_ini_section *section, dlb_error *err);

/* Refuse the first section that stands twice. */
int dlb_sections_check(const dlb_sections *sections, dlb_error *err);

/*
 * Put the sections of `over`, which is empty afterwards, on top of those of `under`: a grid takes
 * the place of one of that name, keys of other sections that of the same keys. Both have passed the
 * checks, as has the outcome.
 */
void dlb_sections_merge(dlb_sections *under, dlb_sections *over);

#endif
