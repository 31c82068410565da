#include "measure/sysfile.h"

#include <stdarg.h>
#include <unistd.h>

#include "base/file.h"

enum { FILE_LIMIT = 16 << 20 }; /* /proc/cpuinfo of a thousand CPUs is 2 MB */

static const char BLANKS[] = " \t\r\n";

static void join(dlb_str *path, const char *root, const char *format, va_list args)
{
    char tail[512];
    vsnprintf(tail, sizeof tail, format, args);
    dlb_str_addf(path, "%s%s", root, tail);
}

static bool read_joined(dlb_str *text, const char *root, const char *format, va_list args)
{
    dlb_str path = DLB_STR_INIT;
    join(&path, root, format, args);
    dlb_error ignored;
    bool readable = dlb_file_read(path.text, FILE_LIMIT, text, &ignored) == 0;
    dlb_str_release(&path);
    return readable && text->text;
}

bool dlb_sys_read(dlb_str *text, const char *root, const char *path_format, ...)
{
    va_list args;
    va_start(args, path_format);
    bool readable = read_joined(text, root, path_format, args);
    va_end(args);
    return readable;
}

static void copy_trimmed(char *to, size_t size, const char *from, size_t length)
{
    size_t lead = strspn(from, BLANKS);
    lead = lead < length ? lead : length;
    from += lead;
    length -= lead;
    while (length && strchr(BLANKS, from[length - 1]))
        length--;
    snprintf(to, size, "%.*s", (int)length, from);
}

static bool line_joined(char *line, size_t size, const char *root, const char *format, va_list args)
{
    dlb_str text = DLB_STR_INIT;
    line[0] = '\0';
    bool readable = read_joined(&text, root, format, args);
    if (readable)
        copy_trimmed(line, size, text.text, strcspn(text.text, "\n"));
    dlb_str_release(&text);
    return readable;
}

bool dlb_sys_line(char *line, size_t size, const char *root, const char *path_format, ...)
{
    va_list args;
    va_start(args, path_format);
    bool readable = line_joined(line, size, root, path_format, args);
    va_end(args);
    return readable;
}

bool dlb_sys_number(long long *number, const char *root, const char *path_format, ...)
{
    char line[64];
    va_list args;
    va_start(args, path_format);
    bool readable = line_joined(line, sizeof line, root, path_format, args);
    va_end(args);
    return readable && dlb_parse_int(line, number);
}

bool dlb_sys_exists(const char *root, const char *path_format, ...)
{
    dlb_str path = DLB_STR_INIT;
    va_list args;
    va_start(args, path_format);
    join(&path, root, path_format, args);
    va_end(args);
    bool exists = access(path.text, F_OK) == 0;
    dlb_str_release(&path);
    return exists;
}

/* Where the value of a "key : value" line begins, or NULL if the line has another key. */
static const char *value_of(const char *line, const char *key)
{
    size_t length = strlen(key);
    if (strncmp(line, key, length) != 0)
        return NULL;
    line += length;
    line += strspn(line, " \t");
    return *line == ':' ? line + 1 : NULL;
}

bool dlb_sys_field(const char *text, const char *key, char *value, size_t size)
{
    value[0] = '\0';
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        const char *start = value_of(line, key);
        if (start && start <= line + length) {
            copy_trimmed(value, size, start, (size_t)(line + length - start));
            return true;
        }
        line += length + (line[length] == '\n');
    }
    return false;
}

bool dlb_sys_field_bytes(const char *text, const char *key, double *bytes)
{
    char field[64], *unit;
    if (!dlb_sys_field(text, key, field, sizeof field))
        return false;
    double kilobytes = strtod(field, &unit);
    if (unit == field || strcmp(unit, " kB") != 0)
        return false;
    *bytes = kilobytes * 1024;
    return true;
}

bool dlb_next_line(const char **cursor, char *line, size_t size)
{
    if (!**cursor)
        return false;
    size_t length = strcspn(*cursor, "\n");
    snprintf(line, size, "%.*s", (int)length, *cursor);
    *cursor += length + ((*cursor)[length] == '\n');
    return true;
}

bool dlb_next_word(const char **cursor, char *word, size_t size)
{
    *cursor += strspn(*cursor, BLANKS);
    size_t length = strcspn(*cursor, BLANKS);
    snprintf(word, size, "%.*s", (int)length, *cursor);
    *cursor += length;
    return length > 0;
}
