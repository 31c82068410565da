#include "simd/lanes.h"

#include "simd/simd.h"
#include "simd/squares.h"

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Goes through the elements of an image [h][w][c] and says where each is among its planes. */
typedef struct cursor {
    size_t channels, plane, floats;
    size_t at, channel;
} cursor;

static cursor cursor_of(int channels, size_t floats)
{
    return (cursor){
        .channels = (size_t)channels, .plane = floats / (size_t)channels, .floats = floats};
}

DLK_INLINE size_t next_place(cursor *c)
{
    size_t at = c->at;
    c->at += c->plane;
    if (++c->channel == c->channels) {
        c->channel = 0;
        c->at -= c->floats - 1;
    }
    return at;
}

static void enter(const dlk_stage *s, int count, const float *x, size_t stride, float *lanes)
{
    size_t floats = dlk_stage_inputs(s);
    cursor place = cursor_of(s->conv.c, floats);
    for (size_t first = 0; first < floats; first += V) {
        vec row[V];
        DLK_UNROLL
        for (size_t i = 0; i < V; i++)
            row[i] = load(x + least(i, (size_t)count - 1) * stride + first);
        transpose(row);
        for (size_t i = 0; i < least(V, floats - first); i++)
            store(lanes + next_place(&place) * V, row[i]);
    }
}

/*
 * The first `some` floats of each row, to images. Written out where they are many: a loop from
 * image to image would have the processor fetch what lies at the same distance behind the last one,
 * which another core may be about to write.
 */
DLK_INLINE void store_images(int count, const vec row[V], float *to, size_t stride, size_t some)
{
    if (count == V && some == V) {
        DLK_UNROLL
        for (size_t i = 0; i < V; i++)
            store(to + i * stride, row[i]);
        return;
    }
    for (int i = 0; i < count; i++, to += stride)
        store_some(to, row[i], (int)some);
}

static void leave(const dlk_stage *s, int count, const float *lanes, float *y, size_t stride)
{
    size_t floats = dlk_stage_outputs(s);
    cursor place = cursor_of(s->conv.oc, floats);
    for (size_t first = 0; first < floats; first += V) {
        vec row[V] = {{0}};
        size_t some = least(V, floats - first);
        for (size_t i = 0; i < some; i++)
            row[i] = load(lanes + next_place(&place) * V);
        transpose(row);
        store_images(count, row, y + first, stride, some);
    }
}

/* The next four bytes of every image, in order; zeros behind the end. */
DLK_INLINE vec four_bytes(const uint8_t *lanes, cursor *place, size_t left)
{
    ivec four = {0};
    for (size_t i = 0; i < least(4, left); i++)
        four |= widen_bytes(lanes + next_place(place) * V) << (int32_t)(8 * i);
    return (vec)four;
}

/* The same of bytes. */
DLK_INLINE void store_images_bytes(int count, const vec row[V], uint8_t *to, size_t stride,
                                   size_t some)
{
    if (count == V && some == sizeof(vec)) {
        DLK_UNROLL
        for (size_t i = 0; i < V; i++)
            memcpy(to + i * stride, &row[i], sizeof(vec));
        return;
    }
    for (int i = 0; i < count; i++, to += stride)
        memcpy(to, &row[i], some);
}

static void leave_bytes(const dlk_stage *s, int count, const uint8_t *lanes, uint8_t *winner,
                        size_t stride)
{
    size_t outputs = dlk_stage_outputs(s);
    cursor place = cursor_of(s->conv.oc, outputs);
    for (size_t first = 0; first < outputs; first += sizeof(vec)) {
        vec row[V] = {{0}};
        size_t some = least(sizeof(vec), outputs - first);
        for (size_t i = 0; 4 * i < some; i++)
            row[i] = four_bytes(lanes, &place, some - 4 * i);
        transpose(row);
        store_images_bytes(count, row, winner + first, stride, some);
    }
}

static const dlk_stage_forward *const forward[] = {&DLK_SIMD(lanes_squares), &DLK_SIMD(lanes_rows),
                                                   NULL};

const dlk_lanes DLK_SIMD(lanes) = {V, forward, enter, leave, leave_bytes};
