/*
 * Forward of pooled stages with few channels: a vector holds windows, not channels.
 *
 * The four outputs of a window are its phases. Phase (dy, dx) of all windows is a sum over the
 * kernel's elements of a weight times the pixels at (2 row + dy + ky, 2 column + dx + kx), so the
 * pixels are first sorted into strips, in which the windows' pixels at one such distance follow
 * each other:
 *
 *     strips [c][kw + 1][2][rows][columns]: strip (x, parity) holds the pixels in column
 *     2 column + x of row 2 row + parity
 *
 * and the pixels at distance (y, x) of V windows are V floats of strip (x, y mod 2), y / 2 rows
 * on. A block of registers sums the four phases of V windows for some channels; bias, pool, ReLU
 * and scale happen there, too. Channels that dropout2d drops take no part in any of this.
 *
 * Layouts: prepared [oc][c * kh * kw weights, bias].
 * Error: at most 2e-6 of the sum of the absolute products, for up to 1000 of them.
 */
#include "loops.h"
#include "simd/matrix.h"
#include "simd/simd.h"
#include "simd/squares.h"
#include "simd/tail.h"

enum { PHASES = 4, MOST_CHANNELS = ACCUMULATORS / PHASES };

/* Channels whose winners are stored at once: those of a lane of four integers, a byte each. */
enum { WINNERS = 16 };

typedef struct geometry {
    int rows, columns, windows;
    int width; /* of the image, in floats */
    int channels_in, kh, kw;
    int taps;                     /* weights of an output channel */
    ptrdiff_t strip, pair, plane; /* floats from a strip, an x, a channel to the next */
} geometry;

/* What a run keeps in scratch. */
typedef struct workspace {
    float *strips;
    float *outputs;   /* [oc rounded up to WINNERS][V windows] */
    int32_t *winners; /* the same */
    int32_t *offsets; /* [2][strip]: the pixels of a parity's strip, from its first in the image */
    int32_t *kept;    /* [oc]: the channels that are not dropped */
    int kept_count;
} workspace;

/* ---- Shapes ---- */

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int round_up(int count, int multiple)
{
    return (count + multiple - 1) / multiple * multiple;
}

static geometry geometry_of(const dlk_stage *s)
{
    geometry g = {.rows = dlk_stage_oh(s),
                  .columns = dlk_stage_ow(s),
                  .width = s->conv.w * s->conv.c,
                  .channels_in = s->conv.c,
                  .kh = s->conv.kh,
                  .kw = s->conv.kw,
                  .taps = s->conv.c * s->conv.kh * s->conv.kw};
    g.windows = g.rows * g.columns;
    g.strip = round_up(g.windows + g.kh / 2 * g.columns, V);
    g.pair = 2 * g.strip;
    g.plane = (g.kw + 1) * g.pair;
    return g;
}

static int strip_rows(const geometry *g, int parity)
{
    return g->rows + (g->kh - parity) / 2;
}

/* A vector that starts in the last strip may end behind it. */
static size_t strips_floats(const geometry *g)
{
    return (size_t)g->channels_in * (size_t)g->plane + V;
}

static size_t outputs_floats(const dlk_stage *s)
{
    return (size_t)round_up(s->conv.oc, WINNERS) * V;
}

static size_t scratch_floats(const dlk_stage *s)
{
    geometry g = geometry_of(s);
    return strips_floats(&g) + 2 * outputs_floats(s) + (size_t)g.pair + (size_t)s->conv.oc;
}

static workspace workspace_at(const dlk_stage *s, const geometry *g, float *scratch)
{
    workspace w = {.strips = scratch, .outputs = scratch + strips_floats(g)};
    w.winners = (int32_t *)(w.outputs + outputs_floats(s));
    w.offsets = w.winners + outputs_floats(s);
    w.kept = w.offsets + g->pair;
    return w;
}

/* ---- Strips ---- */

/* Every second float of a row, of which `readable` may be read. */
DLK_INLINE void halve_row(const float *row, ptrdiff_t readable, int columns, float *to)
{
    for (int column = 0; column < columns; column += V, row += 2 * V, readable -= 2 * V)
        if (readable >= 2 * V)
            store(to + column, even_floats(load(row), load(row + V)));
        else
            for (int i = column; i < columns; i++)
                to[i] = row[2 * (i - column)];
}

/* Vectors that end behind a strip are overwritten by the next, so the order matters. */
static void strips_of_one_channel(const geometry *g, const float *image, const float *end,
                                  float *strips)
{
    int columns = g->columns;
    ptrdiff_t width = g->width;
    for (int x = 0; x <= g->kw; x++)
        for (int parity = 0; parity < 2; parity++, strips += g->strip) {
            const float *from = image + parity * width + x;
            float *to = strips, *to_end = strips + strip_rows(g, parity) * columns;
            for (; to < to_end; to += columns, from += 2 * width)
                halve_row(from, end - from, columns, to);
        }
}

/* Behind the end of a strip its last pixel is repeated. */
static void list_offsets(const geometry *g, int parity, int32_t *offsets)
{
    int32_t *to = offsets, *end = offsets + g->strip;
    int rows = strip_rows(g, parity), columns = g->columns, c = g->channels_in, width = g->width;
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < columns; column++)
            *to++ = 2 * row * width + 2 * column * c;
    for (int32_t last = to[-1]; to < end;)
        *to++ = last;
}

/* V pixels of up to V channels from [pixel][channel] to [channel][pixel]. */
static void sort_pixels(const int32_t *offsets, const float *image, int channels, ptrdiff_t plane,
                        float *strip)
{
    vec pixel[V];
    DLK_UNROLL
    for (int i = 0; i < V; i++)
        pixel[i] = load(image + offsets[i]);
    transpose(pixel);
    DLK_UNROLL
    for (int i = 0; i < V; i++)
        if (i < channels)
            store(strip + i * plane, pixel[i]);
}

static void strips_of_channels(const geometry *g, const int32_t *offsets, const float *image,
                               float *strips)
{
    for (int x = 0; x <= g->kw; x++)
        for (int first = 0; first < g->channels_in; first += V)
            for (ptrdiff_t i = 0; i < g->strip; i += V)
                sort_pixels(offsets + i, image + x * g->channels_in + first, g->channels_in - first,
                            g->plane, strips + first * g->plane + x * g->pair + i);
}

static void make_strips(const dlk_stage *s, const geometry *g, const float *image, workspace *w)
{
    if (g->channels_in == 1) {
        strips_of_one_channel(g, image, image + dlk_stage_inputs(s) + DLK_SLACK, w->strips);
        return;
    }
    for (int parity = 0; parity < 2; parity++) {
        int32_t *offsets = w->offsets + parity * g->strip;
        list_offsets(g, parity, offsets);
        strips_of_channels(g, offsets, image + parity * (ptrdiff_t)g->width,
                           w->strips + parity * g->strip);
    }
}

/* ---- Blocks ---- */

/* Some channels of V windows. */
typedef struct block {
    const geometry *geometry;
    const dlk_stage_pass *pass;
    bool relu;
    const float *pixels;    /* the windows' first in the first strip */
    const int32_t *channel; /* which they are */
    workspace *workspace;
} block;

/* The sums of a channel's phases become its outputs and winners. */
DLK_INLINE void pool(const block *b, int channel, const vec sum[PHASES])
{
    ivec right_above = sum[1] > sum[0], right_below = sum[3] > sum[2];
    vec above = choose(right_above, sum[1], sum[0]), below = choose(right_below, sum[3], sum[2]);
    ivec is_below = below > above;
    vec value = choose(is_below, below, above) + poison(sum[0], sum[1], sum[2], sum[3]);
    ivec dead = b->relu ? value <= 0.0F : (ivec){0};
    vec scaled = value * splat(b->pass->scale);
    store(b->workspace->outputs + (ptrdiff_t)channel * V, (vec)((ivec)scaled & ~dead));
    if (b->pass->winner) {
        ivec winner = choose_index(is_below, 2 - right_below, -right_above);
        store((float *)b->workspace->winners + (ptrdiff_t)channel * V,
              (vec)choose_index(dead, (ivec){0} + DLK_DEAD, winner));
    }
}

/* Add what one row of the kernel contributes; `upper` and `lower` are the windows' pixel rows. */
DLK_INLINE void add_row(const int channels, const int kw, ptrdiff_t pair, const float *upper,
                        const float *lower, const float *const *weights, ptrdiff_t tap, vec *sum)
{
    vec pixel[PHASES] = {load(upper), load(upper), load(lower), load(lower)};
    DLK_UNROLL
    for (int kx = 0; kx < kw; kx++) {
        pixel[0] = pixel[1], pixel[1] = load(upper + (kx + 1) * pair);
        pixel[2] = pixel[3], pixel[3] = load(lower + (kx + 1) * pair);
        DLK_UNROLL
        for (int i = 0; i < channels * PHASES; i++)
            sum[i] += splat(weights[i / PHASES][tap + kx]) * pixel[i % PHASES];
    }
}

DLK_INLINE void correlate(const int channels, const int kw, const block *b)
{
    const geometry *g = b->geometry;
    const float *weights[MOST_CHANNELS];
    vec sum[MOST_CHANNELS * PHASES];
    DLK_UNROLL
    for (int i = 0; i < channels; i++)
        weights[i] = b->pass->prepared + b->channel[i] * (ptrdiff_t)(g->taps + 1);
    DLK_UNROLL
    for (int i = 0; i < channels * PHASES; i++)
        sum[i] = splat(weights[i / PHASES][g->taps]);
    ptrdiff_t tap = 0;
    for (int c = 0; c < g->channels_in; c++) {
        const float *upper = b->pixels + c * g->plane, *lower = upper + g->strip;
        for (int ky = 0; ky < g->kh; ky++, tap += kw) {
            add_row(channels, kw, g->pair, upper, lower, weights, tap, sum);
            const float *below = upper + g->columns;
            upper = lower, lower = below;
        }
    }
    DLK_UNROLL
    for (int i = 0; i < channels; i++)
        pool(b, b->channel[i], sum + i * PHASES);
}

DLK_INLINE void with_channels(const int channels, const block *b)
{
    switch (b->geometry->kw) {
    case 3:
        correlate(channels, 3, b);
        break;
    case 5:
        correlate(channels, 5, b);
        break;
    default:
        correlate(channels, b->geometry->kw, b);
    }
}

/* Call correlate with sizes that it knows when it is compiled. */
static void correlate_block(int channels, const block *b)
{
    switch (channels) {
    case 1:
        with_channels(1, b);
        break;
    case 2:
        with_channels(2, b);
        break;
    case 3:
        with_channels(3, b);
        break;
#if DLK_WIDTH == 16
    case 4:
        with_channels(4, b);
        break;
    case 5:
        with_channels(5, b);
        break;
    case 6:
        with_channels(6, b);
        break;
#endif
    }
}

/* ---- From planes of windows to [window][channel] ---- */

/* As much of a vector as lies before the end, behind which there is another image. */
DLK_INLINE void store_vector_before(float *to, const float *end, vec value)
{
    ptrdiff_t room = end - to;
    if (room >= V)
        store(to, value);
    else
        store_some(to, value, (int)room);
}

static void store_outputs(const workspace *w, int channel, int windows, int oc, float *y,
                          const float *end)
{
    vec row[V];
    DLK_UNROLL
    for (int i = 0; i < V; i++)
        row[i] = load(w->outputs + (ptrdiff_t)(channel + i) * V);
    transpose(row);
    DLK_UNROLL
    for (int i = 0; i < V; i++)
        if (i < windows)
            store_vector_before(y + (ptrdiff_t)i * oc + channel, end, row[i]);
}

/* The winners of four channels, a byte each. */
DLK_INLINE vec pack_winners(const int32_t *winners)
{
    ivec packed = (ivec)load((const float *)winners);
    DLK_UNROLL
    for (int i = 1; i < 4; i++)
        packed |= (ivec)load((const float *)winners + (ptrdiff_t)i * V) << (8 * i);
    return (vec)packed;
}

/* As many of WINNERS bytes as lie before the end. */
DLK_INLINE void store_before(uint8_t *to, const uint8_t *end, const void *from)
{
    ptrdiff_t room = end - to;
    if (room >= WINNERS)
        memcpy(to, from, WINNERS);
    else
        memcpy(to, from, (size_t)room);
}

/* Winners of V windows, WINNERS channels from `channel` on. */
static void store_winners(const workspace *w, int channel, int windows, int oc, uint8_t *winner,
                          const uint8_t *end)
{
    vec row[4];
    DLK_UNROLL
    for (int i = 0; i < 4; i++)
        row[i] = pack_winners(w->winners + (ptrdiff_t)(channel + 4 * i) * V);
    transpose_in_lanes(row);
    DLK_UNROLL
    for (int i = 0; i < V; i++)
        if (i < windows)
            store_before(winner + (ptrdiff_t)i * oc + channel, end,
                         (const char *)&row[i % 4] + i / 4 * WINNERS);
}

/*
 * The last vector of a window's channels may end in the next window, so windows come in order,
 * and their last channels first.
 */
static void store_windows(const dlk_stage *s, const dlk_stage_pass *pass, const workspace *w,
                          int first, int windows)
{
    int oc = s->conv.oc;
    for (int channel = (oc - 1) / V * V; channel >= 0; channel -= V)
        store_outputs(w, channel, windows, oc, pass->y + (ptrdiff_t)first * oc,
                      pass->y + dlk_stage_outputs(s));
    if (pass->winner)
        for (int channel = (oc - 1) / WINNERS * WINNERS; channel >= 0; channel -= WINNERS)
            store_winners(w, channel, windows, oc, pass->winner + (ptrdiff_t)first * oc,
                          pass->winner + dlk_stage_outputs(s));
}

static void drop_outputs(size_t count, const uint8_t *keep, float *y)
{
    DLK_INDEPENDENT
    for (size_t i = 0; i < count; i++)
        y[i] = keep[i] ? y[i] : 0.0F;
}

static void drop_winners(size_t count, const uint8_t *keep, uint8_t *winner)
{
    DLK_INDEPENDENT
    for (size_t i = 0; i < count; i++)
        winner[i] = keep[i] ? winner[i] : DLK_DEAD;
}

/* ---- The kernel ---- */

/* The outputs of dropped channels are the same for all windows. */
static void keep_channels(const dlk_stage *s, const uint8_t *keep, workspace *w)
{
    for (int channel = 0; channel < s->conv.oc; channel++) {
        if (!keep || keep[channel]) {
            w->kept[w->kept_count++] = channel;
            continue;
        }
        store(w->outputs + (ptrdiff_t)channel * V, (vec){0});
        store((float *)w->winners + (ptrdiff_t)channel * V, (vec)((ivec){0} + DLK_DEAD));
    }
}

static void run(const dlk_stage *s, const dlk_stage_pass *pass)
{
    geometry g = geometry_of(s);
    workspace w = workspace_at(s, &g, pass->scratch);
    make_strips(s, &g, pass->x, &w);
    keep_channels(s, pass->keep_planes, &w);
    int blocks = (w.kept_count + MOST_CHANNELS - 1) / MOST_CHANNELS;
    int channels = blocks ? (w.kept_count + blocks - 1) / blocks : 1;
    for (int first = 0; first < g.windows; first += V) {
        block b = {.geometry = &g, .pass = pass, .relu = s->relu, .workspace = &w};
        b.pixels = w.strips + first;
        for (int i = 0; i < w.kept_count; i += channels) {
            b.channel = w.kept + i;
            correlate_block(least(channels, w.kept_count - i), &b);
        }
        store_windows(s, pass, &w, first, least(V, g.windows - first));
    }
    if (pass->keep)
        drop_outputs(dlk_stage_outputs(s), pass->keep, pass->y);
    if (pass->keep && pass->winner)
        drop_winners(dlk_stage_outputs(s), pass->keep, pass->winner);
}

static const char *misfit(const dlk_stage *s)
{
    if (!s->pool)
        return "it has no pool";
    if (s->conv.stride_h != 1 || s->conv.stride_w != 1)
        return "its stride is not 1";
    if (s->conv.pad_h != 0 || s->conv.pad_w != 0)
        return "it is padded";
    if (s->conv.oc >= 2 * V && s->conv.oc % V == 0)
        return "its channels fill vectors";
    return NULL;
}

static size_t prepared_floats(const dlk_stage *s)
{
    return (size_t)s->conv.oc * ((size_t)geometry_of(s).taps + 1);
}

static void prepare(dlk_team *team, const dlk_stage *s, const float *weights, const float *bias,
                    float *prepared)
{
    (void)team;
    int kernel = s->conv.kh * s->conv.kw;
    size_t oc = (size_t)s->conv.oc, c = (size_t)s->conv.c, taps = (size_t)kernel * c;
    for (size_t i = 0; i < c; i++)
        transpose_matrix(kernel, s->conv.oc, weights + i * oc, c * oc,
                         prepared + i * (size_t)kernel, taps + 1);
    for (size_t channel = 0; channel < oc; channel++)
        prepared[channel * (taps + 1) + taps] = bias[channel];
}

const dlk_stage_forward DLK_SIMD(phases) = {
    .name = "phases",
    .misfit = misfit,
    .prepared_floats = prepared_floats,
    .prepare = prepare,
    .scratch_floats = scratch_floats,
    .run = run,
};
