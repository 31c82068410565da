#include "cli/bench_kernels_stage.h"

#include <math.h>

#include "base/mem.h"
#include "graph/node.h"
#include "graph/shape.h"

/* Inputs in use, so few that they stay in cache: in training the stage before has just left them
 * there. What they hold makes no difference to time. Likewise outputs that are not kept. */
enum { HOT = 4 };

struct dlb_bench_stage {
    dlb_stage plan;
    const dlb_model *model;
    const dlk_kernels *kernels;
    dlb_bench_stage_data data;
    size_t inputs, outputs, gradient_floats;
    float scale;
    float *scratch;
    float *x;            /* [HOT][inputs + slack] */
    float *prepared, *y; /* [y_images][outputs] */
    size_t y_images;
    uint8_t *winner, *keep, *keep_planes; /* [images]…; NULL: none */
    struct {
        float *prepared, *y, *dy, *dx, *partial, *dweights;
        uint8_t *winner;
    } back;
    struct {
        float *prepared, *x, *y;
        uint8_t *winner, *keep_planes;
    } lanes; /* of as many images as there are lanes */
};

/* ---- Dropout ---- */

static float scale_of(const dlb_bench_stage *s, int layer)
{
    return layer < 0 ? 1.0F : 1.0F / (1.0F - (float)s->model->layers[layer].rate);
}

/* What a dropout layer keeps of every image, `count` decisions each. */
static void draw(const dlb_bench_stage *s, int layer, size_t count, uint8_t *keep)
{
    if (!keep)
        return;
    dlk_dropout shape = dlb_layer_dropout(&s->model->layers[layer], s->data.images);
    dlk_rng_key key = dlb_dropout_key(layer, s->data.step);
    for (size_t i = 0; i < (size_t)s->data.images; i++)
        s->kernels->dropout_keep(&shape, &key, i * count, count, keep + i * count);
}

void dlb_bench_stage_keep(void *self)
{
    dlb_bench_stage *s = self;
    draw(s, s->plan.dropout, s->outputs, s->keep);
    draw(s, s->plan.dropout2d, (size_t)s->plan.shape.conv.oc, s->keep_planes);
}

/* ---- Passes over a batch ---- */

static float *hot_input(const dlb_bench_stage *s, size_t image)
{
    return s->x + image % HOT * (s->inputs + DLK_SLACK);
}

static uint8_t *bytes_of(uint8_t *bytes, size_t image, size_t count)
{
    return bytes ? bytes + image * count : NULL;
}

void dlb_bench_stage_forward(void *self)
{
    dlb_bench_stage *s = self;
    const dlk_stage *shape = &s->plan.shape;
    for (int i = 0; i < s->plan.forward->parts(shape); i++)
        s->plan.forward->prepare(shape, i, s->data.weights, s->data.bias, s->prepared);
    for (size_t i = 0; i < (size_t)s->data.images; i++) {
        dlk_stage_pass pass = {
            .prepared = s->prepared,
            .x = hot_input(s, i),
            .y = s->y + i % s->y_images * s->outputs,
            .winner = bytes_of(s->winner, i, s->outputs),
            .keep = bytes_of(s->keep, i, s->outputs),
            .keep_planes = bytes_of(s->keep_planes, i, (size_t)shape->conv.oc),
            .scale = s->scale,
            .scratch = s->scratch,
        };
        s->plan.forward->run(shape, &pass);
    }
}

static void prepare_lanes(dlb_bench_stage *s)
{
    const dlk_stage *shape = &s->plan.shape;
    for (int i = 0; i < s->plan.lanes->parts(shape); i++)
        s->plan.lanes->prepare(shape, i, s->data.weights, s->data.bias, s->lanes.prepared);
}

static dlk_stage_pass lanes_pass(const dlb_bench_stage *s)
{
    return (dlk_stage_pass){.prepared = s->lanes.prepared,
                            .x = s->lanes.x,
                            .y = s->lanes.y,
                            .scale = 1,
                            .scratch = s->scratch};
}

/* Images [first, first + count), as a trunk takes them: the first stage brings them into lanes. */
static void forward_lot(const dlb_bench_stage *s, const dlk_stage_pass *pass, int first, int count)
{
    const dlk_lanes *lanes = s->kernels->lanes;
    const dlk_stage *shape = &s->plan.shape;
    size_t at = (size_t)first * s->outputs;
    if (s->plan.first == 0)
        lanes->enter(shape, count < HOT ? count : HOT, s->x, s->inputs + DLK_SLACK, s->lanes.x);
    s->plan.lanes->run(shape, pass);
    lanes->leave_bytes(shape, count, pass->winner, s->winner + at, s->outputs);
    lanes->leave(shape, count, pass->y, s->y + at, s->outputs);
}

void dlb_bench_stage_forward_lanes(void *self)
{
    dlb_bench_stage *s = self;
    int lanes = s->kernels->lanes->images;
    dlk_stage_pass pass = lanes_pass(s);
    pass.winner = s->lanes.winner;
    pass.keep_planes = s->lanes.keep_planes;
    pass.scale = s->scale;
    prepare_lanes(s);
    for (int i = 0; i < s->data.images; i += lanes)
        forward_lot(s, &pass, i, s->data.images - i < lanes ? s->data.images - i : lanes);
}

/* Weights are prepared once an evaluation, so not here. */
void dlb_bench_stage_evaluate(void *self)
{
    dlb_bench_stage *s = self;
    dlk_stage_pass pass = lanes_pass(s);
    for (int i = 0; i < s->data.images; i += s->kernels->lanes->images)
        s->plan.lanes->run(&s->plan.shape, &pass);
}

static void return_image(const dlb_bench_stage *s, size_t image, float *gradient)
{
    dlk_stage_return back = {
        .prepared = s->back.prepared,
        .x = hot_input(s, image),
        .y = s->back.y + image * s->outputs,
        .dy = s->back.dy + image * s->outputs,
        .winner = bytes_of(s->back.winner, image, s->outputs),
        .scale = s->scale,
        .dx = s->back.dx,
        .gradient = gradient,
        .scratch = s->scratch,
    };
    s->plan.backward->run(&s->plan.shape, &back);
}

static int groups_of(const dlb_bench_stage *s)
{
    return dlb_stages_groups(&s->plan, 1, s->data.images);
}

static void return_group(const dlb_bench_stage *s, int group)
{
    int n = s->data.images, groups = groups_of(s);
    int first = dlb_group_start(n, groups, group), end = dlb_group_start(n, groups, group + 1);
    float *gradient = s->back.partial + (size_t)group * s->gradient_floats;
    for (int i = first; i < end; i++)
        return_image(s, (size_t)i, gradient);
}

void dlb_bench_stage_backward(void *self)
{
    dlb_bench_stage *s = self;
    const dlk_stage *shape = &s->plan.shape;
    int groups = groups_of(s);
    const dlb_layer *layer = &s->model->layers[s->plan.first];
    for (int i = 0; i < s->plan.backward->parts(shape, s->plan.data); i++)
        s->plan.backward->prepare(shape, i, s->data.weights, s->back.prepared);
    for (int g = 0; g < groups; g++)
        return_group(s, g);
    float *sums[DLB_MOST_GROUPS];
    for (int g = 0; g < groups; g++)
        sums[g] = s->back.partial + (size_t)g * s->gradient_floats;
    dlk_gradients gradients = {groups, sums};
    for (int i = 0; i < s->plan.backward->finish_parts(shape); i++)
        s->plan.backward->finish(shape, i, &gradients, s->back.dweights,
                                 s->back.dweights + layer->weights);
}

/* ---- Data ---- */

static size_t all(const dlb_bench_stage *s, size_t of_image)
{
    return (size_t)s->data.images * of_image;
}

/* Let a share of the outputs pass a gradient on, at random. */
static void choose_alive(dlb_bench_stage *s, double alive)
{
    dlk_rng_key key = {.purpose = DLK_RNG_SYNTHETIC};
    for (size_t i = 0; i < all(s, s->outputs); i++) {
        uint32_t draw = dlk_rng_below(&key, (uint32_t)i, 1 << 24);
        bool lives = draw < alive * (1 << 24);
        s->back.y[i] = lives ? 1.0F : 0.0F;
        if (s->back.winner)
            s->back.winner[i] = lives ? draw & 3U : DLK_DEAD;
        if (lives && s->back.dy[i] == 0.0F)
            s->back.dy[i] = 1.0F;
    }
}

/* What backward finds is what forward has left, unless `alive` says otherwise. */
static void make_past(dlb_bench_stage *s)
{
    dlb_bench_stage_keep(s);
    dlb_bench_stage_forward(s);
    memcpy(s->back.y, s->y, all(s, s->outputs) * sizeof *s->y);
    if (s->winner)
        memcpy(s->back.winner, s->winner, all(s, s->outputs));
    memcpy(s->back.dy, s->data.dy, all(s, s->outputs) * sizeof *s->data.dy);
    if (!isnan(s->data.alive))
        choose_alive(s, s->data.alive);
}

static bool leaves_no_values(const dlb_bench_stage *s)
{
    return dlb_stage_is_cheap(&s->plan) && s->model->layers[s->plan.end].kind == DLB_CONV2D;
}

static void heat_inputs(dlb_bench_stage *s)
{
    for (size_t i = 0; i < HOT; i++) {
        size_t image = i % (size_t)s->data.images;
        memcpy(hot_input(s, i), s->data.x + image * s->inputs, s->inputs * sizeof *s->x);
    }
}

double dlb_bench_stage_alive(const dlb_bench_stage *s)
{
    size_t count = all(s, s->outputs), alive = 0;
    for (size_t i = 0; i < count; i++)
        alive += s->back.dy[i] != 0.0F &&
                 (s->back.winner ? s->back.winner[i] != DLK_DEAD : s->back.y[i] > 0);
    return (double)alive / (double)count;
}

/* ---- Life ---- */

static float *floats(size_t count)
{
    return dlb_alloc(count + DLK_SLACK, sizeof(float));
}

static void allocate_forward(dlb_bench_stage *s)
{
    const dlb_stage *plan = &s->plan;
    const dlk_stage *shape = &plan->shape;
    s->x = floats(HOT * (s->inputs + DLK_SLACK));
    s->prepared = floats(plan->forward->prepared_floats(shape));
    if (plan->forward->lay_out)
        plan->forward->lay_out(shape, s->prepared);
    s->y = floats(all(s, s->outputs));
    if (shape->pool)
        s->winner = dlb_alloc(all(s, s->outputs), 1);
    if (plan->dropout >= 0)
        s->keep = dlb_alloc(all(s, s->outputs), 1);
    if (plan->dropout2d >= 0)
        s->keep_planes = dlb_alloc(all(s, (size_t)shape->conv.oc), 1);
}

static void allocate_backward(dlb_bench_stage *s)
{
    const dlb_stage *plan = &s->plan;
    const dlb_layer *layer = &s->model->layers[plan->first];
    s->gradient_floats = dlb_whole_lines(plan->backward->gradient_floats(&plan->shape));
    s->back.prepared = floats(plan->backward->prepared_floats(&plan->shape, plan->data));
    s->back.y = floats(all(s, s->outputs));
    s->back.dy = floats(all(s, s->outputs));
    s->back.dx = plan->data ? floats(s->inputs) : NULL;
    s->back.winner = s->winner ? dlb_alloc(all(s, s->outputs), 1) : NULL;
    s->back.partial = floats((size_t)groups_of(s) * s->gradient_floats);
    s->back.dweights = floats((size_t)layer->weights + (size_t)layer->biases);
}

/* What the first images keep of their planes, [oc][lanes]. */
static uint8_t *planes_of_lanes(const dlb_bench_stage *s)
{
    size_t lanes = (size_t)s->kernels->lanes->images, channels = (size_t)s->plan.shape.conv.oc;
    uint8_t *planes = dlb_alloc(lanes * channels, 1);
    for (size_t i = 0; i < lanes * channels; i++) {
        size_t image = i % lanes % (size_t)s->data.images;
        planes[i] = s->keep_planes[image * channels + i / lanes];
    }
    return planes;
}

static void allocate_lanes(dlb_bench_stage *s)
{
    const dlk_stage *shape = &s->plan.shape;
    const dlk_lanes *lanes = s->kernels->lanes;
    if (!s->plan.lanes)
        return;
    size_t images = (size_t)lanes->images;
    s->lanes.prepared = floats(s->plan.lanes->prepared_floats(shape));
    s->lanes.x = floats(images * s->inputs);
    s->lanes.y = floats(images * s->outputs);
    s->lanes.winner = dlb_alloc(images * s->outputs, 1);
    if (s->keep_planes)
        s->lanes.keep_planes = planes_of_lanes(s);
    prepare_lanes(s);
    lanes->enter(shape, lanes->images < HOT ? lanes->images : HOT, s->x, s->inputs + DLK_SLACK,
                 s->lanes.x);
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t scratch_floats(const dlb_stage *plan)
{
    size_t floats = larger(plan->forward->scratch_floats(&plan->shape),
                           plan->backward->scratch_floats(&plan->shape, plan->data));
    return plan->lanes ? larger(floats, plan->lanes->scratch_floats(&plan->shape)) : floats;
}

dlb_bench_stage *dlb_bench_stage_create(const dlb_stage *plan, const dlb_model *model,
                                        const dlk_kernels *kernels,
                                        const dlb_bench_stage_data *data)
{
    dlb_bench_stage *s = dlb_alloc(1, sizeof *s);
    *s = (dlb_bench_stage){.plan = *plan,
                           .model = model,
                           .kernels = kernels,
                           .data = *data,
                           .inputs = dlk_stage_inputs(&plan->shape),
                           .outputs = dlk_stage_outputs(&plan->shape)};
    s->scale = scale_of(s, plan->dropout) * scale_of(s, plan->dropout2d);
    s->scratch = floats(scratch_floats(plan));
    allocate_forward(s);
    allocate_backward(s);
    heat_inputs(s);
    s->y_images = (size_t)s->data.images;
    make_past(s);
    allocate_lanes(s);
    if (leaves_no_values(s) && s->y_images > HOT)
        s->y_images = HOT;
    return s;
}

void dlb_bench_stage_free(dlb_bench_stage *s)
{
    if (!s)
        return;
    free(s->lanes.keep_planes);
    free(s->lanes.winner);
    free(s->lanes.y);
    free(s->lanes.x);
    free(s->lanes.prepared);
    free(s->back.dweights);
    free(s->back.partial);
    free(s->back.winner);
    free(s->back.dx);
    free(s->back.dy);
    free(s->back.y);
    free(s->back.prepared);
    free(s->keep_planes);
    free(s->keep);
    free(s->winner);
    free(s->y);
    free(s->prepared);
    free(s->x);
    free(s->scratch);
    free(s);
}

/* ---- Cost ---- */

/* The convolution's own outputs never leave the stage; its outputs and, if wanted, winners do. */
static dlk_cost fused(dlk_cost cost, const dlb_stage *plan, int images, bool winners)
{
    const dlk_conv2d *conv = &plan->shape.conv;
    double inner = (double)dlk_conv2d_oh(conv) * dlk_conv2d_ow(conv) * conv->oc * sizeof(float);
    double outer = (double)dlk_stage_outputs(&plan->shape) *
                   (double)(sizeof(float) + (plan->shape.pool && winners ? 1 : 0));
    cost.bytes += images * (outer - inner);
    return cost;
}

static dlk_conv2d convolution_of(const dlb_stage *plan, int images)
{
    dlk_conv2d conv = plan->shape.conv;
    conv.n = images;
    return conv;
}

dlk_cost dlb_bench_stage_forward_cost(const dlb_stage *plan, int images)
{
    dlk_conv2d conv = convolution_of(plan, images);
    return fused(dlk_conv2d_forward_cost(&conv), plan, images, true);
}

dlk_cost dlb_bench_stage_evaluation_cost(const dlb_stage *plan, int images)
{
    dlk_conv2d conv = convolution_of(plan, images);
    return fused(dlk_conv2d_forward_cost(&conv), plan, images, false);
}

/* Both gradients in one pass: the outputs' are read once. */
dlk_cost dlb_bench_stage_backward_cost(const dlb_stage *plan, int images)
{
    dlk_conv2d conv = convolution_of(plan, images);
    dlk_cost cost = fused(dlk_conv2d_backward_weights_cost(&conv), plan, images, true);
    if (plan->data) {
        cost.flops += dlk_conv2d_backward_data_cost(&conv).flops;
        cost.bytes += (double)images * (double)dlk_stage_inputs(&plan->shape) * sizeof(float);
    }
    return cost;
}
