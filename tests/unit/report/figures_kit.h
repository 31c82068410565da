/* What tests of figures share: a folder with a runs.csv, and what is made of it there. */
#ifndef DLB_TESTS_REPORT_FIGURES_KIT_H
#define DLB_TESTS_REPORT_FIGURES_KIT_H

#include <criterion/criterion.h>

#include "report/report.h"
#include "support/tempdir.h"

extern tempdir dir;  /* of the study, and of its figures */
extern dlb_str text; /* what was read last */
extern size_t count; /* of figures */
extern dlb_error err;

void figures_kit_init(void);
void figures_kit_release(void);

/* Write a file of the folder. */
void put(const char *name, const char *bytes);

int draw(bool terminal, dlb_str *drawn);

/* Data and scripts only, which is all that most tests look at. */
void reduce(const char *runs);

bool made(const char *name);
const char *content(const char *name);

#define assert_has(name, part)                                                                     \
    cr_assert(strstr(content(name), part), "no '%s' in:\n%s", part, text.text)
#define assert_has_not(name, part)                                                                 \
    cr_assert(!strstr(content(name), part), "'%s' in:\n%s", part, text.text)

#endif
