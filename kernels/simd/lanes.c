#include "simd/lanes.h"

#include "simd/simd.h"
#include "simd/squares.h"

/* Where element i of an image, which has some channels a pixel, is among its planes. */
static size_t place(size_t i, size_t channels, size_t floats)
{
    return i % channels * (floats / channels) + i / channels;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void enter(const dlk_stage *s, int count, const float *x, size_t stride, float *lanes)
{
    size_t floats = dlk_stage_inputs(s), channels = (size_t)s->conv.c;
    for (size_t first = 0; first < floats; first += V) {
        vec row[V];
        DLK_UNROLL
        for (size_t i = 0; i < V; i++)
            row[i] = load(x + least(i, (size_t)count - 1) * stride + first);
        transpose(row);
        for (size_t i = 0; i < least(V, floats - first); i++)
            store(lanes + place(first + i, channels, floats) * V, row[i]);
    }
}

static void leave(const dlk_stage *s, int count, const float *lanes, float *y, size_t stride)
{
    size_t floats = dlk_stage_outputs(s), channels = (size_t)s->conv.oc;
    for (size_t first = 0; first < floats; first += V) {
        vec row[V] = {{0}};
        size_t some = least(V, floats - first);
        for (size_t i = 0; i < some; i++)
            row[i] = load(lanes + place(first + i, channels, floats) * V);
        transpose(row);
        for (size_t i = 0; i < (size_t)count; i++)
            store_some(y + i * stride + first, row[i], (int)some);
    }
}

static const dlk_stage_forward *const forward[] = {&DLK_SIMD(lanes_squares), &DLK_SIMD(lanes_rows),
                                                   NULL};

const dlk_lanes DLK_SIMD(lanes) = {V, forward, enter, leave};
