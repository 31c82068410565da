/*
 * A workload: what one training is, as validated values, one field a key of keys.def.
 *
 * Every field always holds a valid value: the default, a model's own default, or what the user
 * gave. Read the fields directly; change them only through the functions, which keep account of
 * what the user gave. Choices hold their enum: workload.optimizer == DLB_optimizer_sgd.
 *
 *     dlb_workload workload;
 *     dlb_workload_init(&workload);
 *     if (dlb_workload_set(&workload, DLB_KEY_epochs, "12", &err) < 0) ...
 *     dlb_workload_release(&workload);
 */
#ifndef DLB_CONFIG_WORKLOAD_H
#define DLB_CONFIG_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "config/keys.h"

typedef struct dlb_workload {
#define KEY_INT(name, ...)    long long name;
#define KEY_REAL(name, ...)   double name;
#define KEY_BOOL(name, ...)   bool name;
#define KEY_TEXT(name, ...)   char *name; /* owned, never NULL */
#define KEY_CHOICE(name, ...) int name;
#include "config/keys.def"
    uint64_t given; /* a bit a key: the user set it */
} dlb_workload;

/* All defaults; nothing is given. */
void dlb_workload_init(dlb_workload *workload);
void dlb_workload_release(dlb_workload *workload);

/* Make *copy, which holds nothing yet, equal to *workload. Release both. */
void dlb_workload_copy(dlb_workload *copy, const dlb_workload *workload);

/*
 * Set a key from the user's text and mark it as given. A wrong type, range or choice is
 * DLB_BAD_INPUT with a message that names the key, the value and what is allowed; nothing changes.
 */
int dlb_workload_set(dlb_workload *workload, enum dlb_key key, const char *text, dlb_error *err);

/* The same for a model's own default: a key that the user gave keeps its value, none is marked. */
int dlb_workload_set_default(dlb_workload *workload, enum dlb_key key, const char *text,
                             dlb_error *err);

/* Whether the user gave the key. */
bool dlb_workload_is_set(const dlb_workload *workload, enum dlb_key key);

/* Append the key's value in the form that dlb_workload_set reads back as the same value. */
void dlb_workload_get(const dlb_workload *workload, enum dlb_key key, dlb_str *out);

/*
 * Refuse keys that contradict each other, such as more teams than threads. To be called when all
 * values, the model's included, are set.
 */
int dlb_workload_check(const dlb_workload *workload, dlb_error *err);

/* Refuse workers and batches that do not fit so many training images. */
int dlb_workload_check_images(const dlb_workload *workload, long long images, dlb_error *err);

#endif
