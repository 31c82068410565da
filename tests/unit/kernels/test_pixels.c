#include <criterion/criterion.h>
#include <float.h>
#include <math.h>

#include "kit.h"

static const struct {
    double mean, std;
} norms[] = {{0, 1}, {0.1307, 0.3081}, {0.5, 0.5}, {-3.25, 1e-3}, {1e4, 7e5}};
enum { NORMS = sizeof norms / sizeof *norms, COUNT = 256 + 7 };

Test(pixels, are_normalised_to_within_a_rounding_or_two)
{
    for (int i = 0; i < NORMS; i++) {
        double mean = norms[i].mean, std = norms[i].std;
        dlk_pixels s = dlk_pixels_of(mean, std);
        for (int p = 0; p < 256; p++) {
            double exact = (p / 255.0 - mean) / std, size = fabs(mean / std) + p / 255.0 / std;
            cr_assert_leq(fabs((double)dlk_pixel(&s, (uint8_t)p) - exact), FLT_EPSILON * size,
                          "%d of mean %g, std %g", p, mean, std);
        }
    }
}

Test(pixels, are_rounded_once_where_they_are_only_scaled)
{
    dlk_pixels s = dlk_pixels_of(0, 1);
    for (int p = 0; p < 256; p++)
        cr_assert_eq(dlk_pixel(&s, (uint8_t)p), (float)p / 255.0F, "%d", p);
}

Test(pixels, have_a_scale_whose_products_are_exact)
{
    for (int i = 0; i < NORMS; i++) {
        dlk_pixels s = dlk_pixels_of(norms[i].mean, norms[i].std);
        for (int p = 0; p < 256; p++) {
            float high = (float)p * s.high, low = (float)p * s.low;
            cr_assert_eq((double)high, (double)p * (double)s.high);
            cr_assert_eq((double)low, (double)p * (double)s.low);
        }
    }
}

static void agrees_to_the_bit(const dlk_kernels *k)
{
    uint8_t pixels[COUNT];
    float floats[COUNT + 1];
    for (int i = 0; i < COUNT; i++)
        pixels[i] = (uint8_t)(i * 31);
    for (int i = 0; i < NORMS; i++) {
        dlk_pixels s = dlk_pixels_of(norms[i].mean, norms[i].std);
        for (size_t count = 0; count <= COUNT; count += count < 40 ? 1 : COUNT - 40) {
            floats[count] = 12345;
            k->pixels_to_floats(&s, count, pixels, floats);
            for (size_t n = 0; n < count; n++)
                cr_assert_eq(floats[n], dlk_pixel(&s, pixels[n]), "%zu of %zu", n, count);
            cr_assert_eq(floats[count], 12345, "written behind the end of %zu", count);
        }
    }
}

Test(pixels, give_the_same_bits_in_every_table)
{
    kit_for_every_table(agrees_to_the_bit);
}
