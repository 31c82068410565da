/*
 * Every operation gives bit-identical results for every size of the team. The shapes are such
 * that each operation has several tasks.
 */
#include <criterion/criterion.h>

#include "kit.h"

enum { N = 9, BUFFER = 1 << 19 };

/* Inputs that are the same for all teams, and the results of one operation. */
typedef struct bench {
    dlk_kernels k;
    const float *a, *b, *c; /* uniform numbers */
    float *out, *out2, *out3;
    uint8_t *bytes;
} bench;

static const dlk_conv2d CONV = {.n = N,
                                .h = 14,
                                .w = 14,
                                .c = 16,
                                .oc = 32,
                                .kh = 3,
                                .kw = 3,
                                .stride_h = 1,
                                .stride_w = 1,
                                .pad_h = 1,
                                .pad_w = 1};
static const dlk_dense DENSE = {.n = N, .in = 2500, .out = 128};
static const dlk_dense NARROW = {.n = 131, .in = 700, .out = 10};
static const dlk_dense NARROW_HALVES = {.n = 131, .in = 700, .out = 10, .half = 64};
static const dlk_dense HALVES = {.n = 37, .in = 320, .out = 150, .half = 32};
static const dlk_pool POOL = {.n = N, .h = 15, .w = 15, .c = 20, .size = 3, .stride = 2};

static void conv_forward(bench *t, dlk_team *team)
{
    t->k.conv2d_forward(team, &CONV, t->a, t->b, t->c, t->out);
}

static void conv_backward_data(bench *t, dlk_team *team)
{
    t->k.conv2d_backward_data(team, &CONV, t->a, t->b, t->out);
}

static void conv_backward_weights(bench *t, dlk_team *team)
{
    t->k.conv2d_backward_weights(team, &CONV, t->a, t->b, t->out, t->out2, t->out3);
}

static void dense_forward(bench *t, dlk_team *team)
{
    t->k.dense_forward(team, &DENSE, t->a, t->b, t->c, t->out);
}

static void dense_backward_data(bench *t, dlk_team *team)
{
    t->k.dense_backward_data(team, &DENSE, t->a, t->b, t->out);
}

static void dense_backward_weights(bench *t, dlk_team *team)
{
    t->k.dense_backward_weights(team, &DENSE, t->a, t->b, t->out, t->out2);
}

static void narrow_dense(bench *t, dlk_team *team)
{
    t->k.dense_forward(team, &NARROW, t->a, t->b, t->c, t->out);
    t->k.dense_backward_data(team, &NARROW, t->a, t->b, t->out2);
    t->k.dense_backward_weights(team, &NARROW, t->a, t->b, t->out3, t->out3 + 7000);
}

static void gradients_by_halves(bench *t, dlk_team *team)
{
    t->k.dense_backward_weights(team, &HALVES, t->a, t->b, t->out, t->out2);
    t->k.dense_backward_weights(team, &NARROW_HALVES, t->a, t->b, t->out3, t->out3 + 7000);
}

static void pool_both(bench *t, dlk_team *team)
{
    t->k.maxpool_forward(team, &POOL, t->a, t->out, t->bytes);
    t->k.maxpool_backward(team, &POOL, t->b, t->bytes, t->out2);
}

static void relu_both(bench *t, dlk_team *team)
{
    t->k.relu_forward(team, 100003, t->a, t->out);
    t->k.relu_backward(team, 100003, t->a, t->b, t->out2);
}

static void dropout_both(bench *t, dlk_team *team)
{
    dlk_rng_key key = {.seed = 3, .purpose = DLK_RNG_DROPOUT};
    dlk_dropout flat = {.n = N, .pixels = 1, .c = 9216, .rate = 0.25F};
    dlk_dropout planes = {.n = N, .pixels = 64, .c = 20, .rate = 0.5F, .planes = 1};
    t->k.dropout_forward(team, &flat, &key, t->a, t->out);
    t->k.dropout_backward(team, &planes, &key, t->a, t->out2);
}

static void softmax(bench *t, dlk_team *team)
{
    enum { IMAGES = 300, CLASSES = 10 };
    dlk_softmax_result result;
    for (int i = 0; i < IMAGES; i++)
        t->bytes[i] = (uint8_t)kit_pick(8, (uint32_t)i, 0, CLASSES - 1);
    t->k.softmax_xent(team, IMAGES, CLASSES, t->a, t->bytes, 0.1F, t->out, t->out2, &result);
    t->out3[0] = (float)result.correct;
    memcpy(t->out3 + 1, &result.loss_sum, sizeof result.loss_sum);
}

static void sgd(bench *t, dlk_team *team)
{
    dlk_sgd s = {.lr = 0.1F, .scale = 1, .momentum = 0.9F, .weight_decay = 1e-4F, .nesterov = 1};
    t->k.sgd(team, 100003, &s, t->a, t->out, t->out2);
}

static void adam(bench *t, dlk_team *team)
{
    dlk_adam s = {.beta1 = 0.9F, .beta2 = 0.999F, .step_size = 1e-3F, .epsilon = 1e-7F};
    t->k.adam(team, 100003, &s, t->a, t->out, t->out2, t->out3);
}

static void adagrad(bench *t, dlk_team *team)
{
    dlk_adagrad s = {.lr = 0.1F, .epsilon = 1e-7F};
    t->k.adagrad(team, 100003, &s, t->a, t->out, t->out2);
}

typedef void operation_fn(bench *t, dlk_team *team);

static const struct {
    const char *name;
    operation_fn *run;
} operations[] = {
    {"conv2d forward", conv_forward},
    {"conv2d backward data", conv_backward_data},
    {"conv2d backward weights", conv_backward_weights},
    {"dense forward", dense_forward},
    {"dense backward data", dense_backward_data},
    {"dense backward weights", dense_backward_weights},
    {"narrow dense", narrow_dense},
    {"gradients by halves", gradients_by_halves},
    {"pool", pool_both},
    {"relu", relu_both},
    {"dropout", dropout_both},
    {"softmax", softmax},
    {"sgd", sgd},
    {"adam", adam},
    {"adagrad", adagrad},
};

static size_t scratch_needed(void)
{
    size_t conv = dlk_conv2d_scratch(&CONV), dense = dlk_dense_scratch();
    return conv > dense ? conv : dense;
}

static size_t shared_needed(void)
{
    size_t wide = dlk_dense_shared(&DENSE), narrow = dlk_dense_shared(&NARROW);
    return wide > narrow ? wide : narrow;
}

/* All results of an operation by a team of `size`, from the same start, into `results`. */
static void run_with(const bench *inputs, operation_fn *run, int size, float *results)
{
    bench t = *inputs;
    t.out = results;
    t.out2 = results + BUFFER;
    t.out3 = results + 2 * (size_t)BUFFER;
    for (size_t i = 0; i < 3 * (size_t)BUFFER; i++)
        results[i] = 0.5F;
    kit_team *team = kit_team_start(size, scratch_needed(), shared_needed());
    run(&t, kit_team_of(team));
    kit_team_stop(team);
}

static void expect_identical(const dlk_kernels *k)
{
    size_t bytes = 3 * (size_t)BUFFER * sizeof(float);
    float *a = kit_uniform(BUFFER, 1), *b = kit_uniform(BUFFER, 2), *c = kit_uniform(BUFFER, 3);
    float *alone = kit_zeros(3 * (size_t)BUFFER), *together = kit_zeros(3 * (size_t)BUFFER);
    bench inputs = {.k = *k, .a = a, .b = b, .c = c, .bytes = calloc(BUFFER, 1)};
    int sizes[] = {2, 3, 5};
    for (size_t op = 0; op < sizeof operations / sizeof *operations; op++) {
        run_with(&inputs, operations[op].run, 1, alone);
        for (int i = 0; i < 3; i++) {
            run_with(&inputs, operations[op].run, sizes[i], together);
            cr_assert(memcmp(alone, together, bytes) == 0, "%s with a team of %d",
                      operations[op].name, sizes[i]);
        }
    }
    free(inputs.bytes);
    free(together);
    free(alone);
    free(c);
    free(b);
    free(a);
}

Test(identical, every_table_for_every_size_of_the_team)
{
    kit_for_every_table(expect_identical);
}
