#include "ref/ref.h"

void dlk_ref_pixels_to_floats(const dlk_pixels *s, size_t count, const uint8_t *pixels,
                              float *floats)
{
    for (size_t i = 0; i < count; i++)
        floats[i] = dlk_pixel(s, pixels[i]);
}
