/* Numbers for people. */
#ifndef DLB_CLI_TEXT_H
#define DLB_CLI_TEXT_H

#include <stddef.h>

enum { DLB_TEXT_SIZE = 32 };

/* A short text in its own buffer, to be used within one printf. */
typedef struct dlb_text {
    char text[DLB_TEXT_SIZE];
} dlb_text;

dlb_text dlb_text_count(double number);    /* 1,199,882 */
dlb_text dlb_text_si(double number);       /* 21.2 M */
dlb_text dlb_text_seconds(double seconds); /* 3:05, 1:02:03, or 7.3 s below a minute */
dlb_text dlb_text_metric(double number);   /* a loss or an accuracy: 0.9124, 1.23e+05 */

/* Columns that UTF-8 text takes on a terminal, every character being one wide. */
int dlb_text_columns(const char *text);

/* Shorten the text to at most that many columns. */
void dlb_text_cut(char *text, int columns);

#endif
