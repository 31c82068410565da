/*
 * Sentences that belong beside a result: what is missing and why, what had no effect. A zeroed
 * list is empty.
 */
#ifndef DLB_TRAIN_NOTES_H
#define DLB_TRAIN_NOTES_H

#include <stddef.h>

typedef struct dlb_notes {
    size_t count, capacity;
    char **texts;
} dlb_notes;

void dlb_notes_add(dlb_notes *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));
void dlb_notes_release(dlb_notes *notes);

#endif
