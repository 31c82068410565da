#include "config/ini.h"

#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "config/ini_sections.h"
#include "config/utf8.h"

enum { MAX_BYTES = 16 << 20, MAX_FILES = 64 };

/* The bytes of a file and what its places and entries point to. */
typedef struct source {
    char *path;
    char *lines;       /* as they are; read ones are ended by NUL */
    char *strings;     /* keys, values and names, each ended by NUL: no longer than the lines */
    dlb_place *pieces; /* of values in continued lines */
} source;

struct dlb_ini {
    source sources[MAX_FILES];
    size_t source_count;
    dlb_sections sections;
};

/* A file being read, at a line of it. */
typedef struct reader {
    dlb_ini *ini;
    const struct reader *includer; /* NULL: the first file */
    const char *path;
    char *next, *end; /* the lines to come */
    char *line;
    size_t length; /* of the line without comment and blanks at its end, and without its \ */
    bool continued;
    int number;
    char *string;     /* the next free one */
    dlb_place *piece; /* likewise */

    dlb_sections included, own;
    dlb_ini_section section; /* the open one; kind NULL: none yet */
    dlb_ini_entry *entries;  /* of it */
    size_t entry_count, entry_capacity;
    dlb_error *err;
} reader;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static dlb_place place_at(const reader *r, size_t column)
{
    return (dlb_place){r->path, r->number, (int)column + 1, r->line, 0, NULL};
}

static int fail_at(const reader *r, size_t column, const char *message)
{
    dlb_place place = place_at(r, column);
    return dlb_place_fail(r->err, &place, 0, "%s", message);
}

static char *keep(reader *r, const char *text, size_t length)
{
    char *kept = r->string;
    memcpy(kept, text, length);
    kept[length] = '\0';
    r->string += length + 1;
    return kept;
}

static int check_bytes(const reader *r, size_t length)
{
    uint32_t code;
    for (size_t i = 0, bytes; i < length; i += bytes) {
        bytes = dlb_utf8_next(r->line + i, length - i, &code);
        if (bytes == 0)
            return fail_at(r, i, "this byte is no UTF-8; save the file in that encoding");
        if (code == 0)
            return fail_at(r, i, "a NUL byte: is this a text file?");
    }
    return 0;
}

/* Where the comment begins, or the length. A quote that is not closed in the line quotes nothing.
 */
static size_t find_comment(const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const char *closing = NULL;
        if (line[i] == '"')
            closing = memchr(line + i + 1, '"', length - i - 1);
        if (closing)
            i = (size_t)(closing - line);
        else if ((line[i] == ';' || line[i] == '#') && (i == 0 || is_blank(line[i - 1])))
            return i;
    }
    return length;
}

static size_t trim(const char *text, size_t length)
{
    while (length > 0 && is_blank(text[length - 1]))
        length--;
    return length;
}

/* Go to the next line; 1, or 0 after the last one, or an error. */
static int next_line(reader *r)
{
    if (r->next == r->end)
        return 0;
    char *newline = memchr(r->next, '\n', (size_t)(r->end - r->next));
    char *stop = newline ? newline : r->end;
    r->line = r->next;
    r->next = newline ? newline + 1 : r->end;
    r->number++;
    *stop = '\0';
    if (stop > r->line && stop[-1] == '\r')
        *--stop = '\0';

    size_t length = (size_t)(stop - r->line);
    if (check_bytes(r, length) < 0)
        return DLB_BAD_INPUT;
    size_t comment = find_comment(r->line, length);
    r->length = trim(r->line, comment);
    r->continued = r->length > 0 && r->line[r->length - 1] == '\\';
    if (r->continued && comment < length)
        return fail_at(r, r->length - 1,
                       "a line that goes on must end with \\, not with a comment");
    r->length -= r->continued;
    return 1;
}

/* Append the line from `start` on to the value of an entry; `last` is the place of its end. */
static dlb_place *add_piece(reader *r, size_t start, dlb_ini_entry *entry, dlb_place *last)
{
    bool first = r->string == entry->value;
    while (first && start < r->length && is_blank(r->line[start]))
        start++;
    dlb_place place = place_at(r, start);
    place.length = r->length - start;
    if (!first) {
        *r->piece = place;
        last->rest = r->piece;
        last = r->piece++;
    } else {
        *last = place;
    }
    memcpy(r->string, r->line + start, place.length);
    r->string += place.length;
    return last;
}

/* Read the value, which begins at `start` and may go on in further lines. */
static int read_value(reader *r, size_t start, dlb_ini_entry *entry)
{
    entry->value = r->string;
    dlb_place *last = add_piece(r, start, entry, &entry->value_place);
    while (r->continued) {
        int status = next_line(r);
        if (status < 0)
            return status;
        if (status == 0)
            break;
        last = add_piece(r, 0, entry, last);
    }
    size_t length = trim(entry->value, (size_t)(r->string - entry->value));
    r->string = (char *)entry->value + length + 1;
    r->string[-1] = '\0';
    return 0;
}

static bool is_key_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

static size_t word_length(const reader *r, size_t start)
{
    size_t length = 0;
    while (start + length < r->length && is_key_character(r->line[start + length]))
        length++;
    return length;
}

static size_t skip_blanks(const reader *r, size_t at)
{
    while (at < r->length && is_blank(r->line[at]))
        at++;
    return at;
}

static int read_entry(reader *r, size_t start, dlb_ini_entry *entry)
{
    size_t key = word_length(r, start), equals = skip_blanks(r, start + key);
    if (!memchr(r->line, '=', r->length))
        return fail_at(r, start, "this is neither a [section] nor key = value");
    if (equals == r->length || r->line[equals] != '=')
        return fail_at(r, equals, "a key is one word of letters, digits, _, - and .");
    if (key == 0)
        return fail_at(r, start, "a key is missing before =");
    entry->key = keep(r, r->line + start, key);
    entry->key_place = place_at(r, start);
    return read_value(r, equals + 1, entry);
}

/* NOLINTBEGIN(misc-no-recursion): no more includes than MAX_FILES */
static int read_source(dlb_ini *ini, const reader *includer, char *path, const dlb_str *bytes,
                       dlb_sections *sections, dlb_error *err);

/* The path of an included file, which is relative to the folder of this one; free() it. */
static char *included_path(const reader *r, const char *name)
{
    size_t length = strlen(name);
    bool quoted = length >= 2 && name[0] == '"' && name[length - 1] == '"';
    const char *slash = strrchr(r->path, '/');
    dlb_str path = DLB_STR_INIT;
    name += quoted;
    if (slash && *name != '/')
        dlb_str_add_bytes(&path, r->path, (size_t)(slash + 1 - r->path));
    dlb_str_add_bytes(&path, name, length - 2 * quoted);
    return path.text;
}

static int check_include(const reader *r, const char *path, const dlb_place *place)
{
    const reader *i = r;
    do {
        if (dlb_file_same(i->path, path))
            return dlb_place_fail(r->err, place, 0, "the includes form a circle: %s %s", path,
                                  i == r ? "includes itself" : "leads here");
    } while ((i = i->includer));
    if (r->ini->source_count == MAX_FILES)
        return dlb_place_fail(r->err, place, 0, "more than %d files are included", MAX_FILES - 1);
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return dlb_place_fail(r->err, place, 0, "%s is not a file", path);
    return 0;
}

/* Read the file and put what it has on top of what was included before. Takes over the path. */
static int include(reader *r, char *path, const dlb_place *place)
{
    dlb_str bytes = DLB_STR_INIT;
    dlb_sections sections = {0};
    dlb_error unread;
    int status = check_include(r, path, place);
    if (status == 0 && dlb_file_read(path, MAX_BYTES, &bytes, &unread) < 0)
        status = dlb_place_fail(r->err, place, 0, "cannot be included: %s", unread.message);
    if (status != 0)
        free(path);
    else
        status = read_source(r->ini, r, path, &bytes, &sections, r->err);
    if (status == 0)
        dlb_sections_merge(&r->included, &sections);
    dlb_str_release(&bytes);
    return status;
}

static int follow_include(reader *r, const dlb_ini_entry *entry)
{
    if (r->section.kind)
        return dlb_place_fail(r->err, &entry->key_place, 0,
                              "include must stand before the first section");
    if (*entry->value == '\0')
        return dlb_place_fail(r->err, &entry->value_place, 0, "the file to include is missing");
    return include(r, included_path(r, entry->value), &entry->value_place);
}

/* Close the open section, if there is one. Its entries belong to the list from here on. */
static int close_section(reader *r)
{
    if (!r->section.kind)
        return 0;
    r->section.entries = r->entries;
    r->section.count = r->entry_count;
    r->entries = NULL;
    r->entry_count = r->entry_capacity = 0;
    dlb_sections_add(&r->own, &r->section);
    return dlb_section_check(&r->section, r->err);
}

static int read_section(reader *r, size_t start)
{
    if (close_section(r) < 0)
        return DLB_BAD_INPUT;
    size_t kind = skip_blanks(r, start + 1), kind_length = word_length(r, kind);
    size_t name = skip_blanks(r, kind + kind_length), name_length = word_length(r, name);
    size_t close = skip_blanks(r, name + name_length);
    if (kind_length == 0)
        return fail_at(r, kind, "the section's name is missing after [");
    if (close == r->length)
        return fail_at(r, close, "a ] is missing here");
    if (r->line[close] != ']')
        return fail_at(r, close,
                       "a section is [word] or [word name], of letters, digits, _, - and .");
    if (skip_blanks(r, close + 1) < r->length || r->continued)
        return fail_at(r, skip_blanks(r, close + 1), "nothing may follow ] in its line");
    r->section = (dlb_ini_section){.kind = keep(r, r->line + kind, kind_length),
                                   .name = keep(r, r->line + name, name_length),
                                   .place = place_at(r, start)};
    return 0;
}

static int add_entry(reader *r, const dlb_ini_entry *entry)
{
    if (strcmp(entry->key, "include") == 0)
        return follow_include(r, entry);
    if (!r->section.kind)
        return dlb_place_fail(r->err, &entry->key_place, 0,
                              "%s stands before the first [section], where only include may",
                              entry->key);
    r->entries = dlb_grow(r->entries, &r->entry_capacity, r->entry_count + 1, sizeof *entry);
    r->entries[r->entry_count++] = *entry;
    return 0;
}

static int read_line(reader *r)
{
    size_t start = skip_blanks(r, 0);
    if (start == r->length && !r->continued)
        return 0;
    if (start < r->length && r->line[start] == '[')
        return read_section(r, start);
    dlb_ini_entry entry = {0};
    if (read_entry(r, start, &entry) < 0)
        return DLB_BAD_INPUT;
    return add_entry(r, &entry);
}

/* No fewer than the lines that end with \ have. */
static size_t count_continuations(const char *bytes, size_t count)
{
    size_t found = 0;
    for (size_t i = 0; i + 1 < count; i++)
        found += bytes[i] == '\\' && strchr(" \t\r\n", bytes[i + 1]) != NULL;
    return found;
}

static source *add_source(dlb_ini *ini, char *path, const char *bytes, size_t count)
{
    source *s = &ini->sources[ini->source_count++];
    s->path = path;
    s->lines = dlb_alloc(count + 1, 1);
    memcpy(s->lines, bytes, count);
    s->strings = dlb_alloc(count + 2, 1);
    s->pieces = dlb_alloc(count_continuations(bytes, count), sizeof *s->pieces);
    return s;
}

static int read_lines(reader *r)
{
    int status;
    while ((status = next_line(r)) > 0)
        if ((status = read_line(r)) < 0)
            return status;
    if (status == 0)
        status = close_section(r);
    return status < 0 ? status : dlb_sections_check(&r->own, r->err);
}

/* Read what a file has, on top of what it includes. Takes over the path. */
static int read_source(dlb_ini *ini, const reader *includer, char *path, const dlb_str *bytes,
                       dlb_sections *sections, dlb_error *err)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    size_t mark = strncmp(bytes->text, byte_order_mark, 3) == 0 ? 3 : 0;
    size_t count = bytes->length - mark;
    source *s = add_source(ini, path, bytes->text + mark, count);
    reader r = {.ini = ini,
                .includer = includer,
                .path = path,
                .next = s->lines,
                .end = s->lines + count,
                .string = s->strings,
                .piece = s->pieces,
                .err = err};
    int status = read_lines(&r);
    if (status == 0) {
        dlb_sections_merge(&r.included, &r.own);
        *sections = r.included;
    } else {
        free(r.entries);
        dlb_sections_release(&r.own);
        dlb_sections_release(&r.included);
    }
    return status;
}

/* NOLINTEND(misc-no-recursion) */

static int read_first(dlb_ini **ini, const char *path, const dlb_str *bytes, dlb_error *err)
{
    dlb_ini *made = dlb_alloc(1, sizeof *made);
    int status = read_source(made, NULL, dlb_strdup(path), bytes, &made->sections, err);
    if (status == 0)
        *ini = made;
    else
        dlb_ini_free(made);
    return status;
}

int dlb_ini_read(dlb_ini **ini, const char *path, dlb_error *err)
{
    dlb_str bytes = DLB_STR_INIT;
    int status = dlb_file_read(path, MAX_BYTES, &bytes, err);
    if (status == 0)
        status = read_first(ini, path, &bytes, err);
    dlb_str_release(&bytes);
    return status;
}

int dlb_ini_parse(dlb_ini **ini, const char *name, const char *bytes, size_t count, dlb_error *err)
{
    if (count > MAX_BYTES)
        return dlb_fail(err, DLB_BAD_INPUT, "%s: more than %d bytes", name, MAX_BYTES);
    dlb_str copy = DLB_STR_INIT;
    dlb_str_add_bytes(&copy, count ? bytes : "", count);
    int status = read_first(ini, name, &copy, err);
    dlb_str_release(&copy);
    return status;
}

void dlb_ini_free(dlb_ini *ini)
{
    if (!ini)
        return;
    dlb_sections_release(&ini->sections);
    for (size_t i = 0; i < ini->source_count; i++) {
        free(ini->sources[i].pieces);
        free(ini->sources[i].strings);
        free(ini->sources[i].lines);
        free(ini->sources[i].path);
    }
    free(ini);
}

size_t dlb_ini_count(const dlb_ini *ini)
{
    return ini->sections.count;
}

const dlb_ini_section *dlb_ini_section_at(const dlb_ini *ini, size_t index)
{
    return &ini->sections.items[index];
}
