#include "config/study_words.h"

#include <ctype.h>

#include "base/mem.h"
#include "base/str.h"

static const char blanks[] = " \t\n";

/* A value while it is being split. */
typedef struct splitter {
    const dlb_ini_entry *entry;
    size_t at; /* in its value */
    char **words;
    size_t count, capacity;
} splitter;

static const char *rest(const splitter *s)
{
    return s->entry->value + s->at;
}

static int refuse(const splitter *s, const char *message, dlb_error *err)
{
    return dlb_place_fail(err, &s->entry->value_place, s->at, "%s", message);
}

static void take(splitter *s, size_t count, dlb_str *word)
{
    dlb_str_add_bytes(word, rest(s), count);
    s->at += count;
}

/* A doubled brace, or an expression with its braces, which may have texts in quotes. */
static int take_braces(splitter *s, dlb_str *word, dlb_error *err)
{
    const char *text = rest(s);
    size_t length = 1;
    if (text[1] == '{') {
        take(s, 2, word);
        return 0;
    }
    for (bool quoted = false; text[length] && (quoted || text[length] != '}'); length++)
        quoted ^= text[length] == '"';
    if (!text[length])
        return refuse(s, "this brace is not closed; a brace itself is written {{", err);
    take(s, length + 1, word);
    return 0;
}

/* What stands between quotes; `at` is on the opening one. */
static int take_quoted(splitter *s, dlb_str *word, dlb_error *err)
{
    if (!strchr(rest(s) + 1, '"'))
        return refuse(s, "this quote is not closed", err);
    s->at++;
    int status = 0;
    while (status == 0 && *rest(s) && *rest(s) != '"') {
        if (*rest(s) == '{')
            status = take_braces(s, word, err);
        else
            take(s, 1, word);
    }
    if (status == 0 && !*rest(s))
        return refuse(s, "a quote is not closed before this", err);
    s->at++;
    return status;
}

static int take_word(splitter *s, dlb_str *word, dlb_error *err)
{
    int status = 0;
    dlb_str_add(word, ""); /* a word may be empty: "" */
    while (status == 0 && *rest(s) && !strchr(blanks, *rest(s))) {
        if (*rest(s) == '"')
            status = take_quoted(s, word, err);
        else if (*rest(s) == '{')
            status = take_braces(s, word, err);
        else
            take(s, 1, word);
    }
    return status;
}

static void add_word(splitter *s, char *word)
{
    s->words = dlb_grow(s->words, &s->capacity, s->count + 2, sizeof *s->words);
    s->words[s->count++] = word;
}

dlb_words dlb_words_split(const dlb_ini_entry *entry, size_t offset, dlb_error *err)
{
    splitter s = {.entry = entry, .at = offset};
    for (;;) {
        s.at += strspn(rest(&s), blanks);
        if (!*rest(&s))
            break;
        dlb_str word = DLB_STR_INIT;
        int status = take_word(&s, &word, err);
        add_word(&s, word.text);
        if (status < 0) {
            dlb_words_free(s.words);
            return NULL;
        }
    }
    if (!s.words)
        refuse(&s, "a word is missing here", err);
    return s.words;
}

void dlb_words_free(dlb_words words)
{
    for (size_t i = 0; words && words[i]; i++)
        free(words[i]);
    free((void *)words);
}

char *dlb_words_unquote(const char *text)
{
    size_t length = strlen(text);
    bool quoted = length >= 2 && text[0] == '"' && strchr(text + 1, '"') == text + length - 1;
    char *copy = dlb_strdup(quoted ? text + 1 : text);
    if (quoted)
        copy[length - 2] = '\0';
    return copy;
}

bool dlb_is_identifier(const char *text)
{
    if (!isalpha((unsigned char)*text) && *text != '_')
        return false;
    while (isalnum((unsigned char)*text) || *text == '_')
        text++;
    return *text == '\0';
}
