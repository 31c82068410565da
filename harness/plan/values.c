#include "plan/values.h"

#include <math.h>

#include "base/mem.h"
#include "plan/hash.h"
#include "plan/identity.h"
#include "plan/modes.h"
#include "plan/names.h"

/* What an expression yielded, and the value that it came to. */
struct dlb_values_entry {
    dlb_scalar raw;
    uint32_t index; /* 0: the place is free */
};

void dlb_values_release(dlb_values *values)
{
    for (size_t i = 0; i < values->count; i++)
        free(values->items[i].text);
    free(values->map);
    free(values->items);
    free(values->preset);
    *values = (dlb_values){0};
}

/* ---- The map from raw values ---- */

static uint64_t hash_raw(const dlb_scalar *raw)
{
    switch (raw->kind) {
    case DLB_SCALAR_TEXT:
        return dlb_hash_text(0, raw->text);
    case DLB_SCALAR_REAL:
        return dlb_hash_bytes(1, &raw->real, sizeof raw->real);
    case DLB_SCALAR_BOOL:
        return raw->truth;
    case DLB_SCALAR_INT:
        break;
    }
    return dlb_hash_mix((uint64_t)raw->integer);
}

static bool same_raw(const dlb_scalar *a, const dlb_scalar *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case DLB_SCALAR_TEXT:
        return strcmp(a->text, b->text) == 0;
    case DLB_SCALAR_REAL:
        return memcmp(&a->real, &b->real, sizeof a->real) == 0;
    case DLB_SCALAR_BOOL:
        return a->truth == b->truth;
    case DLB_SCALAR_INT:
        break;
    }
    return a->integer == b->integer;
}

/* Where the raw value stands, or would; the map has a free place. */
static struct dlb_values_entry *locate(const dlb_values *values, const dlb_scalar *raw)
{
    size_t mask = values->map_size - 1, at = (size_t)hash_raw(raw) & mask;
    while (values->map[at].index && !same_raw(&values->map[at].raw, raw))
        at = (at + 1) & mask;
    return &values->map[at];
}

static uint32_t find(const dlb_values *values, const dlb_scalar *raw)
{
    return values->map_size ? locate(values, raw)->index : 0;
}

static void enlarge_map(dlb_values *values)
{
    struct dlb_values_entry *old = values->map;
    size_t old_size = values->map_size;
    values->map_size = old_size ? 2 * old_size : 16;
    values->map = dlb_alloc(values->map_size, sizeof *values->map);
    for (size_t i = 0; i < old_size; i++)
        if (old[i].index)
            *locate(values, &old[i].raw) = old[i];
    free(old);
}

/* The text of a raw value must live as long as the table. */
static void remember(dlb_values *values, const dlb_scalar *raw, uint32_t index)
{
    if (2 * values->map_used >= values->map_size)
        enlarge_map(values);
    struct dlb_values_entry *entry = locate(values, raw);
    values->map_used += entry->index == 0;
    *entry = (struct dlb_values_entry){*raw, index};
}

/* ---- Canonical values ---- */

static dlb_scalar text_scalar(const char *text)
{
    return (dlb_scalar){DLB_SCALAR_TEXT, {.text = text}};
}

static dlb_scalar scalar_of_key(enum dlb_key key, const dlb_workload *workload, const char *text)
{
    const struct dlb_key_info *info = dlb_key_info(key);
    const void *field = (const char *)workload + info->offset;
    switch (info->type) {
    case DLB_TYPE_INT:
        return (dlb_scalar){DLB_SCALAR_INT, {.integer = *(const long long *)field}};
    case DLB_TYPE_REAL:
        return (dlb_scalar){DLB_SCALAR_REAL, {.real = *(const double *)field}};
    case DLB_TYPE_BOOL:
        return (dlb_scalar){DLB_SCALAR_BOOL, {.truth = *(const bool *)field}};
    default:
        return text_scalar(text);
    }
}

/* A parameter of a foreign program has no type of its own: what looks like a number is one. */
static dlb_scalar scalar_of_param(const char *text)
{
    long long integer;
    double real;
    if (dlb_parse_int(text, &integer))
        return (dlb_scalar){DLB_SCALAR_INT, {.integer = integer}};
    if (dlb_parse_real(text, &real) && isfinite(real))
        return (dlb_scalar){DLB_SCALAR_REAL, {.real = real}};
    return text_scalar(text);
}

/* An integer that was computed with reals, such as 2.0 * 8, is one. */
static void format_for_key(enum dlb_key key, const dlb_scalar *raw, dlb_str *text)
{
    bool integral = dlb_key_info(key)->type == DLB_TYPE_INT && raw->kind == DLB_SCALAR_REAL &&
                    raw->real == floor(raw->real) && fabs(raw->real) < 1e15;
    if (integral)
        dlb_str_addf(text, "%.0f", raw->real);
    else
        dlb_scalar_format(raw, text);
}

/* In a sweep nobody has started ranks yet: 0, "those that the launcher started", is one. */
static const char *settled(enum dlb_key key, const char *text)
{
    return key == DLB_KEY_ranks && strcmp(text, "0") == 0 ? "1" : text;
}

static int canonical_of_key(enum dlb_key key, const dlb_scalar *raw, dlb_workload *checker,
                            dlb_str *text, dlb_error *err)
{
    dlb_str given = DLB_STR_INIT;
    dlb_str_add(&given, "");
    format_for_key(key, raw, &given);
    int status = dlb_workload_set(checker, key, settled(key, given.text), err);
    dlb_str_release(&given);
    if (status == 0)
        dlb_workload_get(checker, key, text);
    return status;
}

/* Append the canonical text of a raw value. */
static int canonical(const dlb_values *values, const dlb_scalar *raw, dlb_workload *checker,
                     dlb_str *text, dlb_error *err)
{
    dlb_str_add(text, "");
    if (values->slot < DLB_KEY_COUNT)
        return canonical_of_key((enum dlb_key)values->slot, raw, checker, text, err);
    dlb_scalar_format(raw, text);
    if (values->slot == DLB_SLOT_MODE)
        return dlb_mode_check(text->text, err);
    return 0;
}

static dlb_scalar scalar_of(const dlb_values *values, const dlb_workload *checker, const char *text)
{
    if (values->slot < DLB_KEY_COUNT)
        return scalar_of_key((enum dlb_key)values->slot, checker, text);
    return dlb_names_is_param(values->name) ? scalar_of_param(text) : text_scalar(text);
}

static char *preset_of(int slot, const dlb_workload *defaults)
{
    if (slot >= DLB_KEY_COUNT)
        return slot == DLB_SLOT_MODE ? dlb_strdup(DLB_MODE_NONE) : NULL;
    dlb_str preset = DLB_STR_INIT;
    dlb_str_add(&preset, "");
    dlb_workload_get(defaults, (enum dlb_key)slot, &preset);
    return preset.text;
}

static dlb_values_item *add_item(dlb_values *values)
{
    values->items =
        dlb_grow(values->items, &values->capacity, values->count + 1, sizeof *values->items);
    return &values->items[values->count++];
}

void dlb_values_init(dlb_values *values, int slot, const char *name, const dlb_workload *defaults)
{
    *values = (dlb_values){.slot = slot, .name = name, .preset = preset_of(slot, defaults)};
    *add_item(values) = (dlb_values_item){.scalar = text_scalar(""), .text = dlb_strdup("")};
}

/* Add a value, whose text it takes over. */
static uint32_t add(dlb_values *values, char *text, const dlb_workload *checker)
{
    uint32_t index = (uint32_t)values->count;
    *add_item(values) =
        (dlb_values_item){.scalar = scalar_of(values, checker, text),
                          .text = text,
                          .mark = dlb_identity_mark(values->name, text, values->preset)};
    dlb_scalar known = text_scalar(text);
    remember(values, &known, index);
    return index;
}

static int intern_new(dlb_values *values, const dlb_scalar *raw, dlb_workload *checker,
                      uint32_t *index, dlb_error *err)
{
    dlb_str text = DLB_STR_INIT;
    int status = canonical(values, raw, checker, &text, err);
    if (status < 0) {
        dlb_str_release(&text);
        return status;
    }
    dlb_scalar known = text_scalar(text.text);
    *index = find(values, &known);
    if (*index)
        dlb_str_release(&text);
    else
        *index = add(values, text.text, checker);
    if (raw->kind != DLB_SCALAR_TEXT)
        remember(values, raw, *index);
    return 0;
}

int dlb_values_intern(dlb_values *values, const dlb_scalar *raw, dlb_workload *checker,
                      uint32_t *index, dlb_error *err)
{
    *index = find(values, raw);
    return *index ? 0 : intern_new(values, raw, checker, index, err);
}

uint32_t dlb_values_intern_text(dlb_values *values, const char *text, dlb_workload *checker)
{
    uint32_t index;
    dlb_scalar raw = text_scalar(text);
    dlb_values_intern(values, &raw, checker, &index, NULL);
    return index;
}
