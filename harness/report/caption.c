#include "report/caption.h"

#include <stdint.h>

enum { MOST_NAMED = 4 };

static bool is_among(const char *const *texts, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(texts[i], text) == 0)
            return true;
    return false;
}

/* Append the values that the shown points have of a parameter, each once: "2, 4 and others". */
static void add_values(dlb_str *caption, const dlb_shown *shown, int parameter)
{
    const char *seen[MOST_NAMED];
    size_t count = 0;
    for (size_t i = 0; i < shown->count; i++) {
        const char *text = dlb_point_text(shown->points, shown->items[i], parameter);
        if (!*text || is_among(seen, count, text))
            continue;
        if (count == MOST_NAMED) {
            dlb_str_add(caption, " and others");
            return;
        }
        dlb_str_addf(caption, "%s%s", count ? ", " : "", text);
        seen[count++] = text;
    }
}

static bool any_text(const dlb_shown *shown, int parameter)
{
    for (size_t i = 0; i < shown->count; i++)
        if (*dlb_point_text(shown->points, shown->items[i], parameter))
            return true;
    return false;
}

static void add_named(dlb_str *caption, const dlb_shown *shown, const char *parameter,
                      const char *before, const char *after)
{
    int index = dlb_points_find(shown->points, parameter);
    if (!any_text(shown, index))
        return;
    dlb_str_add(caption, before);
    add_values(caption, shown, index);
    dlb_str_add(caption, after);
}

typedef struct tally {
    size_t least, most; /* runs of a point */
    size_t with[DLB_STATUS_DIVERGED + 1];
    size_t oversubscribed; /* points */
} tally;

static tally count_runs(const dlb_shown *shown)
{
    tally t = {.least = SIZE_MAX};
    for (size_t i = 0; i < shown->count; i++) {
        const dlb_point_run *runs;
        size_t count = dlb_point_runs(shown->points, shown->items[i], &runs);
        for (size_t r = 0; r < count; r++)
            t.with[runs[r].status]++;
        t.least = count < t.least ? count : t.least;
        t.most = count > t.most ? count : t.most;
        t.oversubscribed += dlb_point_oversubscribed(shown->points, shown->items[i]);
    }
    return t;
}

static void add_hosts(dlb_str *caption, const dlb_points *points)
{
    const char *const *hosts;
    size_t count = dlb_points_hosts(points, &hosts);
    if (count == 0)
        return;
    dlb_str_addf(caption, "; host%s ", count > 1 ? "s" : "");
    for (size_t i = 0; i < count && i < MOST_NAMED; i++)
        dlb_str_addf(caption, "%s%s", i ? ", " : "", hosts[i]);
    if (count > MOST_NAMED)
        dlb_str_addf(caption, " and %zu more", count - MOST_NAMED);
}

static void add_faults(dlb_str *caption, const tally *t, const char *mark)
{
    size_t failed = t->with[DLB_STATUS_FAILED], late = t->with[DLB_STATUS_TIMEOUT];
    size_t diverged = t->with[DLB_STATUS_DIVERGED];
    if (failed)
        dlb_str_addf(caption, " %zu run%s failed.", failed, failed > 1 ? "s" : "");
    if (late)
        dlb_str_addf(caption, " %zu run%s timed out.", late, late > 1 ? "s" : "");
    if (diverged)
        dlb_str_addf(caption, " %zu run%s diverged.", diverged, diverged > 1 ? "s" : "");
    if (t->oversubscribed && !(mark && *mark == '\0'))
        dlb_str_addf(caption, " %s: more threads than cores.", mark ? mark : "Hollow");
}

void dlb_caption_add(dlb_str *caption, const dlb_shown *shown)
{
    tally t = count_runs(shown);
    add_named(caption, shown, "model", "Model ", ", ");
    add_named(caption, shown, "epochs", "epochs ", ", ");
    dlb_str_addf(caption, t.least == t.most ? "n = %zu" : "n = %zu to %zu", t.least, t.most);
    add_hosts(caption, shown->points);
    dlb_str_add(caption, ".");
    add_faults(caption, &t, shown->mark);
}

void dlb_caption_followers(dlb_str *caption, const dlb_points *points, const dlb_series_list *list)
{
    if (list->follower_count == 0)
        return;
    for (size_t i = 0; i < list->follower_count; i++) {
        const char *name = dlb_points_parameter(points, (size_t)list->followers[i]);
        dlb_str_add(caption, i ? ", " : "Along the axis vary, too: ");
        dlb_parameter_label(name, caption);
    }
    dlb_str_add(caption, ". ");
}
