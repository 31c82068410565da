#include "config/workload.h"

#include "base/mem.h"

_Static_assert(DLB_KEY_COUNT <= 64, "dlb_workload.given has a bit for each key");

/* A value that has been read and found valid, before it is stored. */
typedef union parsed_value {
    long long integer;
    double real;
    bool flag;
    int choice;
    const char *text;
} parsed_value;

/* How much of a wrong value an error message repeats. */
#define SHOWN "%.80s"

static int refuse_number(const struct dlb_key_info *info, const char *text, dlb_error *err)
{
    dlb_str range = DLB_STR_INIT;
    dlb_key_range(info, &range);
    dlb_fail(err, DLB_BAD_INPUT, "%s = " SHOWN ": must be %s from %s", info->name, text,
             info->type == DLB_TYPE_INT ? "an integer" : "a number", range.text);
    dlb_str_release(&range);
    return DLB_BAD_INPUT;
}

static int parse_int(const struct dlb_key_info *info, const char *text, parsed_value *value,
                     dlb_error *err)
{
    if (!dlb_parse_int(text, &value->integer) || (double)value->integer < info->min ||
        (double)value->integer > info->max)
        return refuse_number(info, text, err);
    return 0;
}

static int parse_real(const struct dlb_key_info *info, const char *text, parsed_value *value,
                      dlb_error *err)
{
    /* written so that nan fails */
    if (!dlb_parse_real(text, &value->real) ||
        !(value->real >= info->min && value->real <= info->max))
        return refuse_number(info, text, err);
    return 0;
}

static int parse_bool(const struct dlb_key_info *info, const char *text, parsed_value *value,
                      dlb_error *err)
{
    value->flag = strcmp(text, "yes") == 0;
    if (!value->flag && strcmp(text, "no") != 0)
        return dlb_fail(err, DLB_BAD_INPUT, "%s = " SHOWN ": must be yes or no", info->name, text);
    return 0;
}

static int parse_text(const struct dlb_key_info *info, const char *text, parsed_value *value,
                      dlb_error *err)
{
    value->text = text;
    if (*text == '\0' && *info->preset != '\0')
        return dlb_fail(err, DLB_BAD_INPUT, "%s: must not be empty; it is %s by default",
                        info->name, info->preset);
    return 0;
}

static int parse_choice(const struct dlb_key_info *info, const char *text, parsed_value *value,
                        dlb_error *err)
{
    size_t count = 0;
    for (; info->choices[count]; count++) {
        if (strcmp(text, info->choices[count]) == 0) {
            value->choice = (int)count;
            return 0;
        }
    }
    const char *closest = dlb_closest(text, info->choices, count);
    return dlb_fail(err, DLB_BAD_INPUT, "%s = " SHOWN ": must be one of %s%s%s%s", info->name, text,
                    info->value, closest ? "; did you mean " : "", closest ? closest : "",
                    closest ? "?" : "");
}

static int parse(const struct dlb_key_info *info, const char *text, parsed_value *value,
                 dlb_error *err)
{
    switch (info->type) {
    case DLB_TYPE_INT:
        return parse_int(info, text, value, err);
    case DLB_TYPE_REAL:
        return parse_real(info, text, value, err);
    case DLB_TYPE_BOOL:
        return parse_bool(info, text, value, err);
    case DLB_TYPE_TEXT:
        return parse_text(info, text, value, err);
    case DLB_TYPE_CHOICE:
        break;
    }
    return parse_choice(info, text, value, err);
}

static void store_text(char **field, const char *text)
{
    char *own = dlb_strdup(text); /* before the free: text may be the field itself */
    free(*field);
    *field = own;
}

static void store(dlb_workload *workload, const struct dlb_key_info *info, parsed_value value)
{
    void *field = (char *)workload + info->offset;
    switch (info->type) {
    case DLB_TYPE_INT:
        *(long long *)field = value.integer;
        break;
    case DLB_TYPE_REAL:
        *(double *)field = value.real;
        break;
    case DLB_TYPE_BOOL:
        *(bool *)field = value.flag;
        break;
    case DLB_TYPE_TEXT:
        store_text(field, value.text);
        break;
    case DLB_TYPE_CHOICE:
        *(int *)field = value.choice;
        break;
    }
}

static int assign(dlb_workload *workload, enum dlb_key key, const char *text, dlb_error *err)
{
    parsed_value value;
    int status = parse(dlb_key_info(key), text, &value, err);
    if (status == 0)
        store(workload, dlb_key_info(key), value);
    return status;
}

void dlb_workload_init(dlb_workload *workload)
{
    *workload = (dlb_workload){0};
    for (int key = 0; key < DLB_KEY_COUNT; key++)
        assign(workload, key, dlb_key_info(key)->preset, NULL);
}

void dlb_workload_release(dlb_workload *workload)
{
#define KEY(name)
#define KEY_TEXT(name, ...) free(workload->name);
#include "config/keys.def"
    *workload = (dlb_workload){0};
}

void dlb_workload_copy(dlb_workload *copy, const dlb_workload *workload)
{
    *copy = *workload;
#define KEY(name)
#define KEY_TEXT(name, ...) copy->name = dlb_strdup(workload->name);
#include "config/keys.def"
}

int dlb_workload_set(dlb_workload *workload, enum dlb_key key, const char *text, dlb_error *err)
{
    int status = assign(workload, key, text, err);
    if (status == 0)
        workload->given |= UINT64_C(1) << key;
    return status;
}

int dlb_workload_set_default(dlb_workload *workload, enum dlb_key key, const char *text,
                             dlb_error *err)
{
    parsed_value unused;
    if (dlb_workload_is_set(workload, key))
        return parse(dlb_key_info(key), text, &unused, err);
    return assign(workload, key, text, err);
}

bool dlb_workload_is_set(const dlb_workload *workload, enum dlb_key key)
{
    return workload->given >> key & 1;
}

void dlb_workload_get(const dlb_workload *workload, enum dlb_key key, dlb_str *out)
{
    const struct dlb_key_info *info = dlb_key_info(key);
    const void *field = (const char *)workload + info->offset;
    char number[32];
    switch (info->type) {
    case DLB_TYPE_INT:
        dlb_str_addf(out, "%lld", *(const long long *)field);
        break;
    case DLB_TYPE_REAL:
        dlb_format_real(*(const double *)field, number, sizeof number);
        dlb_str_add(out, number);
        break;
    case DLB_TYPE_BOOL:
        dlb_str_add(out, *(const bool *)field ? "yes" : "no");
        break;
    case DLB_TYPE_TEXT:
        dlb_str_add(out, *(char *const *)field);
        break;
    case DLB_TYPE_CHOICE:
        dlb_str_add(out, info->choices[*(const int *)field]);
        break;
    }
}
