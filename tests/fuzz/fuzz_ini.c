/*
 * Any bytes are a sweep file or a message with a caret; and of a sweep file every byte of a value
 * is found again at the place that a message about it would show.
 */
#include "base/mem.h"
#include "config/ini.h"
#include "fuzz.h"

enum { MAX_CHECKED = 64 };

static void require(int holds)
{
    if (!holds)
        abort();
}

/* "FILE:LINE: message", the line, and a caret that stands at its end or within it. */
static void check_message(const dlb_error *err)
{
    const char *shown = strchr(err->message, '\n');
    require(err->code == DLB_BAD_INPUT && shown != NULL);
    const char *caret = strchr(shown + 1, '\n');
    require(caret != NULL && strlen(err->message) + 1 < sizeof err->message);
    size_t column = strspn(caret + 1, " ");
    require(strcmp(caret + 1 + column, "^") == 0);
    require(column >= 4 && column <= 2 * (size_t)(caret - shown));
}

static void check_place(const dlb_place *place)
{
    require(place->line > 0 && place->column > 0);
    require((size_t)place->column + place->length <= strlen(place->text) + 1);
}

static void check_value(const dlb_ini_entry *entry)
{
    const dlb_place *place = &entry->value_place;
    size_t length = strlen(entry->value), start = 0;
    check_place(place);
    for (size_t i = 0; i < length; i++) {
        for (; place->rest && i - start >= place->length; place = place->rest) {
            start += place->length;
            check_place(place->rest);
        }
        require(place->text[(size_t)place->column - 1 + i - start] == entry->value[i]);
    }
    dlb_error err;
    require(dlb_place_fail(&err, &entry->value_place, length / 2, "half") == DLB_BAD_INPUT);
    check_message(&err);
}

static void check_entry(const dlb_ini_entry *entry)
{
    check_place(&entry->key_place);
    require(strncmp(entry->key_place.text + entry->key_place.column - 1, entry->key,
                    strlen(entry->key)) == 0);
    check_value(entry);
}

static void check_section(const dlb_ini_section *section)
{
    require(*section->kind && section->place.text[section->place.column - 1] == '[');
    for (size_t i = 0; i < section->count; i++) {
        check_entry(&section->entries[i]);
        for (size_t k = 0; k < i && i < MAX_CHECKED; k++)
            require(strcmp(section->entries[k].key, section->entries[i].key) != 0 ||
                    strcmp(section->entries[k].key, "where") == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    dlb_ini *ini;
    dlb_error err = {0};
    int status = dlb_ini_parse(&ini, "/no-such-folder/fuzz.ini", (const char *)bytes, count, &err);
    if (status < 0) {
        check_message(&err);
        return 0;
    }
    for (size_t i = 0; i < dlb_ini_count(ini); i++)
        check_section(dlb_ini_section_at(ini, i));
    dlb_ini_free(ini);
    return 0;
}
