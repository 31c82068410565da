#include "report/caption.h"

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

void dlb_drawn_add(dlb_drawn *drawn, size_t runs, bool marked)
{
    if (runs == 0)
        return;
    drawn->least = drawn->least == 0 || runs < drawn->least ? runs : drawn->least;
    drawn->most = runs > drawn->most ? runs : drawn->most;
    drawn->marked = drawn->marked || marked;
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

static void add_faults(dlb_str *caption, const dlb_shown *shown)
{
    static const char *const words[] = {NULL, "failed", "timed out", "diverged"};
    size_t with[DLB_STATUS_DIVERGED + 1] = {0};
    for (size_t i = 0; i < shown->count; i++) {
        const dlb_point_run *runs;
        size_t count = dlb_point_runs(shown->points, shown->items[i], &runs);
        for (size_t r = 0; r < count; r++)
            with[runs[r].status]++;
    }
    for (int i = DLB_STATUS_FAILED; i <= DLB_STATUS_DIVERGED; i++)
        if (with[i])
            dlb_str_addf(caption, " %zu run%s %s.", with[i], with[i] > 1 ? "s" : "", words[i]);
}

void dlb_caption_add(dlb_str *caption, const dlb_shown *shown)
{
    const dlb_drawn *n = &shown->drawn;
    add_named(caption, shown, "model", "Model ", ", ");
    add_named(caption, shown, "epochs", "epochs ", ", ");
    dlb_str_addf(caption, n->least == n->most ? "n = %zu" : "n = %zu to %zu", n->least, n->most);
    add_hosts(caption, shown->points);
    dlb_str_add(caption, ".");
    add_faults(caption, shown);
    if (n->marked)
        dlb_str_addf(caption, " %s: more threads than cores.", shown->mark);
}

static bool varies_among(const dlb_shown *shown, int parameter)
{
    for (size_t i = 1; i < shown->count; i++)
        if (dlb_point_compare(shown->points, parameter, shown->items[0], shown->items[i]) != 0)
            return true;
    return false;
}

void dlb_caption_followers(dlb_str *caption, const dlb_shown *shown, const dlb_series_list *list)
{
    size_t told = 0;
    for (size_t i = 0; i < list->follower_count; i++) {
        if (!varies_among(shown, list->followers[i]))
            continue;
        dlb_str_add(caption, told++ ? ", " : "Along the axis vary, too: ");
        dlb_parameter_label(dlb_points_parameter(shown->points, (size_t)list->followers[i]),
                            caption);
    }
    dlb_str_add(caption, told ? ". " : "");
}
