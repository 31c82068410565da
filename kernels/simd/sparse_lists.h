/*
 * What is left of the gradient of a pooled stage, as lists: for each output channel the windows of
 * a band that a gradient passes, in the order of the windows.
 *
 * Two ways lead there. By groups: gradients in the order of memory, those that pass one by one. By
 * columns, where channels are few: V windows of a channel at a time, of which those that pass are
 * put side by side at once, so that no branch depends on how many they are.
 *
 * A band is some rows of windows, few enough that the pixels under them stay in the first cache
 * while every channel's list goes over them.
 */
#ifndef DLK_SIMD_SPARSE_LISTS_H
#define DLK_SIMD_SPARSE_LISTS_H

#include "dlk/stage.h"
#include "simd/squares.h"
#include "simd/vec.h"

/*
 * By groups, gradients are looked at in groups of up to GROUP that follow each other in dy: some
 * windows of a row with all their channels, or some of the channels of one window. The fewer
 * groups, the fewer loops of unpredictable length.
 */
enum { GROUP = 64 };

/* By columns: channels, at most. */
enum { FEW = 32 };

/* Gradients, and where the patches of the image that they belong to start. */
typedef struct survivors {
    int pitch;       /* from a channel's to the next's */
    float *gradient; /* [oc][pitch]: of the convolution's output, scaled */
    int32_t *offset; /* [oc][pitch]: in floats from the image's first */
    int32_t *end;    /* [oc]: behind the last of the channel, in both */
    int32_t *window; /* [pitch]: the first offset of each window of the band */
    float *sums;     /* of gradients */
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

/* Windows of a band, and what is written behind them. */
static inline int survivors_pitch(const dlk_stage *s)
{
    return band_rows(s) * dlk_stage_ow(s) + V;
}

/* A place for each gradient that is looked at together: by groups, in whole vectors; by columns. */
static inline size_t sums_floats(const dlk_stage *s)
{
    size_t by_groups = (size_t)(s->conv.oc < GROUP ? GROUP : s->conv.oc) + V;
    size_t by_columns = s->conv.oc <= FEW ? (size_t)s->conv.oc * V : 0;
    return by_groups > by_columns ? by_groups : by_columns;
}

static inline size_t survivors_floats(const dlk_stage *s)
{
    size_t pitch = (size_t)survivors_pitch(s);
    return (size_t)s->conv.oc * (2 * pitch + 1) + pitch + sums_floats(s);
}

static inline survivors survivors_at(const dlk_stage *s, float *scratch)
{
    survivors l = {.pitch = survivors_pitch(s), .gradient = scratch};
    size_t lists = (size_t)s->conv.oc * (size_t)l.pitch;
    l.offset = (int32_t *)(l.gradient + lists);
    l.end = l.offset + lists;
    l.window = l.end + s->conv.oc;
    l.sums = (float *)(l.window + l.pitch);
    return l;
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
    survivors to;           /* sums: by their place among those of some windows */
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
                 .to = *lists,
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
        float *sums = l->to.sums + place + i;
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
    int32_t *end = l->to.end + place;
    for (uint64_t left = g.alive; left; left &= left - 1) {
        int i = __builtin_ctzll(left);
        int32_t to = end[l->channel[i]]++;
        l->to.gradient[to] = g.gradient[i];
        l->to.offset[to] = g.offset[i];
    }
}

/* Places of the same channel are added up, in order. */
static inline void add_sums(const dlk_stage *s, const listing *l, float *dbias)
{
    int oc = s->conv.oc;
    for (int window = 0; window < l->windows; window++)
        for (int channel = 0; channel < oc; channel++)
            dbias[channel] += l->to.sums[window * oc + channel];
}

static inline void list_by_groups(survivors *lists, const dlk_stage *s,
                                  const dlk_stage_return *back, float *dbias, int first, int end)
{
    listing l = listing_of(s, back, lists);
    int oc = s->conv.oc, columns = dlk_stage_ow(s);
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

/* ---- By columns: V windows of one channel at a time, for few channels ---- */

/* Channels whose gradients and winners are turned at once. */
enum { QUAD = 4, WINNERS = 16 };

/* V windows of a band. */
typedef struct windows {
    const dlk_stage *s;
    const dlk_stage_return *back;
    size_t first; /* of all */
    ivec offset;  /* of each */
    ivec fresh;   /* which have not been listed before */
} windows;

static inline void list_windows(const dlk_stage *s, int first, int end, int32_t *window)
{
    int32_t columns = dlk_stage_ow(s);
    for (int row = first; row < end; row++, window += columns)
        for (int32_t column = 0; column < columns; column++)
            window[column] = (2 * row * s->conv.w + 2 * column) * s->conv.c;
}

/* quad[i]: winners of four channels from `channel` + 4 i on, a byte each, a window a lane. */
DLK_INLINE void turn_winners(const windows *w, size_t channel, vec quad[WINNERS / QUAD])
{
    size_t oc = (size_t)w->s->conv.oc;
    const uint8_t *from = w->back->winner + w->first * oc + channel;
    const uint8_t *end = w->back->winner + dlk_stage_outputs(w->s);
    uint8_t copy[V * FEW + WINNERS];
    if (end < from + (V - 1) * oc + WINNERS) { /* nothing may be read behind the last */
        memcpy(copy, from, (size_t)(end - from));
        memset(copy + (end - from), DLK_DEAD, WINNERS);
        from = copy;
    }
    DLK_UNROLL
    for (size_t i = 0; i < QUAD; i++)
        quad[i] = load_lanes_of_bytes(from + i * oc, QUAD * oc);
    transpose_in_lanes(quad);
}

/* V gradients of each of four channels. */
DLK_INLINE void turn_gradients(const windows *w, size_t channel, vec gradient[QUAD])
{
    size_t oc = (size_t)w->s->conv.oc;
    const float *from = w->back->dy + w->first * oc + channel;
    DLK_UNROLL
    for (size_t i = 0; i < QUAD; i++)
        gradient[i] = load_lanes(from + i * oc, QUAD * oc);
    transpose_in_lanes(gradient);
}

DLK_INLINE void list_column(const windows *w, const survivors *l, size_t channel, ivec winner,
                            vec dy)
{
    int32_t right = w->s->conv.c, below = w->s->conv.w * w->s->conv.c;
    vec gradient = dy * w->back->scale;
    ivec passes = (winner != DLK_DEAD) & (gradient != 0.0F) & w->fresh;
    ivec offset = w->offset + offset_of(winner, right, below);
    uint32_t bits = mask_bits(passes);
    float *sums = l->sums + channel * V;
    store(sums, load(sums) + choose(passes, gradient, (vec){0}));
    store_picked(l->gradient + l->end[channel], gradient, bits);
    store_picked((float *)l->offset + l->end[channel], (vec)offset, bits);
    l->end[channel] += __builtin_popcount(bits);
}

DLK_INLINE void list_columns(const windows *w, const survivors *l)
{
    size_t oc = (size_t)w->s->conv.oc;
    vec winners[WINNERS / QUAD], gradient[QUAD];
    for (size_t channel = 0; channel < oc; channel += QUAD) {
        if (channel % WINNERS == 0)
            turn_winners(w, channel, winners);
        turn_gradients(w, channel, gradient);
        ivec quad = (ivec)winners[channel % WINNERS / QUAD];
        for (size_t i = 0; i < QUAD && channel + i < oc; i++, quad >>= 8)
            list_column(w, l, channel + i, quad & 255, gradient[i]);
    }
}

/* What is left of the windows is listed with some before them, which have been. */
static inline void list_by_columns(survivors *lists, const dlk_stage *s,
                                   const dlk_stage_return *back, float *dbias, int first, int end)
{
    int columns = dlk_stage_ow(s), all = (end - first) * columns;
    list_windows(s, first, end, lists->window);
    for (int i = 0; i < all; i += V) {
        int from = i + V < all ? i : all - V;
        windows w = {.s = s,
                     .back = back,
                     .first = (size_t)(first * columns + from),
                     .offset = load_integers(lists->window + from),
                     .fresh = lane_numbers() >= i - from};
        list_columns(&w, lists);
    }
    for (int channel = 0; channel < s->conv.oc; channel++)
        for (int i = 0; i < V; i++)
            dbias[channel] += lists->sums[channel * V + i];
}

/* ---- Either way ---- */

/* List the windows of rows [first, end) and add their gradients to dbias. */
static inline void survivors_list(survivors *lists, const dlk_stage *s,
                                  const dlk_stage_return *back, float *dbias, int first, int end)
{
    for (int channel = 0; channel < s->conv.oc; channel++)
        lists->end[channel] = channel * lists->pitch;
    memset(lists->sums, 0, sums_floats(s) * sizeof *lists->sums);
    if (s->conv.oc <= FEW && (end - first) * dlk_stage_ow(s) >= V)
        list_by_columns(lists, s, back, dbias, first, end);
    else
        list_by_groups(lists, s, back, dbias, first, end);
}

#endif
