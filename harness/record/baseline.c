#include "record/baseline.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

static const char format[] = "dlbench-baselines";

enum { VERSION = 1, BYTES_MAX = 1 << 26, ROUNDS_MAX = 100000 };

/* ---- One baseline ---- */

void dlb_baseline_add(dlb_baseline *b, const char *model, const char *kernel, const char *beside,
                      const double *logs, size_t count)
{
    b->ratios = dlb_grow(b->ratios, &b->capacity, b->count + 1, sizeof *b->ratios);
    dlb_baseline_ratio *ratio = &b->ratios[b->count++];
    *ratio = (dlb_baseline_ratio){.model = dlb_strdup(model),
                                  .kernel = dlb_strdup(kernel),
                                  .beside = dlb_strdup(beside),
                                  .count = count,
                                  .logs = dlb_alloc(count, sizeof *ratio->logs)};
    memcpy(ratio->logs, logs, count * sizeof *logs);
}

const dlb_baseline_ratio *dlb_baseline_find(const dlb_baseline *b, const char *model,
                                            const char *kernel)
{
    for (size_t i = 0; i < b->count; i++)
        if (strcmp(b->ratios[i].model, model) == 0 && strcmp(b->ratios[i].kernel, kernel) == 0)
            return &b->ratios[i];
    return NULL;
}

void dlb_baseline_release(dlb_baseline *b)
{
    for (size_t i = 0; i < b->count; i++) {
        free(b->ratios[i].logs);
        free(b->ratios[i].beside);
        free(b->ratios[i].kernel);
        free(b->ratios[i].model);
    }
    free(b->ratios);
    free(b->host);
    free(b->date);
    free(b->commit);
    free(b->kernels);
    free(b->isa);
    free(b->cpu);
    *b = (dlb_baseline){0};
}

/* ---- Those of a file ---- */

static bool is_of(const dlb_baseline *b, const char *cpu, const char *isa, const char *kernels)
{
    return strcmp(b->cpu, cpu) == 0 && strcmp(b->isa, isa) == 0 && strcmp(b->kernels, kernels) == 0;
}

const dlb_baseline *dlb_baselines_find(const dlb_baselines *all, const char *cpu, const char *isa,
                                       const char *kernels)
{
    for (size_t i = 0; i < all->count; i++)
        if (is_of(&all->list[i], cpu, isa, kernels))
            return &all->list[i];
    return NULL;
}

/* Where that of the same machine is, or a new one goes. */
static dlb_baseline *place_for(dlb_baselines *all, const dlb_baseline *made)
{
    for (size_t i = 0; i < all->count; i++)
        if (is_of(&all->list[i], made->cpu, made->isa, made->kernels)) {
            dlb_baseline_release(&all->list[i]);
            return &all->list[i];
        }
    all->list = dlb_grow(all->list, &all->capacity, all->count + 1, sizeof *all->list);
    return &all->list[all->count++];
}

void dlb_baselines_put(dlb_baselines *all, dlb_baseline *made)
{
    *place_for(all, made) = *made;
    *made = (dlb_baseline){0};
}

void dlb_baselines_release(dlb_baselines *all)
{
    for (size_t i = 0; i < all->count; i++)
        dlb_baseline_release(&all->list[i]);
    free(all->list);
    *all = (dlb_baselines){0};
}

/* ---- Reading ---- */

static int fail(const char *origin, const char *what, dlb_error *err)
{
    return dlb_fail(err, DLB_BAD_INPUT,
                    "%s: %s; it is left as it is: name another file, or move it away and make "
                    "one with --save-baseline",
                    origin, what);
}

/* Numbers and nulls. */
static bool take_logs(const json_t *list, double *logs)
{
    size_t index;
    json_t *value;
    json_array_foreach(list, index, value)
    {
        logs[index] = json_is_number(value) ? json_number_value(value) : NAN;
        if (!json_is_null(value) && !isfinite(logs[index]))
            return false;
    }
    return true;
}

static bool take_ratio(dlb_baseline *b, json_t *object)
{
    const char *model, *kernel, *beside;
    json_t *list;
    if (json_unpack_ex(object, NULL, JSON_STRICT, "{s:s, s:s, s:s, s:o}", "model", &model, "kernel",
                       &kernel, "beside", &beside, "logs", &list) < 0 ||
        !json_is_array(list) || json_array_size(list) == 0 || json_array_size(list) > ROUNDS_MAX ||
        dlb_baseline_find(b, model, kernel))
        return false;
    size_t count = json_array_size(list);
    double *logs = dlb_alloc(count, sizeof *logs);
    bool good = take_logs(list, logs);
    if (good)
        dlb_baseline_add(b, model, kernel, beside, logs, count);
    free(logs);
    return good;
}

static bool take_baseline(dlb_baseline *b, json_t *object)
{
    const char *cpu, *isa, *kernels, *commit, *date, *host;
    json_t *ratios;
    if (json_unpack_ex(object, NULL, JSON_STRICT, "{s:s, s:s, s:s, s:s, s:s, s:s, s:o}", "cpu",
                       &cpu, "isa", &isa, "kernels", &kernels, "commit", &commit, "date", &date,
                       "host", &host, "ratios", &ratios) < 0 ||
        !json_is_array(ratios))
        return false;
    *b = (dlb_baseline){.cpu = dlb_strdup(cpu),
                        .isa = dlb_strdup(isa),
                        .kernels = dlb_strdup(kernels),
                        .commit = dlb_strdup(commit),
                        .date = dlb_strdup(date),
                        .host = dlb_strdup(host)};
    size_t index;
    json_t *ratio;
    json_array_foreach(ratios, index, ratio) if (!take_ratio(b, ratio)) return false;
    return true;
}

static int take_list(dlb_baselines *all, const json_t *list, const char *origin, dlb_error *err)
{
    size_t index;
    json_t *object;
    json_array_foreach(list, index, object)
    {
        dlb_baseline made = {0};
        if (!take_baseline(&made, object) ||
            dlb_baselines_find(all, made.cpu, made.isa, made.kernels)) {
            dlb_baseline_release(&made);
            dlb_str what = DLB_STR_INIT;
            dlb_str_addf(&what, "its baseline number %zu is damaged", index + 1);
            int status = fail(origin, what.text, err);
            dlb_str_release(&what);
            return status;
        }
        dlb_baselines_put(all, &made);
    }
    return 0;
}

static int take_root(dlb_baselines *all, json_t *root, const char *origin, dlb_error *err)
{
    const char *said;
    int version;
    json_t *list;
    if (json_unpack(root, "{s:s, s:i}", "format", &said, "version", &version) < 0 ||
        strcmp(said, format) != 0)
        return fail(origin, "it is no file of baselines", err);
    if (version > VERSION)
        return fail(origin, "it is of a later version of dlbench", err);
    if (version != VERSION || json_unpack(root, "{s:o}", "baselines", &list) < 0 ||
        !json_is_array(list))
        return fail(origin, "it is damaged", err);
    return take_list(all, list, origin, err);
}

int dlb_baselines_parse(dlb_baselines *all, const char *origin, const char *text, size_t length,
                        dlb_error *err)
{
    json_error_t where;
    *all = (dlb_baselines){0};
    if (length == 0)
        return fail(origin, "it is empty", err);
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &where);
    if (!root) {
        dlb_str what = DLB_STR_INIT;
        dlb_str_addf(&what, "it is no JSON (line %d: %s)", where.line, where.text);
        int status = fail(origin, what.text, err);
        dlb_str_release(&what);
        return status;
    }
    int status = take_root(all, root, origin, err);
    json_decref(root);
    if (status < 0)
        dlb_baselines_release(all);
    return status;
}

int dlb_baselines_read(dlb_baselines *all, const char *path, dlb_error *err)
{
    dlb_str text = DLB_STR_INIT;
    *all = (dlb_baselines){0};
    int status = dlb_file_read(path, BYTES_MAX, &text, err);
    if (status == 0)
        status = dlb_baselines_parse(all, path, text.text, text.length, err);
    dlb_str_release(&text);
    return status;
}

/* ---- Writing ---- */

/* NULL, as what a text that is not UTF-8 is packed to, makes the whole NULL. */
static json_t *append(json_t *list, json_t *item)
{
    if (list && json_array_append_new(list, item) == 0)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *pack_ratio(const dlb_baseline_ratio *ratio)
{
    json_t *logs = json_array();
    for (size_t i = 0; i < ratio->count; i++)
        logs = append(logs, isnan(ratio->logs[i]) ? json_null() : json_real(ratio->logs[i]));
    return json_pack("{s:s, s:s, s:s, s:o}", "model", ratio->model, "kernel", ratio->kernel,
                     "beside", ratio->beside, "logs", logs);
}

static json_t *pack_baseline(const dlb_baseline *b)
{
    json_t *ratios = json_array();
    for (size_t i = 0; i < b->count; i++)
        ratios = append(ratios, pack_ratio(&b->ratios[i]));
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o}", "cpu", b->cpu, "isa", b->isa, "kernels",
                     b->kernels, "commit", b->commit, "date", b->date, "host", b->host, "ratios",
                     ratios);
}

int dlb_baselines_write(const dlb_baselines *all, const char *path, dlb_error *err)
{
    json_t *list = json_array();
    for (size_t i = 0; i < all->count; i++)
        list = append(list, pack_baseline(&all->list[i]));
    json_t *root =
        json_pack("{s:s, s:i, s:o}", "format", format, "version", VERSION, "baselines", list);
    char *text = root ? json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(7)) : NULL;
    json_decref(root);
    if (!text)
        return dlb_fail(err, DLB_FAIL, "%s: a text in it is not UTF-8", path);
    int status = dlb_file_write_atomic(path, text, strlen(text), err);
    free(text);
    return status;
}
