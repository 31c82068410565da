#include "cli/cmd.h"
#include "cli/summary_plan.h"
#include "cli/text.h"
#include "graph/cost.h"
#include "train/choice.h"
#include "train/defaults.h"

typedef struct totals {
    double parameters, flops, bytes, train_flops, train_bytes;
} totals;

static void add_shape(dlb_str *text, dlb_shape shape)
{
    if (shape.h == 1 && shape.w == 1)
        dlb_str_addf(text, "%d", shape.c);
    else
        dlb_str_addf(text, "%d × %d × %d", shape.h, shape.w, shape.c);
}

/* Pads to `width` columns. */
static void add_padded(dlb_str *line, const char *text, int width, bool right)
{
    int columns = dlb_text_columns(text);
    int blanks = columns < width ? width - columns : 0;
    if (right)
        dlb_str_addf(line, "%*s%s", blanks, "", text);
    else
        dlb_str_addf(line, "%s%*s", text, blanks, "");
}

static void print_row(const char *layer, const char *shape, const char *parameters,
                      const char *flops, const char *bytes, const char *train_flops)
{
    dlb_str line = DLB_STR_INIT;
    add_padded(&line, layer, 14, false);
    add_padded(&line, shape, 16, false);
    add_padded(&line, parameters, 12, true);
    add_padded(&line, flops, 14, true);
    add_padded(&line, bytes, 12, true);
    add_padded(&line, train_flops, 16, true);
    printf("%s\n", line.text);
    dlb_str_release(&line);
}

static void print_rule(void)
{
    for (int i = 0; i < 84; i++)
        fputs("─", stdout);
    putchar('\n');
}

static void print_layer(const dlb_model *model, int index, totals *sum)
{
    const dlb_layer *layer = &model->layers[index];
    int first = dlb_model_first_trained(model);
    dlk_cost forward = dlb_layer_forward_cost(layer, 1);
    dlk_cost backward = {0};
    if (index >= first)
        backward = dlb_layer_backward_cost(layer, 1, index > first);
    double parameters = (double)layer->weights + layer->biases;

    dlb_str shape = DLB_STR_INIT;
    add_shape(&shape, layer->out);
    print_row(layer->name, shape.text, dlb_text_count(parameters).text,
              dlb_text_count(forward.flops).text, dlb_text_count(forward.bytes).text,
              dlb_text_count(forward.flops + backward.flops).text);
    dlb_str_release(&shape);

    sum->parameters += parameters;
    sum->flops += forward.flops;
    sum->bytes += forward.bytes;
    sum->train_flops += forward.flops + backward.flops;
    sum->train_bytes += forward.bytes + backward.bytes;
}

static void print_model(const dlb_model *model)
{
    totals sum = {0};
    dlb_str input = DLB_STR_INIT;
    add_shape(&input, model->input);
    printf("Model %s, input %s; FLOPs and bytes of one image\n", model->name, input.text);
    print_rule();
    print_row("layer", "output", "parameters", "FLOPs", "bytes", "FLOPs to train");
    print_rule();
    for (int i = 0; i < model->layer_count; i++)
        print_layer(model, i, &sum);
    print_rule();
    print_row("total", "", dlb_text_count(sum.parameters).text, dlb_text_count(sum.flops).text,
              dlb_text_count(sum.bytes).text, dlb_text_count(sum.train_flops).text);
    printf("\nparameters: %s (%sB as 32-bit floats); training: %sFLOP and %sB an image\n",
           dlb_text_count(sum.parameters).text, dlb_text_si(4 * sum.parameters).text,
           dlb_text_si(sum.train_flops).text, dlb_text_si(sum.train_bytes).text);
    dlb_str_release(&input);
}

/* A model with a wrong default could not be trained, so it has no summary either. */
static int load_model(dlb_model *model, const char *name, dlb_workload *workload, dlb_error *err)
{
    int status = dlb_model_load(model, name, err);
    if (status < 0)
        return status;
    status = dlb_defaults_apply(model, workload, err);
    if (status < 0)
        dlb_model_release(model);
    return status;
}

/* What is asked of the command beside the model. */
typedef struct request {
    bool plan;
    const char *kernels, *isa; /* NULL: the best */
} request;

static int choose_kernels(const request *r, dlb_workload *workload, dlk_kernels *kernels,
                          dlb_error *err)
{
    int status = 0;
    if (r->kernels)
        status = dlb_workload_set(workload, DLB_KEY_kernels, r->kernels, err);
    if (status == 0 && r->isa)
        status = dlb_workload_set(workload, DLB_KEY_isa, r->isa, err);
    return status == 0 ? dlb_choose_kernels(kernels, workload, err) : status;
}

static int summarise(const char *name, const request *r, dlb_error *err)
{
    dlb_model model;
    dlb_workload workload;
    dlk_kernels kernels;
    dlb_workload_init(&workload);
    int status = load_model(&model, name, &workload, err);
    if (status == 0) {
        if (r->plan)
            status = choose_kernels(r, &workload, &kernels, err);
        if (status == 0 && r->plan)
            dlb_print_plan(&model, &kernels);
        else if (status == 0)
            print_model(&model);
        dlb_model_release(&model);
    }
    dlb_workload_release(&workload);
    return status;
}

int cmd_summary(int argc, char **argv)
{
    request r = {0};
    const dlb_flag flags[] = {
        {"plan", "print which kernel computes which layers, and why", .on = &r.plan},
        {"kernels", "plan for this family of kernels", .value = "FAMILY", .text = &r.kernels},
        {"isa", "plan for this instruction set", .value = "ISA", .text = &r.isa},
    };
    const dlb_command command = {
        .name = "dlbench summary",
        .about = "Print the layers of a model (keras_cnn, horovod_cnn, or the path of a .model "
                 "file).",
        .operands = "MODEL",
        .flags = flags,
        .flag_count = sizeof flags / sizeof *flags};
    dlb_arguments arguments;
    int status;
    if (!dlb_cli_begin(&command, argc, argv, &arguments, &status))
        return status;
    dlb_error err;
    if ((r.kernels || r.isa) && !r.plan) {
        dlb_fail(&err, DLB_BAD_INPUT, "--kernels and --isa choose what --plan prints; add --plan");
        return dlb_cli_fail(command.name, &err);
    }
    if (summarise(arguments.operands[0], &r, &err) < 0)
        return dlb_cli_fail(command.name, &err);
    return DLB_EXIT_OK;
}
