/*
 * Dropout, inverted: an element is kept with probability 1 - rate and divided by it.
 *
 * A decision is a pure function of the key and its number d: keep if the (d mod 8)-th 16-bit word
 * of Philox block d / 8 (low word of each 32-bit element first) is at least rate * 65536, so rates
 * are exact to 1/65536. Element (image, pixel, channel) of [n][pixels][c] takes decision
 * (image * pixels + pixel) * c + channel in plain dropout, and image * c + channel in dropout2d,
 * where a whole channel plane of an image is kept or dropped. Images are counted from `first` on,
 * so that a batch may be taken in parts.
 */
#ifndef DLK_DROPOUT_H
#define DLK_DROPOUT_H

#include "dlk/rng.h"
#include "dlk/team.h"

typedef struct dlk_dropout {
    int n, pixels, c; /* a flat layer has pixels = 1 */
    int first;        /* the number of the first image: a multiple of 8 */
    float rate;       /* 0 <= rate < 1 */
    int planes;       /* 1: dropout2d */
} dlk_dropout;

/* y = x masked and scaled; y may be x. */
typedef void dlk_dropout_forward_fn(dlk_team *team, const dlk_dropout *s, const dlk_rng_key *key,
                                    const float *x, float *y);

/* dx = dy masked and scaled by the same decisions; dx may be dy. */
typedef void dlk_dropout_backward_fn(dlk_team *team, const dlk_dropout *s, const dlk_rng_key *key,
                                     const float *dy, float *dx);

/*
 * keep[i] = 1 where decision first + i keeps, else 0; of *s only the rate counts. On the calling
 * thread.
 */
typedef void dlk_dropout_keep_fn(const dlk_dropout *s, const dlk_rng_key *key, size_t first,
                                 size_t count, uint8_t *keep);

#endif
