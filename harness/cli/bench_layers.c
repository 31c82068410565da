#include "cli/bench_layers.h"

#include <string.h>

#include "base/str.h"

/* From `text` to the next semicolon or its end, without blanks at the beginning. */
static size_t part_of(const char **text)
{
    *text += strspn(*text, " ;");
    return strcspn(*text, ";");
}

static void add_lines(dlb_str *lines, const char *layers)
{
    dlb_str_add(lines, "model " DLB_LAYERS_NAME "\ntrain batch=64 optimizer=sgd lr=0.01\ninput ");
    for (size_t length; (length = part_of(&layers)) > 0; layers += length) {
        dlb_str_add_bytes(lines, layers, length);
        dlb_str_add(lines, "\n");
    }
    if (!strstr(lines->text, "\nsoftmax"))
        dlb_str_add(lines, "flatten\ndense units=10\nsoftmax\n");
}

int dlb_bench_layers_parse(dlb_model *model, const char *layers, dlb_error *err)
{
    dlb_str lines = DLB_STR_INIT;
    add_lines(&lines, layers);
    int status = dlb_model_parse(model, "--layers", lines.text, err);
    dlb_str_release(&lines);
    return status;
}
