#include "graph/model.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "graph/builtin.h"
#include "graph/shape.h"

/* ---- What a line may say ---- */

typedef enum arg_type { ARG_COUNT, ARG_PAIR, ARG_PADDING, ARG_REAL } arg_type;

typedef struct arg_rule {
    const char *name;
    arg_type type;
    size_t offset; /* of the field in the struct that the line fills */
    bool required;
    double min, max;
} arg_rule;

enum { ARGS_MAX = 4 };

typedef struct layer_rule {
    const char *name;
    arg_rule args[ARGS_MAX]; /* ends with a NULL name */
} layer_rule;

#define FIELD(member) offsetof(dlb_layer, member)

static const layer_rule layer_rules[DLB_LAYER_KINDS] = {
    [DLB_CONV2D] = {"conv2d",
                    {{"filters", ARG_COUNT, FIELD(filters), true, 1, 65536},
                     {"kernel", ARG_PAIR, FIELD(kernel), true, 1, 255},
                     {"stride", ARG_PAIR, FIELD(stride), false, 1, 255},
                     {"padding", ARG_PADDING, FIELD(padding), false, 0, 254}}},
    [DLB_MAXPOOL] = {"maxpool",
                     {{"size", ARG_COUNT, FIELD(kernel), true, 1, 15},
                      {"stride", ARG_COUNT, FIELD(stride), false, 1, 255}}},
    [DLB_RELU] = {"relu", {{0}}},
    [DLB_DROPOUT] = {"dropout", {{"rate", ARG_REAL, FIELD(rate), true, 0, 0.999}}},
    [DLB_DROPOUT2D] = {"dropout2d", {{"rate", ARG_REAL, FIELD(rate), true, 0, 0.999}}},
    [DLB_FLATTEN] = {"flatten", {{0}}},
    [DLB_DENSE] = {"dense", {{"units", ARG_COUNT, FIELD(units), true, 1, 1 << 20}}},
    [DLB_SOFTMAX] = {"softmax", {{0}}},
};

static const arg_rule input_args[ARGS_MAX] = {
    {"mean", ARG_REAL, offsetof(dlb_model, mean), false, -1000, 1000},
    {"std", ARG_REAL, offsetof(dlb_model, std), false, 1e-6, 1000},
};

const char *dlb_layer_kind_name(dlb_layer_kind kind)
{
    return layer_rules[kind].name;
}

/* ---- Reading a line ---- */

enum { WORDS_MAX = 32, WORD_BYTES = 128, SHOWN_MAX = 120, STATEMENTS = 4 };

typedef struct word {
    char text[WORD_BYTES];
    int column; /* from 1 */
} word;

typedef struct reader {
    const char *origin;
    const char *line_start; /* of the text, not terminated */
    int line_length;
    int line;
    int word_count;
    word words[WORDS_MAX];
    int first_line[STATEMENTS]; /* where each statement stood first; 0: not yet */
    size_t layer_capacity, default_capacity;
    dlb_error *err;
} reader;

static int shown_length(int length)
{
    return length < SHOWN_MAX ? length : SHOWN_MAX;
}

/* "file:line: message", then `text` of the line, `length` bytes, with a caret under `column`. */
static int fail_in_line(dlb_error *err, const char *origin, int line, const char *message,
                        const char *text, int length, int column)
{
    int shown = shown_length(length);
    int caret = column > shown + 1 ? shown + 1 : column;
    return dlb_fail(err, DLB_BAD_INPUT, "%s:%d: %s\n    %.*s\n    %*s", origin, line, message,
                    shown, text, caret, "^");
}

static int fail_at(const reader *r, int column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int fail_at(const reader *r, int column, const char *format, ...)
{
    char message[400];
    va_list args;
    va_start(args, format);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it does not see va_start here
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return fail_in_line(r->err, r->origin, r->line, message, r->line_start, r->line_length, column);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static int split_words(reader *r)
{
    r->word_count = 0;
    int at = 0;
    for (;;) {
        while (at < r->line_length && is_space(r->line_start[at]))
            at++;
        if (at == r->line_length || r->line_start[at] == '#')
            return 0;
        int start = at;
        while (at < r->line_length && !is_space(r->line_start[at]) && r->line_start[at] != '#')
            at++;
        if (r->word_count == WORDS_MAX)
            return fail_at(r, start + 1, "more than %d words on a line", WORDS_MAX);
        if (at - start >= WORD_BYTES)
            return fail_at(r, start + 1, "a word of more than %d characters", WORD_BYTES - 1);
        word *w = &r->words[r->word_count++];
        memcpy(w->text, r->line_start + start, (size_t)(at - start));
        w->text[at - start] = '\0';
        w->column = start + 1;
    }
}

static bool parse_count(const char *text, const arg_rule *rule, int *value)
{
    long long number;
    if (!dlb_parse_int(text, &number) || (double)number < rule->min || (double)number > rule->max)
        return false;
    *value = (int)number;
    return true;
}

/* "3" is 3x3. */
static bool parse_pair(const char *text, const arg_rule *rule, int pair[2])
{
    char rows[WORD_BYTES];
    snprintf(rows, sizeof rows, "%s", text);
    char *cross = strchr(rows, 'x');
    const char *columns = cross ? cross + 1 : rows;
    if (cross)
        *cross = '\0';
    return parse_count(rows, rule, &pair[0]) && parse_count(columns, rule, &pair[1]);
}

static bool store_arg(const arg_rule *rule, const char *text, void *target)
{
    void *field = (char *)target + rule->offset;
    double real;
    switch (rule->type) {
    case ARG_COUNT:
        return parse_count(text, rule, field);
    case ARG_PADDING:
        if (strcmp(text, "same") == 0) {
            ((int *)field)[0] = ((int *)field)[1] = DLB_PADDING_SAME;
            return true;
        }
        return parse_pair(text, rule, field);
    case ARG_PAIR:
        return parse_pair(text, rule, field);
    case ARG_REAL:
        if (!dlb_parse_real(text, &real) || !(real >= rule->min && real <= rule->max))
            return false;
        *(double *)field = real;
        return true;
    }
    return false;
}

static int rule_count(const arg_rule *rules)
{
    int count = 0;
    while (count < ARGS_MAX && rules[count].name)
        count++;
    return count;
}

static int fail_unknown_arg(const reader *r, const word *w, const char *name, const arg_rule *rules)
{
    dlb_str known = DLB_STR_INIT;
    for (int i = 0; i < rule_count(rules); i++)
        dlb_str_addf(&known, "%s%s", i ? ", " : "", rules[i].name);
    int status = known.length ? fail_at(r, w->column, "%s takes no '%s'; it takes %s",
                                        r->words[0].text, name, known.text)
                              : fail_at(r, w->column, "%s takes no arguments", r->words[0].text);
    dlb_str_release(&known);
    return status;
}

/* The words from `first` on, each name=value, into the fields of *target. */
static int read_args(reader *r, int first, const arg_rule *rules, void *target)
{
    int count = rule_count(rules);
    bool given[ARGS_MAX] = {false};
    for (int i = first; i < r->word_count; i++) {
        word *w = &r->words[i];
        char *equals = strchr(w->text, '=');
        if (equals)
            *equals = '\0';
        int k = 0;
        while (k < count && strcmp(rules[k].name, w->text) != 0)
            k++;
        if (k == count)
            return fail_unknown_arg(r, w, w->text, rules);
        if (!equals)
            return fail_at(r, w->column, "%s needs a value: %s=…", w->text, w->text);
        if (given[k])
            return fail_at(r, w->column, "%s is given twice", w->text);
        if (!store_arg(&rules[k], equals + 1, target))
            return fail_at(r, w->column, "%s=%s: must be %s%g … %g", w->text, equals + 1,
                           rules[k].type == ARG_PADDING ? "'same' or " : "", rules[k].min,
                           rules[k].max);
        given[k] = true;
    }
    for (int k = 0; k < count; k++)
        if (rules[k].required && !given[k])
            return fail_at(r, r->words[0].column, "%s needs %s=…", r->words[0].text, rules[k].name);
    return 0;
}

/* ---- Statements ---- */

static int read_model_line(reader *r, dlb_model *model)
{
    if (r->word_count != 2 || strlen(r->words[1].text) >= sizeof model->name)
        return fail_at(r, r->words[0].column, "write: model NAME (of at most %zu characters)",
                       sizeof model->name - 1);
    snprintf(model->name, sizeof model->name, "%s", r->words[1].text);
    return 0;
}

static int read_input_line(reader *r, dlb_model *model)
{
    int used = 0;
    dlb_shape s;
    if (r->word_count < 2 ||
        sscanf(r->words[1].text, "%5dx%5dx%5d%n", &s.h, &s.w, &s.c, &used) != 3 ||
        r->words[1].text[used] || s.h < 1 || s.w < 1 || s.c < 1 || s.h > 4096 || s.w > 4096 ||
        s.c > 4096)
        return fail_at(r, r->words[r->word_count > 1].column,
                       "write: input ROWSxCOLUMNSxCHANNELS, such as 28x28x1");
    if (!dlb_shape_fits(s))
        return fail_at(r, r->words[1].column, "an input of %dx%dx%d is too large", s.h, s.w, s.c);
    model->input = s;
    return read_args(r, 2, input_args, model);
}

static int read_init_line(reader *r, dlb_model *model)
{
    const char *value = r->word_count == 2 ? r->words[1].text : "";
    if (strcmp(value, "glorot") == 0)
        model->init = DLB_INIT_GLOROT;
    else if (strcmp(value, "torch") == 0)
        model->init = DLB_INIT_TORCH;
    else
        return fail_at(r, r->words[r->word_count > 1].column, "write: init glorot, or init torch");
    return 0;
}

static void add_default(reader *r, dlb_model *model, const word *key, const char *value)
{
    model->defaults = dlb_grow(model->defaults, &r->default_capacity,
                               (size_t)model->default_count + 1, sizeof *model->defaults);
    char *text = dlb_alloc(SHOWN_MAX + 1, 1);
    memcpy(text, r->line_start, (size_t)shown_length(r->line_length));
    model->defaults[model->default_count++] =
        (dlb_model_default){dlb_strdup(key->text), dlb_strdup(value), r->line, key->column, text};
}

static int read_train_line(reader *r, dlb_model *model)
{
    if (r->word_count == 1)
        return fail_at(r, r->words[0].column, "write: train key=value …");
    for (int i = 1; i < r->word_count; i++) {
        word *w = &r->words[i];
        char *equals = strchr(w->text, '=');
        if (!equals || equals == w->text)
            return fail_at(r, w->column, "write: train key=value …");
        *equals = '\0';
        for (int k = 0; k < model->default_count; k++)
            if (strcmp(model->defaults[k].key, w->text) == 0)
                return fail_at(r, w->column, "%s is given twice, first on line %d", w->text,
                               model->defaults[k].line);
        add_default(r, model, w, equals + 1);
    }
    return 0;
}

static const struct {
    const char *name;
    bool once;
    int (*read)(reader *r, dlb_model *model);
} statements[STATEMENTS] = {
    {"model", true, read_model_line},
    {"input", true, read_input_line},
    {"init", true, read_init_line},
    {"train", false, read_train_line},
};

static int read_statement(reader *r, dlb_model *model, int index)
{
    int *first = &r->first_line[index];
    if (statements[index].once && *first)
        return fail_at(r, r->words[0].column, "a second %s line; the first is line %d",
                       statements[index].name, *first);
    *first = r->line;
    return statements[index].read(r, model);
}

static int fail_unknown_statement(const reader *r)
{
    const char *known[DLB_LAYER_KINDS + STATEMENTS];
    size_t count = 0;
    for (int k = 0; k < DLB_LAYER_KINDS; k++)
        known[count++] = layer_rules[k].name;
    for (int i = 0; i < STATEMENTS; i++)
        known[count++] = statements[i].name;
    const char *close = dlb_closest(r->words[0].text, known, count);
    return fail_at(r, r->words[0].column, "'%s' is neither a layer nor a statement%s%s%s",
                   r->words[0].text, close ? "; did you mean " : "", close ? close : "",
                   close ? "?" : "");
}

static int read_layer_line(reader *r, dlb_model *model)
{
    int kind = 0;
    while (kind < DLB_LAYER_KINDS && strcmp(layer_rules[kind].name, r->words[0].text) != 0)
        kind++;
    if (kind == DLB_LAYER_KINDS)
        return fail_unknown_statement(r);
    if (!model->input.h)
        return fail_at(r, r->words[0].column, "the input line must come before the layers");
    if (model->layer_count == DLB_LAYERS_MAX)
        return fail_at(r, r->words[0].column, "more than %d layers", DLB_LAYERS_MAX);

    dlb_layer layer = {.kind = (dlb_layer_kind)kind, .line = r->line};
    if (kind == DLB_CONV2D)
        layer.stride[0] = layer.stride[1] = 1;
    if (read_args(r, 1, layer_rules[kind].args, &layer) < 0)
        return DLB_BAD_INPUT;
    dlb_error why;
    if (dlb_shape_infer(model, &layer, &why) < 0)
        return fail_at(r, r->words[0].column, "%s", why.message);
    model->layers =
        dlb_grow(model->layers, &r->layer_capacity, (size_t)model->layer_count + 1, sizeof layer);
    model->layers[model->layer_count++] = layer;
    return 0;
}

static int read_line(reader *r, dlb_model *model)
{
    if (split_words(r) < 0)
        return DLB_BAD_INPUT;
    if (r->word_count == 0)
        return 0;
    for (int i = 0; i < STATEMENTS; i++)
        if (strcmp(r->words[0].text, statements[i].name) == 0)
            return read_statement(r, model, i);
    return read_layer_line(r, model);
}

static int check_whole(const reader *r, dlb_model *model)
{
    if (!model->name[0])
        return fail_at(r, 1, "the model has no name; begin with: model NAME");
    const dlb_layer *last = model->layer_count ? &model->layers[model->layer_count - 1] : NULL;
    if (!last || last->kind != DLB_SOFTMAX)
        return fail_at(r, 1, "a model ends with a softmax layer");
    if (dlb_model_parameters(model) == 0)
        return fail_at(r, 1, "no layer has anything to learn; add a dense or conv2d layer");
    model->classes = dlb_shape_size(last->in);
    return 0;
}

int dlb_model_parse(dlb_model *model, const char *origin, const char *text, dlb_error *err)
{
    *model = (dlb_model){.origin = dlb_strdup(origin), .std = 1};
    reader *r = dlb_alloc(1, sizeof *r);
    *r = (reader){.origin = origin, .err = err};
    int status = 0;
    for (const char *at = text; status == 0 && *at;) {
        const char *end = strchr(at, '\n');
        r->line++;
        r->line_start = at;
        r->line_length = (int)(end ? end - at : (ptrdiff_t)strlen(at));
        status = read_line(r, model);
        at += r->line_length + (end != NULL);
    }
    if (status == 0)
        status = check_whole(r, model);
    if (status < 0)
        dlb_model_release(model);
    free(r);
    return status;
}

int dlb_model_refuse_default(const dlb_model *model, int index, const char *why, dlb_error *err)
{
    const dlb_model_default *d = &model->defaults[index];
    return fail_in_line(err, model->origin, d->line, why, d->text, (int)strlen(d->text), d->column);
}

/* ---- Finding a model ---- */

static bool is_path(const char *name)
{
    size_t length = strlen(name);
    return strchr(name, '/') || (length > 6 && strcmp(name + length - 6, ".model") == 0);
}

static int load_file(dlb_model *model, const char *path, dlb_error *err)
{
    dlb_str text = DLB_STR_INIT;
    int status = dlb_file_read(path, DLB_MODEL_BYTES_MAX, &text, err);
    if (status == 0)
        status = dlb_model_parse(model, path, text.text ? text.text : "", err);
    dlb_str_release(&text);
    return status;
}

int dlb_model_load(dlb_model *model, const char *name, dlb_error *err)
{
    *model = (dlb_model){0};
    if (is_path(name))
        return load_file(model, name, err);
    dlb_str known = DLB_STR_INIT;
    for (const dlb_builtin_model *m = dlb_builtin_models; m->name; m++) {
        if (strcmp(m->name, name) == 0) {
            dlb_str_release(&known);
            return dlb_model_parse(model, m->name, m->text, err);
        }
        dlb_str_addf(&known, "%s%s", known.length ? ", " : "", m->name);
    }
    dlb_fail(err, DLB_BAD_INPUT, "no model '%s'; built in are %s; a file is given as ./%s.model",
             name, known.text, name);
    dlb_str_release(&known);
    return DLB_BAD_INPUT;
}

void dlb_model_release(dlb_model *model)
{
    for (int i = 0; i < model->default_count; i++) {
        free(model->defaults[i].key);
        free(model->defaults[i].value);
        free(model->defaults[i].text);
    }
    free(model->defaults);
    free(model->layers);
    free(model->origin);
    *model = (dlb_model){0};
}

long long dlb_model_parameters(const dlb_model *model)
{
    long long total = 0;
    for (int i = 0; i < model->layer_count; i++)
        total += (long long)model->layers[i].weights + model->layers[i].biases;
    return total;
}
