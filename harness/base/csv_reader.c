#include "base/csv_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/mem.h"

enum {
    BLOCK = 256 * 1024,
    MAX_RECORD = 16 * 1024 * 1024,
    WORD = sizeof(uint64_t), /* bytes that are looked at together */
};

struct dlb_csv_reader {
    char *name;
    int fd; /* -1: the bytes */
    const char *bytes;
    size_t bytes_left;
    char *buffer; /* capacity + WORD bytes; what is at `end` is a line break of our own */
    size_t begin, end, capacity;
    size_t after; /* the record at `begin`, once it is split */
    bool ended;   /* the source has no more */
    dlb_csv_field *fields;
    size_t field_count, field_capacity;
    size_t line;
    uint64_t offset; /* of `begin` in the source */
};

static dlb_csv_reader *create(const char *name, size_t capacity)
{
    dlb_csv_reader *reader = dlb_alloc(1, sizeof *reader);
    reader->name = dlb_strdup(name);
    reader->fd = -1;
    reader->capacity = capacity;
    reader->buffer = dlb_alloc(capacity + WORD, 1);
    reader->line = 1;
    return reader;
}

int dlb_csv_open(dlb_csv_reader **reader, const char *path, dlb_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return dlb_fail(err, DLB_BAD_INPUT, "%s: cannot open: %s", path, strerror(errno));
    *reader = create(path, BLOCK);
    (*reader)->fd = fd;
    return 0;
}

void dlb_csv_open_bytes(dlb_csv_reader **reader, const char *name, const char *bytes, size_t length)
{
    *reader = create(name, length < BLOCK ? length + 1 : BLOCK);
    (*reader)->bytes = bytes;
    (*reader)->bytes_left = length;
}

void dlb_csv_close(dlb_csv_reader *reader)
{
    if (!reader)
        return;
    if (reader->fd >= 0)
        close(reader->fd);
    free(reader->fields);
    free(reader->buffer);
    free(reader->name);
    free(reader);
}

static ssize_t take_bytes(dlb_csv_reader *reader, char *into, size_t room)
{
    size_t count = room < reader->bytes_left ? room : reader->bytes_left;
    if (count == 0)
        return 0;
    memcpy(into, reader->bytes, count);
    reader->bytes += count;
    reader->bytes_left -= count;
    return (ssize_t)count;
}

static ssize_t take(dlb_csv_reader *reader, char *into, size_t room)
{
    if (reader->fd < 0)
        return take_bytes(reader, into, room);
    ssize_t got;
    do
        got = read(reader->fd, into, room);
    while (got < 0 && errno == EINTR);
    return got;
}

/* Move what is left to the front of the buffer, which doubles if that fills it. */
static void make_room(dlb_csv_reader *reader)
{
    size_t left = reader->end - reader->begin;
    char *target = reader->buffer;
    if (left == reader->capacity) {
        reader->capacity *= 2;
        target = dlb_alloc(reader->capacity + WORD, 1);
    }
    memmove(target, reader->buffer + reader->begin, left);
    if (target != reader->buffer)
        free(reader->buffer);
    reader->buffer = target;
    reader->begin = 0;
    reader->end = left;
}

/* Fill the buffer behind what is in it, as far as the source goes. */
static int refill(dlb_csv_reader *reader, dlb_error *err)
{
    make_room(reader);
    while (reader->end < reader->capacity && !reader->ended) {
        size_t room = reader->capacity - reader->end;
        ssize_t got = take(reader, reader->buffer + reader->end, room);
        if (got < 0)
            return dlb_fail(err, DLB_BAD_INPUT, "%s: cannot read: %s", reader->name,
                            strerror(errno));
        reader->end += (size_t)got;
        reader->ended = got == 0;
    }
    reader->buffer[reader->end] = '\n';
    return 0;
}

/* The high bit of every byte of `word` that is `byte`. */
static uint64_t bytes_equal(uint64_t word, char byte)
{
    const uint64_t low_bits = 0x7f7f7f7f7f7f7f7fu;
    uint64_t differs = word ^ (uint64_t)(unsigned char)byte * 0x0101010101010101u;
    return ~(((differs & low_bits) + low_bits) | differs | low_bits);
}

/* The high bit of every byte that ends a field; the first byte is the lowest. */
static uint64_t field_ends(const char *text)
{
    uint64_t word;
    memcpy(&word, text, sizeof word);
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
        word = __builtin_bswap64(word);
    return bytes_equal(word, ',') | bytes_equal(word, '\n');
}

static void add_field(dlb_csv_reader *reader, char *start, char *end)
{
    if (reader->field_count == reader->field_capacity)
        reader->fields = dlb_grow(reader->fields, &reader->field_capacity, reader->field_count + 1,
                                  sizeof *reader->fields);
    reader->fields[reader->field_count++] = (dlb_csv_field){start, (size_t)(end - start)};
}

/*
 * Add fields as they stand, beginning with the one at *start, until a line break or a field that
 * begins with a quote. Returns the line break; or NULL, and that field in *start.
 */
static char *split_plain(dlb_csv_reader *reader, char **start)
{
    char *field = *start;
    for (char *word = field;; word += WORD) {
        for (uint64_t ends = field_ends(word); ends; ends &= ends - 1) {
            char *end = word + __builtin_ctzll(ends) / 8;
            add_field(reader, field, end);
            if (*end == '\n')
                return end;
            field = end + 1;
            if (*field == '"') {
                *start = field;
                return NULL;
            }
        }
    }
}

/* The quote that closes the field which begins at `quote`, or NULL if there is none before `end`.
 */
static char *closing_quote(char *quote, const char *end)
{
    for (char *c = quote + 1; c < end; c += 2) {
        c = memchr(c, '"', (size_t)(end - c));
        if (!c || c + 1 == end || c[1] != '"')
            return c;
    }
    return NULL;
}

enum found { WHOLE, CUT, OPEN, BROKEN };

/*
 * Split the record at `begin` into raw fields, quotes and all, up to and with its line break. CUT
 * and OPEN if the buffer ends before that; the bytes are as they were, so that more can be read and
 * the record be split anew.
 */
static enum found split(dlb_csv_reader *reader)
{
    char *start = reader->buffer + reader->begin, *end = reader->buffer + reader->end;
    char *line_break = NULL;
    reader->field_count = 0;
    reader->after = reader->end;
    while (!line_break) {
        if (*start != '"') {
            line_break = split_plain(reader, &start);
            continue;
        }
        char *quote = closing_quote(start, end);
        if (!quote) {
            add_field(reader, start, end);
            return OPEN;
        }
        char *next = quote + 1;
        next += *next == '\r' && next[1] == '\n';
        if (*next != ',' && *next != '\n')
            return BROKEN;
        add_field(reader, start, next);
        line_break = *next == '\n' ? next : NULL;
        start = next + 1;
    }
    if (line_break == end)
        return CUT;
    reader->after = (size_t)(line_break + 1 - reader->buffer);
    return WHOLE;
}

/*
 * Take off the quotes, of which the closing one is missing in an `open` field, and halve the inner
 * ones. Returns the number of line breaks in it.
 */
static size_t unquote(dlb_csv_field *field, bool open)
{
    const char *from = field->text + 1, *end = field->text + field->length - !open;
    char *to = field->text;
    size_t breaks = 0;
    for (; from < end; from++) {
        breaks += *from == '\n';
        from += *from == '"' && from + 1 < end;
        *to++ = *from;
    }
    *to = '\0';
    field->length = (size_t)(to - field->text);
    return breaks;
}

/* Terminate the raw fields, and free them of their quotes. */
static void finish(dlb_csv_reader *reader, bool open)
{
    dlb_csv_field *fields = reader->fields, *last = fields + reader->field_count - 1;
    if (!open && last->length > 0 && last->text[last->length - 1] == '\r')
        last->length--;
    for (dlb_csv_field *field = fields; field <= last; field++) {
        if (field->text[0] == '"')
            reader->line += unquote(field, open && field == last);
        else
            field->text[field->length] = '\0';
    }
}

static void skip_mark(dlb_csv_reader *reader)
{
    static const char mark[] = "\xEF\xBB\xBF";
    size_t length = sizeof mark - 1;
    if (reader->end - reader->begin < length ||
        memcmp(reader->buffer + reader->begin, mark, length) != 0)
        return;
    reader->begin += length;
    reader->offset += length;
}

/* Step over empty lines; false if that leaves nothing in the buffer. */
static bool at_record(dlb_csv_reader *reader)
{
    for (; reader->begin < reader->end; reader->begin++, reader->offset++) {
        const char *c = reader->buffer + reader->begin;
        bool known = reader->begin + 1 < reader->end || reader->ended;
        bool returns = known && c[0] == '\r' && c[1] == '\n';
        if (c[0] != '\n' && !returns)
            return true;
        reader->line += c[0] == '\n';
    }
    return false;
}

static int check_record(const dlb_csv_reader *reader, enum found found, dlb_error *err)
{
    if (found == BROKEN)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "%s: line %zu: text after the closing quote of a field; quotes within it "
                        "are to be doubled",
                        reader->name, reader->line);
    if (found != WHOLE && reader->end - reader->begin > MAX_RECORD)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "%s: line %zu: a record of more than %d MB; is a quote not closed?",
                        reader->name, reader->line, MAX_RECORD / 1024 / 1024);
    return 0;
}

/* 1 and a record split that is whole, or cut short by the end of the source; 0 at the end. */
static int find(dlb_csv_reader *reader, enum found *found, dlb_error *err)
{
    for (;;) {
        bool any = at_record(reader);
        *found = any ? split(reader) : CUT;
        int status = check_record(reader, *found, err);
        if (status < 0)
            return status;
        if (*found == WHOLE || reader->ended)
            return any;
        if ((status = refill(reader, err)) < 0)
            return status;
        if (reader->offset == 0)
            skip_mark(reader);
    }
}

int dlb_csv_next(dlb_csv_reader *reader, dlb_csv_record *record, dlb_error *err)
{
    enum found found;
    int status = find(reader, &found, err);
    if (status <= 0)
        return status;
    *record = (dlb_csv_record){.fields = reader->fields,
                               .count = reader->field_count,
                               .line = reader->line,
                               .offset = reader->offset,
                               .cut = found != WHOLE,
                               .open = found == OPEN};
    finish(reader, found == OPEN);
    reader->offset += reader->after - reader->begin;
    reader->begin = reader->after;
    reader->line++;
    return 1;
}
