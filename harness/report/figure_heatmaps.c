/* Two parameters against each other: ranks × threads, intra-op × inter-op. */
#include <math.h>

#include "base/mem.h"
#include "report/figures.h"

enum { MOST_CELLS = 24 }; /* along one side, that their numbers can be read */

typedef struct sides {
    double across[MOST_CELLS], up[MOST_CELLS];
    size_t width, height;
} sides;

typedef struct request {
    const char *name, *title;
    const char *axis[3]; /* across, up, NULL */
    const char *xlabel, *ylabel;
    bool real_only;
} request;

/* The places of one side, ascending. False if there are more than can be shown. */
static bool insert(double *places, size_t *count, double value)
{
    size_t at = 0;
    while (at < *count && places[at] < value)
        at++;
    if (isnan(value) || (at < *count && places[at] == value))
        return true;
    if (*count == MOST_CELLS)
        return false;
    memmove(places + at + 1, places + at, (*count - at) * sizeof *places);
    places[at] = value;
    ++*count;
    return true;
}

/* Whether the points fill at least half of a rectangle with two places a side. */
static bool find_sides(const dlb_points *points, const dlb_series *series, const request *r,
                       sides *s)
{
    *s = (sides){0};
    for (size_t i = 0; i < series->count; i++) {
        size_t p = series->points[i];
        if (!insert(s->across, &s->width, dlb_point_named(points, p, r->axis[0])) ||
            !insert(s->up, &s->height, dlb_point_named(points, p, r->axis[1])))
            return false;
    }
    return s->width > 1 && s->height > 1 && 2 * series->count >= s->width * s->height;
}

static bool has_rates(const dlb_points *points, const dlb_series *series)
{
    for (size_t i = 0; i < series->count; i++)
        if (dlb_point_value(points, series->points[i], DLB_MEASURE_images_per_s) > 0)
            return true;
    return false;
}

/* Three digits are what a cell has room for, and more than the repeats are good for. */
static void add_cell_text(dlb_str *data, double value, bool hollow)
{
    const char *unit = value >= 1e6 ? "M" : value >= 1e4 ? "k" : "";
    double shown = value >= 1e6 ? value / 1e6 : value >= 1e4 ? value / 1e3 : value;
    int decimals = shown >= 100 ? 0 : shown >= 10 ? 1 : 2;
    dlb_str_addf(data, "\t%.*f%s%s\n", decimals, shown, unit, hollow ? "*" : "");
}

static size_t find_point(const dlb_points *points, const dlb_series *series, const request *r,
                         double across, double up)
{
    for (size_t i = 0; i < series->count; i++)
        if (dlb_point_named(points, series->points[i], r->axis[0]) == across &&
            dlb_point_named(points, series->points[i], r->axis[1]) == up)
            return i;
    return series->count;
}

static dlb_drawn write_cells(const dlb_points *points, const dlb_series *series, const request *r,
                             const sides *s, enum dlb_measure measure, dlb_figure *figure)
{
    dlb_drawn drawn = {0};
    double low = INFINITY, high = -INFINITY;
    for (size_t y = 0; y < s->height; y++)
        for (size_t x = 0; x < s->width; x++) {
            size_t i = find_point(points, series, r, s->across[x], s->up[y]);
            double value = NAN;
            if (i < series->count)
                value = dlb_point_value(points, series->points[i], measure);
            dlb_figure_cell(&figure->data, true, (double)x + 1);
            dlb_figure_cell(&figure->data, false, (double)y + 1);
            dlb_figure_cell(&figure->data, false, value);
            if (isnan(value)) {
                dlb_str_addf(&figure->data, "\t%s\n",
                             i < series->count ? dlb_point_end(points, series->points[i]) : "?");
                continue;
            }
            low = fmin(low, value);
            high = fmax(high, value);
            bool crowded = dlb_point_oversubscribed(points, series->points[i]);
            add_cell_text(&figure->data, value, crowded);
            dlb_drawn_add(&drawn, dlb_point_count(points, series->points[i], measure), crowded);
        }
    figure->head = "column\trow\tvalue, the median\tas text, or what became of it; * if "
                   "oversubscribed";
    dlb_figure_number(figure, "low", low);
    dlb_figure_number(figure, "high", high);
    return drawn;
}

static void write_side(dlb_figure *figure, const char *axis, const double *places, size_t count)
{
    char texts[MOST_CELLS][32];
    const char *labels[MOST_CELLS];
    double at[MOST_CELLS];
    for (size_t i = 0; i < count; i++) {
        snprintf(texts[i], sizeof texts[i], "%g", places[i]);
        labels[i] = texts[i];
        at[i] = (double)i + 1;
    }
    dlb_figure_tics(figure, axis, at, labels, count);
}

static void add_figure(const dlb_points *points, const dlb_series_list *list, size_t index,
                       const request *r, dlb_str *caption, dlb_figures *figures)
{
    sides s;
    const dlb_series *series = &list->items[index];
    find_sides(points, series, r, &s);
    bool rates = has_rates(points, series);
    dlb_figure *figure =
        dlb_figure_add(figures, "heatmap", r->name, dlb_series_has_grids(list) ? series->grid : "");
    enum dlb_measure measure = rates ? DLB_MEASURE_images_per_s : dlb_time_measure(points);
    dlb_drawn drawn = write_cells(points, series, r, &s, measure, figure);
    write_side(figure, "x", s.across, s.width);
    write_side(figure, "y", s.up, s.height);
    dlb_figure_number(figure, "width", (double)s.width);
    dlb_figure_number(figure, "height", (double)s.height);
    dlb_figure_text(figure, "xlabel", r->xlabel);
    dlb_figure_text(figure, "ylabel", r->ylabel);
    dlb_figure_text(figure, "cblabel", rates ? "images/s" : "time (s)");
    dlb_str_addf(caption, "Median, %s. ", rates ? "images/s" : "time in s");
    dlb_figure_describe(figure, r->title, caption,
                        &(dlb_shown){points, series->points, series->count, drawn, "*"});
}

static double best_rate(const dlb_points *points, const dlb_series *series)
{
    bool rates = has_rates(points, series);
    double best = -INFINITY;
    for (size_t i = 0; i < series->count; i++) {
        enum dlb_measure measure = rates ? DLB_MEASURE_images_per_s : dlb_time_measure(points);
        double value = dlb_point_value(points, series->points[i], measure);
        best = fmax(best, rates ? value : -value);
    }
    return best;
}

static bool is_better(const dlb_points *points, const dlb_series *a, const dlb_series *b)
{
    if (a->count != b->count)
        return a->count > b->count;
    return best_rate(points, a) > best_rate(points, b);
}

/* Of several rectangles the fullest, and then the fastest, is shown; the caption says which. */
static void add_heatmap(const dlb_points *points, const request *r, dlb_figures *figures)
{
    dlb_series_list list;
    size_t best = 0, rectangles = 0;
    dlb_series_make(
        &list, points,
        &(dlb_series_request){.axis = r->axis, .takes = r->real_only ? dlb_point_is_real : NULL});
    for (size_t i = 0; i < list.count; i++) {
        sides s;
        if (!find_sides(points, &list.items[i], r, &s))
            continue;
        if (rectangles++ == 0 || is_better(points, &list.items[i], &list.items[best]))
            best = i;
    }
    if (rectangles > 0) {
        dlb_str caption = DLB_STR_INIT;
        size_t *others = dlb_alloc(list.count, sizeof *others);
        for (size_t i = 0; i < list.count; i++)
            others[i] = i;
        dlb_str title = DLB_STR_INIT;
        dlb_series_title(&list, points, others, list.count, best, &title);
        if (rectangles > 1)
            dlb_str_addf(&caption, "The best of %zu settings: %s. ", rectangles, title.text);
        dlb_str_release(&title);
        add_figure(points, &list, best, r, &caption, figures);
        dlb_str_release(&caption);
        free(others);
    }
    dlb_series_release(&list);
}

void dlb_figures_heatmaps(const dlb_report *report, dlb_figures *figures)
{
    static const request requests[] = {{"ranks_threads",
                                        "Ranks × threads",
                                        {"ranks", "threads", NULL},
                                        "ranks",
                                        "threads of a rank",
                                        true},
                                       {"intra_inter",
                                        "Intra-op × inter-op",
                                        {"intra_op", "inter_op", NULL},
                                        "intra_op (threads of the pool)",
                                        "inter_op (teams)",
                                        false}};
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        add_heatmap(report->points, &requests[i], figures);
}
