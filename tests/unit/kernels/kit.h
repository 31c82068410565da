/* What tests of kernels share: tables, teams with real threads, numbers, comparisons. */
#ifndef DLB_TESTS_KERNELS_KIT_H
#define DLB_TESTS_KERNELS_KIT_H

#include <stddef.h>
#include <stdint.h>

#include "dlk/dispatch.h"

/* The table of a family, with the best instruction set; fails the test if there is none. */
dlk_kernels kit_kernels(dlk_family family);

/*
 * Call check with every table there is: ref, blas, and simd with each instruction set of this
 * machine. What fails meanwhile is reported with the table's name.
 */
typedef void kit_check_fn(const dlk_kernels *k);
void kit_for_every_table(kit_check_fn *check);

/*
 * A team of `size` threads, the caller being its leader, with exactly `scratch_floats` floats of
 * scratch each and `shared_floats` in common. kit_team_stop fails the test if a kernel wrote beyond
 * its scratch.
 */
typedef struct kit_team kit_team;
kit_team *kit_team_start(int size, size_t scratch_floats, size_t shared_floats);
dlk_team *kit_team_of(kit_team *k);
void kit_team_stop(kit_team *k);

/* Arrays of `count` numbers that depend on `seed` alone; free() them. */
float *kit_uniform(size_t count, uint32_t seed);  /* in [-1, 1) */
float *kit_integers(size_t count, uint32_t seed); /* -4 … 4: sums of products are exact */
float *kit_zeros(size_t count);

/* Set all but about `percent` of the numbers to zero; which ones depends on `seed`. */
void kit_thin_out(size_t count, float *numbers, int percent, uint32_t seed);

/* The number of elements of an array with these dimensions. */
size_t kit_size(int a, int b, int c, int d);

/* An integer in [low, high] that depends on seed and index. */
int kit_pick(uint32_t seed, uint32_t index, int low, int high);

/* Waste a little time, from nothing to some microseconds, that depends on seed and index. */
void kit_dawdle(uint32_t seed, uint32_t index);

/* The sum of a[i] * b[i] in double. */
double kit_dot(size_t count, const float *a, const float *b);

/* Fails the test, naming `what` and `seed`, unless the arrays are equal element by element. */
void kit_expect_equal(size_t count, const float *got, const float *want, const char *what,
                      uint32_t seed);

/* The same up to `tolerance` times the largest wanted magnitude. */
void kit_expect_close(size_t count, const float *got, const float *want, double tolerance,
                      const char *what, uint32_t seed);

/*
 * Fails the test unless `gradient` of the `count` numbers at `at` is what central differences of
 * value(context) say, up to `tolerance` times the largest difference seen.
 */
typedef double kit_value_fn(void *context);
void kit_expect_gradient(size_t count, float *at, const float *gradient, float step,
                         double tolerance, kit_value_fn *value, void *context, const char *what);

#endif
