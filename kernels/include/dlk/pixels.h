/*
 * Pixels, bytes of 0 … 255, become floats: (pixel / 255 - mean) / std.
 *
 * That is pixel · scale + offset, with the scale in two parts of at most 16 bits each: their
 * products with a byte are exact, so that it makes no difference whether an instruction set fuses
 * them with the additions. Every table of kernels gives the same floats.
 */
#ifndef DLK_PIXELS_H
#define DLK_PIXELS_H

#include <stddef.h>
#include <stdint.h>

typedef struct dlk_pixels {
    float high, low; /* of the scale */
    float offset;
} dlk_pixels;

/* std > 0 */
dlk_pixels dlk_pixels_of(double mean, double std);

static inline float dlk_pixel(const dlk_pixels *s, uint8_t pixel)
{
    return (float)pixel * s->high + ((float)pixel * s->low + s->offset);
}

/* On the calling thread. */
typedef void dlk_pixels_to_floats_fn(const dlk_pixels *s, size_t count, const uint8_t *pixels,
                                     float *floats);

#endif
