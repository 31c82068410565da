#include "train/accumulate.h"

#include <criterion/criterion.h>

#include "base/mem.h"
#include "dlk/rng.h"
#include "dlk/tree.h"

static const char text[] = "model t\ninput 8x8x1\nconv2d filters=5 kernel=3\nrelu\nflatten\n"
                           "dense units=40\nrelu\ndense units=3\nsoftmax\n";

static dlb_model model;
static dlb_graph *graph;
static dlb_pool *pool;

static void set_up(void)
{
    dlb_error err;
    dlk_kernels kernels;
    cr_assert_eq(dlb_model_parse(&model, "t", text, &err), 0, "%s", err.message);
    cr_assert_eq(dlk_kernels_select(&kernels, DLK_FAMILY_REF, DLK_ISA_AUTO, &err), 0);
    cr_assert_eq(dlb_graph_create(&graph, &model, 1, &kernels, 0, &err), 0);
    dlb_pool_options options = {.threads = 2, .teams = 1, .spin_ns = 1000000};
    cr_assert_eq(dlb_pool_create(&pool, &options, &err), 0);
}

static void tear_down(void)
{
    dlb_pool_free(pool);
    dlb_graph_free(graph);
    dlb_model_release(&model);
}

TestSuite(accumulate, .init = set_up, .fini = tear_down);

static void fill_blocks(float *gradients, int worker)
{
    dlk_rng_key key = {.seed = 3, .purpose = DLK_RNG_SYNTHETIC, .worker = (uint32_t)worker};
    for (int b = 0; b < dlb_graph_block_count(graph); b++) {
        const dlb_block *block = dlb_graph_block(graph, b);
        for (int i = 0; i < block->weights + block->biases; i++)
            gradients[block->offset + (size_t)i] =
                dlk_rng_uniform(&key, (uint32_t)block->offset + (uint32_t)i) - 0.5F;
    }
}

static void sum_in_turn(int workers, float *sum)
{
    dlb_error err;
    dlb_accumulator *a;
    dlb_program program;
    cr_assert_eq(dlb_accumulator_create(&a, graph, workers, sum, &err), 0, "%s", err.message);
    dlb_program_init(&program);
    for (int b = 0; b < dlb_graph_block_count(graph); b++)
        dlb_accumulator_add_op(a, &program, dlb_graph_block(graph, b));
    dlb_program_seal(&program, 0);
    for (int w = 0; w < workers; w++) {
        fill_blocks(dlb_accumulator_begin(a, w), w);
        dlb_program_run(&program, pool, NULL, 0, NULL);
    }
    dlb_program_release(&program);
    dlb_accumulator_free(a);
}

/* All at once, for comparison. */
static void sum_together(int workers, float *sum)
{
    size_t size = dlb_graph_size(graph);
    float **each = dlb_alloc((size_t)workers, sizeof *each);
    for (int w = 0; w < workers; w++) {
        each[w] = dlb_alloc(size, sizeof(float));
        fill_blocks(each[w], w);
    }
    dlk_tree_sum(workers, (const float *const *)each, size, sum);
    for (int w = 0; w < workers; w++)
        free(each[w]);
    free(each);
}

Test(accumulate, workers_in_turn_give_the_bits_of_the_tree_over_all_of_them)
{
    const int numbers[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 15, 16, 31, 96, 128};
    size_t size = dlb_graph_size(graph);
    float *in_turn = dlb_alloc(size, sizeof(float)), *together = dlb_alloc(size, sizeof(float));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        sum_in_turn(numbers[i], in_turn);
        sum_together(numbers[i], together);
        cr_assert_arr_eq(in_turn, together, size * sizeof(float), "%d workers", numbers[i]);
    }
    free(together);
    free(in_turn);
}

/* The memory that a rank with many workers needs: one gradient a level of the tree. */
Test(accumulate, there_is_one_slot_a_level)
{
    cr_assert_eq(dlb_accumulator_slots(1), 1);
    cr_assert_eq(dlb_accumulator_slots(2), 2);
    cr_assert_eq(dlb_accumulator_slots(3), 2);
    cr_assert_eq(dlb_accumulator_slots(8), 4);
    cr_assert_eq(dlb_accumulator_slots(128), 8);
    for (int n = 1; n < 3000; n++)
        cr_assert(1 << (dlb_accumulator_slots(n) - 1) <= n || n == 1, "%d", n);
}
