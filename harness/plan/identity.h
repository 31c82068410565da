/*
 * Who a point is: a 64-bit hash that result files keep.
 *
 * Every parameter that differs from its default adds a mark, made of its name and its canonical
 * value. Marks are summed, so that the order of keys does not matter, a step of one parameter is
 * one subtraction and one addition, and a key that a later version adds leaves all ids as they are.
 * A default that a later version changes must come with another version of the identity, since it
 * would give an old id to a new meaning.
 */
#ifndef DLB_PLAN_IDENTITY_H
#define DLB_PLAN_IDENTITY_H

#include "config/study.h"

/* The mark of a parameter; `preset` is its default, or NULL. */
uint64_t dlb_identity_mark(const char *name, const char *text, const char *preset);

/* What all points of a study share: the command, where there is one. */
uint64_t dlb_identity_base(const dlb_study *study);

/* The id of a point from the sum of its marks, of the base, and the hash of its data. */
uint64_t dlb_identity_finish(uint64_t sum, uint64_t data);

/* Ids that have been seen; zeroed: none. */
typedef struct dlb_identity_set {
    uint64_t *slots;
    size_t size, used;
} dlb_identity_set;

/* Make room for so many ids. */
void dlb_identity_set_reserve(dlb_identity_set *set, size_t count);

/* Have the memory brought near where an id will be looked for a little later. */
void dlb_identity_set_prefetch(const dlb_identity_set *set, uint64_t id);

/* Whether the id was new; it is seen from now on. */
bool dlb_identity_set_add(dlb_identity_set *set, uint64_t id);
void dlb_identity_set_release(dlb_identity_set *set);

#endif
