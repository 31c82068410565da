#include "launch/command_line.h"

#include "base/mem.h"

/* Append to an array that stays ended by NULL. */
static void append(char ***words, size_t *count, size_t *capacity, const char *word)
{
    *words = dlb_grow(*words, capacity, *count + 2, sizeof **words);
    (*words)[(*count)++] = dlb_strdup(word);
}

void dlb_command_line_add(dlb_command_line *line, const char *word)
{
    append(&line->argv, &line->argc, &line->argv_capacity, word);
}

void dlb_command_line_addf(dlb_command_line *line, const char *format, ...)
{
    char word[64];
    va_list args;
    va_start(args, format);
    vsnprintf(word, sizeof word, format, args);
    va_end(args);
    dlb_command_line_add(line, word);
}

void dlb_command_line_set(dlb_command_line *line, const char *variable)
{
    size_t name = strcspn(variable, "=") + 1; /* with the '=' */
    for (size_t i = 0; i < line->environment_count; i++) {
        if (strncmp(line->environment[i], variable, name) == 0) {
            free(line->environment[i]);
            line->environment[i] = dlb_strdup(variable);
            return;
        }
    }
    append(&line->environment, &line->environment_count, &line->environment_capacity, variable);
}

static void release(char **words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(words[i]);
    free(words);
}

void dlb_command_line_release(dlb_command_line *line)
{
    release(line->environment, line->environment_count);
    release(line->argv, line->argc);
    *line = (dlb_command_line){0};
}

/* ---- For people ---- */

static bool is_plain(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "@%+=:,./_-";
    return *word && word[strspn(word, plain)] == '\0';
}

/* Within single quotes nothing has a meaning but a single quote, which goes outside: '\'' */
static void add_quoted(dlb_str *text, const char *word)
{
    dlb_str_add(text, "'");
    for (const char *c = word; *c; c++) {
        if (*c == '\'')
            dlb_str_add(text, "'\\''");
        else
            dlb_str_add_bytes(text, c, 1);
    }
    dlb_str_add(text, "'");
}

void dlb_command_line_add_word(dlb_str *text, const char *word)
{
    if (is_plain(word))
        dlb_str_add(text, word);
    else
        add_quoted(text, word);
}

/* NAME='some value': with quotes around the name it would be a command. */
static void add_variable(dlb_str *text, const char *variable)
{
    const char *value = strchr(variable, '=') + 1;
    dlb_str_add_bytes(text, variable, (size_t)(value - variable));
    dlb_command_line_add_word(text, value);
    dlb_str_add(text, " ");
}

void dlb_command_line_describe(const dlb_command_line *line, dlb_str *text)
{
    for (size_t i = 0; i < line->environment_count; i++)
        add_variable(text, line->environment[i]);
    for (size_t i = 0; i < line->argc; i++) {
        dlb_str_add(text, i ? " " : "");
        dlb_command_line_add_word(text, line->argv[i]);
    }
}
