#include "report/lines.h"

#include <math.h>

#include "base/mem.h"

enum { MOST_ROWS = 256, MOST_DOTS = 2000, MOST_TICS = 16 };

size_t dlb_lines_add(dlb_lines *lines, char *title)
{
    lines->titles[lines->count] = title;
    return lines->count++;
}

void dlb_lines_row(dlb_lines *lines, dlb_line_row row)
{
    lines->rows =
        dlb_grow(lines->rows, &lines->row_capacity, lines->row_count + 1, sizeof *lines->rows);
    lines->rows[lines->row_count++] = row;
}

void dlb_lines_dots(dlb_lines *lines, size_t panel, size_t line, double x, double scale,
                    const double *values, size_t count)
{
    lines->dots =
        dlb_grow(lines->dots, &lines->dot_capacity, lines->dot_count + count, sizeof *lines->dots);
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i]))
            lines->dots[lines->dot_count++] = (dlb_line_dot){panel, line, x, scale * values[i]};
}

void dlb_lines_release(dlb_lines *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        free(lines->titles[i]);
    free(lines->rows);
    free(lines->dots);
    *lines = (dlb_lines){0};
}

static bool has_value(const dlb_line_row *row)
{
    return !isnan(row->y.value) || row->lost > 0;
}

bool dlb_lines_tell(const dlb_lines *lines)
{
    for (size_t a = 0; a < lines->row_count; a++)
        for (size_t b = a + 1; b < lines->row_count; b++) {
            const dlb_line_row *p = &lines->rows[a], *q = &lines->rows[b];
            if (p->line == q->line && p->panel == q->panel && p->x != q->x && has_value(p) &&
                has_value(q))
                return true;
        }
    return false;
}

dlb_drawn dlb_lines_drawn(const dlb_lines *lines)
{
    dlb_drawn drawn = {0};
    for (size_t i = 0; i < lines->row_count; i++)
        dlb_drawn_add(&drawn, lines->rows[i].y.count, lines->rows[i].hollow);
    return drawn;
}

/* ---- data ---------------------------------------------------------------------------------- */

static int compare_rows(const void *a, const void *b)
{
    const dlb_line_row *p = a, *q = b;
    if (p->panel != q->panel)
        return p->panel < q->panel ? -1 : 1;
    if (p->line != q->line)
        return p->line < q->line ? -1 : 1;
    return (p->x > q->x) - (p->x < q->x);
}

static void write_row(dlb_str *data, const dlb_line_row *row)
{
    dlb_figure_cell(data, true, row->x);
    dlb_figure_cell(data, false, row->y.value);
    dlb_figure_cell(data, false, row->y.low);
    dlb_figure_cell(data, false, row->y.high);
    dlb_str_addf(data, "\t%zu\t%d\t%zu\n", row->y.count, row->hollow, row->lost);
}

/* One block a panel and line; a line without rows in a panel still has its block. */
static void write_rows(const dlb_lines *lines, dlb_figure *figure)
{
    qsort(lines->rows, lines->row_count, sizeof *lines->rows, compare_rows);
    size_t at = 0;
    for (size_t block = 0; block < lines->panels * lines->count; block++) {
        size_t begin = at;
        while (at < lines->row_count &&
               lines->rows[at].panel * lines->count + lines->rows[at].line == block)
            at++;
        dlb_str_add(&figure->data, block ? "\n\n" : "");
        dlb_str_addf(&figure->data, "# panel %zu, line %zu\n", block / lines->count + 1,
                     block % lines->count + 1);
        size_t step = (at - begin) / MOST_ROWS + 1;
        for (size_t i = begin; i < at; i++)
            if ((i - begin) % step == 0 || i + 1 == at) {
                dlb_str_add(&figure->data, lines->single && i > begin ? "\n" : "");
                write_row(&figure->data, &lines->rows[i]);
            }
        if (at == begin)
            dlb_str_add(&figure->data, "?\t?\t?\t?\t0\t0\t0\n");
    }
    figure->head = "x\tvalue\tlow\thigh (95 %)\tn\t1 if oversubscribed\truns without a value";
}

static void write_dots(const dlb_lines *lines, dlb_figure *figure)
{
    size_t step = lines->dot_count / MOST_DOTS + 1;
    for (size_t i = 0; i < lines->dot_count; i += step) {
        const dlb_line_dot *dot = &lines->dots[i];
        dlb_str_addf(&figure->repeats, "%zu\t%zu", dot->panel + 1, dot->line + 1);
        dlb_figure_cell(&figure->repeats, false, dot->x);
        dlb_figure_cell(&figure->repeats, false, dot->y);
        dlb_str_add(&figure->repeats, "\n");
    }
    dlb_figure_number(figure, "has_repeats", lines->dot_count > 0);
}

/* ---- ranges and tics ----------------------------------------------------------------------- */

typedef struct range {
    double low, high;
} range;

static void widen(range *r, double value)
{
    if (!isfinite(value))
        return;
    r->low = value < r->low ? value : r->low;
    r->high = value > r->high ? value : r->high;
}

static range x_range(const dlb_lines *lines)
{
    range r = {INFINITY, -INFINITY};
    for (size_t i = 0; i < lines->row_count; i++)
        widen(&r, lines->rows[i].x);
    return r;
}

static range y_range(const dlb_lines *lines, size_t panel)
{
    range r = {INFINITY, -INFINITY};
    for (size_t i = 0; i < lines->row_count; i++) {
        if (lines->rows[i].panel != panel)
            continue;
        widen(&r, lines->rows[i].y.value);
        widen(&r, lines->rows[i].y.low);
        widen(&r, lines->rows[i].y.high);
    }
    for (size_t i = 0; i < lines->dot_count; i++)
        if (lines->dots[i].panel == panel)
            widen(&r, lines->dots[i].y);
    return r;
}

static bool panel_lost(const dlb_lines *lines, size_t panel)
{
    for (size_t i = 0; i < lines->row_count; i++)
        if (lines->rows[i].panel == panel && lines->rows[i].lost)
            return true;
    return false;
}

/* Accuracies of train and test are to be compared: they have one range. */
static range values_range(const dlb_lines *lines, size_t panel)
{
    range r = y_range(lines, panel);
    for (size_t p = 0; p < lines->panels; p++) {
        range other = y_range(lines, p);
        if (lines->y[p] != DLB_AXIS_PERCENT || lines->y[panel] != DLB_AXIS_PERCENT)
            continue;
        widen(&r, other.low);
        widen(&r, other.high);
    }
    return r;
}

/*
 * Whether accuracies are shown by the logarithm of the error, as both collapsed trainings and
 * tenths of a percent at the top are to be seen.
 */
static bool by_error(const dlb_lines *lines, size_t panel)
{
    range r = values_range(lines, panel);
    return lines->y[panel] == DLB_AXIS_PERCENT && r.low <= r.high &&
           100 - r.low > 6 * fmax(100 - r.high, 0.01);
}

bool dlb_lines_by_error(const dlb_lines *lines)
{
    for (size_t panel = 0; panel < lines->panels; panel++)
        if (by_error(lines, panel))
            return true;
    return false;
}

/* 2 or 10, or 0 for a linear axis. */
static double base_of(const dlb_lines *lines, size_t panel)
{
    range r = y_range(lines, panel);
    if (lines->y[panel] == DLB_AXIS_LOG10)
        return r.low > 0 ? 10 : 0;
    bool far = lines->ideal > 0 || r.high >= 4 * r.low;
    return lines->y[panel] == DLB_AXIS_LOG2 && r.low > 0 && far ? 2 : 0;
}

/* Room around the values; of accuracies never beyond what an accuracy can be. */
static range padded(const dlb_lines *lines, size_t panel)
{
    range r = values_range(lines, panel), x = x_range(lines);
    if (lines->ideal > 0) {
        widen(&r, lines->level ? lines->ideal : lines->ideal * x.low);
        widen(&r, lines->level ? lines->ideal : lines->ideal * x.high);
    }
    if (r.low > r.high)
        r = (range){0, 1};
    double room = r.high > r.low ? 0.06 * (r.high - r.low) : 0.05 * fabs(r.high) + 1e-9;
    switch (lines->y[panel]) {
    case DLB_AXIS_LOG2:
    case DLB_AXIS_LOG10:
        if (base_of(lines, panel) > 0)
            return (range){r.low / (panel_lost(lines, panel) ? 2 : 1.2), r.high * 1.2};
        return (range){0, r.high * 1.06};
    case DLB_AXIS_FROM_ZERO:
        return (range){0, r.high * 1.06};
    case DLB_AXIS_PERCENT:
        if (by_error(lines, panel)) {
            double most = 100 - r.low, least = fmax(100 - r.high, 0.01);
            return (range){100 - most * (panel_lost(lines, panel) ? 2 : 1.2), 100 - least / 1.25};
        }
        r = (range){fmax(r.low - room, 0), fmin(r.high + room, 100)};
        break;
    default:
        r = (range){r.low - room, r.high + room};
    }
    if (panel_lost(lines, panel))
        r.low -= 0.08 * (r.high - r.low);
    return r;
}

/* Where runs without a value are marked: a little above the bottom. */
static double mark_of(const dlb_lines *lines, size_t panel, range r)
{
    if (by_error(lines, panel))
        return 100 - (100 - r.low) / 1.15;
    return base_of(lines, panel) > 0 ? r.low * 1.15 : r.low + 0.03 * (r.high - r.low);
}

static void write_ranges(const dlb_lines *lines, dlb_figure *figure)
{
    double low[DLB_MAX_PANELS], high[DLB_MAX_PANELS], mark[DLB_MAX_PANELS];
    double logy[DLB_MAX_PANELS], error[DLB_MAX_PANELS];
    range x = x_range(lines);
    for (size_t panel = 0; panel < lines->panels; panel++) {
        range r = padded(lines, panel);
        logy[panel] = base_of(lines, panel);
        error[panel] = by_error(lines, panel);
        low[panel] = r.low;
        high[panel] = r.high;
        mark[panel] = mark_of(lines, panel, r);
    }
    dlb_figure_numbers(figure, "ymin", low, lines->panels);
    dlb_figure_numbers(figure, "ymax", high, lines->panels);
    dlb_figure_numbers(figure, "mark", mark, lines->panels);
    dlb_figure_numbers(figure, "logy", logy, lines->panels);
    dlb_figure_numbers(figure, "by_error", error, lines->panels);
    dlb_figure_number(figure, "xmin", x.low);
    dlb_figure_number(figure, "xmax", x.high);
    dlb_figure_number(figure, "xpad",
                      lines->x == DLB_AXIS_CATEGORIES ? 0.5 : 0.03 * (x.high - x.low) + 1e-9);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The places of the axis that have values, if they are few enough to be named. */
static size_t places(const dlb_lines *lines, double at[MOST_TICS])
{
    size_t count = 0, all = lines->row_count;
    double *xs = dlb_alloc(all, sizeof *xs);
    for (size_t i = 0; i < all; i++)
        xs[i] = lines->rows[i].x;
    qsort(xs, all, sizeof *xs, compare_doubles);
    for (size_t i = 0; i < all; i++) {
        if (i > 0 && xs[i] == xs[i - 1])
            continue;
        if (count == MOST_TICS) {
            count = 0;
            break;
        }
        at[count++] = xs[i];
    }
    free(xs);
    return count;
}

/* 1, 2, 3, ...: between epochs there is nothing to name. */
static bool are_steps(const double *at, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (at[i] != at[0] + (double)i)
            return false;
    return true;
}

static void write_tics(const dlb_lines *lines, dlb_figure *figure, const char *const *labels)
{
    double at[MOST_TICS];
    size_t count = places(lines, at);
    const char *shown[MOST_TICS];
    if (count == 0 || (lines->x != DLB_AXIS_LOG2 && !labels && !are_steps(at, count)))
        return;
    for (size_t i = 0; labels && i < count; i++)
        shown[i] = labels[(size_t)at[i] - 1];
    dlb_figure_tics(figure, "x", at, labels ? shown : NULL, count);
}

static size_t longest_title(const dlb_lines *lines)
{
    size_t longest = 0;
    for (size_t i = 0; i < lines->count; i++) {
        size_t length = strlen(lines->titles[i]);
        longest = length > longest ? length : longest;
    }
    return longest;
}

/* How far neighbouring lines are moved, in octaves or in eighths of the axis. */
static double dodge_of(const dlb_lines *lines)
{
    range x = x_range(lines);
    if (!lines->apart || lines->count < 2)
        return 0;
    return lines->single && x.high > x.low ? 8 * 0.6 / (double)lines->count / (x.high - x.low)
                                           : 0.04;
}

void dlb_lines_finish(const dlb_lines *lines, dlb_figure *figure, const char *const *labels)
{
    write_rows(lines, figure);
    write_dots(lines, figure);
    dlb_figure_number(figure, "panels", (double)lines->panels);
    dlb_figure_number(figure, "lines", (double)lines->count);
    dlb_figure_texts(figure, "legend", (const char *const *)lines->titles, lines->count);
    dlb_figure_number(figure, "longest", (double)longest_title(lines));
    dlb_figure_number(figure, "logx", lines->x == DLB_AXIS_LOG2);
    dlb_figure_number(figure, "ideal", lines->ideal);
    dlb_figure_number(figure, "level", lines->level);
    dlb_figure_number(figure, "dodge", dodge_of(lines));
    write_ranges(lines, figure);
    write_tics(lines, figure, labels);
}
