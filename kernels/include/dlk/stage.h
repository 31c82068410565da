/*
 * A stage: a convolution and what follows it, computed image by image while all of it is in cache.
 *
 *     conv2d + bias → [dropout2d] → [2×2 max-pool] and/or [ReLU] → [dropout]
 *
 * ReLU and max-pool stand in either order: max(relu(x)) = relu(max(x)), and where the two differ
 * in which element wins, all are dead and no gradient passes. Likewise the scale of a dropout is
 * positive, so it changes no winner and is applied once, at the end.
 *
 * After a pool at most one of four gradients is not zero, and ReLU and dropout kill more. `winner`
 * keeps what backward needs of all three: a byte a window.
 *
 * Kernels of stages come in lists, best first. Each says what shapes it does not fit and why,
 * brings the weights into the layout that it wants whenever they have changed, and then handles one
 * image at a time, or as many as there are lanes (dlk_lanes), on the calling thread. What a kernel
 * computes depends on its arguments alone.
 *
 * Weights are prepared, and gradients finished, in parts, each by any thread and in any order, so
 * that those of all stages can be shared out at once.
 */
#ifndef DLK_STAGE_H
#define DLK_STAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "dlk/conv2d.h"

/*
 * Floats behind the end of x, y, dy and dx that backward may read without using their values, and
 * forward those of x; behind dx it may also write.
 */
enum { DLK_SLACK = 16 };

/* The winner of a window through which no gradient passes. */
enum { DLK_DEAD = 4 };

typedef struct dlk_stage {
    dlk_conv2d conv; /* of one image: n = 1 */
    bool relu;
    bool pool; /* windows of 2×2 every 2; an odd row or column at the end is left out */
} dlk_stage;

/* The shape of y; its channels are conv.oc. */
static inline int dlk_stage_oh(const dlk_stage *s)
{
    return dlk_conv2d_oh(&s->conv) / (s->pool ? 2 : 1);
}

static inline int dlk_stage_ow(const dlk_stage *s)
{
    return dlk_conv2d_ow(&s->conv) / (s->pool ? 2 : 1);
}

static inline size_t dlk_stage_inputs(const dlk_stage *s)
{
    return (size_t)s->conv.h * (size_t)s->conv.w * (size_t)s->conv.c;
}

static inline size_t dlk_stage_outputs(const dlk_stage *s)
{
    return (size_t)dlk_stage_oh(s) * (size_t)dlk_stage_ow(s) * (size_t)s->conv.oc;
}

/* ---- Forward ---- */

/*
 * One image on its way through a stage. Tensors are [h][w][c], aligned to a float only; between two
 * kernels that can, x and y may be planes, [c][h][w].
 */
typedef struct dlk_stage_pass {
    const float *prepared; /* by the same kernel */
    const float *x;
    float *y;
    bool x_planes, y_planes;    /* y: without winners and dropout only */
    uint8_t *winner;            /* pool: like y, the winner 0 … 3 (row * 2 + column, the first of
                                   equals, as they were computed) or DLK_DEAD; NULL: not wanted */
    const uint8_t *keep;        /* dropout: like y, 0 or 1; NULL: all are kept */
    const uint8_t *keep_planes; /* dropout2d: [oc], 0 or 1; NULL: all are kept */
    float scale;                /* what the kept are multiplied by; 1 without dropout */
    float *scratch;             /* scratch_floats, aligned to a cache line */
} dlk_stage_pass;

typedef struct dlk_stage_forward {
    const char *name; /* for people: "winograd 4x4" */

    /* Why it cannot compute the stage, for people ("its stride is not 1"); NULL: it can. */
    const char *(*misfit)(const dlk_stage *s);

    /*
     * Weights [kh][kw][c][oc] and bias [oc], in the kernel's own layout. lay_out writes, once, what
     * depends on the shape alone (NULL: nothing does), prepare the rest.
     */
    size_t (*prepared_floats)(const dlk_stage *s);
    void (*lay_out)(const dlk_stage *s, float *prepared);
    int (*parts)(const dlk_stage *s);
    void (*prepare)(const dlk_stage *s, int part, const float *weights, const float *bias,
                    float *prepared);

    size_t (*scratch_floats)(const dlk_stage *s);
    void (*run)(const dlk_stage *s, const dlk_stage_pass *pass);

    bool planes; /* whether x and y may be planes */
} dlk_stage_forward;

/* ---- Forward of many images ---- */

/*
 * Several images at once: lane i of every vector is image i's. x, y and winner of these kernels are
 * [c][h][w][images], keep_planes is [oc][images], and there is no `keep`. What an image comes to
 * does not depend on the others.
 */
typedef struct dlk_lanes {
    int images;
    const dlk_stage_forward *const *forward; /* best first, ended by NULL */

    /* To and from images [h][w][c] that are `stride` elements apart, `count` of them. On the way
     * in, slack may be read behind each, and lanes that are left over repeat the last. */
    void (*enter)(const dlk_stage *s, int count, const float *x, size_t stride, float *lanes);
    void (*leave)(const dlk_stage *s, int count, const float *lanes, float *y, size_t stride);
    void (*leave_bytes)(const dlk_stage *s, int count, const uint8_t *lanes, uint8_t *winner,
                        size_t stride);
} dlk_lanes;

/* ---- Backward ---- */

/* The gradient of one image on its way back. */
typedef struct dlk_stage_return {
    const float *prepared; /* by the same kernel */
    const float *x, *y, *dy;
    const uint8_t *winner; /* pool; without it, ReLU's gradient passes where y > 0 */
    float scale;           /* as in forward */
    float *dx;             /* overwritten; NULL: not wanted */
    float *gradient;       /* added to: gradient_floats, aligned to a cache line */
    float *scratch;        /* scratch_floats, aligned to a cache line */
} dlk_stage_return;

/* Gradients of groups of images. */
typedef struct dlk_gradients {
    int count;
    float *const *each;
} dlk_gradients;

typedef struct dlk_stage_backward {
    const char *name;

    /* `data`: whether dx is wanted. */
    const char *(*misfit)(const dlk_stage *s, bool data);

    /* The weights for dx; no floats and no parts where `data` is false. */
    size_t (*prepared_floats)(const dlk_stage *s, bool data);
    int (*parts)(const dlk_stage *s, bool data);
    void (*prepare)(const dlk_stage *s, int part, const float *weights, float *prepared);

    size_t (*scratch_floats)(const dlk_stage *s, bool data);
    void (*run)(const dlk_stage *s, const dlk_stage_return *back);

    /*
     * Sums of the gradients of several images are gradients, too, in the kernel's own layout. So
     * are those of groups of images: `finish` adds them up in order and turns the sum into dweights
     * [kh][kw][c][oc] and dbias [oc], each part some of them. All groups are zero then, as the next
     * step wants them: who has just read them has their lines, and writes them soonest.
     */
    size_t (*gradient_floats)(const dlk_stage *s);
    int (*finish_parts)(const dlk_stage *s);
    void (*finish)(const dlk_stage *s, int part, const dlk_gradients *groups, float *dweights,
                   float *dbias);
} dlk_stage_backward;

#endif
