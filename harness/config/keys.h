/*
 * The keys of a workload as data, derived from keys.def: what flags, sweep files, help and error
 * messages know of a key. The table is constant; nothing here is to be freed.
 */
#ifndef DLB_CONFIG_KEYS_H
#define DLB_CONFIG_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "config/each.h"

/* DLB_KEY_model, DLB_KEY_data, ..., in the order of keys.def */
enum dlb_key {
#define KEY(name) DLB_KEY_##name,
#include "config/keys.def"
    DLB_KEY_COUNT
};

/* The choices of each KEY_CHOICE: DLB_optimizer_sgd, DLB_optimizer_adam, ... */
#define DLB_CHOICE(name, choice) DLB_##name##_##choice,
#define KEY(name)
#define KEY_CHOICE(name, owner, preset, help, ...) enum { DLB_EACH(DLB_CHOICE, name, __VA_ARGS__) };
#include "config/keys.def"
#undef DLB_CHOICE

enum dlb_key_type { DLB_TYPE_INT, DLB_TYPE_REAL, DLB_TYPE_BOOL, DLB_TYPE_TEXT, DLB_TYPE_CHOICE };

struct dlb_key_info {
    const char *name; /* as in a sweep file: drop_last; the flag has dashes: --drop-last */
    enum dlb_key_type type;
    const char *preset;         /* the default, as text */
    bool of_model;              /* a model's own value takes the place of the default */
    bool of_learning;           /* has a part in what is learnt */
    double min, max;            /* of INT and REAL, both allowed */
    const char *unit;           /* of INT and REAL; "" = none */
    const char *const *choices; /* of CHOICE, in the order of its enum, ended by NULL */
    const char *value;          /* what help calls the value: N, FILE, sgd|adam|adagrad */
    const char *help;
    size_t offset; /* of the field in dlb_workload */
};

const struct dlb_key_info *dlb_key_info(enum dlb_key key);

/* The key of that name, '-' and '_' being the same, or -1. */
int dlb_key_find(const char *name);

/* Append the key's flag: "--drop-last". */
void dlb_key_flag(enum dlb_key key, dlb_str *out);

/* Append the range of an INT or REAL with its unit: "1 to 65536 images". */
void dlb_key_range(const struct dlb_key_info *info, dlb_str *out);

#endif
