#include "report/contest.h"

#include <ctype.h>
#include <math.h>

#include "base/mem.h"
#include "report/figures.h"
#include "report/points_state.h"

/* ---- parameters ---------------------------------------------------------------------------- */

/* 0, 200 and infinite have an order, and are no words. */
static bool is_word(const struct parameter *p)
{
    for (size_t i = 0; i < p->text_count; i++)
        if (!isnan(p->numbers[i]) || isdigit((unsigned char)p->texts[i][0]))
            return false;
    return true;
}

/* On another model or other data a time is of other work. */
static bool competes(const char *name)
{
    static const char *const never[] = {"grid", "mode", "model", "data"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (strcmp(name, never[i]) == 0)
            return false;
    return true;
}

/* The parameters whose values may compete, those with most values first; returns how many. */
static size_t find_parameters(const dlb_points *points, int *parameters)
{
    size_t count = 0;
    for (int p = 0; p < (int)points->parameter_count; p++) {
        const struct parameter *all = points->parameters;
        if (!dlb_points_varies(points, p) || !is_word(&all[p]) || !competes(all[p].name))
            continue;
        size_t at = count++;
        for (; at > 0 && all[parameters[at - 1]].text_count < all[p].text_count; at--)
            parameters[at] = parameters[at - 1];
        parameters[at] = p;
    }
    return count;
}

/* ---- panels -------------------------------------------------------------------------------- */

static bool choose_panels(dlb_contest *c)
{
    for (size_t i = 0; i < c->list.count; i++) {
        if (c->list.items[i].count < 2)
            continue;
        if (c->panel_count == DLB_CONTEST_PANELS)
            return false;
        c->panels[c->panel_count++] = i;
    }
    return c->panel_count > 0;
}

static bool words_differ(const dlb_contest *c, size_t a, size_t b)
{
    size_t p = c->list.items[a].points[0], q = c->list.items[b].points[0];
    for (size_t k = 0; k < c->list.key_count; k++) {
        int key = c->list.keys[k];
        if (is_word(&c->points->parameters[key]) && dlb_point_compare(c->points, key, p, q) != 0)
            return true;
    }
    return false;
}

static bool words_tell_panels_apart(const dlb_contest *c)
{
    for (size_t a = 0; a < c->panel_count; a++)
        for (size_t b = 0; b < a; b++)
            if (!words_differ(c, c->panels[a], c->panels[b]))
                return false;
    return true;
}

static bool add_value(dlb_contest *c, size_t point)
{
    for (size_t v = 0; v < c->value_count; v++)
        if (dlb_point_compare(c->points, c->parameter, c->values[v], point) == 0)
            return true;
    if (c->value_count == DLB_CONTEST_VALUES)
        return false;
    c->values[c->value_count++] = point;
    return true;
}

/* Two panels stand beside each other. */
static bool find_values(dlb_contest *c)
{
    for (size_t i = 0; i < c->panel_count; i++) {
        const dlb_series *panel = &c->list.items[c->panels[i]];
        for (size_t j = 0; j < panel->count; j++)
            if (!add_value(c, panel->points[j]))
                return false;
    }
    return (c->panel_count + 1) / 2 * c->value_count <= DLB_CONTEST_ROWS;
}

/* False, and nothing to be released, if there is no contest of the parameter's values. */
static bool make(dlb_contest *contest, const dlb_points *points, int parameter)
{
    const char *const axis[] = {dlb_points_parameter(points, (size_t)parameter), NULL};
    *contest = (dlb_contest){.points = points, .parameter = parameter};
    dlb_series_make(&contest->list, points, &(dlb_series_request){.axis = axis});
    if (choose_panels(contest) && !dlb_series_confounded(&contest->list, points) &&
        words_tell_panels_apart(contest) && find_values(contest))
        return true;
    dlb_series_release(&contest->list);
    return false;
}

size_t *dlb_contest_points(const dlb_contest *contest, size_t *count)
{
    return dlb_series_points(&contest->list, contest->panels, contest->panel_count, count);
}

void dlb_contest_title(const dlb_contest *contest, size_t panel, dlb_str *title)
{
    dlb_series_title(&contest->list, contest->points, contest->panels, contest->panel_count,
                     contest->panels[panel], title);
}

/* ---- all of a study ------------------------------------------------------------------------ */

/* Whether it is about points that are not yet taken, which then are. */
static bool takes_points(const dlb_contest *contest, bool *taken)
{
    size_t count;
    size_t *items = dlb_contest_points(contest, &count);
    bool takes = !dlb_all_of(taken, items, count);
    for (size_t i = 0; i < count; i++)
        taken[items[i]] = true;
    free(items);
    return takes;
}

void dlb_contests_make(dlb_contests *contests, const dlb_points *points)
{
    int *parameters = dlb_alloc(dlb_points_parameters(points), sizeof *parameters);
    bool *taken = dlb_alloc(dlb_points_count(points), sizeof *taken);
    size_t candidates = find_parameters(points, parameters);
    *contests = (dlb_contests){dlb_alloc(candidates, sizeof *contests->items), 0};
    for (size_t i = 0; i < candidates; i++) {
        dlb_contest *contest = &contests->items[contests->count];
        if (!make(contest, points, parameters[i]))
            continue;
        if (takes_points(contest, taken))
            contests->count++;
        else
            dlb_series_release(&contest->list);
    }
    free(taken);
    free(parameters);
}

void dlb_contests_release(dlb_contests *contests)
{
    for (size_t i = 0; i < contests->count; i++)
        dlb_series_release(&contests->items[i].list);
    free(contests->items);
    *contests = (dlb_contests){0};
}
