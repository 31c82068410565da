#include <criterion/criterion.h>

#include "dlk/cost.h"

static void expect_cost(dlk_cost got, double flops, double bytes, const char *what)
{
    cr_assert(got.flops == flops, "%s: %.0f FLOPs instead of %.0f", what, got.flops, flops);
    cr_assert(got.bytes == bytes, "%s: %.0f bytes instead of %.0f", what, got.bytes, bytes);
}

/* The second convolution of keras_cnn, one image. */
static const dlk_conv2d CONV = {
    .n = 1, .h = 26, .w = 26, .c = 32, .oc = 64, .kh = 3, .kw = 3, .stride_h = 1, .stride_w = 1};

Test(cost, of_the_second_convolution_of_keras_cnn)
{
    double flops = 24.0 * 24 * 64 * 9 * 32 * 2;
    double x = 26.0 * 26 * 32, weights = 9.0 * 32 * 64, y = 24.0 * 24 * 64;
    expect_cost(dlk_conv2d_forward_cost(&CONV), flops, 4 * (x + weights + 64 + y), "forward");
    expect_cost(dlk_conv2d_backward_data_cost(&CONV), flops, 4 * (x + weights + y), "data");
    expect_cost(dlk_conv2d_backward_weights_cost(&CONV), flops, 4 * (x + weights + 64 + y),
                "weights");
}

Test(cost, of_a_convolution_with_stride_and_padding)
{
    dlk_conv2d s = {.n = 2,
                    .h = 7,
                    .w = 9,
                    .c = 3,
                    .oc = 5,
                    .kh = 3,
                    .kw = 1,
                    .stride_h = 2,
                    .stride_w = 3,
                    .pad_h = 1,
                    .pad_w = 0};
    double outputs =
        2.0 * 4 * 3 * 5; /* (7 + 2 - 3) / 2 + 1 = 4 rows, (9 - 1) / 3 + 1 = 3 columns */
    expect_cost(dlk_conv2d_forward_cost(&s), outputs * 3 * 3 * 2,
                4 * (2.0 * 7 * 9 * 3 + 3 * 3 * 5 + 5 + outputs), "forward");
}

Test(cost, grows_with_the_batch_except_for_the_weights)
{
    dlk_conv2d batch = CONV;
    batch.n = 128;
    dlk_cost one = dlk_conv2d_forward_cost(&CONV), all = dlk_conv2d_forward_cost(&batch);
    double weights = 4.0 * (9 * 32 * 64 + 64);
    cr_assert(all.flops == 128 * one.flops);
    cr_assert(all.bytes - weights == 128 * (one.bytes - weights));
}

Test(cost, of_a_dense_layer)
{
    dlk_dense s = {.n = 128, .in = 9216, .out = 128};
    double flops = 2.0 * 128 * 9216 * 128, floats = 128.0 * 9216 + 9216.0 * 128 + 128.0 * 128;
    expect_cost(dlk_dense_forward_cost(&s), flops, 4 * (floats + 128), "forward");
    expect_cost(dlk_dense_backward_data_cost(&s), flops, 4 * floats, "data");
    expect_cost(dlk_dense_backward_weights_cost(&s), flops, 4 * (floats + 128), "weights");
}

Test(cost, of_pooling)
{
    dlk_pool s = {.n = 1, .h = 24, .w = 24, .c = 64, .size = 2, .stride = 2};
    double x = 24.0 * 24 * 64, y = 12.0 * 12 * 64;
    expect_cost(dlk_maxpool_forward_cost(&s), 3 * y, 4 * x + 5 * y, "forward");
    expect_cost(dlk_maxpool_backward_cost(&s), y, 4 * x + 5 * y, "backward");
}

Test(cost, of_elementwise_operations)
{
    dlk_dropout dropout = {.n = 2, .pixels = 5, .c = 10, .rate = 0.5F};
    expect_cost(dlk_relu_forward_cost(100), 100, 800, "relu forward");
    expect_cost(dlk_relu_backward_cost(100), 100, 1200, "relu backward");
    expect_cost(dlk_dropout_cost(&dropout), 100, 800, "dropout");
    expect_cost(dlk_softmax_xent_cost(10, 10), 700, 800 + 50, "softmax");
}

/* Every array that is read or written, once each. */
Test(cost, of_optimizers)
{
    expect_cost(dlk_sgd_cost(100, 0), 200, 100 * 12, "sgd");
    expect_cost(dlk_sgd_cost(100, 1), 400, 100 * 20, "sgd with momentum");
    expect_cost(dlk_adam_cost(100), 1200, 100 * 28, "adam");
    expect_cost(dlk_adagrad_cost(100), 700, 100 * 20, "adagrad");
    expect_cost(dlk_square_sums_cost(100), 400, 100 * 8, "square sums");
}
