#include "config/keys.h"

#include "config/workload.h"

#define CHOICE_NAME(context, choice) #choice,
#define KEY(name)
#define KEY_CHOICE(name, owner, preset_, help_, ...)                                               \
    static const char *const name##_choices[] = {DLB_EACH(CHOICE_NAME, , __VA_ARGS__) NULL};
#include "config/keys.def"

/* "|sgd|adam|adagrad": the first bar is left out where it is used. */
#define OR_CHOICE(context, choice) "|" #choice

enum dlb_owner { MODEL, LEARNING, RUN };

#define ENTRY(key, type_, owner)                                                                   \
    .name = #key, .type = type_, .of_model = (owner) == MODEL, .of_learning = (owner) != RUN,      \
    .offset = offsetof(dlb_workload, key)

static const struct dlb_key_info keys[DLB_KEY_COUNT] = {
#define NUMBER(key, type_, value_, owner, preset_, min_, max_, unit_, help_)                       \
    {ENTRY(key, type_, owner), .preset = #preset_, .min = min_, .max = max_, .unit = unit_,        \
     .value = value_,          .help = help_},
#define KEY_INT(key, ...)  NUMBER(key, DLB_TYPE_INT, "N", __VA_ARGS__)
#define KEY_REAL(key, ...) NUMBER(key, DLB_TYPE_REAL, "X", __VA_ARGS__)
#define KEY_BOOL(key, owner, preset_, help_)                                                       \
    {ENTRY(key, DLB_TYPE_BOOL, owner), .preset = preset_, .value = "[yes|no]", .help = help_},
#define KEY_TEXT(key, owner, preset_, value_, help_)                                               \
    {ENTRY(key, DLB_TYPE_TEXT, owner), .preset = preset_, .value = value_, .help = help_},
#define KEY_CHOICE(key, owner, preset_, help_, ...)                                                \
    {ENTRY(key, DLB_TYPE_CHOICE, owner), .preset = preset_, .choices = key##_choices,              \
     .value = &(DLB_EACH(OR_CHOICE, , __VA_ARGS__))[1], .help = help_},
#include "config/keys.def"
};

const struct dlb_key_info *dlb_key_info(enum dlb_key key)
{
    return &keys[key];
}

static bool same_name(const char *a, const char *b)
{
    for (; *a && *b; a++, b++) {
        if ((*a == '-' ? '_' : *a) != (*b == '-' ? '_' : *b))
            return false;
    }
    return *a == *b;
}

int dlb_key_find(const char *name)
{
    for (int key = 0; key < DLB_KEY_COUNT; key++) {
        if (same_name(keys[key].name, name))
            return key;
    }
    return -1;
}

void dlb_key_flag(enum dlb_key key, dlb_str *out)
{
    dlb_str_add(out, "--");
    for (const char *c = keys[key].name; *c; c++)
        dlb_str_add_bytes(out, *c == '_' ? "-" : c, 1);
}

static void add_limit(const struct dlb_key_info *info, double limit, dlb_str *out)
{
    char number[32];
    if (info->type == DLB_TYPE_INT)
        snprintf(number, sizeof number, "%.0f", limit);
    else
        dlb_format_real(limit, number, sizeof number);
    dlb_str_add(out, number);
}

void dlb_key_range(const struct dlb_key_info *info, dlb_str *out)
{
    add_limit(info, info->min, out);
    dlb_str_add(out, " to ");
    add_limit(info, info->max, out);
    if (*info->unit)
        dlb_str_addf(out, " %s", info->unit);
}
