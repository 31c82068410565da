/* Fused layers train as the same layers do one by one. */
#include <criterion/criterion.h>
#include <math.h>

#include "base/mem.h"
#include "graph/fusion.h"
#include "graph/graph.h"

enum { BATCH = 37, CLASSES = 5 };

/* Layer lists with stages of many forms, and layers that no stage takes between them. */
static const char *const models[] = {
    "model keras\ninput 16x16x1\nconv2d filters=32 kernel=3\nrelu\nconv2d filters=64 kernel=3\n"
    "relu\nmaxpool size=2\ndropout rate=0.25\nflatten\ndense units=32\nrelu\ndropout rate=0.5\n"
    "dense units=5\nsoftmax\n",

    "model horovod\ninput 24x24x1\nconv2d filters=10 kernel=5\nmaxpool size=2\nrelu\n"
    "conv2d filters=20 kernel=5\ndropout2d rate=0.5\nmaxpool size=2\nrelu\nflatten\n"
    "dense units=50\nrelu\ndropout rate=0.5\ndense units=5\nsoftmax\n",

    "model lanes\ninput 28x28x1\nconv2d filters=10 kernel=5\nmaxpool size=2\nrelu\n"
    "conv2d filters=20 kernel=5\ndropout2d rate=0.5\nmaxpool size=2\nrelu\nflatten\n"
    "dense units=5\nsoftmax\n",

    "model half\ninput 28x28x1\nconv2d filters=10 kernel=5\nmaxpool size=2\nrelu\ndropout "
    "rate=0.2\n"
    "flatten\ndense units=5\nsoftmax\n", /* evaluates many images at once, trains one by one */

    "model wide\ninput 8x8x64\nconv2d filters=128 kernel=3\nrelu\nmaxpool size=2\nflatten\n"
    "dense units=5\nsoftmax\n", /* with weights that threads have in common */

    "model inner\ninput 56x56x1\nmaxpool size=2\nconv2d filters=6 kernel=5\nrelu\nmaxpool size=2\n"
    "flatten\ndense units=5\nsoftmax\n",

    "model padded\ninput 13x11x3\nconv2d filters=16 kernel=3 padding=same\nrelu\n"
    "conv2d filters=16 kernel=3\nrelu\nmaxpool size=2\nconv2d filters=7 kernel=2\n"
    "maxpool size=2\nflatten\ndense units=5\nsoftmax\n",

    "model strided\ninput 15x15x2\nconv2d filters=8 kernel=3 stride=2\nrelu\ndropout2d rate=0.3\n"
    "conv2d filters=9 kernel=3\ndropout rate=0.2\nrelu\nflatten\ndense units=5\nsoftmax\n",

    "model chain\ninput 40x40x1\nconv2d filters=4 kernel=3\nmaxpool size=2\nrelu\n"
    "conv2d filters=6 kernel=3\nrelu\ndropout2d rate=0.2\nmaxpool size=2\ndropout rate=0.1\n"
    "conv2d filters=5 kernel=3\nmaxpool size=2\nflatten\ndense units=5\nsoftmax\n",
};

enum { MODELS = sizeof models / sizeof *models };

typedef struct fixture {
    dlb_model model;
    dlk_kernels kernels;
    dlb_graph *graph;
    float *x, *parameters, *gradients;
    uint8_t *bytes, labels[BATCH];
    uint32_t indices[BATCH];
    dlk_pixels scale;
    dlk_softmax_result result;
    dlb_step step;
} fixture;

static void fill(float *values, size_t count, uint16_t stream, float scale)
{
    dlk_rng_key key = {.seed = 11, .purpose = DLK_RNG_SYNTHETIC, .stream = stream};
    for (size_t i = 0; i < count; i++)
        values[i] = scale * (2 * dlk_rng_uniform(&key, (uint32_t)i) - 1);
}

/* The images as bytes, in another order than the batch's, and the floats they stand for. */
static void make_images(fixture *f)
{
    size_t pixels = (size_t)dlb_shape_size(f->model.input);
    f->x = dlb_alloc(BATCH * pixels, sizeof(float));
    f->bytes = dlb_alloc(BATCH * pixels, 1);
    f->scale = dlk_pixels_of(0.5, 0.5);
    for (size_t i = 0; i < BATCH; i++) {
        f->indices[i] = (uint32_t)(BATCH - 1 - i);
        f->labels[i] = (uint8_t)(i % CLASSES);
        uint8_t *image = f->bytes + f->indices[i] * pixels;
        for (size_t p = 0; p < pixels; p++) {
            image[p] = (uint8_t)(i * 37 + p * p * 11 + p / 7);
            f->x[i * pixels + p] = dlk_pixel(&f->scale, image[p]);
        }
    }
}

/* Each layer's weights are as large as its fan-in wants them, so that nothing explodes. */
static void make_parameters(fixture *f)
{
    f->parameters = dlb_alloc(dlb_graph_size(f->graph), sizeof(float));
    f->gradients = dlb_alloc(dlb_graph_size(f->graph), sizeof(float));
    for (int b = 0; b < dlb_graph_block_count(f->graph); b++) {
        const dlb_block *block = dlb_graph_block(f->graph, b);
        fill(f->parameters + block->offset, (size_t)(block->weights + block->biases), (uint16_t)b,
             1.5F / sqrtf((float)block->fan_in));
    }
}

/* What an update does before it reads gradients. */
static void finish_all(void *self, void *context, dlk_team *team)
{
    const fixture *f = self;
    (void)context, (void)team;
    for (int b = 0; b < dlb_graph_block_count(f->graph); b++) {
        const dlb_block *block = dlb_graph_block(f->graph, b);
        size_t end = block->offset + (size_t)(block->weights + block->biases);
        size_t middle = block->offset + (size_t)block->weights / 3;
        if (dlb_graph_has_parts(f->graph, block))
            dlb_graph_finish(f->graph, block->offset, middle);
        else
            middle = block->offset;
        dlb_graph_finish(f->graph, middle, end);
    }
}

static void add_finish(void *arg, dlb_program *program, dlb_graph_place place,
                       const dlb_block *block, bool ends_step)
{
    const fixture *f = arg;
    (void)block;
    if (place != DLB_AT_END || !ends_step)
        return;
    dlb_op op = {.name = "finish", .phase = DLB_PHASE_UPDATE, .run = finish_all, .self = arg};
    for (int b = 0; b < dlb_graph_block_count(f->graph); b++)
        dlb_op_writes(&op, dlb_graph_block(f->graph, b)->gradient_buffer);
    dlb_program_add(program, &op);
}

/* `updates`: who updates makes gradients final. */
static void set_up_graph(fixture *f, const char *text, dlk_family family, dlk_isa isa, bool updates)
{
    dlb_error err;
    *f = (fixture){0};
    cr_assert_eq(dlb_model_parse(&f->model, "t", text, &err), 0, "%s", err.message);
    cr_assert_eq(dlk_kernels_select(&f->kernels, family, isa, &err), 0, "%s", err.message);
    cr_assert_eq(dlb_graph_create(&f->graph, &f->model, BATCH, &f->kernels, 0, &err), 0);
    make_images(f);
    make_parameters(f);
    if (updates)
        dlb_graph_expect_updates(f->graph);
    dlb_graph_seal(f->graph, f->parameters, updates ? add_finish : NULL, f);
    f->step = (dlb_step){.n = BATCH,
                         .step_images = BATCH,
                         .x = f->x,
                         .labels = f->labels,
                         .seed = 3,
                         .epoch = 2,
                         .step = 5,
                         .gradients = f->gradients,
                         .result = &f->result};
}

static void set_up(fixture *f, const char *text, dlk_family family, dlk_isa isa)
{
    set_up_graph(f, text, family, isa, false);
}

static void tear_down(fixture *f)
{
    dlb_graph_free(f->graph);
    dlb_model_release(&f->model);
    free(f->gradients);
    free(f->parameters);
    free(f->bytes);
    free(f->x);
}

/* A pool that fits the graphs of both. */
static dlb_pool *make_pool(const fixture *f, const fixture *g, int threads, int teams)
{
    dlb_error err;
    dlb_pool *pool;
    size_t scratch = dlb_graph_scratch_floats(f->graph);
    size_t shared = dlb_graph_shared_floats(f->graph);
    size_t other_scratch = dlb_graph_scratch_floats(g->graph);
    size_t other_shared = dlb_graph_shared_floats(g->graph);
    dlb_pool_options options = {.threads = threads,
                                .teams = teams,
                                .scratch_floats = scratch > other_scratch ? scratch : other_scratch,
                                .shared_floats = shared > other_shared ? shared : other_shared,
                                .spin_ns = 1000};
    cr_assert_eq(dlb_pool_create(&pool, &options, &err), 0);
    return pool;
}

static void run_on(fixture *f, dlb_pool *pool, bool train)
{
    if (train)
        dlb_graph_train(f->graph, pool, &f->step, NULL);
    else
        dlb_graph_evaluate(f->graph, pool, &f->step, NULL);
}

static void run(fixture *f, int threads, int teams, bool train)
{
    dlb_pool *pool = make_pool(f, f, threads, teams);
    run_on(f, pool, train);
    dlb_pool_free(pool);
}

static double largest(const float *values, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs((double)values[i]));
    return most;
}

static void compare_gradients(const fixture *got, const fixture *wanted)
{
    for (int b = 0; b < dlb_graph_block_count(got->graph); b++) {
        const dlb_block *block = dlb_graph_block(got->graph, b);
        size_t count = (size_t)(block->weights + block->biases);
        const float *g = got->gradients + block->offset, *w = wanted->gradients + block->offset;
        double bound = 1e-4 * largest(w, count);
        for (size_t i = 0; i < count; i++)
            cr_assert_float_eq((double)g[i], (double)w[i], bound, "%s %s[%zu]: %g, not %g",
                               got->model.name, block->layer->name, i, (double)g[i], (double)w[i]);
    }
}

Test(trunk, trains_and_evaluates_as_the_reference_does_layer_by_layer)
{
    for (int m = 0; m < MODELS; m++)
        for (dlk_isa isa = DLK_ISA_SSE; isa <= dlk_isa_best(); isa++) {
            fixture plain, fused;
            set_up(&plain, models[m], DLK_FAMILY_REF, DLK_ISA_AUTO);
            set_up(&fused, models[m], DLK_FAMILY_SIMD, isa);
            run(&plain, 1, 1, false);
            run(&fused, 2, 1, false);
            cr_assert_float_eq(fused.result.loss_sum, plain.result.loss_sum,
                               1e-4 * plain.result.loss_sum);
            run(&plain, 1, 1, true);
            run(&fused, 2, 1, true);
            cr_assert_float_eq(fused.result.loss_sum, plain.result.loss_sum,
                               1e-4 * plain.result.loss_sum);
            compare_gradients(&fused, &plain);
            tear_down(&fused);
            tear_down(&plain);
        }
}

static void expect_the_same_again(fixture *f, bool train)
{
    size_t size = train ? dlb_graph_size(f->graph) * sizeof(float) : 0;
    float *gradients = dlb_alloc(1, size + 1);
    run(f, 2, 1, train);
    double loss = f->result.loss_sum;
    memcpy(gradients, f->gradients, size);
    memset(f->gradients, 0, size);
    f->step.same_weights = true;
    run(f, 2, 1, train);
    cr_assert_eq(f->result.loss_sum, loss, "%s", f->model.name);
    cr_assert_eq(memcmp(f->gradients, gradients, size), 0, "%s", f->model.name);
    f->step.same_weights = false;
    free(gradients);
}

Test(trunk, weights_that_have_not_changed_need_not_be_prepared_again)
{
    for (int m = 0; m < MODELS; m++) {
        fixture f;
        set_up(&f, models[m], DLK_FAMILY_SIMD, DLK_ISA_AUTO);
        expect_the_same_again(&f, true);
        expect_the_same_again(&f, false);
        tear_down(&f);
    }
}

/* Train with other weights than before, first on the pool that others have used, then afresh. */
static void expect_as_on_a_fresh_pool(fixture *f, dlb_pool *pool, float factor)
{
    size_t size = dlb_graph_size(f->graph), bytes = size * sizeof(float);
    float *gradients = dlb_alloc(bytes, 1);
    for (size_t i = 0; i < size; i++)
        f->parameters[i] *= factor;
    run_on(f, pool, true);
    memcpy(gradients, f->gradients, bytes);
    run_on(f, pool, false);
    double loss = f->result.loss_sum;
    run(f, 2, 1, true);
    cr_assert_eq(memcmp(f->gradients, gradients, bytes), 0, "%s", f->model.name);
    run(f, 2, 1, false);
    cr_assert_eq(f->result.loss_sum, loss, "%s", f->model.name);
    free(gradients);
}

Test(trunk, weights_that_have_changed_are_prepared_whoever_used_the_pool_meanwhile)
{
    for (int m = 0; m < MODELS; m++) {
        fixture f, g;
        set_up(&f, models[m], DLK_FAMILY_SIMD, DLK_ISA_AUTO);
        set_up(&g, models[(m + 1) % MODELS], DLK_FAMILY_SIMD, DLK_ISA_AUTO);
        dlb_pool *pool = make_pool(&f, &g, 2, 1);
        for (int round = 0; round < 3; round++) {
            expect_as_on_a_fresh_pool(&f, pool, 0.9F);
            expect_as_on_a_fresh_pool(&g, pool, 0.9F);
        }
        dlb_pool_free(pool);
        tear_down(&g);
        tear_down(&f);
    }
}

Test(trunk, every_image_of_a_batch_of_any_size_counts_once)
{
    for (int m = 0; m < MODELS; m++) {
        fixture plain, fused;
        set_up(&plain, models[m], DLK_FAMILY_REF, DLK_ISA_AUTO);
        set_up(&fused, models[m], DLK_FAMILY_SIMD, DLK_ISA_AUTO);
        for (int n = fused.step.n; n > 0; n--) {
            plain.step.n = fused.step.n = n;
            run(&plain, 1, 1, true);
            run(&fused, 3, 1, true);
            compare_gradients(&fused, &plain);
            run(&plain, 1, 1, false);
            run(&fused, 3, 1, false);
            cr_assert_float_eq(fused.result.loss_sum, plain.result.loss_sum,
                               1e-4 * plain.result.loss_sum);
        }
        tear_down(&fused);
        tear_down(&plain);
    }
}

/* The name of the first layer whose gradients differ in a bit; NULL: none. */
static const char *first_difference(const fixture *f, const float *other)
{
    for (int b = 0; b < dlb_graph_block_count(f->graph); b++) {
        const dlb_block *block = dlb_graph_block(f->graph, b);
        size_t bytes = (size_t)(block->weights + block->biases) * sizeof(float);
        if (memcmp(f->gradients + block->offset, other + block->offset, bytes) != 0)
            return block->layer->name;
    }
    return NULL;
}

static void expect_result(const fixture *f, const dlk_softmax_result *wanted)
{
    cr_assert_eq(f->result.correct, wanted->correct, "%s: %d correct answers instead of %d",
                 f->model.name, f->result.correct, wanted->correct);
    cr_assert(f->result.loss_sum == wanted->loss_sum, "%s: another loss", f->model.name);
}

Test(trunk, gradients_are_bit_identical_for_every_number_of_threads_and_teams)
{
    const int settings[][2] = {{2, 1}, {3, 1}, {2, 2}, {4, 3}};
    for (int m = 0; m < MODELS; m++) {
        fixture f;
        set_up(&f, models[m], DLK_FAMILY_SIMD, DLK_ISA_AUTO);
        size_t bytes = dlb_graph_size(f.graph) * sizeof(float);
        run(&f, 1, 1, true);
        dlk_softmax_result result = f.result;
        float *alone = dlb_alloc(bytes, 1);
        memcpy(alone, f.gradients, bytes);
        for (int i = 0; i < 4; i++) {
            memset(f.gradients, 0, bytes);
            run(&f, settings[i][0], settings[i][1], true);
            expect_result(&f, &result);
            const char *layer = first_difference(&f, alone);
            cr_assert_null(layer, "%s of %s with %d threads in %d teams", layer, f.model.name,
                           settings[i][0], settings[i][1]);
        }
        free(alone);
        tear_down(&f);
    }
}

static float *gradients_of(fixture *f, dlb_pool *pool, int n)
{
    size_t bytes = dlb_graph_size(f->graph) * sizeof(float);
    f->step.n = f->step.step_images = n;
    f->step.ends_step = true;
    run_on(f, pool, true);
    return memcpy(dlb_alloc(bytes, 1), f->gradients, bytes);
}

Test(trunk, gradients_that_an_update_makes_final_are_those_of_a_graph_by_itself)
{
    const int images[] = {BATCH, 17, 16, 1, 0, BATCH};
    for (int m = 0; m < MODELS; m++)
        for (int threads = 1; threads <= 3; threads++) {
            fixture plain, updated;
            set_up(&plain, models[m], DLK_FAMILY_SIMD, DLK_ISA_AUTO);
            set_up_graph(&updated, models[m], DLK_FAMILY_SIMD, DLK_ISA_AUTO, true);
            dlb_pool *pool = make_pool(&plain, &updated, threads, 1);
            for (size_t i = 0; i < sizeof images / sizeof *images; i++) {
                float *wanted = gradients_of(&plain, pool, images[i]);
                float *got = gradients_of(&updated, pool, images[i]);
                const char *layer = first_difference(&updated, wanted);
                cr_assert_null(layer, "%s of %s with %d threads, %d images", layer,
                               plain.model.name, threads, images[i]);
                free(got);
                free(wanted);
            }
            dlb_pool_free(pool);
            tear_down(&updated);
            tear_down(&plain);
        }
}

Test(trunk, answers_are_the_same_for_every_number_of_threads_again_and_again)
{
    for (int m = 0; m < MODELS; m++) {
        fixture f;
        set_up(&f, models[m], DLK_FAMILY_SIMD, DLK_ISA_AUTO);
        run(&f, 1, 1, false);
        dlk_softmax_result result = f.result;
        for (int threads = 2; threads <= 4; threads++)
            for (int again = 0; again < 2; again++) {
                run(&f, threads, 1, false);
                expect_result(&f, &result);
            }
        tear_down(&f);
    }
}

Test(trunk, a_step_leaves_nothing_behind_for_the_next_whatever_their_sizes)
{
    const int sizes[] = {1, 5, 16, 9, BATCH, 2};
    for (int m = 0; m < MODELS; m++) {
        fixture f;
        set_up(&f, models[m], DLK_FAMILY_SIMD, DLK_ISA_AUTO);
        size_t bytes = dlb_graph_size(f.graph) * sizeof(float);
        run(&f, 2, 1, true);
        float *first = dlb_alloc(bytes, 1);
        memcpy(first, f.gradients, bytes);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            f.step.n = sizes[i];
            run(&f, 2, 1, true);
            f.step.n = BATCH;
            run(&f, 2, 1, true);
            const char *layer = first_difference(&f, first);
            cr_assert_null(layer, "%s of %s after a batch of %d", layer, f.model.name, sizes[i]);
        }
        free(first);
        tear_down(&f);
    }
}

Test(trunk, pixels_give_the_same_bits_as_the_floats_they_stand_for)
{
    for (int m = 0; m < MODELS; m++) {
        fixture f;
        set_up(&f, models[m], DLK_FAMILY_SIMD, DLK_ISA_AUTO);
        if (dlb_graph_takes_pixels(&f.model, &f.kernels)) {
            size_t bytes = dlb_graph_size(f.graph) * sizeof(float);
            run(&f, 2, 1, true);
            float *from_floats = dlb_alloc(bytes, 1);
            memcpy(from_floats, f.gradients, bytes);
            f.step.x = NULL;
            f.step.pixels = (dlb_pixels){f.bytes, f.indices, &f.scale};
            run(&f, 2, 1, true);
            cr_assert_eq(memcmp(from_floats, f.gradients, bytes), 0, "%s", f.model.name);
            run(&f, 2, 1, false);
            double loss = f.result.loss_sum;
            f.step.x = f.x;
            run(&f, 2, 1, false);
            cr_assert_eq(f.result.loss_sum, loss, "%s", f.model.name);
            free(from_floats);
        }
        tear_down(&f);
    }
}

Test(trunk, a_batch_without_images_has_a_gradient_of_zero)
{
    for (int m = 0; m < MODELS; m++) {
        fixture f;
        set_up(&f, models[m], DLK_FAMILY_SIMD, DLK_ISA_AUTO);
        run(&f, 2, 1, true);
        f.step.n = 0;
        run(&f, 2, 1, true);
        cr_assert_eq(largest(f.gradients, dlb_graph_size(f.graph)), 0);
        run(&f, 2, 1, false);
        tear_down(&f);
    }
}

static bool loss_is_finite(fixture *f, int block, float value)
{
    float *at = f->parameters + dlb_graph_block(f->graph, block)->offset + 1;
    float kept = *at;
    *at = value;
    run(f, 2, 1, false);
    *at = kept;
    return isfinite(f->result.loss_sum);
}

/* ReLU turns a -inf into 0, in the reference as well; anything else must come through. */
Test(trunk, a_value_that_is_not_finite_ends_in_a_loss_that_is_not)
{
    const float bad[] = {NAN, INFINITY, -INFINITY};
    for (int m = 0; m < 4; m++) {
        fixture plain, fused;
        set_up(&plain, models[m], DLK_FAMILY_REF, DLK_ISA_AUTO);
        set_up(&fused, models[m], DLK_FAMILY_SIMD, DLK_ISA_AUTO);
        for (int b = 0; b < dlb_graph_block_count(fused.graph); b++)
            for (int k = 0; k < 3; k++) {
                bool lost = loss_is_finite(&fused, b, bad[k]);
                cr_assert(!lost || (bad[k] < 0 && loss_is_finite(&plain, b, bad[k])),
                          "%s: %g in block %d was lost", fused.model.name, (double)bad[k], b);
            }
        tear_down(&fused);
        tear_down(&plain);
    }
}
