/* Who wins a contest: speed, time to target and accuracy of each value of a word, as rows. */
#include <math.h>
#include <stdint.h>

#include "base/mem.h"
#include "report/board.h"
#include "report/figures.h"
#include "report/wrap.h"

/* ---- data ---------------------------------------------------------------------------------- */

static void add_number(const dlb_board *b, const dlb_board_entry *e, dlb_str *text)
{
    double value = e->value.value;
    if (b->kind == DLB_BOARD_ACCURACY)
        dlb_str_addf(text, "%.2f", value);
    else if (b->kind == DLB_BOARD_RATE)
        dlb_str_addf(text, value < 100 ? "%.1f" : "%.0f", value);
    else
        dlb_str_addf(text,
                     value < 0.1  ? "%.1f ms"
                     : value < 10 ? "%.2f s"
                                  : "%.1f s",
                     value < 0.1 ? 1e3 * value : value);
    if (!isnan(e->ratio))
        dlb_str_addf(text,
                     e->ratio < 0.1  ? "  %.3f×"
                     : e->ratio < 10 ? "  %.2f×"
                                     : "  %.1f×",
                     e->ratio);
}

/* Whether some runs of it have no number, but there is something to tell of others. */
static bool is_partial(const dlb_board *b, const dlb_board_entry *e, size_t *with, size_t *runs)
{
    const dlb_point_run *ends;
    if (e->value.count == 0)
        return false;
    *runs = dlb_point_runs(b->points, e->point, &ends);
    *with = b->kind == DLB_BOARD_TARGET ? e->reached : e->value.count;
    return *with < *runs;
}

/* The number and, if not all runs have one, how many do; of none, what became of them. */
static void add_text(const dlb_board *b, const dlb_board_entry *e, dlb_str *text)
{
    size_t with, runs;
    if (!isnan(e->value.value))
        add_number(b, e, text);
    else if (e->value.count == 0)
        dlb_str_add(text, dlb_point_end(b->points, e->point));
    if (is_partial(b, e, &with, &runs))
        dlb_str_addf(text, "%s%zu of %zu", text->length ? "  " : "", with, runs);
}

static void write_entry(const dlb_board_entry *e, size_t place, bool best, const char *text,
                        dlb_figure *figure)
{
    dlb_figure_cell(&figure->data, true, (double)place);
    dlb_figure_cell(&figure->data, false, e->value.value);
    dlb_figure_cell(&figure->data, false, e->value.low);
    dlb_figure_cell(&figure->data, false, e->value.high);
    dlb_str_addf(&figure->data, "\t%zu\t%d", e->value.count, best);
    dlb_figure_cell(&figure->data, false, e->ratio);
    dlb_figure_cell(&figure->data, false, e->most);
    dlb_str_addf(&figure->data, "\t%s\n", text);
}

static void write_dots(const dlb_board *b, const dlb_board_entry *e, size_t panel, size_t place,
                       dlb_figure *figure)
{
    const double *values;
    size_t count = dlb_point_measure(b->points, e->point, b->measure, &values);
    for (size_t i = 0; i < count; i++) {
        if (isnan(values[i]))
            continue;
        dlb_str_addf(&figure->repeats, "%zu\t1\t%zu", panel + 1, place);
        dlb_figure_cell(&figure->repeats, false, dlb_board_scale(b) * values[i]);
        dlb_str_add(&figure->repeats, "\n");
    }
}

static size_t value_at(const dlb_board *b, size_t place)
{
    size_t v = 0;
    while (b->places[v] != place)
        v++;
    return v;
}

/* Returns the columns of its text. */
static int write_row(const dlb_board *b, size_t panel, size_t place, dlb_drawn *drawn,
                     dlb_figure *figure)
{
    const dlb_board_entry *e = &b->entries[panel][value_at(b, place)];
    if (e->point == SIZE_MAX)
        return 0;
    dlb_str text = DLB_STR_INIT;
    add_text(b, e, &text);
    write_entry(e, place, e == dlb_board_best(b, panel, SIZE_MAX), text.text, figure);
    write_dots(b, e, panel, place, figure);
    dlb_drawn_add(drawn, e->value.count, false);
    int columns = dlb_wrap_columns(text.text);
    dlb_str_release(&text);
    return columns;
}

/* Returns the columns of the longest text. */
static int write_panels(const dlb_board *b, dlb_drawn *drawn, dlb_figure *figure)
{
    int longest = 0;
    for (size_t panel = 0; panel < b->contest->panel_count; panel++) {
        dlb_str_addf(&figure->data, "%s# panel %zu\n", panel ? "\n\n" : "", panel + 1);
        for (size_t place = 1; place <= b->contest->value_count; place++) {
            int columns = write_row(b, panel, place, drawn, figure);
            longest = columns > longest ? columns : longest;
        }
    }
    figure->head = "place\tvalue\tlow\thigh (95 %)\tn\t1 if best\tratio to the best of the others\t"
                   "end of what is drawn\tas text, or what became of it";
    return longest;
}

/* ---- axes ---------------------------------------------------------------------------------- */

/* Bars begin at 0. Panels whose values are of one size have one axis, that they can be compared. */
static void write_ranges(const dlb_board *b, dlb_figure *figure)
{
    size_t panels = b->contest->panel_count;
    double low[DLB_CONTEST_PANELS], high[DLB_CONTEST_PANELS], end[DLB_CONTEST_PANELS];
    for (size_t i = 0; i < panels; i++) {
        low[i] = high[i] = NAN;
        for (size_t v = 0; v < b->contest->value_count; v++) {
            low[i] = fmin(low[i], b->entries[i][v].least);
            high[i] = fmax(high[i], b->entries[i][v].most);
        }
    }
    for (size_t i = 0; i < panels; i++) {
        end[i] = high[i];
        for (size_t j = 0; b->kind != DLB_BOARD_ACCURACY && j < panels; j++)
            if (high[j] > end[i] && high[j] <= 2 * high[i])
                end[i] = high[j];
        if (b->kind != DLB_BOARD_ACCURACY)
            low[i] = 0;
        if (!(low[i] < end[i])) { /* no value, or one accuracy */
            low[i] = isfinite(low[i]) ? low[i] - 0.5 : 0;
            end[i] = low[i] + 1;
        }
    }
    dlb_figure_number(figure, "bars", b->kind != DLB_BOARD_ACCURACY);
    dlb_figure_numbers(figure, "low", low, panels);
    dlb_figure_numbers(figure, "high", end, panels);
}

/* Returns the columns of the longest label. */
static int write_labels(const dlb_board *b, dlb_figure *figure)
{
    const dlb_contest *c = b->contest;
    const char *labels[DLB_CONTEST_VALUES];
    double at[DLB_CONTEST_VALUES];
    int longest = 0;
    for (size_t v = 0; v < c->value_count; v++) {
        labels[v] = dlb_value_label(dlb_point_text(b->points, c->values[v], c->parameter));
        at[v] = (double)b->places[v];
        int columns = dlb_wrap_columns(labels[v]);
        longest = columns > longest ? columns : longest;
    }
    dlb_figure_tics(figure, "y", at, labels, c->value_count);
    return longest;
}

static void write_panel_titles(const dlb_board *b, dlb_figure *figure)
{
    const dlb_contest *c = b->contest;
    char *titles[DLB_CONTEST_PANELS];
    for (size_t i = 0; i < c->panel_count; i++) {
        dlb_str title = DLB_STR_INIT;
        dlb_contest_title(c, i, &title);
        titles[i] = title.text;
    }
    dlb_figure_texts(figure, "panel_title", (const char *const *)titles, c->panel_count);
    for (size_t i = 0; i < c->panel_count; i++)
        free(titles[i]);
}

/* ---- words --------------------------------------------------------------------------------- */

static double target_of(const dlb_points *points)
{
    int parameter = dlb_points_find(points, "target_accuracy");
    return dlb_points_varies(points, parameter) ? NAN : dlb_point_number(points, 0, parameter);
}

static void add_title(const dlb_board *b, dlb_str *title)
{
    static const char *const titles[DLB_BOARD_KINDS] = {"Training speed", "Time to solution",
                                                        "Time to target accuracy", "Test accuracy"};
    double target = target_of(b->points);
    if (b->kind == DLB_BOARD_TARGET && target > 0)
        dlb_str_addf(title, "Time to %g %% test accuracy", 100 * target);
    else
        dlb_str_add(title, b->measure == DLB_MEASURE_wall_s ? "Wall time" : titles[b->kind]);
    dlb_str_add(title, " by ");
    dlb_parameter_label(dlb_points_parameter(b->points, (size_t)b->contest->parameter), title);
}

typedef bool about_entry(const dlb_board *b, const dlb_board_entry *e);

static bool has_ratio(const dlb_board *b, const dlb_board_entry *e)
{
    (void)b;
    return !isnan(e->ratio);
}

static bool lacks_runs(const dlb_board *b, const dlb_board_entry *e)
{
    size_t with, runs;
    return is_partial(b, e, &with, &runs);
}

static bool any(const dlb_board *b, about_entry *is)
{
    for (size_t panel = 0; panel < b->contest->panel_count; panel++)
        for (size_t v = 0; v < b->contest->value_count; v++)
            if (is(b, &b->entries[panel][v]))
                return true;
    return false;
}

static void add_caption(const dlb_board *b, dlb_str *caption)
{
    dlb_str_add(caption, "Median and 95 % interval");
    dlb_str_add(caption, b->kind == DLB_BOARD_TARGET
                             ? " over all runs (Kaplan–Meier): those that never reached the target "
                               "count as longer; dots: single runs that did. "
                             : "; dots: single runs. ");
    if (any(b, has_ratio))
        dlb_str_add(caption, "×: times as fast as the best of the others, median of the ratios "
                             "within blocks. ");
    if (any(b, lacks_runs))
        dlb_str_addf(caption, "“k of n”: runs that %s. ",
                     b->kind == DLB_BOARD_TARGET ? "reached it" : "ended well");
}

static void describe(const dlb_board *b, dlb_drawn drawn, dlb_figure *figure)
{
    static const char *const labels[DLB_BOARD_KINDS] = {"training images/s", "time (s)",
                                                        "time to target (s)", "test accuracy (%)"};
    const dlb_contest *c = b->contest;
    size_t count;
    size_t *items = dlb_contest_points(c, &count);
    dlb_shown shown = {b->points, items, count, drawn, NULL};
    dlb_str title = DLB_STR_INIT, caption = DLB_STR_INIT;
    add_title(b, &title);
    add_caption(b, &caption);
    dlb_caption_followers(&caption, &shown, &c->list);
    dlb_figure_text(figure, "xlabel", labels[b->kind]);
    dlb_figure_describe(figure, title.text, &caption, &shown);
    dlb_str_release(&caption);
    dlb_str_release(&title);
    free(items);
}

/* ---- figures ------------------------------------------------------------------------------- */

static void write_board(const dlb_board *b, dlb_figures *figures)
{
    dlb_str part = DLB_STR_INIT;
    dlb_parameter_label(dlb_points_parameter(b->points, (size_t)b->contest->parameter), &part);
    dlb_str_addf(&part, "_%s", dlb_measure_name(b->measure));
    dlb_figure *figure = dlb_figure_add(figures, "scoreboard", "scoreboard", part.text);
    dlb_str_release(&part);
    dlb_drawn drawn = {0};
    dlb_figure_number(figure, "longest_text", write_panels(b, &drawn, figure));
    dlb_figure_number(figure, "longest_label", write_labels(b, figure));
    dlb_figure_number(figure, "places", (double)b->contest->value_count);
    write_panel_titles(b, figure);
    write_ranges(b, figure);
    describe(b, drawn, figure);
}

/* Whether it has something to show. */
static bool add_board(const dlb_contest *contest, enum dlb_board_kind kind, dlb_figures *figures)
{
    dlb_board b;
    bool shown = dlb_board_make(&b, contest, kind);
    if (shown)
        write_board(&b, figures);
    return shown;
}

/* A time is shown where there is no rate, and not the wall time of what has metrics to tell. */
static bool add_boards(const dlb_contest *contest, dlb_figures *figures)
{
    const dlb_points *points = contest->points;
    bool rated = add_board(contest, DLB_BOARD_RATE, figures), shown = rated;
    if (!rated && (dlb_time_measure(points) != DLB_MEASURE_wall_s || !dlb_points_metrics(points)))
        shown = add_board(contest, DLB_BOARD_TIME, figures);
    shown = add_board(contest, DLB_BOARD_TARGET, figures) || shown;
    return add_board(contest, DLB_BOARD_ACCURACY, figures) || shown;
}

void dlb_figures_scoreboard(const dlb_report *report, bool *in_scoreboard, dlb_figures *figures)
{
    dlb_contests contests;
    dlb_contests_make(&contests, report->points);
    for (size_t i = 0; i < contests.count; i++) {
        if (!add_boards(&contests.items[i], figures))
            continue;
        size_t count;
        size_t *points = dlb_contest_points(&contests.items[i], &count);
        for (size_t p = 0; p < count; p++)
            in_scoreboard[points[p]] = true;
        free(points);
    }
    dlb_contests_release(&contests);
}
