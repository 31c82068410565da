/*
 * The specification of the convolution. An image is a task, or a group of images where sums go
 * over the batch. Sums are in float, in the order of the loops as written.
 */
#include <string.h>

#include "loops.h"
#include "ref/dot.h"
#include "ref/ref.h"
#include "shapes.h"

typedef struct conv_job {
    const dlk_conv2d *s;
    const float *x, *weights, *bias, *dy;
    float *out; /* y, dx or the partial gradients */
} conv_job;

/* Where the input pixel [c] under kernel element (ky, kx) starts; -1 in the padding. */
static ptrdiff_t input_pixel(const dlk_conv2d *s, int oy, int ox, int ky, int kx)
{
    int iy = oy * s->stride_h - s->pad_h + ky;
    int ix = ox * s->stride_w - s->pad_w + kx;
    if (iy < 0 || iy >= s->h || ix < 0 || ix >= s->w)
        return -1;
    return ((ptrdiff_t)iy * s->w + ix) * s->c;
}

/* Where the weights [oc] of kernel element (ky, kx) and input channel c start. */
static size_t weights_row(const dlk_conv2d *s, int ky, int kx, int c)
{
    return (((size_t)ky * (size_t)s->kw + (size_t)kx) * (size_t)s->c + (size_t)c) * (size_t)s->oc;
}

static void forward_pixel(const dlk_conv2d *s, int oy, int ox, const float *x, const float *weights,
                          float *y)
{
    for (int ky = 0; ky < s->kh; ky++)
        for (int kx = 0; kx < s->kw; kx++) {
            ptrdiff_t pixel = input_pixel(s, oy, ox, ky, kx);
            for (int c = 0; pixel >= 0 && c < s->c; c++)
                dlk_axpy(s->oc, x[pixel + c], weights + weights_row(s, ky, kx, c), y);
        }
}

static void backward_data_pixel(const dlk_conv2d *s, int oy, int ox, const float *dy,
                                const float *weights, float *dx)
{
    for (int ky = 0; ky < s->kh; ky++)
        for (int kx = 0; kx < s->kw; kx++) {
            ptrdiff_t pixel = input_pixel(s, oy, ox, ky, kx);
            for (int c = 0; pixel >= 0 && c < s->c; c++)
                dx[pixel + c] += dlk_dot(s->oc, dy, weights + weights_row(s, ky, kx, c));
        }
}

static void backward_weights_pixel(const dlk_conv2d *s, int oy, int ox, const float *x,
                                   const float *dy, float *dweights)
{
    for (int ky = 0; ky < s->kh; ky++)
        for (int kx = 0; kx < s->kw; kx++) {
            ptrdiff_t pixel = input_pixel(s, oy, ox, ky, kx);
            for (int c = 0; pixel >= 0 && c < s->c; c++)
                dlk_axpy(s->oc, x[pixel + c], dy, dweights + weights_row(s, ky, kx, c));
        }
}

static void forward_image(void *arg, int image, int thread)
{
    (void)thread;
    const conv_job *job = arg;
    const dlk_conv2d *s = job->s;
    const float *x = job->x + (size_t)image * dlk_conv2d_image_in(s);
    float *y = job->out + (size_t)image * dlk_conv2d_image_out(s);
    for (int oy = 0; oy < dlk_conv2d_oh(s); oy++)
        for (int ox = 0; ox < dlk_conv2d_ow(s); ox++, y += s->oc) {
            memcpy(y, job->bias, (size_t)s->oc * sizeof *y);
            forward_pixel(s, oy, ox, x, job->weights, y);
        }
}

static void backward_image(void *arg, int image, int thread)
{
    (void)thread;
    const conv_job *job = arg;
    const dlk_conv2d *s = job->s;
    const float *dy = job->dy + (size_t)image * dlk_conv2d_image_out(s);
    float *dx = job->out + (size_t)image * dlk_conv2d_image_in(s);
    memset(dx, 0, dlk_conv2d_image_in(s) * sizeof *dx);
    for (int oy = 0; oy < dlk_conv2d_oh(s); oy++)
        for (int ox = 0; ox < dlk_conv2d_ow(s); ox++, dy += s->oc)
            backward_data_pixel(s, oy, ox, dy, job->weights, dx);
}

static void add_image_gradient(const conv_job *job, int image, float *dweights, float *dbias)
{
    const dlk_conv2d *s = job->s;
    const float *x = job->x + (size_t)image * dlk_conv2d_image_in(s);
    const float *dy = job->dy + (size_t)image * dlk_conv2d_image_out(s);
    for (int oy = 0; oy < dlk_conv2d_oh(s); oy++)
        for (int ox = 0; ox < dlk_conv2d_ow(s); ox++, dy += s->oc) {
            backward_weights_pixel(s, oy, ox, x, dy, dweights);
            dlk_add((size_t)s->oc, dy, dbias);
        }
}

static void gradient_group(void *arg, int group, int thread)
{
    (void)thread;
    const conv_job *job = arg;
    float *partial = job->out + (size_t)group * dlk_conv2d_gradient(job->s);
    int first, end;
    dlk_grad_group(job->s->n, group, &first, &end);
    memset(partial, 0, dlk_conv2d_gradient(job->s) * sizeof *partial);
    for (int image = first; image < end; image++)
        add_image_gradient(job, image, partial, partial + dlk_conv2d_weights(job->s));
}

void dlk_ref_conv2d_forward(dlk_team *team, const dlk_conv2d *s, const float *x,
                            const float *weights, const float *bias, float *y)
{
    conv_job job = {.s = s, .x = x, .weights = weights, .bias = bias, .out = y};
    dlk_parallel(team, s->n, forward_image, &job);
}

void dlk_ref_conv2d_backward_data(dlk_team *team, const dlk_conv2d *s, const float *dy,
                                  const float *weights, float *dx)
{
    conv_job job = {.s = s, .weights = weights, .dy = dy, .out = dx};
    dlk_parallel(team, s->n, backward_image, &job);
}

void dlk_ref_conv2d_backward_weights(dlk_team *team, const dlk_conv2d *s, const float *x,
                                     const float *dy, float *partial, float *dweights, float *dbias)
{
    conv_job job = {.s = s, .x = x, .dy = dy, .out = partial};
    dlk_parallel(team, dlk_grad_groups(s->n), gradient_group, &job);
    dlk_conv2d_sum_groups(team, s, partial, dweights, dbias);
}
