#include "report/series.h"

#include "base/mem.h"
#include "config/keys.h"
#include "report/points_state.h"

typedef struct making {
    const dlb_points *points;
    const dlb_series_request *request;
    size_t *chosen;
    size_t count;
    int grid;
    int axis[8];
    size_t axis_count;
    dlb_series_list *list;
} making;

/* ---- order --------------------------------------------------------------------------------- */

static int compare_by(const dlb_points *points, const int *parameters, size_t count, size_t a,
                      size_t b)
{
    int order = 0;
    for (size_t i = 0; order == 0 && i < count; i++)
        order = dlb_point_compare(points, parameters[i], a, b);
    return order;
}

/* A pool as large as `threads` is what it is by default, however many they are. */
static bool is_default_pool(const dlb_points *points, int intra_op, size_t point)
{
    int threads = dlb_points_find(points, "threads");
    return dlb_point_number(points, point, intra_op) == dlb_point_number(points, point, threads);
}

/* What tells two points apart where it is not on the axis. */
static int compare_key(const dlb_points *points, int parameter, size_t a, size_t b)
{
    if (strcmp(points->parameters[parameter].name, "intra_op") == 0) {
        bool default_a = is_default_pool(points, parameter, a);
        bool default_b = is_default_pool(points, parameter, b);
        if (default_a || default_b)
            return default_b - default_a;
    }
    return dlb_point_compare(points, parameter, a, b);
}

static int compare_keys(const dlb_points *points, const dlb_series_list *list, size_t a, size_t b)
{
    int order = 0;
    for (size_t i = 0; order == 0 && i < list->key_count; i++)
        order = compare_key(points, list->keys[i], a, b);
    return order;
}

static int compare_points(const void *a, const void *b, void *context)
{
    const making *m = context;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    int order = compare_keys(m->points, m->list, x, y);
    if (order == 0)
        order = compare_by(m->points, m->axis, m->axis_count, x, y);
    return order ? order : (x > y) - (x < y);
}

/* ---- which parameters tell series apart ---------------------------------------------------- */

static bool is_axis(const making *m, int parameter)
{
    for (size_t i = 0; i < m->axis_count; i++)
        if (m->axis[i] == parameter)
            return true;
    return false;
}

static bool counts_for_learning(const char *name)
{
    int key = dlb_key_find(name);
    return key < 0 || key == DLB_KEY_epochs || dlb_key_info((enum dlb_key)key)->of_learning;
}

static bool is_candidate(const making *m, int parameter)
{
    const char *name = m->points->parameters[parameter].name;
    return dlb_points_varies(m->points, parameter) && !is_axis(m, parameter) &&
           parameter != m->grid && (!m->request->learning || counts_for_learning(name));
}

static bool is_always_default(const making *m, int parameter)
{
    if (strcmp(m->points->parameters[parameter].name, "intra_op") != 0)
        return false;
    for (size_t i = 0; i < m->count; i++)
        if (!is_default_pool(m->points, parameter, m->chosen[i]))
            return false;
    return true;
}

static int compare_places(const void *a, const void *b, void *context)
{
    const making *m = context;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    int order = m->grid < 0 ? 0 : dlb_point_compare(m->points, m->grid, x, y);
    return order ? order : compare_by(m->points, m->axis, m->axis_count, x, y);
}

/* `chosen` is sorted by grid and place. */
static bool follows_axis(const making *m, int parameter)
{
    bool varies = false;
    for (size_t i = 1; i < m->count; i++) {
        size_t a = m->chosen[i - 1], b = m->chosen[i];
        bool same_grid = m->grid < 0 || dlb_point_compare(m->points, m->grid, a, b) == 0;
        if (!same_grid || compare_key(m->points, parameter, a, b) == 0)
            continue;
        if (compare_by(m->points, m->axis, m->axis_count, a, b) == 0)
            return false;
        varies = true;
    }
    return varies;
}

static void choose_keys(making *m)
{
    size_t most = m->points->parameter_count + 1;
    dlb_series_list *list = m->list;
    list->keys = dlb_alloc(most, sizeof *list->keys);
    list->followers = dlb_alloc(most, sizeof *list->followers);
    qsort_r(m->chosen, m->count, sizeof *m->chosen, compare_places, m);
    for (int p = 0; p < (int)m->points->parameter_count; p++) {
        if (!is_candidate(m, p) || is_always_default(m, p))
            continue;
        bool always =
            m->request->always && strcmp(m->points->parameters[p].name, m->request->always) == 0;
        if (!always && follows_axis(m, p))
            list->followers[list->follower_count++] = p;
        else
            list->keys[list->key_count++] = p;
    }
}

/* ---- series -------------------------------------------------------------------------------- */

dlb_series *dlb_series_add(dlb_series_list *list, const size_t *points, size_t count,
                           const char *grid)
{
    list->items = dlb_grow(list->items, &list->capacity, list->count + 1, sizeof *list->items);
    dlb_series *series = &list->items[list->count++];
    *series = (dlb_series){dlb_alloc(count, sizeof *points), count, grid};
    memcpy(series->points, points, count * sizeof *points);
    return series;
}

/* Two places of one series taken by points that differ along with the axis: grids must not mix. */
static bool grids_clash(const making *m)
{
    const dlb_series_list *list = m->list;
    for (size_t i = 1; i < m->count; i++) {
        size_t a = m->chosen[i - 1], b = m->chosen[i];
        if (compare_keys(m->points, list, a, b) == 0 &&
            compare_by(m->points, m->axis, m->axis_count, a, b) == 0 &&
            compare_by(m->points, list->followers, list->follower_count, a, b) != 0)
            return true;
    }
    return false;
}

static size_t complete_runs(const dlb_points *points, size_t point)
{
    const dlb_point_run *runs;
    size_t count = dlb_point_runs(points, point, &runs), complete = 0;
    for (size_t i = 0; i < count; i++)
        complete += runs[i].status == DLB_STATUS_OK || runs[i].status == DLB_STATUS_DIVERGED;
    return complete;
}

/* Whether a point would do better at its place than the one there: it has more runs or, with as
 * many, is of the grid that the series begins with. */
static bool is_better(const making *m, size_t point, size_t there, size_t first)
{
    size_t runs = complete_runs(m->points, point), runs_there = complete_runs(m->points, there);
    if (runs != runs_there || m->grid < 0)
        return runs > runs_there;
    return dlb_point_compare(m->points, m->grid, point, first) == 0 &&
           dlb_point_compare(m->points, m->grid, there, first) != 0;
}

/* Leave one point at each place of the axis. Returns how many are left. */
static size_t thin(const making *m, size_t *points, size_t count)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        if (left == 0 ||
            compare_by(m->points, m->axis, m->axis_count, points[left - 1], points[i]) != 0)
            points[left++] = points[i];
        else if (is_better(m, points[i], points[left - 1], points[0]))
            points[left - 1] = points[i];
    }
    return left;
}

static size_t points_of_grid(const making *m, const size_t *points, size_t count, size_t like)
{
    size_t same = 0;
    for (size_t i = 0; i < count; i++)
        same += dlb_point_compare(m->points, m->grid, points[i], like) == 0;
    return same;
}

static const char *grid_of(const making *m, const size_t *points, size_t count)
{
    enum { LOOK_AT = 64 }; /* enough for a majority */
    size_t best = 0, most = 0;
    count = count < LOOK_AT ? count : LOOK_AT;
    for (size_t i = 0; m->grid >= 0 && i < count; i++) {
        size_t same = points_of_grid(m, points, count, points[i]);
        best = same > most ? i : best;
        most = same > most ? same : most;
    }
    return dlb_point_text(m->points, points[best], m->grid);
}

static void split(making *m)
{
    for (size_t begin = 0, end; begin < m->count; begin = end) {
        for (end = begin + 1; end < m->count; end++)
            if (compare_keys(m->points, m->list, m->chosen[begin], m->chosen[end]) != 0)
                break;
        size_t left = thin(m, m->chosen + begin, end - begin);
        dlb_series_add(m->list, m->chosen + begin, left, grid_of(m, m->chosen + begin, left));
    }
}

static void choose_points(making *m)
{
    size_t all = dlb_points_count(m->points);
    m->chosen = dlb_alloc(all, sizeof *m->chosen);
    for (size_t p = 0; p < all; p++)
        if (!m->request->takes || m->request->takes(m->points, p))
            m->chosen[m->count++] = p;
}

void dlb_series_make(dlb_series_list *list, const dlb_points *points,
                     const dlb_series_request *request)
{
    making m = {.points = points, .request = request, .list = list};
    *list = (dlb_series_list){0};
    m.grid = dlb_points_find(points, "grid");
    for (const char *const *name = request->axis; *name; name++) {
        int parameter = dlb_points_find(points, *name);
        if (parameter >= 0)
            m.axis[m.axis_count++] = parameter;
    }
    choose_points(&m);
    choose_keys(&m);
    qsort_r(m.chosen, m.count, sizeof *m.chosen, compare_points, &m);
    if (m.grid >= 0 && grids_clash(&m)) {
        list->keys[list->key_count++] = m.grid;
        qsort_r(m.chosen, m.count, sizeof *m.chosen, compare_points, &m);
    }
    split(&m);
    free(m.chosen);
}

void dlb_series_release(dlb_series_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i].points);
    free(list->items);
    free(list->followers);
    free(list->keys);
    *list = (dlb_series_list){0};
}

/* ---- words for people ---------------------------------------------------------------------- */

void dlb_parameter_label(const char *parameter, dlb_str *label)
{
    static const char *const known[][2] = {
        {"warmup_epochs", "warm-up"},   {"warmup", "warm-up form"},
        {"intra_op", "intra-op"},       {"inter_op", "inter-op"},
        {"lr", "learning rate"},        {"lr_scaling", "learning rate scaling"},
        {"kmp_blocktime", "block time"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(parameter, known[i][0]) == 0) {
            dlb_str_add(label, known[i][1]);
            return;
        }
    const char *dot = strncmp(parameter, "param.", 6) == 0 || strncmp(parameter, "env.", 4) == 0
                          ? strchr(parameter, '.')
                          : NULL;
    bool own = !dot;
    for (const char *c = dot ? dot + 1 : parameter; *c; c++)
        dlb_str_add_bytes(label, own && *c == '_' ? " " : c, 1);
}

const char *dlb_value_label(const char *text)
{
    return *text ? text : "default";
}

static bool differs(const dlb_series_list *list, const dlb_points *points, int parameter,
                    const size_t *others, size_t count, size_t series)
{
    for (size_t i = 0; i < count; i++)
        if (compare_key(points, parameter, list->items[others[i]].points[0],
                        list->items[series].points[0]) != 0)
            return true;
    return false;
}

/* Words that say themselves what they are: adam, blas, shm. */
static bool names_itself(const char *parameter)
{
    static const char *const such[] = {"model", "optimizer", "kernels", "isa", "comm", "data"};
    for (size_t i = 0; i < sizeof such / sizeof *such; i++)
        if (strcmp(parameter, such[i]) == 0)
            return true;
    return false;
}

/* Workers that are as many as ranks need not be named beside them. */
static bool goes_without_saying(const dlb_series_list *list, const dlb_points *points,
                                int parameter, const size_t *others, size_t count)
{
    int ranks = dlb_points_find(points, "ranks");
    bool ranks_named = false;
    for (size_t k = 0; k < list->key_count; k++)
        ranks_named = ranks_named || list->keys[k] == ranks;
    if (!ranks_named || strcmp(points->parameters[parameter].name, "workers") != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        size_t point = list->items[others[i]].points[0];
        if (dlb_point_number(points, point, parameter) != dlb_point_number(points, point, ranks))
            return false;
    }
    return true;
}

static void add_setting(const char *name, const char *value, dlb_str *title)
{
    dlb_str_add(title, title->length ? ", " : "");
    if (strcmp(name, "lr") == 0)
        dlb_str_add(title, "lr ");
    else if (!names_itself(name) || !*value || strcmp(value, "auto") == 0) {
        dlb_parameter_label(name, title);
        dlb_str_add(title, " ");
    }
    dlb_str_add(title, dlb_value_label(value));
}

void dlb_series_title(const dlb_series_list *list, const dlb_points *points, const size_t *others,
                      size_t count, size_t series, dlb_str *title)
{
    for (size_t k = 0; k < list->key_count; k++) {
        int parameter = list->keys[k];
        if (differs(list, points, parameter, others, count, series) &&
            !goes_without_saying(list, points, parameter, others, count))
            add_setting(points->parameters[parameter].name,
                        dlb_point_text(points, list->items[series].points[0], parameter), title);
    }
    dlb_str_add(title, "");
}

void dlb_series_title_in_grid(const dlb_series_list *list, const dlb_points *points, size_t series,
                              dlb_str *title)
{
    size_t *others = dlb_alloc(list->count, sizeof *others), count = 0;
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].grid, list->items[series].grid) == 0)
            others[count++] = i;
    dlb_series_title(list, points, others, count, series, title);
    free(others);
}
