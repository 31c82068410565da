/* Speed-up, efficiency, time to solution and time to target over the cores used. */
#include <math.h>
#include <stdint.h>

#include "base/mem.h"
#include "report/figures.h"
#include "stats/survival.h"

enum kind { SPEEDUP, EFFICIENCY, TIME, TARGET, KINDS };

/* Points of a family in which ranks or threads are the same. */
typedef struct strand {
    size_t family;
    size_t base; /* the point of the family with the fewest cores */
    size_t *points;
    size_t count;
    int threads, ranks; /* the one that all have; 0 = the one that varies */
    double best;        /* speed-up */
} strand;

typedef struct strands {
    strand *items;
    size_t count, capacity;
} strands;

static void release_strands(strands *all)
{
    for (size_t i = 0; i < all->count; i++)
        free(all->items[i].points);
    free(all->items);
}

static bool is_weak(const dlb_points *points, size_t point)
{
    return strcmp(dlb_point_text(points, point, dlb_points_find(points, "mode")), "weak") == 0;
}

/* How much faster than the base, which itself counts as its cores. */
static dlb_interval speedup(const dlb_points *points, size_t point, size_t base)
{
    dlb_interval ratio = is_weak(points, point)
                             ? dlb_point_ratio(points, point, base, DLB_MEASURE_images_per_s)
                             : dlb_point_ratio(points, base, point, dlb_time_measure(points));
    return dlb_interval_scaled(ratio, dlb_point_cores(points, base));
}

/* ---- strands ------------------------------------------------------------------------------- */

static bool has_time(const dlb_points *points, size_t point)
{
    return dlb_point_value(points, point, dlb_time_measure(points)) > 0 &&
           dlb_point_cores(points, point) > 0;
}

/* Good enough to tell which lines are the best. */
static double rough_speedup(const dlb_points *points, size_t point, size_t base)
{
    enum dlb_measure time = dlb_time_measure(points);
    return is_weak(points, point)
               ? dlb_point_value(points, point, DLB_MEASURE_images_per_s)
               : dlb_point_value(points, base, time) / dlb_point_value(points, point, time);
}

/* SIZE_MAX if no point has a time. */
static size_t base_of(const dlb_points *points, const dlb_series *family)
{
    size_t base = SIZE_MAX;
    for (size_t i = 0; i < family->count; i++) {
        size_t p = family->points[i];
        if (has_time(points, p) &&
            (base == SIZE_MAX || dlb_point_cores(points, p) < dlb_point_cores(points, base)))
            base = p;
    }
    return base;
}

/* The points of the family with that value of a parameter, if they have several core counts. */
static void add_strand(strands *all, const dlb_points *points, const dlb_series *family,
                       strand like, const char *fixed, int value)
{
    like.points = dlb_alloc(family->count, sizeof *like.points);
    for (size_t i = 0; i < family->count; i++) {
        size_t p = family->points[i];
        if (!has_time(points, p) || (int)dlb_point_named(points, p, fixed) != value)
            continue;
        like.points[like.count++] = p;
        like.best = fmax(like.best, rough_speedup(points, p, like.base));
    }
    if (like.count < 2) {
        free(like.points);
        return;
    }
    all->items = dlb_grow(all->items, &all->capacity, all->count + 1, sizeof *all->items);
    all->items[all->count++] = like;
}

/* Whether the value of the parameter at i has not been before it. */
static bool is_new(const dlb_points *points, const dlb_series *family, size_t i, const char *name)
{
    double value = dlb_point_named(points, family->points[i], name);
    for (size_t j = 0; j < i; j++)
        if (dlb_point_named(points, family->points[j], name) == value)
            return false;
    return !isnan(value);
}

/* A strand for each number of threads, over ranks, and one over threads for the fewest ranks. */
static void add_strands(strands *all, const dlb_points *points, const dlb_series *family,
                        size_t index)
{
    strand like = {.family = index, .base = base_of(points, family)};
    if (like.base == SIZE_MAX)
        return;
    for (size_t i = 0; i < family->count; i++) {
        if (!is_new(points, family, i, "threads"))
            continue;
        like.threads = (int)dlb_point_named(points, family->points[i], "threads");
        add_strand(all, points, family, like, "threads", like.threads);
    }
    like.threads = 0;
    like.ranks = (int)dlb_point_named(points, like.base, "ranks");
    add_strand(all, points, family, like, "ranks", like.ranks);
}

static bool all_real(const dlb_points *points, const dlb_series *family)
{
    for (size_t i = 0; i < family->count; i++)
        if (!dlb_point_is_real(points, family->points[i]))
            return false;
    return true;
}

/* ---- figures ------------------------------------------------------------------------------- */

/* The strands of one figure: of one grid and mode. */
typedef struct scene {
    const dlb_points *points;
    const dlb_series_list *families;
    const strand *strands[DLB_FIGURE_MAX_LINES];
    size_t count;
    const char *part; /* of the figures' names */
    const char *mode;
    const char *note;
} scene;

static bool several_of_family(const scene *s, size_t family)
{
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++)
        count += s->strands[i]->family == family;
    return count > 1;
}

static void add_strand_words(dlb_str *title, const strand *line)
{
    dlb_str_add(title, title->length ? ", " : "");
    if (line->threads)
        dlb_str_addf(title, "%d thread%s a rank", line->threads, line->threads > 1 ? "s" : "");
    else
        dlb_str_addf(title, "%d rank%s, more threads", line->ranks, line->ranks > 1 ? "s" : "");
}

static char *line_title(const scene *s, size_t index)
{
    size_t families[DLB_FIGURE_MAX_LINES];
    for (size_t i = 0; i < s->count; i++)
        families[i] = s->strands[i]->family;
    dlb_str title = DLB_STR_INIT;
    dlb_series_title(s->families, s->points, families, s->count, s->strands[index]->family, &title);
    if (several_of_family(s, s->strands[index]->family) || title.length == 0)
        add_strand_words(&title, s->strands[index]);
    return title.text;
}

/*
 * A run that never reached the target took longer than it was observed: an ok one until its end, a
 * diverged one as long as the longest of its point.
 */
static size_t observe(const dlb_points *points, size_t point, dlb_observation *runs)
{
    const dlb_point_run *ends;
    const double *reached, *whole;
    size_t count = dlb_point_runs(points, point, &ends);
    dlb_point_measure(points, point, DLB_MEASURE_time_to_target_s, &reached);
    dlb_point_measure(points, point, DLB_MEASURE_time_to_solution_s, &whole);
    double longest = NAN;
    for (size_t i = 0; i < count; i++)
        longest = fmax(longest, whole[i]);
    for (size_t i = 0; i < count; i++) {
        double observed = ends[i].status == DLB_STATUS_DIVERGED ? longest : whole[i];
        runs[i] = (dlb_observation){isnan(reached[i]) ? observed : reached[i], !isnan(reached[i])};
    }
    return count;
}

static dlb_survival time_to_target(const dlb_points *points, size_t point)
{
    const dlb_point_run *runs;
    dlb_observation *observed = dlb_alloc(dlb_point_runs(points, point, &runs), sizeof *observed);
    dlb_survival survival = dlb_survival_of(observed, observe(points, point, observed));
    free(observed);
    return survival;
}

static dlb_interval value_of(const scene *s, enum kind kind, const strand *line, size_t point)
{
    if (kind == TARGET) {
        dlb_survival t = time_to_target(s->points, point);
        bool bounded = !isnan(t.low) || !isnan(t.high); /* an open side has no bar */
        return (dlb_interval){t.count, t.median, isnan(t.low) && bounded ? t.median : t.low,
                              isnan(t.high) && bounded ? t.median : t.high};
    }
    if (kind == TIME)
        return dlb_point_median(s->points, point, dlb_time_measure(s->points), 1);
    dlb_interval ratio = speedup(s->points, point, line->base);
    double cores = dlb_point_cores(s->points, point);
    return kind == SPEEDUP ? ratio : dlb_interval_scaled(ratio, 100 / cores);
}

static size_t missed(const dlb_points *points, size_t point)
{
    dlb_survival t = time_to_target(points, point);
    return t.count - t.reached;
}

static bool any_reached(const scene *s)
{
    for (size_t i = 0; i < s->count; i++)
        for (size_t j = 0; j < s->strands[i]->count; j++)
            if (time_to_target(s->points, s->strands[i]->points[j]).reached)
                return true;
    return false;
}

static void add_points(const scene *s, enum kind kind, dlb_lines *lines, size_t index)
{
    const strand *line = s->strands[index];
    size_t number = dlb_lines_add(lines, line_title(s, index));
    for (size_t i = 0; i < line->count; i++) {
        size_t p = line->points[i];
        double cores = dlb_point_cores(s->points, p);
        dlb_lines_row(lines, (dlb_line_row){.line = number,
                                            .x = cores,
                                            .y = value_of(s, kind, line, p),
                                            .hollow = dlb_point_oversubscribed(s->points, p),
                                            .lost = kind == TARGET ? missed(s->points, p) : 0});
        const double *times;
        size_t runs = dlb_point_measure(s->points, p, dlb_time_measure(s->points), &times);
        if (kind == TIME)
            dlb_lines_dots(lines, 0, number, cores, 1, times, runs);
    }
}

/* "1 rank × 1 thread", of every family; "the fewest cores of each line" if they differ. */
static void add_base(const scene *s, dlb_str *caption)
{
    size_t base = s->strands[0]->base;
    double ranks = dlb_point_named(s->points, base, "ranks");
    double threads = dlb_point_named(s->points, base, "threads");
    for (size_t i = 1; i < s->count; i++)
        if (dlb_point_named(s->points, s->strands[i]->base, "ranks") != ranks ||
            dlb_point_named(s->points, s->strands[i]->base, "threads") != threads) {
            dlb_str_add(caption, "the fewest cores of each setting");
            return;
        }
    dlb_str_addf(caption, "%g rank%s × %g thread%s", ranks, ranks > 1 ? "s" : "", threads,
                 threads > 1 ? "s" : "");
}

static void add_caption(const scene *s, enum kind kind, dlb_str *caption)
{
    dlb_str_add(caption, s->note);
    if (kind == TARGET) {
        dlb_str_add(caption, "Median over all runs and 95 % interval (Kaplan–Meier); crosses: runs "
                             "that never reached the target, counted as longer. ");
        return;
    }
    if (kind == TIME) {
        dlb_str_add(caption, "Median and 95 % interval; dots: single runs. ");
        return;
    }
    dlb_str_add(caption, "Against ");
    add_base(s, caption);
    dlb_str_add(caption, ", median of the ratios within blocks, 95 % interval. ");
}

static const char *title_of(const scene *s, enum kind kind)
{
    static const char *const titles[][KINDS] = {
        {"Strong scaling", "Parallel efficiency, strong scaling", "Time to solution",
         "Time to target accuracy"},
        {"Weak scaling", "Parallel efficiency, weak scaling", "Time to solution, weak scaling",
         "Time to target accuracy, weak scaling"},
        {"Speed-up", "Parallel efficiency", "Time to solution", "Time to target accuracy"}};
    int row = strcmp(s->mode, "strong") == 0 ? 0 : strcmp(s->mode, "weak") == 0 ? 1 : 2;
    return titles[row][kind];
}

static void set_axes(const scene *s, enum kind kind, dlb_lines *lines, dlb_figure *figure)
{
    static const enum dlb_axis_kind axes[KINDS] = {DLB_AXIS_LOG2, DLB_AXIS_FROM_ZERO, DLB_AXIS_LOG2,
                                                   DLB_AXIS_LOG2};
    lines->x = DLB_AXIS_LOG2;
    lines->y[0] = axes[kind];
    lines->apart = lines->count <= 3;
    lines->ideal = kind == SPEEDUP ? 1 : kind == EFFICIENCY ? 100 : 0;
    lines->level = kind == EFFICIENCY;
    static const char *const y_labels[KINDS] = {"speed-up over ", "parallel efficiency (%)",
                                                "time to solution (s)", "time to target (s)"};
    dlb_str label = DLB_STR_INIT;
    dlb_str_add(&label, y_labels[kind]);
    if (kind == SPEEDUP)
        add_base(s, &label);
    const char *labels[] = {label.text};
    dlb_figure_texts(figure, "ylabel", labels, 1);
    dlb_figure_text(figure, "xlabel", "cores used (ranks × threads)");
    dlb_str_release(&label);
}

static void describe(const scene *s, enum kind kind, dlb_figure *figure)
{
    size_t count = 0, all = 0;
    for (size_t i = 0; i < s->count; i++)
        all += s->strands[i]->count;
    size_t *items = dlb_alloc(all, sizeof *items);
    for (size_t i = 0; i < s->count; i++)
        for (size_t j = 0; j < s->strands[i]->count; j++)
            items[count++] = s->strands[i]->points[j];
    dlb_str caption = DLB_STR_INIT;
    add_caption(s, kind, &caption);
    dlb_figure_describe(figure, title_of(s, kind), &caption,
                        &(dlb_shown){s->points, items, count, NULL});
    dlb_str_release(&caption);
    free(items);
}

static void add_figure(const scene *s, enum kind kind, dlb_figures *figures)
{
    static const char *const names[KINDS] = {"speedup", "efficiency", "time", "time_to_target"};
    dlb_lines lines = {.panels = 1};
    for (size_t i = 0; i < s->count; i++)
        add_points(s, kind, &lines, i);
    if (dlb_lines_tell(&lines)) {
        dlb_figure *figure = dlb_figure_add(figures, "lines", names[kind], s->part);
        set_axes(s, kind, &lines, figure);
        describe(s, kind, figure);
        dlb_lines_finish(&lines, figure, NULL);
    }
    dlb_lines_release(&lines);
}

/* ---- scenes -------------------------------------------------------------------------------- */

static const char *mode_of(const dlb_points *points, const dlb_series_list *families,
                           const strand *line)
{
    return dlb_point_text(points, families->items[line->family].points[0],
                          dlb_points_find(points, "mode"));
}

static bool same_scene(const dlb_points *points, const dlb_series_list *families, const strand *a,
                       const strand *b)
{
    return strcmp(families->items[a->family].grid, families->items[b->family].grid) == 0 &&
           strcmp(mode_of(points, families, a), mode_of(points, families, b)) == 0;
}

static void add_figures_of_scene(scene *s, const strand *first, dlb_figures *figures)
{
    s->mode = mode_of(s->points, s->families, first);
    s->part = dlb_series_has_grids(s->families) ? s->families->items[first->family].grid : "";
    for (int kind = 0; kind < KINDS; kind++)
        if (kind != TARGET || any_reached(s))
            add_figure(s, (enum kind)kind, figures);
}

/* The scene of the strand at `first` and of all that are not yet taken and belong to it. */
static void add_scene(const dlb_points *points, const dlb_series_list *families, const strands *all,
                      bool *taken, size_t first, dlb_figures *figures)
{
    size_t *members = dlb_alloc(all->count, sizeof *members), count = 0;
    double *scores = dlb_alloc(all->count, sizeof *scores);
    for (size_t i = first; i < all->count; i++)
        if (!taken[i] && same_scene(points, families, &all->items[i], &all->items[first])) {
            scores[count] = all->items[i].best;
            members[count++] = i;
            taken[i] = true;
        }
    size_t chosen[DLB_FIGURE_MAX_LINES];
    dlb_str note = DLB_STR_INIT;
    dlb_str_add(&note, "");
    scene s = {.points = points, .families = families};
    s.count = dlb_choose_lines(scores, count, chosen, &note);
    for (size_t i = 0; i < s.count; i++)
        s.strands[i] = &all->items[members[chosen[i]]];
    s.note = note.text;
    add_figures_of_scene(&s, &all->items[first], figures);
    dlb_str_release(&note);
    free(scores);
    free(members);
}

static void add_figures_of(const dlb_points *points, const dlb_series_request *request,
                           bool with_real, dlb_figures *figures)
{
    dlb_series_list families;
    strands all = {0};
    dlb_series_make(&families, points, request);
    for (size_t f = 0; f < families.count; f++)
        if (with_real || !all_real(points, &families.items[f]))
            add_strands(&all, points, &families.items[f], f);
    bool *taken = dlb_alloc(all.count, sizeof *taken);
    for (size_t i = 0; i < all.count; i++)
        if (!taken[i])
            add_scene(points, &families, &all, taken, i, figures);
    free(taken);
    release_strands(&all);
    dlb_series_release(&families);
}

void dlb_figures_scaling(const dlb_report *report, dlb_figures *figures)
{
    static const char *const axis[] = {"ranks", "threads", NULL};
    add_figures_of(report->points, &(dlb_series_request){.axis = axis, .takes = dlb_point_is_real},
                   true, figures);
    add_figures_of(report->points, &(dlb_series_request){.axis = axis, .always = "workers"}, false,
                   figures);
}
