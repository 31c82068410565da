#include <criterion/criterion.h>

#include "graph/cost.h"
#include "graph/model.h"
#include "graph/shape.h"

static dlb_model load(const char *name)
{
    dlb_model model;
    dlb_error err;
    int status = dlb_model_load(&model, name, &err);
    cr_assert_eq(status, 0, "%s", err.message);
    return model;
}

Test(model, keras_cnn_has_exactly_the_parameters_of_keras)
{
    dlb_model model = load("keras_cnn");
    cr_assert_eq(dlb_model_parameters(&model), 1199882);
    cr_assert_eq(model.classes, 10);
    dlb_model_release(&model);
}

Test(model, horovod_cnn_has_exactly_the_parameters_of_pytorch)
{
    dlb_model model = load("horovod_cnn");
    cr_assert_eq(dlb_model_parameters(&model), 21840);
    cr_assert_float_eq(model.mean, 0.1307, 1e-9);
    cr_assert_float_eq(model.std, 0.3081, 1e-9);
    dlb_model_release(&model);
}

Test(model, a_layer_declares_the_flops_of_its_arithmetic)
{
    dlb_model model = load("keras_cnn");
    double macs = 24.0 * 24 * 64 * 3 * 3 * 32;
    cr_assert_float_eq(dlb_layer_forward_cost(&model.layers[2], 1).flops, 2 * macs,
                       0.01 * macs); /* and the biases */
    dlb_model_release(&model);
}

Test(model, shapes_follow_stride_and_padding)
{
    dlb_model model;
    dlb_error err;
    const char *text = "model t\ninput 9x7x2\nconv2d filters=5 kernel=3x5 stride=2x1 padding=1x2\n"
                       "conv2d filters=3 kernel=3 padding=same\nflatten\ndense units=4\nsoftmax\n";
    cr_assert_eq(dlb_model_parse(&model, "t", text, &err), 0, "%s", err.message);
    dlb_shape first = model.layers[0].out, second = model.layers[1].out;
    cr_assert(first.h == 5 && first.w == 7 && first.c == 5);
    cr_assert(second.h == 5 && second.w == 7 && second.c == 3);
    cr_assert_eq(model.layers[0].weights, 3 * 5 * 2 * 5);
    dlb_model_release(&model);
}

Test(model, a_name_that_is_not_built_in_lists_those_that_are)
{
    dlb_model model;
    dlb_error err;
    cr_assert_eq(dlb_model_load(&model, "keras_cmm", &err), DLB_BAD_INPUT);
    cr_assert(strstr(err.message, "keras_cnn") && strstr(err.message, "horovod_cnn"));
}

struct mistake {
    const char *text, *place, *says;
};

/* A good start of four lines; the mistake is on line 5. */
#define HEAD "model t\ninput 8x8x1\nconv2d filters=2 kernel=3\nrelu\n"

Test(model, every_mistake_is_told_with_its_line)
{
    const struct mistake mistakes[] = {
        {HEAD "conv2 filters=2 kernel=3\n", "t:5:", "did you mean conv2d?"},
        {HEAD "conv2d filters=2\n", "t:5:", "needs kernel="},
        {HEAD "conv2d filters=2 kernel=0\n", "t:5:", "must be 1 "},
        {HEAD "conv2d filters=2 kernel=9\n", "t:5:", "does not fit the 6x6 image"},
        {HEAD "conv2d filters=2 kernel=2 padding=same\n", "t:5:", "odd kernel"},
        {HEAD "conv2d filters=2 filters=3 kernel=3\n", "t:5:", "given twice"},
        {HEAD "relu slope=1\n", "t:5:", "takes no arguments"},
        {HEAD "dropout rate=1\n", "t:5:", "must be 0 "},
        {HEAD "dropout rate=nan\n", "t:5:", "must be 0 "},
        {HEAD "maxpool size=7\n", "t:5:", "does not fit"},
        {HEAD "dense units=3\n", "t:5:", "flatten"},
        {HEAD "flatten\ndense units=3\nsoftmax\nrelu\n", "t:8:", "nothing may follow"},
        {HEAD "flatten\ndense units=1\nsoftmax\n", "t:7:", "2 "},
        {HEAD "flatten\ndense units=3\n", "t:6:", "ends with a softmax"},
        {HEAD "input 8x8x1\n", "t:5:", "second input line; the first is line 2"},
        {HEAD "model u\n", "t:5:", "second model line; the first is line 1"},
        {HEAD "init torch\n\ninit torch\n", "t:7:", "second init line; the first is line 5"},
        {HEAD "train lr=1\ntrain batch=2 lr=3\n", "t:6:", "lr is given twice, first on line 5"},
        {HEAD "train lr=1 lr=1\n", "t:5:", "lr is given twice, first on line 5"},
        {HEAD "train\n", "t:5:", "key=value"},
        {"model t\ninput 8x8\n", "t:2:", "ROWSxCOLUMNSxCHANNELS"},
        {"model t\ninput 4096x4096x256\n", "t:2:", "4096x4096x256 is too large"},
        {"model t\ninput 4096x4096x4096\n", "t:2:", "too large"},
        {"model t\nrelu\n", "t:2:", "input line must come before"},
        {"model t\ninput 1x1x4\nsoftmax\n", "t:3:", "anything to learn"},
        {"model t\ninit he\n", "t:2:", "glorot"},
        {"model t\ntrain batch\n", "t:2:", "key=value"},
        {"input 8x8x1\nflatten\ndense units=3\nsoftmax\n", "t:4:", "no name"},
        {"", "t:0:", "no name"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        dlb_model model;
        dlb_error err = {.message = ""};
        int status = dlb_model_parse(&model, "t", mistakes[i].text, &err);
        cr_assert_eq(status, DLB_BAD_INPUT, "accepted: %s", mistakes[i].text);
        cr_assert_eq(strncmp(err.message, mistakes[i].place, strlen(mistakes[i].place)), 0,
                     "%s does not begin with %s", err.message, mistakes[i].place);
        cr_assert(strstr(err.message, mistakes[i].says), "'%s' does not say '%s'", err.message,
                  mistakes[i].says);
        cr_assert_null(model.layers);
    }
}

Test(model, the_caret_stands_under_the_word_at_fault)
{
    dlb_model model;
    dlb_error err;
    dlb_model_parse(&model, "t", HEAD "conv2d filters=2 kernel=0\n", &err);
    cr_assert(strstr(err.message, "\n    conv2d filters=2 kernel=0\n                     ^"), "%s",
              err.message);
}

/* A size that fits is counted, not wrapped: the largest input, flattened, and its weights. */
Test(model, sizes_are_right_up_to_the_limit)
{
    dlb_model model;
    dlb_error err;
    const char *text =
        "model t\ninput 4096x4096x16\nmaxpool size=2\nflatten\ndense units=4\nsoftmax\n";
    cr_assert_eq(dlb_model_parse(&model, "t", text, &err), 0, "%s", err.message);
    cr_assert_eq(dlb_shape_size(model.input), 1 << 28);
    cr_assert_eq(model.layers[2].weights, 1 << 28);
    cr_assert_eq(dlb_model_parameters(&model), (1 << 28) + 4);
    cr_assert_eq(dlb_model_first_trained(&model), 2);
    dlb_model_release(&model);
}

Test(model, nothing_to_train_is_found_without_reading_past_the_layers)
{
    dlb_layer layers[] = {{.kind = DLB_FLATTEN}, {.kind = DLB_SOFTMAX}};
    dlb_model model = {.layer_count = 2, .layers = layers};
    cr_assert_eq(dlb_model_first_trained(&model), 2);
}

Test(model, who_knows_the_keys_can_point_at_a_wrong_one)
{
    dlb_model model;
    dlb_error err;
    const char *text = HEAD "train batch=8 speed=9 # fast\nflatten\ndense units=3\nsoftmax\n";
    cr_assert_eq(dlb_model_parse(&model, "t.model", text, &err), 0, "%s", err.message);
    cr_assert_eq(model.default_count, 2);
    cr_assert_str_eq(model.defaults[1].key, "speed");
    cr_assert_str_eq(model.defaults[1].value, "9");
    cr_assert_eq(dlb_model_refuse_default(&model, 1, "no such key", &err), DLB_BAD_INPUT);
    cr_assert_str_eq(err.message, "t.model:5: no such key\n    train batch=8 speed=9 # fast\n"
                                  "                  ^");
    dlb_model_release(&model);
}
