/*
 * Whether a kernel computes what it should: it is put into a training step of `ref`, wherever that
 * calls for it, and loss and gradients of the step are compared with those of `ref` itself, from
 * the same weights and batch. So every kernel is judged by the same numbers, whatever it computes
 * on the way. Of an update it is what it changes, of a kernel that only evaluates the loss of an
 * evaluation. All on the calling thread.
 */
#ifndef DLB_CLI_BENCH_VERIFY_H
#define DLB_CLI_BENCH_VERIFY_H

#include "cli/bench_kernels.h"

/*
 * What the gradient of a tensor may be apart, in parts of its length. Rounding alone comes to a
 * millionth; but where two elements of a pool's window are equal up to rounding, another one may
 * win, and pass its whole gradient on elsewhere.
 */
#define DLB_VERIFY_BOUND 5e-3

/* The largest difference for a row of a plan that has started; NaN of sgemm itself, which nothing
 * calls. */
int dlb_verify_row(const dlb_kernel_plan *plan, const dlb_kernel_row *row, double *error,
                   dlb_error *err);

/* How far two arrays are apart (the Euclidean norm of the difference), in parts of the length of
 * `expected`; infinite if a value is not finite. */
double dlb_verify_difference(const float *actual, const float *expected, size_t count);

#endif
