/* A hash for tables in memory. */
#ifndef DLB_BASE_HASH_H
#define DLB_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/*
 * Every bit depends on all the bytes, so that any of them may be masked out. It is fast, and
 * neither resists forgery nor is the same on every machine: nothing that is stored may be made of
 * it.
 */
uint64_t dlb_hash(const void *bytes, size_t count);

#endif
