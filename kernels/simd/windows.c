#include "simd/windows.h"

#include "loops.h"
#include "simd/squares.h"

/* Channels whose winners are stored at once: those of a lane of four integers, a byte each. */
enum { WINNERS = 16 };

/* Of an image: even or odd rows, even or odd columns. */
enum { QUARTERS = 4 };

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
                  .channels_in = s->conv.c,
                  .channels_out = s->conv.oc,
                  .kh = s->conv.kh,
                  .kw = s->conv.kw};
    g.windows = g.rows * g.columns;
    g.quarter_rows = g.rows + g.kh / 2;
    g.quarter_columns = g.columns + g.kw / 2;
    g.quarter = g.quarter_rows * g.quarter_columns;
    g.sorted = round_up(QUARTERS * g.quarter, V);
    g.strip = round_up(g.quarter_rows * g.columns, V);
    g.pair = 2 * g.strip;
    g.plane = (g.kw + 1) * g.pair;
    return g;
}

/* A vector that starts in the last strip may end behind it. */
static size_t strips_floats(const geometry *g)
{
    return (size_t)g->channels_in * (size_t)g->plane + V;
}

/* What is picked from lies within 2 V floats. */
static size_t sorted_floats(const geometry *g)
{
    return (size_t)g->channels_in * (size_t)g->sorted + (size_t)(2 * V);
}

static size_t outputs_floats(const dlk_stage *s)
{
    return (size_t)round_up(s->conv.oc, WINNERS) * V;
}

/* Up to the kernel's own. */
static size_t shared_floats(const dlk_stage *s, const geometry *g)
{
    enum { LINE = 16 };
    size_t floats =
        strips_floats(g) + sorted_floats(g) + 2 * outputs_floats(s) + (size_t)s->conv.oc;
    return (floats + LINE - 1) / LINE * LINE;
}

size_t DLK_SIMD(windows_scratch)(const dlk_stage *s, size_t own)
{
    geometry g = geometry_of(s);
    return shared_floats(s, &g) + own;
}

static workspace workspace_at(const dlk_stage *s, const geometry *g, float *scratch)
{
    workspace w = {.strips = scratch, .outputs = scratch + strips_floats(g)};
    w.winners = (int32_t *)(w.outputs + outputs_floats(s));
    w.sorted = w.outputs + 2 * outputs_floats(s);
    w.kept = (int32_t *)(w.sorted + sorted_floats(g));
    w.own = scratch + shared_floats(s, g);
    return w;
}

/* ---- Where pixels are ---- */

/* Made once, in memory behind the weights. */
typedef struct tables {
    int32_t *pixel; /* [sorted]: which of the image's pixels are a channel's sorted ones */
    int32_t *start; /* [strip / V]: where, within a quarter, that is which a vector of a strip */
    int32_t *pick;  /* [strip]: picks its elements from */
} tables;

static tables tables_at(const geometry *g, float *prepared)
{
    tables t = {.pixel = (int32_t *)prepared};
    t.pick = t.pixel + g->sorted;
    t.start = t.pick + g->strip;
    return t;
}

size_t DLK_SIMD(windows_prepared)(const dlk_stage *s)
{
    geometry g = geometry_of(s);
    return (size_t)(g.sorted + g.strip + g.strip / V);
}

/* Pixels that are outside of the image, or behind the last quarter, are never used. */
static void list_pixels(const dlk_stage *s, const geometry *g, int32_t *pixel)
{
    const int32_t *end = pixel + g->sorted;
    for (int quarter = 0; quarter < QUARTERS; quarter++)
        for (int row = 0; row < g->quarter_rows; row++) {
            int start = least(2 * row + quarter / 2, s->conv.h - 1) * s->conv.w;
            for (int column = 0; column < g->quarter_columns; column++)
                *pixel++ = start + least(2 * column + quarter % 2, s->conv.w - 1);
        }
    while (pixel < end)
        *pixel++ = 0;
}

/* Behind the last row its last element is repeated. */
static void list_picks(const geometry *g, const tables *t)
{
    int row = 0, column = 0;
    for (int i = 0; i < g->strip; i++) {
        int at = row * g->quarter_columns + column;
        if (i % V == 0)
            t->start[i / V] = at;
        t->pick[i] = at - t->start[i / V];
        if (++column == g->columns)
            column = 0, row++;
        if (row == g->quarter_rows)
            column = g->columns - 1, row--;
    }
}

void DLK_SIMD(windows_lay_out)(const dlk_stage *s, float *prepared)
{
    geometry g = geometry_of(s);
    tables t = tables_at(&g, prepared);
    list_pixels(s, &g, t.pixel);
    list_picks(&g, &t);
}

/* ---- Strips ---- */

/* Every second float of a row, of which `readable` may be read. */
static void halve_row(const float *row, ptrdiff_t readable, int columns, float *to)
{
    for (int column = 0; column < columns; column += V, row += 2 * V, readable -= 2 * V)
        if (readable >= 2 * V)
            store(to + column, even_floats(load(row), load(row + V)));
        else
            for (int i = column; i < columns; i++)
                to[i] = row[2 * (i - column)];
}

/*
 * Rows that follow each other in a quarter, and whose halves fit a vector together, are halved in
 * pairs: every second float of both, and behind them any. What follows an odd last row is that of
 * the next quarter.
 */
static void sort_row_pairs(const geometry *g, const tables *t, const float *plane, float *sorted)
{
    int columns = g->quarter_columns, end = QUARTERS * g->quarter;
    ivec lane = lane_numbers();
    ivec pick = choose_index(lane < columns, 2 * lane, V + 2 * (lane - columns)) & (2 * V - 1);
    for (int at = 0; at < end; at += 2 * columns) {
        const float *row = plane + t->pixel[at], *next = plane + t->pixel[at + columns];
        store(sorted + at, pick_floats(load(row), load(next), pick));
    }
}

/*
 * Pixels of a plane, of which those before `end` may be read. Vectors that end behind a row are
 * overwritten by the next, so the order matters.
 */
static void sort_plane(const dlk_stage *s, const geometry *g, const tables *t, const float *plane,
                       const float *end, float *sorted)
{
    ptrdiff_t second = 2 * g->quarter_columns > V ? V : 0; /* what half of a vector needs */
    const float *last_row = plane + (s->conv.h - 1) * s->conv.w;
    bool one_vector = g->quarter_columns <= V && end - last_row > second + V;
    if (one_vector && second == 0) {
        sort_row_pairs(g, t, plane, sorted);
        return;
    }
    for (int at = 0; at < QUARTERS * g->quarter; at += g->quarter_columns) {
        const float *row = plane + t->pixel[at];
        if (one_vector)
            store(sorted + at, even_floats(load(row), load(row + second)));
        else
            halve_row(row, end - row, g->quarter_columns, sorted + at);
    }
}

static void sort_planes(const dlk_stage *s, const geometry *g, const tables *t, const float *image,
                        float *sorted)
{
    const float *end = image + dlk_stage_inputs(s) + DLK_SLACK;
    for (int c = 0; c < g->channels_in; c++)
        sort_plane(s, g, t, image + (ptrdiff_t)c * s->conv.h * s->conv.w, end,
                   sorted + c * g->sorted);
}

/* V pixels of up to V channels from [pixel][channel] to [channel][pixel]. */
static void sort_pixels(const geometry *g, const int32_t *pixel, const float *image, int first,
                        float *sorted)
{
    vec row[V];
    DLK_UNROLL
    for (int i = 0; i < V; i++)
        row[i] = load(image + (ptrdiff_t)pixel[i] * g->channels_in + first);
    transpose(row);
    DLK_UNROLL
    for (int i = 0; i < V; i++)
        if (first + i < g->channels_in)
            store(sorted + (first + i) * g->sorted, row[i]);
}

static void sort_channels(const geometry *g, const tables *t, const float *image, float *sorted)
{
    for (int first = 0; first < g->channels_in; first += V)
        for (ptrdiff_t i = 0; i < g->sorted; i += V)
            sort_pixels(g, t->pixel + i, image, first, sorted + i);
}

/* Whether what a vector of a strip picks lies within two vectors, whatever x is. */
static bool picks_are_near(const geometry *g)
{
    int ends = (V - 1) / g->columns + 1; /* of rows, in a vector */
    return V - 1 + ends * (g->quarter_columns - g->columns) + g->kw / 2 < 2 * V;
}

/* The vectors at `from` in the strips of one parity whose x is that of `strip`, + 2, + 4 … */
DLK_INLINE void make_near_strips(const geometry *g, int x, const float *from, ivec pick,
                                 float *strip)
{
    vec first = load(from), second = load(from + V);
    for (; x <= g->kw; x += 2, pick += 1, strip += 2 * g->pair)
        store(strip, pick_floats(first, second, pick));
}

static void make_far_strips(const geometry *g, int x, const float *from, const int32_t *pick,
                            float *strip)
{
    for (; x <= g->kw; x += 2, from++, strip += 2 * g->pair)
        for (int i = 0; i < V; i++)
            strip[i] = from[pick[i]];
}

/* A channel's strips from its quarters: x and the row have the parities of a quarter. */
static void make_channel_strips(const geometry *g, const tables *t, bool near, const float *sorted,
                                float *strips)
{
    for (ptrdiff_t i = 0; i < g->strip; i += V) {
        ivec pick = (ivec)load((const float *)(t->pick + i));
        for (int quarter = 0; quarter < QUARTERS; quarter++) {
            const float *from = sorted + quarter * g->quarter + t->start[i / V];
            int parity = quarter / 2, x = quarter % 2;
            float *strip = strips + x * g->pair + parity * g->strip + i;
            if (near)
                make_near_strips(g, x, from, pick, strip);
            else
                make_far_strips(g, x, from, t->pick + i, strip);
        }
    }
}

static void make_strips(const dlk_stage *s, const geometry *g, const tables *t,
                        const dlk_stage_pass *pass, const workspace *w)
{
    bool near = picks_are_near(g);
    if (pass->x_planes || g->channels_in == 1)
        sort_planes(s, g, t, pass->x, w->sorted);
    else
        sort_channels(g, t, pass->x, w->sorted);
    for (int c = 0; c < g->channels_in; c++)
        make_channel_strips(g, t, near, w->sorted + c * g->sorted, w->strips + c * g->plane);
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
DLK_INLINE void store_winners_before(uint8_t *to, const uint8_t *end, const void *from)
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
            store_winners_before(winner + (ptrdiff_t)i * oc + channel, end,
                                 (const char *)&row[i % 4] + i / 4 * WINNERS);
}

static void store_planes(const geometry *g, const workspace *w, int first, int windows, float *y)
{
    for (int channel = 0; channel < g->channels_out; channel++)
        store_some(y + (ptrdiff_t)channel * g->windows + first,
                   load(w->outputs + (ptrdiff_t)channel * V), windows);
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

/* ---- Images ---- */

static void keep_all_channels(const dlk_stage *s, workspace *w)
{
    w->kept_count = s->conv.oc;
    for (int channel = 0; channel < s->conv.oc; channel++)
        w->kept[channel] = channel;
}

/* The outputs of dropped channels are the same for all windows. */
static void keep_some_channels(const dlk_stage *s, const uint8_t *keep, workspace *w)
{
    for (int channel = 0; channel < s->conv.oc; channel++) {
        if (keep[channel]) {
            w->kept[w->kept_count++] = channel;
            continue;
        }
        store(w->outputs + (ptrdiff_t)channel * V, (vec){0});
        store((float *)w->winners + (ptrdiff_t)channel * V, (vec)((ivec){0} + DLK_DEAD));
    }
}

void DLK_SIMD(run_windows)(const dlk_stage *s, const dlk_stage_pass *pass, const float *prepared,
                           const windows_kernel *kernel)
{
    geometry g = geometry_of(s);
    tables t = tables_at(&g, (float *)(uintptr_t)prepared);
    workspace w = workspace_at(s, &g, pass->scratch);
    make_strips(s, &g, &t, pass, &w);
    if (kernel->transform)
        kernel->transform(&g, w.strips);
    if (pass->keep_planes)
        keep_some_channels(s, pass->keep_planes, &w);
    else
        keep_all_channels(s, &w);
    for (int first = 0; first < g.windows; first += V) {
        kernel->compute(&(window_group){&g, pass, s->relu, w.strips + first, &w});
        int windows = least(V, g.windows - first);
        if (pass->y_planes)
            store_planes(&g, &w, first, windows, pass->y);
        else
            store_windows(s, pass, &w, first, windows);
    }
    if (pass->keep)
        drop_outputs(dlk_stage_outputs(s), pass->keep, pass->y);
    if (pass->keep && pass->winner)
        drop_winners(dlk_stage_outputs(s), pass->keep, pass->winner);
}
