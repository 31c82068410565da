#include "cli/bench_kernels_step.h"

#include <criterion/criterion.h>

#include "base/mem.h"

enum { IMAGES = 20, INPUTS = 30, HIDDEN = 40 };

static const char text[] = "model hidden\n"
                           "input 5x6x1\n"
                           "train batch=20 optimizer=sgd lr=0.1\n"
                           "flatten\n"
                           "dense units=40\n"
                           "relu\n"
                           "dropout rate=0.5\n"
                           "dense units=10\n"
                           "softmax\n";

typedef struct taken_apart {
    dlb_model model;
    dlk_kernels kernels;
    dlb_bench_step step;
    float *parameters, x[IMAGES * INPUTS];
    uint8_t labels[IMAGES];
} taken_apart;

static float draw(uint32_t *state)
{
    *state = *state * 1664525U + 1013904223U;
    return (float)(*state >> 8) / (float)(1 << 24) - 0.5F;
}

static void take_apart(taken_apart *t)
{
    dlb_error err;
    uint32_t state = 1;
    cr_assert_eq(dlb_model_parse(&t->model, "test", text, &err), 0, "%s", err.message);
    cr_assert_eq(dlk_kernels_select(&t->kernels, DLK_FAMILY_REF, DLK_ISA_AUTO, &err), 0);
    cr_assert_eq(dlb_bench_step_init(&t->step, &t->model, &t->kernels, IMAGES, &err), 0);
    size_t size = dlb_graph_size(t->step.graph);
    t->parameters = dlb_alloc(size, sizeof *t->parameters);
    for (size_t i = 0; i < size; i++)
        t->parameters[i] = draw(&state);
    for (int i = 0; i < IMAGES * INPUTS; i++)
        t->x[i] = draw(&state);
    dlb_bench_step_seal(&t->step, t->parameters);
    t->step.batch = (dlb_step){.n = IMAGES,
                               .step_images = IMAGES,
                               .x = t->x,
                               .labels = t->labels,
                               .gradients = t->step.gradients,
                               .ends_step = true,
                               .result = &t->step.result};
    dlb_bench_step_run(&t->step);
}

static void put_away(taken_apart *t)
{
    dlb_bench_step_release(&t->step);
    free(t->parameters);
    dlb_model_release(&t->model);
}

/* Operations are measured one by one in any order; each must find the zeros that training has. */
Test(bench_kernels_step, an_operation_finds_what_a_step_leaves_whatever_ran_before)
{
    static taken_apart t;
    take_apart(&t);
    const dlb_node *hidden = dlb_bench_step_node(&t.step, &t.model.layers[1]);
    float y[IMAGES * HIDDEN], dy[IMAGES * HIDDEN];
    memcpy(y, hidden->y, sizeof y);
    memcpy(dy, hidden->dy, sizeof dy);
    for (int i = 0; i < t.step.op_count; i++) {
        dlb_bench_ops ops = {.step = &t.step};
        dlb_bench_ops_add(&ops, &t.step.ops[i]);
        dlb_bench_ops_prepare(&ops);
        cr_assert_arr_eq(hidden->y, y, sizeof y, "before %s: activations", t.step.ops[i].name);
        cr_assert_arr_eq(hidden->dy, dy, sizeof dy, "before %s: gradients", t.step.ops[i].name);
        dlb_bench_ops_run(&ops);
        free(ops.list);
    }
    put_away(&t);
}
