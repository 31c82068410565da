/* What each rank spent its time on, as stacked bars: computing, exposed communication, waiting. */
#include <math.h>

#include "base/mem.h"
#include "report/figures.h"
#include "report/join.h"
#include "report/points_state.h"

enum { PHASES = 4, MOST_BARS = 64, MOST_RANKS = 16 };

static const dlb_frame_want wants[] = {{"compute_s", DLB_FRAME_NUMBER},
                                       {"comm_exposed_s", DLB_FRAME_NUMBER},
                                       {"wait_s", DLB_FRAME_NUMBER},
                                       {"input_s", DLB_FRAME_NUMBER},
                                       {"rank", DLB_FRAME_NUMBER}};
static const char *const labels[PHASES] = {"compute", "exposed communication",
                                           "waiting for other ranks", "waiting for input"};

/* A bar: a rank of a point, and the seconds of its phases in each run. */
typedef struct bar {
    size_t point;
    double rank;
    double *seconds[PHASES];
    size_t runs;
} bar;

typedef struct bars {
    bar items[MOST_BARS];
    size_t count;
    size_t groups;  /* points that have bars */
    size_t *points; /* all that the figure is about */
    size_t point_count;
    bool thinned;
} bars;

static void release_bars(bars *all)
{
    for (size_t i = 0; i < all->count; i++)
        for (int p = 0; p < PHASES; p++)
            free(all->items[i].seconds[p]);
    free(all->points);
}

/* ---- which ranks of which points ----------------------------------------------------------- */

/* Of many ranks some, evenly. What is no number of ranks has none. */
static void add_point(bars *all, const dlb_points *points, size_t point)
{
    double ranks = dlb_point_named(points, point, "ranks");
    all->points[all->point_count++] = point;
    if (!(ranks >= 1) || ranks != floor(ranks) || !dlb_point_has_time(points, point))
        return;
    size_t shown = ranks < MOST_RANKS ? (size_t)ranks : MOST_RANKS;
    if (all->count + shown > MOST_BARS) {
        all->thinned = true;
        return;
    }
    all->thinned = all->thinned || (double)shown < ranks;
    all->groups++;
    size_t runs = points->first[point + 1] - points->first[point];
    for (size_t i = 0; i < shown; i++) {
        bar *b = &all->items[all->count++];
        double rank = shown > 1 ? floor((double)i * (ranks - 1) / (double)(shown - 1)) : 0;
        *b = (bar){point, rank, {0}, runs};
        for (int p = 0; p < PHASES; p++) {
            b->seconds[p] = dlb_alloc(runs, sizeof(double));
            for (size_t r = 0; r < runs; r++)
                b->seconds[p][r] = NAN;
        }
    }
}

/* The family with the most points, over ranks with the fewest threads. */
static void choose_bars(bars *all, const dlb_points *points, const dlb_series_list *families)
{
    const dlb_series *best = NULL;
    for (size_t i = 0; i < families->count; i++)
        if (!best || families->items[i].count > best->count)
            best = &families->items[i];
    all->points = dlb_alloc(best ? best->count : 0, sizeof *all->points);
    double threads = INFINITY;
    for (size_t i = 0; best && i < best->count; i++)
        if (dlb_point_named(points, best->points[i], "ranks") > 1)
            threads = fmin(threads, dlb_point_named(points, best->points[i], "threads"));
    for (size_t i = 0; best && i < best->count; i++)
        if (dlb_point_named(points, best->points[i], "threads") == threads)
            add_point(all, points, best->points[i]);
}

/* ---- their times --------------------------------------------------------------------------- */

static bar *find_bar(bars *all, size_t point, double rank)
{
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].point == point && all->items[i].rank == rank)
            return &all->items[i];
    return NULL;
}

static void add_row(const dlb_report *report, const dlb_join *join, const int *columns, size_t row,
                    bars *all)
{
    size_t run;
    if (!dlb_join_run(join, row, &run) || report->points->runs[run].status != DLB_STATUS_OK)
        return;
    size_t point = join->point_of[run];
    bar *b = find_bar(all, point, dlb_frame_number(join->frame, columns[PHASES], row));
    if (!b)
        return;
    for (int p = 0; p < PHASES; p++)
        b->seconds[p][run - report->points->first[point]] =
            dlb_frame_number(join->frame, columns[p], row);
}

static void read_rows(const dlb_report *report, const dlb_join *join, bars *all)
{
    int columns[PHASES + 1];
    for (int p = 0; p <= PHASES; p++)
        columns[p] = dlb_frame_column(join->frame, wants[p].column);
    for (size_t row = 0; row < dlb_frame_rows(join->frame); row++)
        add_row(report, join, columns, row, all);
}

/* ---- the figure ---------------------------------------------------------------------------- */

/* Percent of the sum of all phases; a phase that no run tells of is left out of it. */
static bool shares_of(const bar *b, double shares[PHASES])
{
    double sum = 0;
    for (int p = 0; p < PHASES; p++) {
        shares[p] = dlb_interval_median(b->seconds[p], b->runs).value;
        sum += isnan(shares[p]) ? 0 : shares[p];
    }
    for (int p = 0; p < PHASES; p++)
        shares[p] *= 100 / sum;
    return sum > 0;
}

static size_t write_bars(const bars *all, const dlb_points *points, dlb_str *data, double *at,
                         char **names, size_t *group_count)
{
    size_t written = 0;
    double place = 0, begin = 0;
    for (size_t i = 0; i < all->count; i++) {
        const bar *b = &all->items[i];
        double shares[PHASES];
        if (i > 0 && all->items[i - 1].point != b->point)
            place += 1; /* a gap between points */
        if (i == 0 || all->items[i - 1].point != b->point)
            begin = place;
        place += 1;
        if (shares_of(b, shares)) {
            dlb_figure_cell(data, true, place);
            dlb_figure_cell(data, false, b->rank);
            for (int p = 0; p < PHASES; p++)
                dlb_figure_cell(data, false, shares[p]);
            dlb_str_add(data, "\n");
            written++;
        }
        if (i + 1 == all->count || all->items[i + 1].point != b->point) {
            dlb_str name = DLB_STR_INIT;
            dlb_str_addf(&name, "%g", dlb_point_named(points, b->point, "ranks"));
            at[*group_count] = (begin + 1 + place) / 2;
            names[(*group_count)++] = name.text;
        }
    }
    return written;
}

/* The runs that tell of a phase of the bar. */
static size_t runs_with(const bar *b, int phase)
{
    return dlb_interval_median(b->seconds[phase], b->runs).count;
}

static void describe(const bars *all, const dlb_points *points, dlb_figure *figure)
{
    dlb_drawn drawn = {0};
    for (size_t i = 0; i < all->count; i++)
        for (int p = 0; p < PHASES; p++)
            dlb_drawn_add(&drawn, runs_with(&all->items[i], p), false);
    dlb_str caption = DLB_STR_INIT;
    dlb_str_add(&caption, "Each bar is a rank, in groups that ran together; median over repeats. ");
    if (all->thinned)
        dlb_str_add(&caption, "Of many ranks some are shown, evenly. ");
    dlb_figure_describe(figure, "What ranks spend their time on", &caption,
                        &(dlb_shown){points, all->points, all->point_count, drawn, NULL});
    dlb_str_release(&caption);
}

/* A phase that no rank tells of has no place in the legend. */
static void write_legend(const bars *all, dlb_figure *figure)
{
    const char *legend[PHASES] = {"", "", "", ""};
    for (size_t i = 0; i < all->count; i++)
        for (int p = 0; p < PHASES; p++)
            if (runs_with(&all->items[i], p))
                legend[p] = labels[p];
    dlb_figure_texts(figure, "legend", legend, PHASES);
}

static void write_x_label(dlb_figure *figure, double threads)
{
    dlb_str label = DLB_STR_INIT;
    dlb_str_addf(&label, "ranks (of %g thread%s each)", threads, threads > 1 ? "s" : "");
    dlb_figure_text(figure, "xlabel", label.text);
    dlb_str_release(&label);
}

static void add_figure(const dlb_report *report, const bars *all, dlb_figures *figures)
{
    double at[MOST_BARS];
    char *names[MOST_BARS];
    size_t groups = 0;
    dlb_str data = DLB_STR_INIT;
    size_t written = write_bars(all, report->points, &data, at, names, &groups);
    if (written > 1) {
        dlb_figure *figure = dlb_figure_add(figures, "bars", "phases", "");
        figure->data = data;
        data = (dlb_str)DLB_STR_INIT;
        figure->head = "place\trank\tcompute\texposed communication\twaiting for ranks\twaiting "
                       "for input, in % of their sum";
        describe(all, report->points, figure);
        dlb_figure_tics(figure, "x", at, (const char *const *)names, groups);
        write_legend(all, figure);
        dlb_figure_number(figure, "places", (double)(all->count + all->groups - 1));
        write_x_label(figure, dlb_point_named(report->points, all->items[0].point, "threads"));
        dlb_figure_text(figure, "ylabel", "share of a rank's time (%)");
    }
    for (size_t i = 0; i < groups; i++)
        free(names[i]);
    dlb_str_release(&data);
}

int dlb_figures_phases(const dlb_report *report, dlb_figures *figures, dlb_error *err)
{
    dlb_join join;
    int status =
        dlb_join_read(&join, report, "ranks.csv", wants, sizeof wants / sizeof *wants, err);
    if (status <= 0)
        return status;
    static const char *const axis[] = {"ranks", "threads", NULL};
    dlb_series_list families;
    bars all = {0};
    dlb_series_make(&families, report->points,
                    &(dlb_series_request){.axis = axis, .takes = dlb_point_is_real});
    choose_bars(&all, report->points, &families);
    read_rows(report, &join, &all);
    add_figure(report, &all, figures);
    release_bars(&all);
    dlb_series_release(&families);
    dlb_join_release(&join);
    return 0;
}
