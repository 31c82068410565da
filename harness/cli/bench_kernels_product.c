#include "cli/bench_kernels_product.h"

#include "base/mem.h"
#include "dlk/gemm.h"

struct dlb_bench_product {
    int images;
    int pixels, patch, channels; /* of an image's product: rows, depth, columns */
    float *patches, *weights, *y;
};

/* Values that are neither zero nor denormal, so that none is faster than another. */
static float *make_matrix(int rows, int columns)
{
    size_t count = (size_t)rows * (size_t)columns;
    float *matrix = dlb_alloc(count, sizeof *matrix);
    for (size_t i = 0; i < count; i++)
        matrix[i] = 0.01F * (float)(1 + i % 7);
    return matrix;
}

dlb_bench_product *dlb_bench_product_create(const dlk_conv2d *conv, int images)
{
    dlb_bench_product *p = dlb_alloc(1, sizeof *p);
    p->images = images;
    p->pixels = dlk_conv2d_oh(conv) * dlk_conv2d_ow(conv);
    p->patch = conv->kh * conv->kw * conv->c;
    p->channels = conv->oc;
    p->patches = make_matrix(p->pixels, p->patch);
    p->weights = make_matrix(p->patch, p->channels);
    p->y = make_matrix(p->pixels, p->channels);
    return p;
}

void dlb_bench_product_free(dlb_bench_product *p)
{
    if (!p)
        return;
    free(p->y);
    free(p->weights);
    free(p->patches);
    free(p);
}

dlk_cost dlb_bench_product_cost(const dlk_conv2d *conv, int images)
{
    double pixels = (double)dlk_conv2d_oh(conv) * dlk_conv2d_ow(conv);
    double patch = (double)conv->kh * conv->kw * conv->c, channels = conv->oc;
    return (dlk_cost){images * 2 * pixels * patch * channels,
                      images * (pixels * patch + patch * channels + pixels * channels) *
                          (double)sizeof(float)};
}

void dlb_bench_product_run(void *product)
{
    const dlb_bench_product *p = product;
    for (int i = 0; i < p->images; i++)
        dlk_gemm(false, false, p->pixels, p->channels, p->patch, p->patches, p->patch, p->weights,
                 p->channels, 0.0F, p->y, p->channels);
}
