/*
 * The table of kernels: every operation always has an entry. It is filled from `ref`, then
 * overridden by the faster families up to the one chosen, operation by operation.
 */
#ifndef DLK_DISPATCH_H
#define DLK_DISPATCH_H

#include "base/error.h"
#include "dlk/conv2d.h"
#include "dlk/dense.h"
#include "dlk/dropout.h"
#include "dlk/optim.h"
#include "dlk/pixels.h"
#include "dlk/pool.h"
#include "dlk/relu.h"
#include "dlk/softmax_xent.h"
#include "dlk/stage.h"

/* Every operation of the table once: X(member, member's type). */
#define DLK_OPERATIONS(X)                                                                          \
    X(pixels_to_floats, dlk_pixels_to_floats_fn)                                                   \
    X(conv2d_forward, dlk_conv2d_forward_fn)                                                       \
    X(conv2d_backward_data, dlk_conv2d_backward_data_fn)                                           \
    X(conv2d_backward_weights, dlk_conv2d_backward_weights_fn)                                     \
    X(maxpool_forward, dlk_maxpool_forward_fn)                                                     \
    X(maxpool_backward, dlk_maxpool_backward_fn)                                                   \
    X(relu_forward, dlk_relu_forward_fn)                                                           \
    X(relu_backward, dlk_relu_backward_fn)                                                         \
    X(dense_forward, dlk_dense_forward_fn)                                                         \
    X(dense_backward_data, dlk_dense_backward_data_fn)                                             \
    X(dense_backward_weights, dlk_dense_backward_weights_fn)                                       \
    X(dropout_forward, dlk_dropout_forward_fn)                                                     \
    X(dropout_backward, dlk_dropout_backward_fn)                                                   \
    X(dropout_keep, dlk_dropout_keep_fn)                                                           \
    X(softmax_xent, dlk_softmax_xent_fn)                                                           \
    X(sgd, dlk_sgd_fn)                                                                             \
    X(adam, dlk_adam_fn)                                                                           \
    X(adagrad, dlk_adagrad_fn)

typedef enum dlk_operation {
#define DLK_ENUMERATE(name, type) DLK_OP_##name,
    DLK_OPERATIONS(DLK_ENUMERATE)
#undef DLK_ENUMERATE
        DLK_OP_COUNT,
} dlk_operation;

/* SSE is the baseline of x86-64; on other CPUs it stands for theirs. */
typedef enum dlk_isa { DLK_ISA_AUTO, DLK_ISA_SSE, DLK_ISA_AVX2, DLK_ISA_AVX512 } dlk_isa;

typedef enum dlk_family {
    DLK_FAMILY_AUTO,
    DLK_FAMILY_REF,
    DLK_FAMILY_BLAS,
    DLK_FAMILY_SIMD
} dlk_family;

typedef struct dlk_kernels {
    dlk_family family;  /* never AUTO */
    dlk_isa isa;        /* never AUTO */
    const char *detail; /* for people: "OpenBLAS 0.3.21 as SkylakeX" */
#define DLK_MEMBER(name, type) type *name;
    DLK_OPERATIONS(DLK_MEMBER)
#undef DLK_MEMBER
    dlk_family origin[DLK_OP_COUNT]; /* of each entry */
    /* Kernels of stages, best first, each list ended by NULL; NULL for a family that has none. */
    const dlk_stage_forward *const *stage_forward;
    const dlk_stage_backward *const *stage_backward;
    const dlk_lanes *lanes; /* NULL: none */
} dlk_kernels;

/*
 * Fill *kernels. AUTO takes the best that this machine and build have. A family or instruction
 * set that is not there is refused with a message. OpenBLAS takes its instruction set once a
 * process: BLAS with another one is refused, too, and SIMD then leaves to REF what it would leave
 * to BLAS, as it does where there is no OpenBLAS; `detail` says so.
 */
int dlk_kernels_select(dlk_kernels *kernels, dlk_family family, dlk_isa isa, dlb_error *err);

/* The best instruction set of this CPU that the operating system has enabled. */
dlk_isa dlk_isa_best(void);
const char *dlk_isa_name(dlk_isa isa);
const char *dlk_family_name(dlk_family family);

/*
 * Flush denormals to zero in the calling thread (FTZ and DAZ) and return the mode that was set
 * before, for dlk_float_mode_restore. Adam is ten times slower on denormals.
 */
unsigned dlk_float_mode_flush(void);
void dlk_float_mode_restore(unsigned mode);

#endif
