#include "plan/agenda.h"

#include <math.h>

#include "base/mem.h"
#include "plan/random.h"
#include "stats/interval.h"

/* The times of a point's repeats, in their order; NaN where there is none. Kept for a precision. */
typedef struct times {
    double *seconds;
    size_t count, capacity;
} times;

struct dlb_agenda {
    size_t points;
    dlb_repeats repeats;
    enum dlb_order order;
    uint64_t seed;

    int *own;         /* [points]: exactly so many repeats; 0: as all. NULL: none has its own */
    int most_certain; /* the highest `min` of a point */
    size_t left;      /* repeats up to `min` that have not ended */

    uint64_t **done;     /* a bitmap of points for each repeat; NULL while none has ended */
    size_t done_repeats; /* that there is a place for in `done` */
    times *times;        /* of each point; NULL without a precision */

    /*
     * Blocks: the points that have a part in block `repeat`, and their order in it. They follow
     * from earlier repeats alone, so that a sweep that goes on in the midst of a block finds the
     * same. Sequential: all points, as they are; `repeat` is of the one at the cursor.
     */
    uint32_t *active, *walk; /* `walk` is of blocks only */
    size_t length, cursor;
    int repeat;
};

dlb_agenda *dlb_agenda_create(size_t points, const dlb_repeats *repeats, enum dlb_order order,
                              uint64_t seed)
{
    dlb_agenda *s = dlb_alloc(1, sizeof *s);
    *s = (dlb_agenda){
        .points = points,
        .repeats = *repeats,
        .order = order,
        .seed = seed,
        .most_certain = repeats->min,
        .left = points * (size_t)repeats->min,
        .length = points,
    };
    if (repeats->precision > 0)
        s->times = dlb_alloc(points, sizeof *s->times);
    s->active = dlb_alloc(points, sizeof *s->active);
    for (size_t i = 0; i < points; i++)
        s->active[i] = (uint32_t)i;
    if (order == DLB_ORDER_BLOCKS) {
        s->walk = dlb_alloc(points, sizeof *s->walk);
        s->cursor = points; /* of block 0, of which nothing is left */
    }
    return s;
}

void dlb_agenda_free(dlb_agenda *agenda)
{
    if (!agenda)
        return;
    for (size_t i = 0; i < agenda->done_repeats; i++)
        free(agenda->done[i]);
    for (size_t i = 0; agenda->times && i < agenda->points; i++)
        free(agenda->times[i].seconds);
    free(agenda->walk);
    free(agenda->active);
    free(agenda->times);
    free(agenda->done);
    free(agenda->own);
    free(agenda);
}

static int min_of(const dlb_agenda *s, size_t point)
{
    return s->own && s->own[point] ? s->own[point] : s->repeats.min;
}

static int max_of(const dlb_agenda *s, size_t point)
{
    return s->own && s->own[point] ? s->own[point] : s->repeats.max;
}

void dlb_agenda_set_repeats(dlb_agenda *agenda, size_t point, int repeats)
{
    if (!agenda->own)
        agenda->own = dlb_alloc(agenda->points, sizeof *agenda->own);
    agenda->left += (size_t)repeats - (size_t)min_of(agenda, point);
    agenda->own[point] = repeats;
    if (repeats > agenda->most_certain)
        agenda->most_certain = repeats;
}

static bool is_done(const dlb_agenda *s, size_t point, int repeat)
{
    size_t block = (size_t)repeat - 1;
    return block < s->done_repeats && s->done[block] &&
           s->done[block][point / 64] >> point % 64 & 1;
}

static void mark_done(dlb_agenda *s, size_t point, int repeat)
{
    size_t block = (size_t)repeat - 1;
    s->done = dlb_grow(s->done, &s->done_repeats, block + 1, sizeof *s->done);
    if (!s->done[block])
        s->done[block] = dlb_alloc(s->points / 64 + 1, sizeof **s->done);
    s->done[block][point / 64] |= UINT64_C(1) << point % 64;
}

static void keep_time(times *of, int repeat, double seconds)
{
    of->seconds = dlb_grow(of->seconds, &of->capacity, (size_t)repeat, sizeof *of->seconds);
    while (of->count < (size_t)repeat)
        of->seconds[of->count++] = NAN;
    of->seconds[repeat - 1] = seconds;
}

void dlb_agenda_done(dlb_agenda *agenda, size_t point, int repeat, double seconds)
{
    if (point >= agenda->points || repeat < 1 || repeat > max_of(agenda, point) ||
        is_done(agenda, point, repeat))
        return;
    mark_done(agenda, point, repeat);
    if (agenda->times)
        keep_time(&agenda->times[point], repeat, seconds);
    if (repeat <= min_of(agenda, point))
        agenda->left--;
}

/* Whether the first `count` repeats of a point leave its median less certain than asked for. */
static bool is_vague(const dlb_agenda *s, size_t point, size_t count)
{
    if (s->repeats.precision == 0)
        return true; /* a budget alone asks for as many as it allows */
    const times *of = &s->times[point];
    dlb_interval median = dlb_interval_median(of->seconds, count < of->count ? count : of->count);
    double half_width = (median.high - median.low) / 2;
    return !(half_width <= s->repeats.precision * median.value); /* a NaN is vague */
}

/* Whether a point is to have that repeat, given the earlier ones, as far as time allows. */
static bool is_wanted(const dlb_agenda *s, size_t point, int repeat)
{
    return repeat <= min_of(s, point) ||
           (repeat <= max_of(s, point) && is_vague(s, point, (size_t)repeat - 1));
}

static bool is_over(const dlb_agenda *s, double elapsed_s)
{
    return s->repeats.budget_s > 0 && elapsed_s >= s->repeats.budget_s;
}

/* A point that has enough stays out of all further blocks. */
static void keep_wanted(dlb_agenda *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->length; i++) {
        if (is_wanted(s, s->active[i], s->repeat))
            s->active[kept++] = s->active[i];
    }
    s->length = kept;
}

static void begin_block(dlb_agenda *s)
{
    s->repeat++;
    s->cursor = 0;
    keep_wanted(s);
    memcpy(s->walk, s->active, s->length * sizeof *s->walk);
    dlb_random random = dlb_random_stream(s->seed, (uint64_t)s->repeat);
    dlb_random_shuffle(&random, s->walk, s->length);
}

static bool next_in_blocks(dlb_agenda *s, double elapsed_s, size_t *point)
{
    bool over = is_over(s, elapsed_s);
    while (s->length > 0 && !(over && s->repeat > s->most_certain)) {
        while (s->cursor < s->length) {
            *point = s->walk[s->cursor++];
            bool affordable = !over || s->repeat <= min_of(s, *point);
            if (affordable && !is_done(s, *point, s->repeat))
                return true;
        }
        begin_block(s);
    }
    return false;
}

static bool next_in_sequence(dlb_agenda *s, double elapsed_s, size_t *point)
{
    bool over = is_over(s, elapsed_s);
    while (s->cursor < s->points) {
        s->repeat++;
        bool affordable = !over || s->repeat <= min_of(s, s->cursor);
        if (!affordable || !is_wanted(s, s->cursor, s->repeat)) {
            s->cursor++;
            s->repeat = 0;
        } else if (!is_done(s, s->cursor, s->repeat)) {
            *point = s->cursor;
            return true;
        }
    }
    return false;
}

bool dlb_agenda_next(dlb_agenda *agenda, double elapsed_s, size_t *point, int *repeat)
{
    bool found = agenda->order == DLB_ORDER_BLOCKS ? next_in_blocks(agenda, elapsed_s, point)
                                                   : next_in_sequence(agenda, elapsed_s, point);
    if (found)
        *repeat = agenda->repeat;
    return found;
}

size_t dlb_agenda_left(const dlb_agenda *agenda)
{
    return agenda->left;
}

size_t dlb_agenda_vague(const dlb_agenda *agenda)
{
    size_t vague = 0;
    for (size_t point = 0; agenda->times && point < agenda->points; point++)
        vague += is_vague(agenda, point, agenda->times[point].count);
    return vague;
}
