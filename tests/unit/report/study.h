/*
 * A runs.csv for a test, written row by row, with the columns that the test names.
 *
 *     study_begin("point,repeat,status,ranks,time_to_solution_s");
 *     study_row("a,1,ok,1,%g", 10.0);
 *     ... study_path() ...
 */
#ifndef DLB_TESTS_REPORT_STUDY_H
#define DLB_TESTS_REPORT_STUDY_H

#include <stdarg.h>
#include <sys/stat.h>

#include "support/tempdir.h"

typedef struct study {
    tempdir dir;
    FILE *file;
} study;

static inline void study_begin(study *s, const char *header)
{
    tempdir_make(&s->dir);
    s->file = fopen(tempdir_file(&s->dir, "runs.csv"), "w");
    cr_assert_not_null(s->file);
    fprintf(s->file, "%s\n", header);
}

__attribute__((format(printf, 2, 3))) static inline void study_row(study *s, const char *format,
                                                                   ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(s->file, format, args);
    va_end(args);
    fputc('\n', s->file);
}

/* A file beside it. */
static inline void study_file(study *s, const char *name, const char *text)
{
    FILE *file = fopen(tempdir_file(&s->dir, name), "w");
    cr_assert_not_null(file);
    fputs(text, file);
    fclose(file);
}

/* Its folder, when all rows are there. */
static inline const char *study_end(study *s)
{
    fclose(s->file);
    return s->dir.path;
}

static inline void study_remove(study *s)
{
    tempdir_remove(&s->dir);
}

/* Whether some line of the text has all the words, in that order, blanks apart. */
static inline bool has_line(const char *text, const char *words)
{
    while (*text) {
        const char *line = text, *end = text + strcspn(text, "\n"), *word = words;
        while (*word) {
            size_t length = strcspn(word, " ");
            line = memmem(line, (size_t)(end - line), word, length);
            if (!line)
                break;
            line += length;
            word += length;
            word += strspn(word, " ");
        }
        if (*word == '\0')
            return true;
        text = end + (*end == '\n');
    }
    return false;
}

#define assert_line(text, words)                                                                   \
    cr_assert(has_line(text, words), "no line '%s' in\n%s", words, text)
#define assert_no_line(text, words)                                                                \
    cr_assert_not(has_line(text, words), "a line '%s' in\n%s", words, text)

/* Numbers that are always the same, between 0 and 1. */
static inline double next_random(unsigned *state)
{
    *state = *state * 1664525 + 1013904223;
    return (*state >> 8) / 16777216.0;
}

static inline int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

#endif
