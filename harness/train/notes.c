#include "train/notes.h"

#include <stdarg.h>

#include "base/mem.h"

void dlb_notes_add(dlb_notes *notes, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    notes->texts = dlb_grow(notes->texts, &notes->capacity, notes->count + 1, sizeof(char *));
    notes->texts[notes->count++] = dlb_strdup(text);
}

void dlb_notes_release(dlb_notes *notes)
{
    for (size_t i = 0; i < notes->count; i++)
        free(notes->texts[i]);
    free(notes->texts);
    *notes = (dlb_notes){0};
}
