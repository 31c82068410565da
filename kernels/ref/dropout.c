#include <math.h>

#include "loops.h"
#include "philox.h"
#include "ref/ref.h"

enum { DECISIONS_A_BLOCK = 8, ELEMENTS_AT_A_TIME = 256, PLANES_AT_A_TIME = 64 };

typedef struct dropout_job {
    const dlk_dropout *s;
    const dlk_rng_key *key;
    const float *in;
    float *out;
    int32_t threshold; /* keep from this 16-bit word on */
    float scale;
} dropout_job;

/* The eight 16-bit words of a block, low word of each element first. */
static void draw(const dlk_rng_key *key, size_t block, int32_t words[DECISIONS_A_BLOCK])
{
    philox4x32_ctr_t drawn = dlk_philox(key, (uint32_t)block);
    for (int i = 0; i < DECISIONS_A_BLOCK / 2; i++) {
        words[2 * i] = (int32_t)(drawn.v[i] & 0xffff);
        words[2 * i + 1] = (int32_t)(drawn.v[i] >> 16);
    }
}

/* Decisions keep from this 16-bit word on. */
static int32_t threshold_of(const dlk_dropout *s)
{
    return (int32_t)ceil((double)s->rate * 65536.0);
}

static size_t elements_of(const dlk_dropout *s, int images)
{
    return (size_t)images * (size_t)s->pixels * (size_t)s->c;
}

/* Elements [first, first + count), first a multiple of 8, count at most ELEMENTS_AT_A_TIME. */
static void drop_elements(const dropout_job *job, size_t first, size_t count)
{
    const float *in = job->in + first;
    float *out = job->out + first;
    int32_t words[ELEMENTS_AT_A_TIME], threshold = job->threshold;
    float scale = job->scale;
    size_t decision = elements_of(job->s, job->s->first) + first;
    for (size_t i = 0; i < count; i += DECISIONS_A_BLOCK)
        draw(job->key, (decision + i) / DECISIONS_A_BLOCK, words + i);
    DLK_INDEPENDENT
    for (size_t i = 0; i < count; i++) {
        float kept = in[i] * scale;
        out[i] = words[i] >= threshold ? kept : 0.0F;
    }
}

static size_t element_count(const dlk_dropout *s)
{
    return elements_of(s, s->n);
}

static void drop_chunk(void *arg, int task, int thread)
{
    (void)thread;
    const dropout_job *job = arg;
    dlk_range chunk = dlk_piece(element_count(job->s), DLK_CHUNK, task);
    for (size_t i = chunk.first; i < chunk.end; i += ELEMENTS_AT_A_TIME) {
        size_t left = chunk.end - i;
        drop_elements(job, i, left < ELEMENTS_AT_A_TIME ? left : ELEMENTS_AT_A_TIME);
    }
}

static float plane_factor(const dropout_job *job, size_t decision)
{
    int32_t words[DECISIONS_A_BLOCK];
    draw(job->key, decision / DECISIONS_A_BLOCK, words);
    return words[decision % DECISIONS_A_BLOCK] >= job->threshold ? job->scale : 0.0F;
}

/* Channels [first, first + count) of all pixels of an image. */
static void drop_planes(const dropout_job *job, int image, int first, int count)
{
    const dlk_dropout *s = job->s;
    float factor[PLANES_AT_A_TIME];
    for (int i = 0; i < count; i++)
        factor[i] =
            plane_factor(job, (size_t)(s->first + image) * (size_t)s->c + (size_t)(first + i));
    size_t at = (size_t)image * (size_t)s->pixels * (size_t)s->c + (size_t)first;
    for (int pixel = 0; pixel < s->pixels; pixel++, at += (size_t)s->c) {
        const float *in = job->in + at;
        float *out = job->out + at;
        DLK_INDEPENDENT
        for (int i = 0; i < count; i++) {
            float kept = in[i] * factor[i];
            out[i] = factor[i] != 0.0F ? kept : 0.0F;
        }
    }
}

static void drop_image(void *arg, int image, int thread)
{
    (void)thread;
    const dropout_job *job = arg;
    int planes = dlk_pieces((size_t)job->s->c, PLANES_AT_A_TIME);
    for (int i = 0; i < planes; i++) {
        dlk_range piece = dlk_piece((size_t)job->s->c, PLANES_AT_A_TIME, i);
        drop_planes(job, image, (int)piece.first, (int)(piece.end - piece.first));
    }
}

/* The same both ways: what is dropped or scaled forward is dropped or scaled backward. */
static void drop(dlk_team *team, const dlk_dropout *s, const dlk_rng_key *key, const float *in,
                 float *out)
{
    dropout_job job = {s, key, in, out, threshold_of(s), 1.0F / (1.0F - s->rate)};
    if (s->planes)
        dlk_parallel(team, s->n, drop_image, &job);
    else
        dlk_parallel(team, dlk_pieces(element_count(s), DLK_CHUNK), drop_chunk, &job);
}

void dlk_ref_dropout_forward(dlk_team *team, const dlk_dropout *s, const dlk_rng_key *key,
                             const float *x, float *y)
{
    drop(team, s, key, x, y);
}

void dlk_ref_dropout_backward(dlk_team *team, const dlk_dropout *s, const dlk_rng_key *key,
                              const float *dy, float *dx)
{
    drop(team, s, key, dy, dx);
}

void dlk_ref_dropout_keep(const dlk_dropout *s, const dlk_rng_key *key, size_t first, size_t count,
                          uint8_t *keep)
{
    int32_t words[DECISIONS_A_BLOCK], threshold = threshold_of(s);
    for (size_t i = 0; i < count; i++) {
        size_t decision = first + i;
        if (i == 0 || decision % DECISIONS_A_BLOCK == 0)
            draw(key, decision / DECISIONS_A_BLOCK, words);
        keep[i] = words[decision % DECISIONS_A_BLOCK] >= threshold;
    }
}
