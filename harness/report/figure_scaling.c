/* Speed-up, efficiency, time to solution and time to target over the cores used. */
#include <math.h>

#include "base/mem.h"
#include "report/figures.h"
#include "report/strands.h"
#include "report/target.h"

enum kind { SPEEDUP, EFFICIENCY, TIME, TARGET, KINDS };

/* One figure: strands of one grid and mode. */
typedef struct scene {
    const dlb_points *points;
    const dlb_series_list *families;
    enum kind kind;
    bool played; /* several workers by one rank; of each family one number of them */
    const dlb_strand *strands[DLB_FIGURE_MAX_LINES];
    size_t count;
    const char *note;
} scene;

/* ---- lines --------------------------------------------------------------------------------- */

static bool several_of_family(const scene *s, size_t family)
{
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++)
        count += s->strands[i]->family == family;
    return count > 1;
}

static void add_strand_words(dlb_str *title, const dlb_strand *line)
{
    const char *plural = line->fixed == 1 ? "" : "s";
    dlb_str_add(title, title->length ? ", " : "");
    if (line->over_ranks)
        dlb_str_addf(title, "%g thread%s a rank", line->fixed, plural);
    else
        dlb_str_addf(title, "%g rank%s, more threads", line->fixed, plural);
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

static dlb_interval value_of(const scene *s, const dlb_strand *line, size_t point, size_t *missed)
{
    *missed = 0;
    if (s->kind == TARGET) {
        dlb_target_time target = dlb_point_target(s->points, point, line->longest_s);
        *missed = target.time.count - target.reached;
        return target.time;
    }
    if (s->kind == TIME)
        return dlb_point_median(s->points, point, dlb_time_measure(s->points), 1);
    dlb_interval ratio = dlb_point_speedup(s->points, point, line->base);
    double cores = dlb_point_cores(s->points, point) / dlb_point_cores(s->points, line->base);
    return s->kind == SPEEDUP ? ratio : dlb_interval_scaled(ratio, 100 / cores);
}

static void add_points(const scene *s, dlb_lines *lines, size_t index)
{
    const dlb_strand *line = s->strands[index];
    size_t number = dlb_lines_add(lines, line_title(s, index));
    for (size_t i = 0; i < line->count; i++) {
        size_t p = line->points[i], missed;
        double cores = dlb_point_cores(s->points, p);
        dlb_interval value = value_of(s, line, p, &missed);
        if (value.count == 0)
            continue;
        dlb_lines_row(lines, (dlb_line_row){.line = number,
                                            .x = cores,
                                            .y = value,
                                            .hollow = dlb_point_oversubscribed(s->points, p),
                                            .lost = missed});
        const double *times;
        size_t runs = dlb_point_measure(s->points, p, dlb_time_measure(s->points), &times);
        if (s->kind == TIME)
            dlb_lines_dots(lines, 0, number, cores, 1, times, runs);
    }
}

/* ---- words --------------------------------------------------------------------------------- */

/* "1 rank × 1 thread", of every family; "the fewest cores of each setting" if they differ. */
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

static void add_caption(const scene *s, dlb_str *caption)
{
    dlb_str_add(caption, s->note);
    if (s->kind == TARGET) {
        dlb_str_add(caption, "Median over all runs and 95 % interval (Kaplan–Meier); crosses: runs "
                             "that never reached the target, counted as longer. ");
        return;
    }
    if (s->kind == TIME) {
        dlb_str_add(caption, "Median and 95 % interval; dots: single runs. ");
        return;
    }
    dlb_str_add(caption, "Against ");
    add_base(s, caption);
    dlb_str_add(caption, ", median of the ratios within blocks, 95 % interval. ");
}

static double workers_of(const scene *s, size_t index)
{
    const dlb_series *family = &s->families->items[s->strands[index]->family];
    return dlb_point_named(s->points, family->points[0], "workers");
}

/* Append ", 4 workers, played by fewer ranks", with each number of workers once. */
static void add_players(const scene *s, dlb_str *title)
{
    for (size_t i = 0; i < s->count; i++) {
        bool told = false;
        for (size_t j = 0; j < i; j++)
            told = told || workers_of(s, j) == workers_of(s, i);
        if (!told)
            dlb_str_addf(title, "%s %g", i ? " and" : ",", workers_of(s, i));
    }
    dlb_str_add(title, " workers, played by fewer ranks");
}

static const char *mode_of(const dlb_points *points, const dlb_series_list *families,
                           const dlb_strand *line)
{
    return dlb_point_text(points, families->items[line->family].points[0],
                          dlb_points_find(points, "mode"));
}

/* One training that more ranks play is strong scaling, whatever its mode. */
static void add_title(const scene *s, dlb_str *title)
{
    static const char *const titles[][KINDS] = {
        {"Strong scaling", "Parallel efficiency, strong scaling", "Time to solution",
         "Time to target accuracy"},
        {"Weak scaling", "Parallel efficiency, weak scaling", "Time to solution, weak scaling",
         "Time to target accuracy, weak scaling"},
        {"Speed-up", "Parallel efficiency", "Time to solution", "Time to target accuracy"}};
    const char *mode = mode_of(s->points, s->families, s->strands[0]);
    int row = s->played || strcmp(mode, "strong") == 0 ? 0 : strcmp(mode, "weak") == 0 ? 1 : 2;
    dlb_str_add(title, titles[row][s->kind]);
    if (s->played)
        add_players(s, title);
}

/* ---- figures ------------------------------------------------------------------------------- */

/* Cores by those of the base; 0 where lines have bases of several sizes, and no common ideal. */
static double ideal_speedup(const scene *s)
{
    double cores = dlb_point_cores(s->points, s->strands[0]->base);
    for (size_t i = 1; i < s->count; i++)
        if (dlb_point_cores(s->points, s->strands[i]->base) != cores)
            return 0;
    return 1 / cores;
}

/* Beside an ideal that grows, a line that is moved sideways would look better than it is. */
static void set_axes(const scene *s, dlb_lines *lines, dlb_figure *figure)
{
    static const enum dlb_axis_kind axes[KINDS] = {DLB_AXIS_LOG2, DLB_AXIS_FROM_ZERO, DLB_AXIS_LOG2,
                                                   DLB_AXIS_LOG2};
    lines->x = DLB_AXIS_LOG2;
    lines->y[0] = axes[s->kind];
    lines->apart = lines->count <= 3 && s->kind != SPEEDUP;
    lines->ideal = s->kind == SPEEDUP ? ideal_speedup(s) : s->kind == EFFICIENCY ? 100 : 0;
    lines->level = s->kind == EFFICIENCY;
    static const char *const y_labels[KINDS] = {"speed-up over ", "parallel efficiency (%)",
                                                "time to solution (s)", "time to target (s)"};
    dlb_str label = DLB_STR_INIT;
    dlb_str_add(&label, y_labels[s->kind]);
    if (s->kind == SPEEDUP)
        add_base(s, &label);
    const char *labels[] = {label.text};
    dlb_figure_texts(figure, "ylabel", labels, 1);
    dlb_figure_text(figure, "xlabel", "cores used (ranks × threads)");
    dlb_str_release(&label);
}

/* All points of the families: what has failed altogether is no line's, but is told. */
static size_t *points_of_families(const scene *s, size_t *count)
{
    size_t all = 0;
    *count = 0;
    for (size_t i = 0; i < s->count; i++)
        all += s->families->items[s->strands[i]->family].count;
    size_t *items = dlb_alloc(all, sizeof *items);
    for (size_t i = 0; i < s->count; i++) {
        const dlb_series *family = &s->families->items[s->strands[i]->family];
        bool told = false;
        for (size_t j = 0; j < i; j++)
            told = told || s->strands[j]->family == s->strands[i]->family;
        if (told)
            continue;
        memcpy(items + *count, family->points, family->count * sizeof *items);
        *count += family->count;
    }
    return items;
}

static void describe(const scene *s, const dlb_lines *lines, dlb_figure *figure)
{
    size_t count;
    size_t *items = points_of_families(s, &count);
    dlb_str title = DLB_STR_INIT, caption = DLB_STR_INIT;
    add_title(s, &title);
    add_caption(s, &caption);
    dlb_figure_describe(figure, title.text, &caption,
                        &(dlb_shown){s->points, items, count, dlb_lines_drawn(lines), "Hollow"});
    dlb_str_release(&caption);
    dlb_str_release(&title);
    free(items);
}

static void add_figure(const scene *s, dlb_figures *figures)
{
    static const char *const names[KINDS] = {"speedup", "efficiency", "time", "time_to_target"};
    dlb_lines lines = {.panels = 1};
    for (size_t i = 0; i < s->count; i++)
        add_points(s, &lines, i);
    if (dlb_lines_tell(&lines)) {
        bool grids = dlb_series_has_grids(s->families);
        const char *part = grids ? s->families->items[s->strands[0]->family].grid : "";
        dlb_figure *figure = dlb_figure_add(figures, "lines", names[s->kind], part);
        set_axes(s, &lines, figure);
        describe(s, &lines, figure);
        dlb_lines_finish(&lines, figure, NULL);
    }
    dlb_lines_release(&lines);
}

/* ---- scenes -------------------------------------------------------------------------------- */

/* Two points at least, of which something is known. */
static bool has_line(const scene *s, const dlb_strand *line)
{
    size_t observed = 0;
    for (size_t i = 0; s->kind == TARGET && i < line->count; i++)
        observed += dlb_point_target(s->points, line->points[i], line->longest_s).time.count > 0;
    return (s->kind == TARGET ? observed : line->timed) > 1;
}

/* The figure of a kind, of those members that have a line in it. */
static void add_figure_of(scene s, const dlb_strands *all, const size_t *members, size_t count,
                          dlb_figures *figures)
{
    size_t candidates = 0, chosen[DLB_FIGURE_MAX_LINES];
    const dlb_strand **lines = dlb_alloc(count, sizeof *lines);
    double *scores = dlb_alloc(count, sizeof *scores);
    for (size_t i = 0; i < count; i++)
        if (has_line(&s, &all->items[members[i]])) {
            lines[candidates] = &all->items[members[i]];
            scores[candidates++] = all->items[members[i]].best;
        }
    dlb_str note = DLB_STR_INIT;
    dlb_str_add(&note, "");
    s.count = dlb_choose_lines(scores, candidates, chosen, &note);
    for (size_t i = 0; i < s.count; i++)
        s.strands[i] = lines[chosen[i]];
    s.note = note.text;
    add_figure(&s, figures);
    dlb_str_release(&note);
    free(scores);
    free(lines);
}

static bool same_scene(const scene *s, const dlb_strand *a, const dlb_strand *b)
{
    return strcmp(s->families->items[a->family].grid, s->families->items[b->family].grid) == 0 &&
           strcmp(mode_of(s->points, s->families, a), mode_of(s->points, s->families, b)) == 0;
}

static bool reaches_target(const dlb_points *points, const dlb_strand *line)
{
    for (size_t i = 0; i < line->count; i++)
        if (dlb_point_target(points, line->points[i], line->longest_s).reached)
            return true;
    return false;
}

/* The figures of the strand at `first` and of all that are not yet taken and belong to it. */
static void add_scene(scene s, const dlb_strands *all, bool *taken, size_t first,
                      dlb_figures *figures)
{
    size_t *members = dlb_alloc(all->count, sizeof *members), count = 0;
    bool reached = false;
    for (size_t i = first; i < all->count; i++)
        if (!taken[i] && same_scene(&s, &all->items[i], &all->items[first])) {
            members[count++] = i;
            taken[i] = true;
            reached = reached || reaches_target(s.points, &all->items[i]);
        }
    for (int kind = 0; kind < KINDS; kind++) {
        s.kind = (enum kind)kind;
        if (kind != TARGET || reached)
            add_figure_of(s, all, members, count, figures);
    }
    free(members);
}

static bool all_real(const dlb_points *points, const dlb_series *family)
{
    for (size_t i = 0; i < family->count; i++)
        if (!dlb_point_is_real(points, family->points[i]))
            return false;
    return true;
}

static void add_figures_of(const dlb_points *points, const dlb_series_request *request, bool played,
                           dlb_figures *figures)
{
    dlb_series_list families;
    dlb_strands all = {0};
    dlb_series_make(&families, points, request);
    for (size_t f = 0; f < families.count; f++)
        if (!played || !all_real(points, &families.items[f]))
            dlb_strands_add(&all, points, &families.items[f], f);
    bool *taken = dlb_alloc(all.count, sizeof *taken);
    for (size_t i = 0; i < all.count; i++)
        if (!taken[i])
            add_scene((scene){.points = points, .families = &families, .played = played}, &all,
                      taken, i, figures);
    free(taken);
    dlb_strands_release(&all);
    dlb_series_release(&families);
}

void dlb_figures_scaling(const dlb_report *report, dlb_figures *figures)
{
    static const char *const axis[] = {"ranks", "threads", NULL};
    add_figures_of(report->points, &(dlb_series_request){.axis = axis, .takes = dlb_point_is_real},
                   false, figures);
    add_figures_of(report->points, &(dlb_series_request){.axis = axis, .always = "workers"}, true,
                   figures);
}
