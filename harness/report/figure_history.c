#include <math.h>

#include "base/mem.h"
#include "record/whole_step.h"
#include "report/figures.h"
#include "report/history.h"
#include "report/wrap.h"

enum {
    MOST_CHECKS = 120, /* the last ones: more would be a point a pixel */
    MOST_LISTED = 9,   /* checks in the list of what became slower */
    LIST_ROWS = 20,
    HASH = 7, /* letters of a commit, as git abbreviates it */
};

/* A single kernel beyond it is drawn at the edge, so that the others can be told apart. */
static const double edge = 0.3;

/* Accumulated changes that are drawn. */
static const double lowest = -0.6, highest = 2;

/* The checks of a history that are drawn, each at its number from 1. */
typedef struct drawing {
    const dlb_history *history;
    const dlb_history_check *checks;
    size_t count;
    size_t line_count;
    const char *models[DLB_FIGURE_MAX_LINES]; /* of which there are whole steps */
    size_t models_left_out;
    size_t points;                     /* of single kernels */
    double low, high;                  /* accumulated changes */
    double least, most;                /* changes of single kernels */
    double ends[DLB_FIGURE_MAX_LINES]; /* accumulated changes at the last check; NaN: none */
    dlb_figure *figure;
} drawing;

static const dlb_history_kernel *kernel_of(const drawing *d, const dlb_history_check *check,
                                           size_t number)
{
    return &d->history->kernels[check->first + number];
}

static bool is_step(const dlb_history_kernel *kernel)
{
    return strcmp(kernel->name, DLB_WHOLE_STEP) == 0;
}

/* ---- whole steps --------------------------------------------------------------------------- */

static void find_model(drawing *d, const char *model)
{
    for (size_t i = 0; i < d->line_count; i++)
        if (strcmp(d->models[i], model) == 0)
            return;
    if (d->line_count < DLB_FIGURE_MAX_LINES)
        d->models[d->line_count++] = model;
    else
        d->models_left_out = 1;
}

static void find_models(drawing *d)
{
    for (size_t i = 0; i < d->count; i++)
        for (size_t k = 0; k < d->checks[i].count; k++) {
            const dlb_history_kernel *kernel = kernel_of(d, &d->checks[i], k);
            if (is_step(kernel) && !isnan(kernel->change))
                find_model(d, kernel->model);
        }
}

/* NULL: the check has no whole step of that model, or could not tell how long it takes. */
static const dlb_history_kernel *find_step(const drawing *d, const dlb_history_check *check,
                                           const char *model)
{
    for (size_t k = 0; k < check->count; k++) {
        const dlb_history_kernel *kernel = kernel_of(d, check, k);
        if (is_step(kernel) && strcmp(kernel->model, model) == 0 && !isnan(kernel->change))
            return kernel;
    }
    return NULL;
}

/* Changes of one check after the other, as logarithms. The checks err independently of each other,
 * so that the squares of what their intervals reach below and above add up. */
typedef struct chain {
    double sum, below, above;
} chain;

static void add_to_chain(chain *c, const dlb_history_kernel *step)
{
    double change = log1p(step->change);
    c->sum += change;
    c->below += pow(change - log1p(step->low), 2);
    c->above += pow(log1p(step->high) - change, 2);
}

static void add_step_row(drawing *d, double x, const chain *c, double verdict)
{
    double value = expm1(c->sum), low = expm1(c->sum - sqrt(c->below)),
           high = expm1(c->sum + sqrt(c->above));
    d->low = fmin(d->low, fmin(value, low));
    d->high = fmax(d->high, fmax(value, high));
    dlb_figure_cell(&d->figure->data, true, x);
    dlb_figure_cell(&d->figure->data, false, 100 * value);
    dlb_figure_cell(&d->figure->data, false, 100 * low);
    dlb_figure_cell(&d->figure->data, false, 100 * high);
    dlb_figure_cell(&d->figure->data, false, verdict);
    dlb_str_add(&d->figure->data, "\n");
}

/* An empty line breaks the line, which begins anew at 0 between the two checks. */
static void add_line(drawing *d, size_t line)
{
    chain c = {0};
    bool open = false;
    d->ends[line] = NAN;
    for (size_t i = 0; i < d->count; i++) {
        const dlb_history_kernel *step = find_step(d, &d->checks[i], d->models[line]);
        if (step && !(open && d->checks[i].follows)) {
            c = (chain){0};
            dlb_str_add(&d->figure->data, "\n");
            add_step_row(d, (double)i + 0.5, &c, NAN);
        }
        open = step;
        if (!step)
            continue;
        add_to_chain(&c, step);
        add_step_row(d, (double)i + 1, &c, step->verdict);
        d->ends[line] = i + 1 == d->count ? 100 * expm1(c.sum) : NAN;
    }
}

static void add_lines(drawing *d)
{
    for (size_t line = 0; line < d->line_count; line++) {
        dlb_str_addf(&d->figure->data, "%s# %s\n", line ? "\n\n" : "", DLB_WHOLE_STEP);
        add_line(d, line);
    }
}

/* ---- single kernels ------------------------------------------------------------------------ */

static double clipped(double change)
{
    return 100 * fmax(-edge, fmin(change, edge));
}

static void add_point(drawing *d, double x, const dlb_history_kernel *kernel)
{
    bool changed = kernel->verdict == DLB_JUDGED_SLOWER || kernel->verdict == DLB_JUDGED_FASTER;
    d->least = fmin(d->least, fmin(kernel->change, changed ? kernel->low : NAN));
    d->most = fmax(d->most, fmax(kernel->change, changed ? kernel->high : NAN));
    dlb_figure_cell(&d->figure->data, true, x);
    dlb_figure_cell(&d->figure->data, false, clipped(kernel->change));
    dlb_figure_cell(&d->figure->data, false, isnan(kernel->low) ? NAN : clipped(kernel->low));
    dlb_figure_cell(&d->figure->data, false, isnan(kernel->high) ? NAN : clipped(kernel->high));
    dlb_figure_cell(&d->figure->data, false, kernel->verdict);
    dlb_str_add(&d->figure->data, "\n");
    d->points++;
}

/* Side by side around the number of their check, in the order of the rows. */
static void add_points(drawing *d)
{
    static const double room = 0.8;
    dlb_str_addf(&d->figure->data, "%s# single kernels\n", d->line_count ? "\n\n" : "");
    for (size_t i = 0; i < d->count; i++) {
        const dlb_history_check *check = &d->checks[i];
        for (size_t k = 0; k < check->count; k++) {
            const dlb_history_kernel *kernel = kernel_of(d, check, k);
            double place = ((double)k + 0.5) / (double)check->count - 0.5;
            if (!is_step(kernel) && !isnan(kernel->change))
                add_point(d, (double)i + 1 + room * place, kernel);
        }
    }
}

/* ---- what became slower -------------------------------------------------------------------- */

/* What a check has found slower: whole steps first, then what has become slower most. */
typedef struct alarm {
    size_t check, count;
    const dlb_history_kernel **kernels;
} alarm;

static int worse_first(const dlb_history_kernel *one, const dlb_history_kernel *other)
{
    if (is_step(one) != is_step(other))
        return is_step(one) ? -1 : 1;
    return (one->change < other->change) - (one->change > other->change);
}

static int order_kernels(const void *a, const void *b)
{
    const dlb_history_kernel *const *one = a, *const *other = b;
    return worse_first(*one, *other);
}

static int order_alarms(const void *a, const void *b)
{
    const alarm *one = a, *other = b;
    return worse_first(one->kernels[0], other->kernels[0]);
}

static int order_checks(const void *a, const void *b)
{
    const alarm *one = a, *other = b;
    return (one->check > other->check) - (one->check < other->check);
}

static alarm alarm_of(const drawing *d, size_t number)
{
    const dlb_history_check *check = &d->checks[number];
    alarm found = {.check = number,
                   .kernels = dlb_alloc(check->count, sizeof(dlb_history_kernel *))};
    for (size_t k = 0; k < check->count; k++)
        if (kernel_of(d, check, k)->verdict == DLB_JUDGED_SLOWER)
            found.kernels[found.count++] = kernel_of(d, check, k);
    qsort(found.kernels, found.count, sizeof(dlb_history_kernel *), order_kernels);
    return found;
}

/* The rows of the list, and of each the number of its check, 0 where it goes on. */
typedef struct list {
    size_t count;
    char *rows[LIST_ROWS];
    double numbers[LIST_ROWS];
    int longest;
} list;

static void add_row(list *l, double number, dlb_str *row)
{
    int columns = dlb_wrap_columns(row->text);
    l->longest = columns > l->longest ? columns : l->longest;
    l->numbers[l->count] = number;
    l->rows[l->count++] = row->text;
    *row = (dlb_str)DLB_STR_INIT;
}

/* "v0.1-3-g955949acab99-dirty" is 955949a+. */
static void name_commit(const char *commit, dlb_str *name)
{
    static const char digits[] = "0123456789abcdef";
    for (const char *at = commit; (at = strstr(at, "-g")); at++)
        if (strspn(at + 2, digits) >= HASH)
            commit = at + 2;
    size_t length = strlen(commit);
    bool is_hash = strspn(commit, digits) >= HASH;
    bool is_dirty = length > 6 && strcmp(commit + length - 6, "-dirty") == 0;
    dlb_str_addf(name, "%.*s%s", is_hash ? HASH : 12, commit, is_dirty && is_hash ? "+" : "");
}

static void add_kernel_row(list *l, const dlb_history_kernel *kernel, size_t more)
{
    dlb_str row = DLB_STR_INIT;
    if (!isnan(kernel->change))
        dlb_str_addf(&row, "%+.1f %%  ", 100 * kernel->change);
    dlb_str_addf(&row, "%s %s", kernel->model, is_step(kernel) ? "whole step" : kernel->name);
    if (more)
        dlb_str_addf(&row, ", %zu more", more);
    add_row(l, 0, &row);
}

/* A row with the commit and the day, then at most `most` with kernels. */
static void add_alarm(list *l, const drawing *d, const alarm *a, size_t number, size_t most)
{
    const dlb_history_check *check = &d->checks[a->check];
    size_t shown = a->count < most ? a->count : most;
    dlb_str head = DLB_STR_INIT;
    name_commit(check->after, &head);
    dlb_str_addf(&head, "  %.10s", check->date);
    add_row(l, (double)number, &head);
    for (size_t i = 0; i < shown; i++)
        add_kernel_row(l, a->kernels[i], i + 1 == shown ? a->count - shown : 0);
}

static void write_list(const drawing *d, const list *l)
{
    dlb_figure_number(d->figure, "list_rows", (double)l->count);
    dlb_figure_number(d->figure, "list_longest", l->longest);
    if (l->count) {
        dlb_figure_texts(d->figure, "list_row", (const char *const *)l->rows, l->count);
        dlb_figure_numbers(d->figure, "list_number", l->numbers, l->count);
    }
}

/* The worst ones, in the order of their checks; few are told of at length. */
static void list_alarms(const drawing *d, alarm *alarms, size_t count, double *marks)
{
    list l = {0};
    size_t listed = count < MOST_LISTED ? count : MOST_LISTED;
    qsort(alarms, count, sizeof *alarms, order_alarms);
    qsort(alarms, listed, sizeof *alarms, order_checks);
    for (size_t i = 0; i < listed; i++) {
        add_alarm(&l, d, &alarms[i], i + 1, LIST_ROWS / listed - 1);
        marks[alarms[i].check] = (double)i + 1;
    }
    write_list(d, &l);
    dlb_figure_number(d->figure, "unlisted", (double)(count - listed));
    for (size_t i = 0; i < l.count; i++)
        free(l.rows[i]);
}

/* `marks`, of each check: its number in the list, -1 if it is not listed, 0 if nothing is slower.
 */
static void add_alarms(const drawing *d)
{
    alarm *alarms = dlb_alloc(d->count, sizeof *alarms);
    double *marks = dlb_alloc(d->count, sizeof *marks);
    size_t count = 0;
    for (size_t i = 0; i < d->count; i++) {
        alarm found = alarm_of(d, i);
        marks[i] = found.count ? -1 : 0;
        if (found.count)
            alarms[count++] = found;
        else
            free(found.kernels);
    }
    list_alarms(d, alarms, count, marks);
    dlb_figure_numbers(d->figure, "marks", marks, d->count);
    for (size_t i = 0; i < count; i++)
        free(alarms[i].kernels);
    free(marks);
    free(alarms);
}

/* ---- texts --------------------------------------------------------------------------------- */

/* Of each check its commit, its day, and whether it goes on from the one to the left. */
static void add_checks(const drawing *d)
{
    char **commits = dlb_alloc(d->count, sizeof *commits),
         **days = dlb_alloc(d->count, sizeof *days);
    double *follows = dlb_alloc(d->count, sizeof *follows);
    for (size_t i = 0; i < d->count; i++) {
        dlb_str commit = DLB_STR_INIT, day = DLB_STR_INIT;
        name_commit(d->checks[i].after, &commit);
        dlb_str_addf(&day, "%.5s", d->checks[i].date + 5);
        commits[i] = commit.text;
        days[i] = day.text;
        follows[i] = i > 0 && d->checks[i].follows;
    }
    dlb_figure_texts(d->figure, "commits", (const char *const *)commits, d->count);
    dlb_figure_texts(d->figure, "days", (const char *const *)days, d->count);
    dlb_figure_numbers(d->figure, "follows", follows, d->count);
    for (size_t i = 0; i < d->count; i++) {
        free(commits[i]);
        free(days[i]);
    }
    free(follows);
    free(days);
    free(commits);
}

static bool has_breaks(const drawing *d)
{
    for (size_t i = 1; i < d->count; i++)
        if (!d->checks[i].follows)
            return true;
    return false;
}

/* Append when and where the checks were made. */
static void add_place(const drawing *d, dlb_str *caption)
{
    const dlb_history_check *first = &d->checks[0], *last = &d->checks[d->count - 1];
    bool hosts = false, others = false;
    for (size_t i = 1; i < d->count; i++) {
        const dlb_history_check *check = &d->checks[i];
        hosts |= strcmp(check->host, first->host) != 0;
        others |= strcmp(check->cpu, first->cpu) != 0 || strcmp(check->isa, first->isa) != 0 ||
                  strcmp(check->kernels, first->kernels) != 0;
    }
    if (d->count == 1)
        dlb_str_addf(caption, "One check, %.10s; ", first->date);
    else if (d->count < d->history->count)
        dlb_str_addf(caption, "The last %zu of %zu checks, %.10s to %.10s; ", d->count,
                     d->history->count, first->date, last->date);
    else
        dlb_str_addf(caption, "%zu checks, %.10s to %.10s; ", d->count, first->date, last->date);
    if (hosts)
        dlb_str_add(caption, "several hosts; ");
    else
        dlb_str_addf(caption, "host %s; ", first->host);
    if (others)
        dlb_str_add(caption, "processors, instruction sets or kernels differ.");
    else
        dlb_str_addf(caption, "%s, %s, kernels %s.", first->cpu, first->isa, first->kernels);
}

static void add_caption(const drawing *d)
{
    dlb_str caption = DLB_STR_INIT;
    if (d->line_count)
        dlb_str_add(&caption, "Lines: whole training steps, changes of the checks "
                              "multiplied; the bands are their intervals, as of independent "
                              "errors. ");
    if (d->points)
        dlb_str_add(&caption, "Points: single kernels, each beside the commit before that it was "
                              "checked against, with its interval. ");
    if (d->most > edge || d->least < -edge)
        dlb_str_addf(&caption, "What is beyond %.0f %% is at the edge. ", 100 * edge);
    if (has_breaks(d))
        dlb_str_addf(&caption,
                     "Dotted: the commit before is not the one to the left, or the processor is "
                     "another%s. ",
                     d->line_count ? ", so that lines begin anew" : "");
    if (d->models_left_out)
        dlb_str_addf(&caption, "Steps of the first %d models. ", DLB_FIGURE_MAX_LINES);
    add_place(d, &caption);
    dlb_figure_caption(d->figure, caption.text);
    dlb_str_release(&caption);
}

/* The range of an axis in percent: some more than the data, and never so little that noise fills
 * it. */
static void add_range(const drawing *d, const char *least, double low, const char *most,
                      double high)
{
    static const double some = 0.03;
    low = fmin(low, -some);
    high = fmax(high, some);
    double more = 0.08 * (high - low);
    dlb_figure_number(d->figure, least, 100 * (low - more));
    dlb_figure_number(d->figure, most, 100 * (high + more));
}

static void add_values(const drawing *d)
{
    dlb_figure_text(d->figure, "title", "Kernel times from commit to commit");
    add_caption(d);
    add_checks(d);
    add_alarms(d);
    dlb_figure_number(d->figure, "lines", (double)d->line_count);
    dlb_figure_number(d->figure, "points", (double)d->points);
    if (d->line_count) {
        dlb_figure_texts(d->figure, "legend", d->models, d->line_count);
        dlb_figure_numbers(d->figure, "ends", d->ends, d->line_count);
    }
    add_range(d, "step_min", fmax(d->low, lowest), "step_max", fmin(d->high, highest));
    add_range(d, "kernel_min", fmax(d->least, -edge), "kernel_max", fmin(d->most, edge));
}

/* ---- the figure ---------------------------------------------------------------------------- */

static void make_figure(const dlb_history *history, const char *name, dlb_figures *figures)
{
    drawing d = {.history = history,
                 .count = history->count < MOST_CHECKS ? history->count : MOST_CHECKS,
                 .figure = dlb_figure_add(figures, "history", name, "")};
    d.checks = history->checks + (history->count - d.count);
    d.figure->head = "check\tchange\tlow\thigh, in percent\t"
                     "verdict (0 same, 1 faster, 2 slower, 3 inconclusive)";
    find_models(&d);
    add_lines(&d);
    add_points(&d);
    add_values(&d);
}

static const char ending[] = ".csv";

/* "results/history.csv" is history. */
static char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    dlb_str name = DLB_STR_INIT;
    dlb_str_add_bytes(&name, base, strlen(base) - strlen(ending));
    return name.text;
}

int dlb_history_check_name(const char *path, dlb_error *err)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t length = strlen(base);
    if (length > strlen(ending) && strcmp(base + length - strlen(ending), ending) == 0)
        return 0;
    return dlb_fail(err, DLB_BAD_INPUT,
                    "%s: the figure of a history is put beside it under its name, so that must end "
                    "in %s",
                    path, ending);
}

int dlb_history_figure(const char *path, const dlb_figure_options *options, size_t *count,
                       dlb_error *err)
{
    dlb_history history;
    dlb_figures figures = {.caption_columns = dlb_figures_columns(options), .study = ""};
    int status = dlb_history_read(&history, path, err);
    if (status == 0)
        status = dlb_history_check_name(path, err);
    if (status == 0 && history.count) {
        char *name = name_of(path);
        make_figure(&history, name, &figures);
        free(name);
    }
    *count = figures.count;
    if (status == 0)
        status = dlb_figures_draw(&figures, options, err);
    dlb_figures_release(&figures);
    dlb_history_release(&history);
    return status;
}
