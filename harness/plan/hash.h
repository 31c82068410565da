/*
 * A 64-bit hash that is the same on every machine and in every version: ids of points are made of
 * it and stay in result files. It does not resist forgery.
 */
#ifndef DLB_PLAN_HASH_H
#define DLB_PLAN_HASH_H

#include <stddef.h>
#include <stdint.h>

/* A bijection after which every bit depends on every bit (the finish of splitmix64). */
uint64_t dlb_hash_mix(uint64_t value);

/* FNV-1a, mixed. Hand the result on as `seed` to chain; start with 0. */
uint64_t dlb_hash_bytes(uint64_t seed, const void *bytes, size_t count);
uint64_t dlb_hash_text(uint64_t seed, const char *text);

#endif
