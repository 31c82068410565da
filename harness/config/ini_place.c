#include "base/str.h"
#include "config/ini.h"
#include "config/utf8.h"

/* Characters shown before the caret, and from it on. */
enum { SHOWN_BEFORE = 40, SHOWN_AFTER = 32, SHOWN_PATH = 200 };

static const char indent[] = "    ";
static const char cut[] = "...";

/* The part of a line that is shown; all in bytes from its start. */
typedef struct excerpt {
    const char *line;
    size_t length;
    size_t first, caret, last;
} excerpt;

static bool is_continuation(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* One character back or forth; bytes that are no UTF-8 move with the character before them. */
static size_t step_back(const excerpt *e, size_t at)
{
    do
        at--;
    while (at > 0 && is_continuation(e->line[at]));
    return at;
}

static size_t step_on(const excerpt *e, size_t at)
{
    do
        at++;
    while (at < e->length && is_continuation(e->line[at]));
    return at;
}

/* A line of ten thousand stray continuation bytes is one character; it is shown in part. */
static size_t at_most(size_t bytes, int characters)
{
    size_t limit = 4 * (size_t)characters;
    return bytes < limit ? bytes : limit;
}

static excerpt choose(const char *line, size_t caret)
{
    excerpt e = {line, strlen(line), 0, 0, 0};
    e.caret = caret < e.length ? caret : e.length;
    while (e.caret > 0 && e.caret < e.length && is_continuation(line[e.caret]))
        e.caret--;
    e.first = e.last = e.caret;
    for (int i = 0; i < SHOWN_BEFORE && e.first > 0; i++)
        e.first = step_back(&e, e.first);
    for (int i = 0; i < SHOWN_AFTER && e.last < e.length; i++)
        e.last = step_on(&e, e.last);
    e.first = e.caret - at_most(e.caret - e.first, SHOWN_BEFORE);
    e.last = e.caret + at_most(e.last - e.caret, SHOWN_AFTER);
    return e;
}

/* Append a stretch of the line with a blank for a tab and ? for what cannot be shown; its width. */
static int add_shown(dlb_str *out, const char *text, size_t count)
{
    int width = 0;
    for (size_t i = 0; i < count;) {
        uint32_t code;
        size_t bytes = dlb_utf8_next(text + i, count - i, &code);
        if (bytes == 0 || code < ' ' || (code >= 0x7f && code < 0xa0)) {
            dlb_str_add(out, bytes && code == '\t' ? " " : "?");
            width++;
        } else {
            dlb_str_add_bytes(out, text + i, bytes);
            width += dlb_utf8_width(code);
        }
        i += bytes ? bytes : 1;
    }
    return width;
}

static void add_excerpt(dlb_str *out, const char *line, size_t caret)
{
    excerpt e = choose(line, caret);
    dlb_str_addf(out, "\n%s%s", indent, e.first > 0 ? cut : "");
    int before = add_shown(out, line + e.first, e.caret - e.first);
    add_shown(out, line + e.caret, e.last - e.caret);
    before += (int)(strlen(indent) + (e.first > 0 ? strlen(cut) : 0));
    dlb_str_addf(out, "%s\n%*s^", e.last < e.length ? cut : "", before, "");
}

/* "FILE:LINE: ", with the end of a path that is very long. */
static void add_location(dlb_str *out, const dlb_place *place)
{
    size_t length = strlen(place->file);
    bool whole = length <= SHOWN_PATH;
    dlb_str_addf(out, "%s%s:%d: ", whole ? "" : cut,
                 place->file + (whole ? 0 : length - SHOWN_PATH), place->line);
}

/* The byte's own place, if its text goes on in further lines. */
static const dlb_place *descend(const dlb_place *place, size_t *offset)
{
    for (; place->rest && *offset >= place->length; place = place->rest)
        *offset -= place->length;
    return place;
}

int dlb_place_fail(dlb_error *err, const dlb_place *place, size_t offset, const char *format, ...)
{
    if (!err)
        return DLB_BAD_INPUT;
    dlb_str location = DLB_STR_INIT, shown = DLB_STR_INIT;
    place = descend(place, &offset);
    add_location(&location, place);
    add_excerpt(&shown, place->text, (size_t)place->column - 1 + offset);

    char message[sizeof err->message];
    va_list args;
    va_start(args, format);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it does not see va_start here
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    int room = (int)(sizeof message - location.length - shown.length) - 1;
    dlb_fail(err, DLB_BAD_INPUT, "%s%.*s%s", location.text, room, message, shown.text);
    dlb_str_release(&shown);
    dlb_str_release(&location);
    return DLB_BAD_INPUT;
}
