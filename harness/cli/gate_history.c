#include "cli/gate_history.h"

#include <math.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cli/bench_row.h"
#include "measure/host.h"
#include "record/provenance.h"
#include "report/history.h"
#include "stats/spread.h"

/* ---- What is there ---- */

static bool has_bytes(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0;
}

int dlb_gate_history_check(const char *path, dlb_error *err)
{
    dlb_history history;
    int status = dlb_history_check_name(path, err);
    if (status == 0)
        status = dlb_csv_check(path, DLB_HISTORY_HEADER, err);
    if (status < 0 || !has_bytes(path))
        return status;
    status = dlb_history_read(&history, path, err);
    dlb_history_release(&history);
    return status;
}

/* ---- Rows ---- */

/* What all rows of a check have in common. */
typedef struct scene {
    const dlb_gate *gate;
    const char *before;
    char date[DLB_DATE_SIZE];
    const dlb_host *host;
    dlb_cpu_name cpu;
} scene;

static bool is_chosen(const char *word)
{
    return word && strcmp(word, "auto") != 0;
}

static void add_scene(const scene *s, dlb_bench_row *row)
{
    const dlb_gate_options *o = &s->gate->options;
    dlb_bench_row_text(row, s->date);
    dlb_bench_row_text(row, s->host->name);
    dlb_bench_row_text(row, s->cpu.text);
    dlb_bench_row_text(row, is_chosen(o->isa) ? o->isa : s->host->best_isa);
    dlb_bench_row_text(row, o->kernels ? o->kernels : "auto");
    dlb_bench_row_text(row, s->before);
    dlb_bench_row_text(row, dlb_commit());
}

static void add_case(const scene *s, const dlb_gate_case *c, dlb_bench_row *row)
{
    const dlb_judgement *v = &c->verdict;
    dlb_bench_row_text(row, c->model);
    dlb_bench_row_text(row, c->name);
    bool timed = !s->gate->options.by_reference; /* else that side is a reference */
    dlb_bench_row_number(row,
                         timed ? dlb_median(c->seconds[DLB_GATE_BEFORE], s->gate->rounds) : NAN);
    dlb_bench_row_number(row, dlb_median(c->seconds[DLB_GATE_AFTER], s->gate->rounds));
    dlb_bench_row_number(row, 100 * v->effect);
    dlb_bench_row_number(row, 100 * v->low);
    dlb_bench_row_number(row, 100 * v->high);
    dlb_bench_row_number(row, 100 * v->resolution);
    dlb_bench_row_text(row, dlb_judgement_name(v->kind));
    dlb_bench_row_number(row, (double)s->gate->rounds);
}

/* The rows as lines of one text, which is written at once. */
static void add_rows(const scene *s, dlb_str *rows)
{
    for (size_t i = 0; i < s->gate->count; i++) {
        dlb_bench_row row = {0};
        add_scene(s, &row);
        add_case(s, &s->gate->cases[i], &row);
        dlb_str_addf(rows, "%s%s", i ? "\n" : "", row.line.text);
        dlb_str_release(&row.line);
    }
}

int dlb_gate_history_save(const dlb_gate *g, const char *before, const char *path, dlb_error *err)
{
    dlb_host *host = dlb_alloc(1, sizeof *host);
    scene s = {.gate = g, .before = before, .host = host};
    dlb_str rows = DLB_STR_INIT;
    dlb_host_probe(host, "");
    s.cpu = dlb_host_cpu_name(host);
    dlb_date_now(s.date);
    add_rows(&s, &rows);
    int status = dlb_csv_append(path, DLB_HISTORY_HEADER, rows.text, err);
    dlb_str_release(&rows);
    free(host);
    return status;
}

/* ---- The figure ---- */

int dlb_gate_history_draw(const char *path, dlb_error *err)
{
    dlb_str folder = DLB_STR_INIT, drawn = DLB_STR_INIT;
    size_t count;
    if (!has_bytes(path))
        return 0;
    dlb_history_folder(path, &folder);
    dlb_figure_options options = {.folder = folder.text, .among_others = true, .drawn = &drawn};
    int status = dlb_history_figure(path, &options, &count, err);
    if (status == 0)
        printf("The figure of %s is beside it, as %s.\n", path, drawn.text);
    dlb_str_release(&drawn);
    dlb_str_release(&folder);
    return status;
}
