/* The end of a log, as text that is safe to show. */
#include <fcntl.h>
#include <unistd.h>

#include "base/mem.h"
#include "record/metrics.h"

/* Escape sequences may take so many times the room of what is shown. */
enum { RAW_FACTOR = 4, RAW_LEAST = 4096 };

/* The last bytes of the file, at most `limit`; *whole: there are no others. */
static void read_end(const char *path, size_t limit, dlb_str *raw, bool *whole)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    off_t size = lseek(fd, 0, SEEK_END);
    off_t start = size > (off_t)limit ? size - (off_t)limit : 0;
    char *bytes = dlb_alloc(limit + 1, 1);
    ssize_t got = pread(fd, bytes, limit, start);
    if (got > 0)
        dlb_str_add_bytes(raw, bytes, (size_t)got);
    *whole = start == 0;
    free(bytes);
    close(fd);
}

/*
 * The length of the escape sequence at `at`, which begins with ESC: CSI "[ … letter", OSC "] … BEL"
 * or "] … ESC \", or ESC and one byte.
 */
static size_t escape_length(const char *at, const char *end)
{
    const char *c = at + 1;
    if (c < end && *c == '[') {
        for (c++; c < end && (unsigned char)*c >= 0x20 && (unsigned char)*c < 0x40; c++)
            ;
    } else if (c < end && *c == ']') {
        for (; c < end && *c != '\a' && *c != '\x1b'; c++)
            ;
        if (c + 1 < end && *c == '\x1b')
            c++;
    }
    return (size_t)(c - at) + (c < end ? 1 : 0);
}

/* Begin the current line of *text anew, as a carriage return does on a terminal. */
static void rewind_line(dlb_str *text)
{
    while (text->length && text->text[text->length - 1] != '\n')
        text->length--;
    text->text[text->length] = '\0';
}

static void add_plain(const dlb_str *raw, dlb_str *text)
{
    const char *end = raw->text + raw->length;
    dlb_str_add(text, "");
    for (const char *c = raw->text; c < end; c++) {
        bool at_end = c + 1 == end || c[1] == '\n' || c[1] == '\r';
        if (*c == '\x1b')
            c += escape_length(c, end) - 1;
        else if (*c == '\r' && !at_end)
            rewind_line(text);
        else if (*c == '\n' || *c == '\t' || ((unsigned char)*c >= 0x20 && *c != 0x7f))
            dlb_str_add_bytes(text, *c == '\t' ? " " : c, 1);
    }
}

static void drop_blank_end(dlb_str *text)
{
    while (text->length && strchr(" \n", text->text[text->length - 1]))
        text->text[--text->length] = '\0';
}

/* Where the last `lines` lines begin, of at most `bytes`, not within a character of UTF-8. */
static const char *tail_of(const dlb_str *text, int lines, size_t bytes)
{
    const char *end = text->text + text->length, *start = end;
    while (start > text->text && (size_t)(end - start) < bytes) {
        if (start[-1] == '\n' && --lines == 0)
            break;
        start--;
    }
    while (start < end && ((unsigned char)*start & 0xc0) == 0x80)
        start++;
    return start;
}

/* The first line of what was read from the middle of a file may be the rest of one. */
static void drop_first_line(dlb_str *raw)
{
    const char *newline = memchr(raw->text, '\n', raw->length);
    if (!newline)
        return;
    raw->length -= (size_t)(newline + 1 - raw->text);
    memmove(raw->text, newline + 1, raw->length + 1);
}

void dlb_log_tail(const char *path, int lines, size_t bytes, dlb_str *out)
{
    dlb_str raw = DLB_STR_INIT, text = DLB_STR_INIT;
    bool whole = true;
    read_end(path, RAW_LEAST + RAW_FACTOR * bytes, &raw, &whole);
    if (raw.text && lines > 0) {
        if (!whole)
            drop_first_line(&raw);
        add_plain(&raw, &text);
        drop_blank_end(&text);
        dlb_str_add(out, tail_of(&text, lines, bytes));
    }
    dlb_str_release(&text);
    dlb_str_release(&raw);
}
