#include "dlk/pixels.h"

#include <math.h>

/* A number to 16 bits. */
static float shorten(double number)
{
    int exponent;
    double fraction = frexp(number, &exponent);
    return (float)ldexp(round(ldexp(fraction, 16)), exponent - 16);
}

dlk_pixels dlk_pixels_of(double mean, double std)
{
    double scale = 1 / (255 * std);
    float high = shorten(scale);
    return (dlk_pixels){high, shorten(scale - (double)high), (float)(-mean / std)};
}
