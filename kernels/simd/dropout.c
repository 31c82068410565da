#include <math.h>

#include "loops.h"
#include "simd/philox.h"
#include "simd/simd.h"

/* A block decides 8 times; ELEMENTS is how many decisions are kept as bytes at a time. */
enum { A_BLOCK = 8, A_DRAW = A_BLOCK * LANES * DRAWS, ELEMENTS = 1024 };

typedef uint16_t halves __attribute__((vector_size(4 * DLK_WIDTH)));

typedef struct dropout_job {
    const dlk_dropout *s;
    const dlk_rng_key *key;
    const float *in;
    float *out;
    float scale;
} dropout_job;

/* Keep from this 16-bit word on: 0 … 65536. */
static uint32_t threshold_of(const dlk_dropout *s)
{
    return (uint32_t)ceil((double)s->rate * 65536.0);
}

/*
 * The eight decisions of each block as the bytes of its lane, in order. Byte 2w is for the low and
 * 2w + 1 for the high half of word w, so low halves are brought together in one vector and
 * high halves in another, in the order of their words.
 */
DLK_INLINE lanes decide(const drawn *d, uint32_t threshold)
{
    const uint64_t half = 0xffff, first_bytes = 0x0001000100010001;
    halves dropped_up_to = (uint16_t)(threshold - 1) - (halves){0};
    lanes low = (d->word[0] & half) | (d->word[1] & half) << 16 | (d->word[2] & half) << 32 |
                d->word[3] << 48;
    lanes high = (d->word[0] >> 16 & half) | (d->word[1] & half << 16) |
                 (d->word[2] & half << 16) << 16 | (d->word[3] & half << 16) << 32;
    lanes low_kept = (lanes)((halves)low > dropped_up_to) & first_bytes;
    lanes high_kept = (lanes)((halves)high > dropped_up_to) & first_bytes << 8;
    return low_kept | high_kept;
}

void DLK_SIMD(dropout_keep)(const dlk_dropout *s, const dlk_rng_key *key, size_t first,
                            size_t count, uint8_t *keep)
{
    uint32_t threshold = threshold_of(s);
    if (threshold == 0) {
        memset(keep, 1, count);
        return;
    }
    for (size_t skip = first % A_BLOCK; count > 0; skip = 0) {
        drawn words[DRAWS];
        lanes decisions[DRAWS];
        draw(key, (uint32_t)(first / A_BLOCK), words);
        for (int i = 0; i < DRAWS; i++)
            decisions[i] = decide(&words[i], threshold);
        size_t taken = A_DRAW - skip < count ? A_DRAW - skip : count;
        if (taken == A_DRAW)
            memcpy(keep, decisions, A_DRAW);
        else
            memcpy(keep, (const uint8_t *)decisions + skip, taken);
        first += taken;
        keep += taken;
        count -= taken;
    }
}

static size_t elements_of(const dlk_dropout *s, int images)
{
    return (size_t)images * (size_t)s->pixels * (size_t)s->c;
}

static size_t element_count(const dlk_dropout *s)
{
    return elements_of(s, s->n);
}

static void drop_chunk(void *arg, int task, int thread)
{
    (void)thread;
    const dropout_job *job = arg;
    uint8_t keep[ELEMENTS];
    size_t before = elements_of(job->s, job->s->first);
    dlk_range chunk = dlk_piece(element_count(job->s), DLK_CHUNK, task);
    for (size_t first = chunk.first; first < chunk.end; first += ELEMENTS) {
        size_t count = chunk.end - first < ELEMENTS ? chunk.end - first : ELEMENTS;
        const float *in = job->in + first;
        float *out = job->out + first;
        DLK_SIMD(dropout_keep)(job->s, job->key, before + first, count, keep);
        DLK_INDEPENDENT
        for (size_t i = 0; i < count; i++) {
            float kept = in[i] * job->scale;
            out[i] = keep[i] ? kept : 0.0F;
        }
    }
}

/* Channels [first, first + count), at most ELEMENTS, of all pixels of an image. */
static void drop_planes(const dropout_job *job, size_t image, size_t first, size_t count)
{
    size_t c = (size_t)job->s->c, pixels = (size_t)job->s->pixels;
    size_t at = image * pixels * c + first, number = (size_t)job->s->first + image;
    uint8_t keep[ELEMENTS];
    DLK_SIMD(dropout_keep)(job->s, job->key, number * c + first, count, keep);
    for (size_t pixel = 0; pixel < pixels; pixel++, at += c) {
        const float *in = job->in + at;
        float *out = job->out + at;
        DLK_INDEPENDENT
        for (size_t i = 0; i < count; i++) {
            float kept = in[i] * job->scale;
            out[i] = keep[i] ? kept : 0.0F;
        }
    }
}

static void drop_image(void *arg, int image, int thread)
{
    (void)thread;
    const dropout_job *job = arg;
    size_t c = (size_t)job->s->c;
    for (size_t first = 0; first < c; first += ELEMENTS)
        drop_planes(job, (size_t)image, first, c - first < ELEMENTS ? c - first : ELEMENTS);
}

/* The same both ways: what is dropped or scaled forward is dropped or scaled backward. */
static void drop(dlk_team *team, const dlk_dropout *s, const dlk_rng_key *key, const float *in,
                 float *out)
{
    dropout_job job = {s, key, in, out, 1.0F / (1.0F - s->rate)};
    if (s->planes)
        dlk_parallel(team, s->n, drop_image, &job);
    else
        dlk_parallel(team, dlk_pieces(element_count(s), DLK_CHUNK), drop_chunk, &job);
}

void DLK_SIMD(dropout_forward)(dlk_team *team, const dlk_dropout *s, const dlk_rng_key *key,
                               const float *x, float *y)
{
    drop(team, s, key, x, y);
}

void DLK_SIMD(dropout_backward)(dlk_team *team, const dlk_dropout *s, const dlk_rng_key *key,
                                const float *dy, float *dx)
{
    drop(team, s, key, dy, dx);
}
