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

/*
 * Gradients are looked at in groups of up to GROUP that follow each other in dy: some windows of a
 * row with all their channels, or some of the channels of one window. The fewer groups, the fewer
 * loops of unpredictable length.
 */
enum { GROUP = 64 };

/* A gradient and where the patch of the image that it belongs to starts. */
typedef struct survivor {
    float gradient; /* of the convolution's output, scaled */
    int32_t offset; /* in floats from the image's first */
} survivor;

typedef struct survivors {
    int capacity;       /* of one channel */
    survivor *survivor; /* [oc][capacity] */
    survivor **end;     /* [oc]: behind the last of the channel */
    float *sums;        /* of gradients */
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

/* A place for each gradient of the windows that are looked at together, in whole vectors. */
static inline size_t sums_floats(const dlk_stage *s)
{
    return (size_t)(s->conv.oc < GROUP ? GROUP : s->conv.oc) + V;
}

static inline size_t survivors_floats(const dlk_stage *s)
{
    size_t capacity = (size_t)band_rows(s) * (size_t)dlk_stage_ow(s);
    size_t lists = (size_t)s->conv.oc * (sizeof(survivor *) + capacity * sizeof(survivor));
    return lists / sizeof(float) + sums_floats(s);
}

static inline survivors survivors_at(const dlk_stage *s, float *scratch)
{
    int capacity = band_rows(s) * dlk_stage_ow(s);
    survivor *first = (survivor *)scratch;
    survivor **end = (survivor **)(first + (size_t)s->conv.oc * (size_t)capacity);
    return (survivors){
        .capacity = capacity, .survivor = first, .end = end, .sums = (float *)(end + s->conv.oc)};
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

typedef struct listing {
    const dlk_stage_return *back;
    const uint8_t *winners_end;
    int32_t right, below;   /* from a window's first patch to those of its neighbours */
    float *sums;            /* of the gradients, by their place among those of some windows */
    survivor **end;         /* [oc] */
    int windows;            /* of a group */
    int32_t channel[GROUP]; /* of each gradient of a group */
    int32_t offset[GROUP];  /* of its window, from the group's first */
} listing;

static inline listing listing_of(const dlk_stage *s, const dlk_stage_return *back,
                                 const survivors *lists)
{
    int oc = s->conv.oc, c = s->conv.c;
    listing l = {.back = back,
                 .winners_end = back->winner + dlk_stage_outputs(s),
                 .right = c,
                 .below = s->conv.w * c,
                 .sums = lists->sums,
                 .end = lists->end,
                 .windows = oc < GROUP ? GROUP / oc : 1};
    int32_t channel = 0, offset = 0;
    for (int i = 0; i < GROUP; i++) {
        l.channel[i] = channel++;
        l.offset[i] = offset;
        if (channel == oc) {
            channel = 0;
            offset += 2 * c;
        }
    }
    return l;
}

DLK_INLINE ivec load_integers(const int32_t *from)
{
    return (ivec)load((const float *)from);
}

/* From a window's first patch to that of its winner. */
DLK_INLINE ivec offset_of(ivec winner, int32_t right, int32_t below)
{
    return (-(winner & 1) & right) + (-(winner >> 1) & below);
}

/* A group's gradients as if all of them survived, and which do, a bit each. */
typedef struct group {
    _Alignas(64) float gradient[GROUP];
    _Alignas(64) int32_t offset[GROUP];
    uint64_t alive;
} group;

/* The gradients [at, at + count), from place `place` of their windows on, the first at `offset`. */
DLK_INLINE void look_at(const listing *l, size_t at, int count, int place, int32_t offset, group *g)
{
    const uint8_t *winners = l->back->winner + at;
    const float *dy = l->back->dy + at;
    uint64_t alive = 0;
    for (int i = 0; i < count; i += V) {
        ivec winner = load_winners(winners + i, l->winners_end);
        vec gradient = load(dy + i) * l->back->scale;
        ivec passes = (winner != DLK_DEAD) & (gradient != 0.0F);
        if (count - i < V)
            passes &= lane_numbers() < count - i;
        float *sums = l->sums + place + i;
        store(sums, load(sums) + choose(passes, gradient, (vec){0}));
        store(g->gradient + i, gradient);
        store((float *)g->offset + i,
              (vec)(load_integers(l->offset + i) + offset + offset_of(winner, l->right, l->below)));
        alive |= (uint64_t)mask_bits(passes) << i;
    }
    g->alive = alive;
}

static inline void list_group(const listing *l, size_t at, int count, int place, int32_t offset)
{
    group g;
    look_at(l, at, count, place, offset, &g);
    survivor **end = l->end + place;
    for (uint64_t left = g.alive; left; left &= left - 1) {
        int i = __builtin_ctzll(left);
        *end[l->channel[i]]++ = (survivor){g.gradient[i], g.offset[i]};
    }
}

/* Places of the same channel are added up, in order. */
static inline void add_sums(const dlk_stage *s, const listing *l, float *dbias)
{
    int oc = s->conv.oc;
    for (int window = 0; window < l->windows; window++)
        for (int channel = 0; channel < oc; channel++)
            dbias[channel] += l->sums[window * oc + channel];
}

/* List the windows of rows [first, end) and add their gradients to dbias. */
static inline void survivors_list(survivors *lists, const dlk_stage *s,
                                  const dlk_stage_return *back, float *dbias, int first, int end)
{
    listing l = listing_of(s, back, lists);
    int oc = s->conv.oc, columns = dlk_stage_ow(s);
    for (int channel = 0; channel < oc; channel++)
        lists->end[channel] = survivors_of(lists, channel);
    memset(l.sums, 0, sums_floats(s) * sizeof *l.sums);
    size_t at = (size_t)first * (size_t)columns * (size_t)oc;
    for (int row = first; row < end; row++)
        for (int column = 0; column < columns; column += l.windows) {
            int windows = columns - column < l.windows ? columns - column : l.windows;
            int32_t offset = (2 * row * s->conv.w + 2 * column) * s->conv.c;
            for (int i = 0, count = windows * oc; i < count; i += GROUP)
                list_group(&l, at + (size_t)i, count - i < GROUP ? count - i : GROUP, i, offset);
            at += (size_t)(windows * oc);
        }
    add_sums(s, &l, dbias);
}

#endif
