#include <criterion/criterion.h>
#include <math.h>

#include "unit/train/short_run.h"

typedef struct moments {
    double mean, largest;
} moments;

static moments moments_of(const float *values, int count)
{
    moments m = {0};
    for (int i = 0; i < count; i++) {
        m.mean += (double)values[i] / count;
        m.largest = fmax(m.largest, fabs((double)values[i]));
    }
    return m;
}

static void check_limit(const float *values, int count, double limit)
{
    moments m = moments_of(values, count);
    cr_assert_leq(m.largest, limit * (1 + 1e-6));
    if (count < 1000)
        return;
    cr_assert_gt(m.largest, 0.98 * limit);
    cr_assert_lt(fabs(m.mean), 4 * limit / sqrt(3.0 * count));
}

Test(init, keras_cnn_starts_as_keras_does)
{
    dlb_session *s = SESSION("model", "keras_cnn", "train_images", "10", "test_images", "10");
    dlb_graph *g = dlb_session_graph(s);
    for (int i = 0; i < dlb_graph_block_count(g); i++) {
        const dlb_block *b = dlb_graph_block(g, i);
        const float *weights = dlb_graph_parameters(g) + b->offset;
        check_limit(weights, b->weights, sqrt(6.0 / (b->fan_in + b->fan_out)));
        for (int k = 0; k < b->biases; k++)
            cr_assert_eq(weights[b->weights + k], 0.0F);
    }
    cr_assert_eq(dlb_graph_block(g, 1)->fan_in, 9 * 32);
    cr_assert_eq(dlb_graph_block(g, 1)->fan_out, 9 * 64);
    dlb_session_free(s);
}

Test(init, horovod_cnn_starts_as_pytorch_does)
{
    dlb_session *s = SESSION("model", "horovod_cnn", "train_images", "10", "test_images", "10");
    dlb_graph *g = dlb_session_graph(s);
    for (int i = 0; i < dlb_graph_block_count(g); i++) {
        const dlb_block *b = dlb_graph_block(g, i);
        const float *weights = dlb_graph_parameters(g) + b->offset;
        double limit = 1 / sqrt(b->fan_in);
        check_limit(weights, b->weights, limit);
        check_limit(weights + b->weights, b->biases, limit);
    }
    dlb_session_free(s);
}
