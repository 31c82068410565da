/*
 * What is left of the gradient of a pooled stage, as lists: for each output channel the windows of
 * a band that a gradient passes, in the order of the windows.
 *
 * A band is some rows of windows, few enough that the pixels under them stay in the first cache
 * while every channel's list goes over them.
 */
#ifndef DLK_SIMD_SPARSE_LISTS_H
#define DLK_SIMD_SPARSE_LISTS_H

#include "dlk/stage.h"
#include "simd/vec.h"

/* A gradient and where the patch of the image that it belongs to starts. */
typedef struct survivor {
    float gradient; /* of the convolution's output, scaled */
    int32_t offset; /* in floats from the image's first */
} survivor;

typedef struct survivors {
    int capacity;       /* of one channel */
    survivor *survivor; /* [oc][capacity] */
    survivor **end;     /* [oc]: behind the last of the channel */
} survivors;

/* Rows of windows of a band. */
static inline int band_rows(const dlk_stage *s)
{
    enum { CACHE_FLOATS = 9 * 1024 };
    int pair = 2 * s->conv.w * s->conv.c;
    int rows = CACHE_FLOATS / pair - (s->conv.kh - 1) / 2;
    int all = dlk_stage_oh(s);
    return rows < 1 ? 1 : rows > all ? all : rows;
}

static inline size_t survivors_floats(const dlk_stage *s)
{
    size_t capacity = (size_t)band_rows(s) * (size_t)dlk_stage_ow(s);
    return (size_t)s->conv.oc * (sizeof(survivor *) + capacity * sizeof(survivor)) / sizeof(float);
}

static inline survivors survivors_at(const dlk_stage *s, float *scratch)
{
    int capacity = band_rows(s) * dlk_stage_ow(s);
    survivor *first = (survivor *)scratch;
    return (survivors){.capacity = capacity,
                       .survivor = first,
                       .end = (survivor **)(first + (size_t)s->conv.oc * (size_t)capacity)};
}

static inline survivor *survivors_of(const survivors *l, int channel)
{
    return l->survivor + (size_t)channel * (size_t)l->capacity;
}

/* V winners; dead behind the end of all. */
DLK_INLINE ivec load_winners(const uint8_t *from, const uint8_t *end)
{
    typedef uint8_t bytes __attribute__((vector_size(DLK_WIDTH)));
    bytes winner = (bytes){0} + DLK_DEAD;
    if (end - from >= V)
        memcpy(&winner, from, V);
    else
        memcpy(&winner, from, (size_t)(end - from));
    return __builtin_convertvector(winner, ivec);
}

/*
 * Gradients are looked at in groups of up to GROUP that follow each other in dy: some windows of a
 * row with all their channels, or some of the channels of one window. The fewer groups, the fewer
 * loops of unpredictable length.
 */
enum { GROUP = 64 };

typedef struct listing {
    const dlk_stage_return *back;
    const uint8_t *winners_end;
    int32_t of_winner[DLK_DEAD]; /* from a window's first patch to that of its winner */
    float *dbias;                /* [oc]: added to */
    survivor **end;              /* [oc] */
    int windows;                 /* of a group */
    int32_t channel[GROUP];      /* of each gradient of a group */
    int32_t offset[GROUP];       /* of its window, from the group's first */
} listing;

static inline listing listing_of(const dlk_stage *s, const dlk_stage_return *back, float *dbias,
                                 survivor **end)
{
    int oc = s->conv.oc, c = s->conv.c, width = s->conv.w * c;
    listing l = {.back = back,
                 .winners_end = back->winner + dlk_stage_outputs(s),
                 .of_winner = {0, c, width, width + c},
                 .dbias = dbias,
                 .end = end,
                 .windows = oc < GROUP ? GROUP / oc : 1};
    for (int i = 0; i < GROUP; i++) {
        l.channel[i] = i % oc;
        l.offset[i] = i / oc * 2 * c;
    }
    return l;
}

/* Which of a group's gradients pass, a bit each. */
DLK_INLINE uint64_t passing(const listing *l, size_t at, int count)
{
    uint64_t passing = 0;
    for (int i = 0; i < count; i += V) {
        ivec winner = load_winners(l->back->winner + at + i, l->winners_end);
        ivec passes = (winner != DLK_DEAD) & (load(l->back->dy + at + i) != 0.0F);
        passing |= (uint64_t)mask_bits(passes) << i;
    }
    return passing & (UINT64_MAX >> (GROUP - count));
}

/* The gradients [at, at + count), of the channels from `channel` on and the window at `offset`. */
static inline void list_group(const listing *l, size_t at, int count, int channel, int32_t offset)
{
    float scale = l->back->scale;
    for (uint64_t left = passing(l, at, count); left; left &= left - 1) {
        int i = __builtin_ctzll(left);
        int to = channel + l->channel[i];
        float gradient = l->back->dy[at + (size_t)i] * scale;
        int32_t winner = l->of_winner[l->back->winner[at + (size_t)i]];
        l->dbias[to] += gradient;
        *l->end[to]++ = (survivor){gradient, offset + l->offset[i] + winner};
    }
}

/* List the windows of rows [first, end) and add their gradients to dbias. */
static inline void survivors_list(survivors *lists, const dlk_stage *s,
                                  const dlk_stage_return *back, float *dbias, int first, int end)
{
    listing l = listing_of(s, back, dbias, lists->end);
    int oc = s->conv.oc, columns = dlk_stage_ow(s);
    for (int channel = 0; channel < oc; channel++)
        lists->end[channel] = survivors_of(lists, channel);
    size_t at = (size_t)first * (size_t)columns * (size_t)oc;
    for (int row = first; row < end; row++)
        for (int column = 0; column < columns; column += l.windows) {
            int windows = columns - column < l.windows ? columns - column : l.windows;
            int32_t offset = (2 * row * s->conv.w + 2 * column) * s->conv.c;
            for (int i = 0, count = windows * oc; i < count; i += GROUP)
                list_group(&l, at + (size_t)i, count - i < GROUP ? count - i : GROUP, i, offset);
            at += (size_t)(windows * oc);
        }
}

#endif
