/*
 * An image is a task. The channels are the innermost loop, and a winner is as wide as a float in
 * it, so that they become vectors.
 */
#include <string.h>

#include "loops.h"
#include "ref/ref.h"

/* Channels at a time. */
enum { CHANNELS = 64 };

typedef struct pool_job {
    const dlk_pool *s;
    const float *in;
    float *out;
    uint8_t *won;
    const uint8_t *winner;
} pool_job;

static size_t image_in(const dlk_pool *s)
{
    return (size_t)s->h * (size_t)s->w * (size_t)s->c;
}

static size_t image_out(const dlk_pool *s)
{
    return (size_t)dlk_pool_oh(s) * (size_t)dlk_pool_ow(s) * (size_t)s->c;
}

/* Where element k (row * size + column) of the window of output (oy, ox) is in its image. */
static size_t window_element(const dlk_pool *s, int oy, int ox, int k)
{
    int iy = oy * s->stride + k / s->size;
    int ix = ox * s->stride + k % s->size;
    return ((size_t)iy * (size_t)s->w + (size_t)ix) * (size_t)s->c;
}

static size_t channels_left(size_t c, size_t first)
{
    return c - first < CHANNELS ? c - first : CHANNELS;
}

/* Let x, element k of its window, win where it is larger than y or the first NaN. */
static void challenge(size_t c, const float *restrict x, int32_t k, float *restrict y,
                      int32_t *restrict winner)
{
    for (size_t i = 0; i < c; i++) {
        int wins = !(x[i] <= y[i]) & (y[i] == y[i]);
        y[i] = wins ? x[i] : y[i];
        winner[i] = wins ? k : winner[i];
    }
}

static void pool_channels(const dlk_pool *s, const float *x, int oy, int ox, size_t c, float *y,
                          uint8_t *won)
{
    int32_t winner[CHANNELS] = {0};
    memcpy(y, x + window_element(s, oy, ox, 0), c * sizeof *y);
    for (int k = 1; k < s->size * s->size; k++)
        challenge(c, x + window_element(s, oy, ox, k), k, y, winner);
    for (size_t i = 0; i < c; i++)
        won[i] = (uint8_t)winner[i];
}

/* Give dy to element k of its window where that one has won. */
static void award(size_t c, const float *restrict dy, const int32_t *restrict winner, int32_t k,
                  float *restrict dx)
{
    for (size_t i = 0; i < c; i++) {
        float prize = dy[i];
        dx[i] += winner[i] == k ? prize : 0.0F;
    }
}

static void unpool_channels(const dlk_pool *s, const float *dy, const uint8_t *won, int oy, int ox,
                            size_t c, float *dx)
{
    int32_t winner[CHANNELS];
    for (size_t i = 0; i < c; i++)
        winner[i] = won[i];
    for (int k = 0; k < s->size * s->size; k++)
        award(c, dy, winner, k, dx + window_element(s, oy, ox, k));
}

static void pool_image(void *arg, int image, int thread)
{
    (void)thread;
    const pool_job *job = arg;
    const dlk_pool *s = job->s;
    const float *x = job->in + (size_t)image * image_in(s);
    size_t at = (size_t)image * image_out(s), c = (size_t)s->c;
    for (int oy = 0; oy < dlk_pool_oh(s); oy++)
        for (int ox = 0; ox < dlk_pool_ow(s); ox++, at += c)
            for (size_t i = 0; i < c; i += CHANNELS)
                pool_channels(s, x + i, oy, ox, channels_left(c, i), job->out + at + i,
                              job->won + at + i);
}

static void unpool_image(void *arg, int image, int thread)
{
    (void)thread;
    const pool_job *job = arg;
    const dlk_pool *s = job->s;
    float *dx = job->out + (size_t)image * image_in(s);
    size_t at = (size_t)image * image_out(s), c = (size_t)s->c;
    memset(dx, 0, image_in(s) * sizeof *dx);
    for (int oy = 0; oy < dlk_pool_oh(s); oy++)
        for (int ox = 0; ox < dlk_pool_ow(s); ox++, at += c)
            for (size_t i = 0; i < c; i += CHANNELS)
                unpool_channels(s, job->in + at + i, job->winner + at + i, oy, ox,
                                channels_left(c, i), dx + i);
}

void dlk_ref_maxpool_forward(dlk_team *team, const dlk_pool *s, const float *x, float *y,
                             uint8_t *winner)
{
    pool_job job = {s, x, y, winner, NULL};
    dlk_parallel(team, s->n, pool_image, &job);
}

void dlk_ref_maxpool_backward(dlk_team *team, const dlk_pool *s, const float *dy,
                              const uint8_t *winner, float *dx)
{
    pool_job job = {s, dy, dx, NULL, winner};
    dlk_parallel(team, s->n, unpool_image, &job);
}
