#include <criterion/criterion.h>
#include <math.h>

#include "base/mem.h"
#include "graph/graph.h"

enum { BATCH = 5, PIXELS = 6 * 6 * 2, CLASSES = 3 };

/* Has every kind of layer but dropout, whose masks no difference quotient can see through. */
static const char smooth_model[] = "model t\ninput 6x6x2\nconv2d filters=3 kernel=3 padding=1\n"
                                   "relu\nmaxpool size=2\nconv2d filters=4 kernel=2\nflatten\n"
                                   "dense units=6\nrelu\ndense units=3\nsoftmax\n";

static const char dropout_model[] =
    "model t\ninput 6x6x2\ndropout rate=0.25\nconv2d filters=3 kernel=3\ndropout2d rate=0.5\n"
    "maxpool size=2\nrelu\ndropout rate=0.5\nflatten\ndense units=3\nsoftmax\n";

typedef struct fixture {
    dlb_model model;
    dlb_graph *graph;
    dlb_pool *pool;
    float x[BATCH * PIXELS];
    uint8_t labels[BATCH];
    float *parameters, *gradients;
    dlk_softmax_result result;
    dlb_step step;
} fixture;

static void fill(float *values, size_t count, uint16_t stream, float scale)
{
    dlk_rng_key key = {.seed = 7, .purpose = DLK_RNG_SYNTHETIC, .stream = stream};
    for (size_t i = 0; i < count; i++)
        values[i] = scale * (2 * dlk_rng_uniform(&key, (uint32_t)i) - 1);
}

static void set_up(fixture *f, const char *text, dlk_family family)
{
    dlb_error err;
    dlk_kernels kernels;
    cr_assert_eq(dlb_model_parse(&f->model, "t", text, &err), 0, "%s", err.message);
    cr_assert_eq(dlk_kernels_select(&kernels, family, DLK_ISA_AUTO, &err), 0, "%s", err.message);
    cr_assert_eq(dlb_graph_create(&f->graph, &f->model, BATCH, &kernels, 0, &err), 0);
    f->parameters = dlb_alloc(dlb_graph_size(f->graph), sizeof(float));
    f->gradients = dlb_alloc(dlb_graph_size(f->graph), sizeof(float));
    dlb_graph_seal(f->graph, f->parameters, NULL, NULL);
    dlb_pool_options options = {.threads = 2,
                                .teams = 1,
                                .scratch_floats = dlb_graph_scratch_floats(f->graph),
                                .shared_floats = dlb_graph_shared_floats(f->graph),
                                .spin_ns = 1000000};
    cr_assert_eq(dlb_pool_create(&f->pool, &options, &err), 0);
    fill(f->x, BATCH * PIXELS, 1, 1);
    fill(f->parameters, dlb_graph_size(f->graph), 2, 0.6F);
    for (int i = 0; i < BATCH; i++)
        f->labels[i] = (uint8_t)(i % CLASSES);
    f->step = (dlb_step){.n = BATCH,
                         .step_images = BATCH,
                         .x = f->x,
                         .labels = f->labels,
                         .seed = 1,
                         .gradients = f->gradients,
                         .result = &f->result};
}

static void tear_down(fixture *f)
{
    dlb_graph_free(f->graph);
    dlb_pool_free(f->pool);
    dlb_model_release(&f->model);
    free(f->gradients);
    free(f->parameters);
}

static double train(fixture *f)
{
    dlb_graph_train(f->graph, f->pool, &f->step, NULL);
    return f->result.loss_sum;
}

static double loss(fixture *f)
{
    dlb_graph_evaluate(f->graph, f->pool, &f->step, NULL);
    return f->result.loss_sum / f->step.n;
}

/*
 * At a kink of ReLU or the pool the quotients from the two sides differ; the gradient then lies
 * between them.
 */
static void compare_gradient(fixture *f, size_t at)
{
    const float h = 1e-3F;
    float *p = f->parameters;
    float kept = p[at];
    double gradient = (double)f->gradients[at];
    double here = loss(f);
    p[at] = kept + h;
    double right = (loss(f) - here) / (double)h;
    p[at] = kept - h;
    double left = (here - loss(f)) / (double)h;
    p[at] = kept;
    double slack = 1e-3 + 0.02 * fabs(gradient);
    cr_assert(gradient >= fmin(left, right) - slack && gradient <= fmax(left, right) + slack,
              "parameter %zu: gradient %g, difference quotients %g and %g", at, gradient, left,
              right);
}

Test(graph, gradients_of_a_whole_network_are_those_of_the_loss)
{
    const dlk_family families[] = {DLK_FAMILY_REF, DLK_FAMILY_BLAS};
    for (int k = 0; k < 2; k++) {
        fixture f;
        set_up(&f, smooth_model, families[k]);
        train(&f);
        for (int b = 0; b < dlb_graph_block_count(f.graph); b++) {
            const dlb_block *block = dlb_graph_block(f.graph, b);
            int count = block->weights + block->biases;
            for (int i = 0; i < count; i += 1 + count / 20)
                compare_gradient(&f, block->offset + (size_t)i);
        }
        tear_down(&f);
    }
}

Test(graph, a_smaller_last_batch_is_averaged_over_its_own_images)
{
    fixture f;
    set_up(&f, smooth_model, DLK_FAMILY_REF);
    f.step.n = f.step.step_images = 2;
    train(&f);
    const dlb_block *last = dlb_graph_block(f.graph, dlb_graph_block_count(f.graph) - 1);
    compare_gradient(&f, last->offset);
    tear_down(&f);
}

/* So that the gradients of all workers add up to the mean over all their images. */
Test(graph, a_workers_gradient_is_its_share_of_the_mean_over_all_workers)
{
    fixture f;
    set_up(&f, smooth_model, DLK_FAMILY_REF);
    train(&f);
    size_t at = dlb_graph_block(f.graph, 0)->offset;
    float alone = f.gradients[at];
    f.step.step_images = 4 * BATCH;
    train(&f);
    cr_assert_float_eq(f.gradients[at], alone / 4, fabsf(alone) * 1e-6F);
    tear_down(&f);
}

Test(graph, a_batch_without_images_has_a_gradient_of_zero)
{
    fixture f;
    set_up(&f, smooth_model, DLK_FAMILY_BLAS);
    train(&f);
    f.step.n = 0;
    cr_assert_eq(train(&f), 0);
    for (size_t i = 0; i < dlb_graph_size(f.graph); i++)
        cr_assert_eq(f.gradients[i], 0.0F);
    tear_down(&f);
}

Test(graph, dropout_changes_training_with_the_step_and_evaluation_never)
{
    fixture f;
    set_up(&f, dropout_model, DLK_FAMILY_REF);
    double first = train(&f);
    double evaluated = loss(&f);
    double again = train(&f);
    f.step.step = 1;
    double other = train(&f);
    cr_assert_eq(first, again);
    cr_assert_neq(first, other);
    cr_assert_eq(evaluated, loss(&f));
    tear_down(&f);
}

Test(graph, evaluation_without_dropout_is_the_network_without_its_dropout_layers)
{
    static const char bare[] = "model t\ninput 6x6x2\nconv2d filters=3 kernel=3\n"
                               "maxpool size=2\nrelu\nflatten\ndense units=3\nsoftmax\n";
    fixture with, without;
    set_up(&with, dropout_model, DLK_FAMILY_REF);
    set_up(&without, bare, DLK_FAMILY_REF);
    cr_assert_eq(loss(&with), loss(&without));
    tear_down(&with);
    tear_down(&without);
}

Test(graph, a_value_that_is_not_finite_reaches_the_loss)
{
    const float bad[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        fixture f;
        set_up(&f, smooth_model, DLK_FAMILY_BLAS);
        f.parameters[0] = bad[i];
        cr_assert_not(isfinite(loss(&f)));
        tear_down(&f);
    }
}

Test(graph, more_memory_than_there_is_is_refused_with_the_amount)
{
    dlb_model model;
    dlk_kernels kernels;
    dlb_error err;
    dlb_graph *graph = NULL;
    cr_assert_eq(dlb_model_load(&model, "keras_cnn", &err), 0);
    cr_assert_eq(dlk_kernels_select(&kernels, DLK_FAMILY_REF, DLK_ISA_AUTO, &err), 0);
    cr_assert_eq(dlb_graph_create(&graph, &model, 65536, &kernels, 1 << 30, &err), DLB_BAD_INPUT);
    cr_assert(strstr(err.message, "GB of memory") && strstr(err.message, "smaller batch"));
    dlb_model_release(&model);
}
