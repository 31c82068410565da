#include "report/causes.h"

#include <math.h>
#include <stdint.h>

#include "base/mem.h"
#include "report/figures.h"
#include "report/series.h"
#include "stats/spread.h"

/* From where on a cause is worth a sentence. */
#define STEAL_PCT    2.0
#define WAIT_PART    0.20
#define EXPOSED_PART 0.10
#define COLLAPSED    0.20 /* accuracy; a guess among ten is right in 0.1 */
#define LEARNT       0.50
#define LOAD_FACTOR  1.25 /* of the most threads that a run had, */
#define LOAD_BEYOND  1.0  /* and so many tasks more */

enum { MOST_NAMED = 3 };

static const char *plural(double count)
{
    return count == 1 ? "" : "s";
}

/* "8 ranks × 1 thread"; "this point" where they are not known. */
static void add_shape(const dlb_points *points, size_t point, dlb_str *lines)
{
    double ranks = dlb_point_named(points, point, "ranks");
    double threads = dlb_point_named(points, point, "threads");
    if (isnan(ranks) || isnan(threads))
        dlb_str_add(lines, "one setting");
    else
        dlb_str_addf(lines, "%g rank%s × %g thread%s", ranks, plural(ranks), threads,
                     plural(threads));
}

/* --- more threads than cores --- */

/* Ranks on one host by threads of each. */
static double threads_on_host(const dlb_points *points, size_t point)
{
    double per_node = dlb_point_named(points, point, "ranks_per_node");
    return per_node > 0 ? per_node * dlb_point_named(points, point, "threads")
                        : dlb_point_cores(points, point);
}

static bool is_crowded(const dlb_points *points, size_t point, double cores)
{
    return dlb_point_oversubscribed(points, point) || threads_on_host(points, point) > cores;
}

static bool same_shape(const dlb_points *points, size_t a, size_t b)
{
    return dlb_point_named(points, a, "ranks") == dlb_point_named(points, b, "ranks") &&
           dlb_point_named(points, a, "threads") == dlb_point_named(points, b, "threads") &&
           threads_on_host(points, a) == threads_on_host(points, b);
}

/* Different shapes, of which the first few are kept. */
typedef struct shapes {
    size_t points[64];
    size_t count;
} shapes;

static void add_if_new(shapes *s, const dlb_points *points, size_t point)
{
    for (size_t i = 0; i < s->count; i++)
        if (same_shape(points, s->points[i], point))
            return;
    if (s->count < sizeof s->points / sizeof *s->points)
        s->points[s->count++] = point;
}

static void sort_by_crowd(shapes *s, const dlb_points *points)
{
    for (size_t i = 1; i < s->count; i++)
        for (size_t j = i; j > 0 && threads_on_host(points, s->points[j]) >
                                        threads_on_host(points, s->points[j - 1]);
             j--) {
            size_t other = s->points[j - 1];
            s->points[j - 1] = s->points[j];
            s->points[j] = other;
        }
}

static void tell_crowded(const dlb_points *points, double cores, dlb_str *lines)
{
    shapes found = {.count = 0};
    for (size_t p = 0; p < dlb_points_count(points); p++)
        if (is_crowded(points, p, cores))
            add_if_new(&found, points, p);
    sort_by_crowd(&found, points);
    for (size_t i = 0; i < found.count && i < MOST_NAMED; i++) {
        double wanted = threads_on_host(points, found.points[i]);
        add_shape(points, found.points[i], lines);
        if (wanted > cores)
            dlb_str_addf(lines, " share %g core%s: %.3g× oversubscribed.\n", cores, plural(cores),
                         wanted / cores);
        else
            dlb_str_add(lines, " had more threads than cores: oversubscribed.\n");
    }
    if (found.count > MOST_NAMED)
        dlb_str_addf(lines, "%zu other settings are oversubscribed as well.\n",
                     found.count - MOST_NAMED);
}

/* --- other users of the machine --- */

typedef struct peak {
    double value;
    size_t runs, of; /* runs above the limit, and all that tell */
    size_t point;
} peak;

static peak peak_of(const dlb_points *points, enum dlb_measure measure, double limit)
{
    peak found = {.value = limit};
    for (size_t p = 0; p < dlb_points_count(points); p++) {
        const double *values;
        size_t count = dlb_point_measure(points, p, measure, &values);
        for (size_t i = 0; i < count; i++) {
            found.of += !isnan(values[i]);
            found.runs += values[i] > limit;
            if (values[i] > found.value) {
                found.value = values[i];
                found.point = p;
            }
        }
    }
    return found;
}

static void tell_steal(const dlb_points *points, dlb_str *lines)
{
    peak steal = peak_of(points, DLB_MEASURE_steal_pct, STEAL_PCT);
    if (steal.runs)
        dlb_str_addf(lines,
                     "The hypervisor took more than %g %% of the CPU time in %zu of %zu runs, up "
                     "to %.1f %%: their times are too long.\n",
                     STEAL_PCT, steal.runs, steal.of, steal.value);
}

/* The load is a mean of a minute, in which earlier runs of the study may have had a part. */
static void tell_load(const dlb_points *points, dlb_str *lines)
{
    double most = 0;
    for (size_t p = 0; p < dlb_points_count(points); p++)
        most = fmax(most, threads_on_host(points, p));
    peak load = peak_of(points, DLB_MEASURE_load, LOAD_FACTOR * most + LOAD_BEYOND);
    if (most > 0 && load.runs)
        dlb_str_addf(lines,
                     "Other programs ran at the same time: the load was up to %.1f while no run "
                     "had more than %g thread%s.\n",
                     load.value, most, plural(most));
}

/* --- ranks that wait --- */

/* The median over runs of the part that a measure has in the time; NaN if none tells. */
static double part_of(const dlb_points *points, size_t point, enum dlb_measure measure)
{
    const double *parts, *times;
    size_t count = dlb_point_measure(points, point, measure, &parts);
    double *shares = dlb_alloc(count, sizeof *shares);
    dlb_point_measure(points, point, DLB_MEASURE_time_to_solution_s, &times);
    for (size_t i = 0; i < count; i++)
        shares[i] = times[i] > 0 ? parts[i] / times[i] : NAN;
    double median = dlb_median(shares, count);
    free(shares);
    return median;
}

static void tell_part(const dlb_points *points, enum dlb_measure measure, double limit,
                      const char *what, dlb_str *lines)
{
    double largest = limit;
    size_t worst = 0, count = 0;
    for (size_t p = 0; p < dlb_points_count(points); p++) {
        double part = part_of(points, p, measure);
        count += part > limit;
        if (part > largest) {
            largest = part;
            worst = p;
        }
    }
    if (count == 0)
        return;
    dlb_str_addf(lines, "%s %.0f %% of the time at ", what, 100 * largest);
    add_shape(points, worst, lines);
    if (count > 1)
        dlb_str_addf(lines, ", and more than %.0f %% in %zu points", 100 * limit, count);
    dlb_str_add(lines, ".\n");
}

/* --- what was mixed --- */

static void tell_mixed(const char *const *texts, size_t count, const char *what, const char *advice,
                       dlb_str *lines)
{
    if (count < 2)
        return;
    dlb_str_addf(lines, "Runs of %zu %s are mixed (", count, what);
    for (size_t i = 0; i < count && i < MOST_NAMED; i++)
        dlb_str_addf(lines, "%s%s", i ? ", " : "", texts[i]);
    dlb_str_addf(lines, "%s)%s.\n", count > MOST_NAMED ? ", …" : "", advice);
}

static void tell_single(const dlb_points *points, dlb_str *lines)
{
    size_t count = dlb_points_count(points), single = 0;
    for (size_t p = 0; p < count; p++) {
        const dlb_point_run *runs;
        single += dlb_point_runs(points, p, &runs) == 1;
    }
    if (single == count && count > 0)
        dlb_str_add(lines, "Each point ran once, so there are no intervals: repeats = 3 or more "
                           "gives them.\n");
    else if (single > 0)
        dlb_str_addf(lines, "%zu of %zu points ran once and have no interval.\n", single, count);
}

/* --- accuracy --- */

static bool is_collapsed(const dlb_points *points, size_t point)
{
    double median = dlb_point_value(points, point, DLB_MEASURE_test_accuracy);
    return isnan(median) ? dlb_point_diverged(points, point) > 0 : median < COLLAPSED;
}

/* Where the collapsed end of a series begins; its count if it does not. */
static size_t collapse_of(const dlb_points *points, const dlb_series *series)
{
    size_t from = series->count;
    while (from > 0 && is_collapsed(points, series->points[from - 1]))
        from--;
    return from;
}

/* Only where fewer workers had learnt: what never learns has other causes. */
static bool collapses(const dlb_points *points, const dlb_series *series, size_t *from)
{
    *from = collapse_of(points, series);
    return *from > 0 && *from < series->count &&
           dlb_point_value(points, series->points[*from - 1], DLB_MEASURE_test_accuracy) >= LEARNT;
}

/* Append "warm-up 0", what tells the series from others of its grid; else its grid. */
static void add_series_words(const dlb_points *points, const dlb_series_list *list, size_t index,
                             dlb_str *words)
{
    dlb_str title = DLB_STR_INIT;
    dlb_series_title_in_grid(list, points, index, &title);
    if (title.length)
        dlb_str_add(words, title.text);
    else if (dlb_series_has_grids(list))
        dlb_str_addf(words, "the settings of grid %s", list->items[index].grid);
    dlb_str_release(&title);
}

/* A sentence for all series from `first` on that collapse where that one does; they are told then.
 */
static void tell_collapse_at(const dlb_points *points, const dlb_series_list *list, bool *told,
                             size_t first, double workers, dlb_str *lines)
{
    dlb_str where = DLB_STR_INIT;
    size_t named = 0, from;
    dlb_str_add(&where, "");
    for (size_t i = first; i < list->count; i++) {
        if (told[i] || !collapses(points, &list->items[i], &from) ||
            dlb_point_named(points, list->items[i].points[from], "workers") != workers)
            continue;
        told[i] = true;
        if (named++ >= MOST_NAMED)
            continue;
        dlb_str_add(&where, where.length ? "; " : "");
        add_series_words(points, list, i, &where);
    }
    dlb_str_addf(lines,
                 "Accuracy collapses (median below %.0f %%, or diverged) from %g workers on%s%s",
                 100 * COLLAPSED, workers, where.length ? " at " : "", where.text);
    if (named > MOST_NAMED)
        dlb_str_addf(lines, " and at %zu other settings", named - MOST_NAMED);
    dlb_str_add(lines, ".\n");
    dlb_str_release(&where);
}

static void tell_collapse(const dlb_points *points, dlb_str *lines)
{
    static const char *const axis[] = {"workers", NULL};
    dlb_series_list list;
    dlb_series_make(&list, points, &(dlb_series_request){.axis = axis, .learning = true});
    bool *told = dlb_alloc(list.count, sizeof *told);
    size_t sentences = 0, left = 0, from;
    for (size_t i = 0; i < list.count; i++) {
        if (told[i] || !collapses(points, &list.items[i], &from))
            continue;
        if (sentences++ < MOST_NAMED)
            tell_collapse_at(points, &list, told, i,
                             dlb_point_named(points, list.items[i].points[from], "workers"), lines);
        else
            left++;
    }
    if (left)
        dlb_str_addf(lines, "So it does at %zu other settings.\n", left);
    free(told);
    dlb_series_release(&list);
}

/* --- runs that came to nothing --- */

/* As one line, cut where it says enough. */
static void add_quote(const char *text, dlb_str *lines)
{
    enum { MOST_BYTES = 240 };
    size_t length = strlen(text), cut = length;
    if (length > MOST_BYTES) {
        cut = MOST_BYTES;
        while (cut > 0 && ((unsigned char)text[cut] & 0xC0) == 0x80)
            cut--;
    }
    for (size_t i = 0; i < cut; i++)
        dlb_str_add_bytes(lines, (unsigned char)text[i] < ' ' ? " " : text + i, 1);
    dlb_str_add(lines, cut < length ? "…" : "");
}

static void tell_reasons(const dlb_points *points, dlb_str *lines)
{
    const dlb_reason *reasons;
    size_t others, count = dlb_points_reasons(points, &reasons, &others);
    for (size_t i = 0; i < count; i++) {
        const dlb_reason *r = &reasons[i];
        dlb_str_addf(lines, "%zu run%s %s, first at ", r->runs, plural((double)r->runs),
                     r->status == DLB_STATUS_TIMEOUT ? "timed out" : "failed");
        add_shape(points, r->point, lines);
        dlb_str_add(lines, ": ");
        add_quote(r->text, lines);
        dlb_str_add(lines, "\n");
    }
    if (others)
        dlb_str_addf(lines, "Runs failed for %zu other reason%s: see the column reason.\n", others,
                     plural((double)others));
}

void dlb_causes_add(const dlb_points *points, double cores, dlb_str *lines)
{
    const char *const *hosts, *const *commits;
    size_t host_count = dlb_points_hosts(points, &hosts);
    size_t commit_count = dlb_points_commits(points, &commits);
    tell_reasons(points, lines);
    tell_crowded(points, host_count > 1 ? NAN : cores, lines);
    tell_collapse(points, lines);
    tell_part(points, DLB_MEASURE_wait_s, WAIT_PART, "Ranks wait for each other", lines);
    tell_part(points, DLB_MEASURE_comm_exposed_s, EXPOSED_PART,
              "Communication that no computation hides takes", lines);
    tell_steal(points, lines);
    tell_load(points, lines);
    tell_mixed(hosts, host_count, "hosts", ": differences may be theirs", lines);
    tell_mixed(commits, commit_count, "builds", "; --fresh runs all with this one", lines);
    tell_single(points, lines);
}
