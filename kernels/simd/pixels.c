#include "simd/simd.h"

typedef uint8_t bytes __attribute__((vector_size(DLK_WIDTH)));

void DLK_SIMD(pixels_to_floats)(const dlk_pixels *s, size_t count, const uint8_t *pixels,
                                float *floats)
{
    size_t i = 0;
    for (; i + V <= count; i += V) {
        bytes narrow;
        memcpy(&narrow, pixels + i, sizeof narrow);
        vec pixel = __builtin_convertvector(__builtin_convertvector(narrow, ivec), vec);
        store(floats + i, pixel * s->high + (pixel * s->low + s->offset));
    }
    for (; i < count; i++)
        floats[i] = dlk_pixel(s, pixels[i]);
}
