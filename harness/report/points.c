#include "report/points.h"

#include <math.h>

#include "base/mem.h"
#include "report/points_state.h"

static const char *const measure_names[] = {
#define MEASURE(name, kind) #name,
#include "report/measures.def"
};

const char *dlb_measure_name(enum dlb_measure measure)
{
    return measure_names[measure];
}

static void free_texts(char **texts, size_t count)
{
    for (size_t i = 0; texts && i < count; i++)
        free(texts[i]);
    free(texts);
}

static void release_parameter(struct parameter *p)
{
    free_texts(p->texts, p->text_count);
    free(p->numbers);
    free(p->codes);
    free(p->name);
}

void dlb_points_free(dlb_points *points)
{
    if (!points)
        return;
    for (size_t i = 0; i < points->parameter_count; i++)
        release_parameter(&points->parameters[i]);
    for (int m = 0; m < DLB_MEASURES; m++)
        free(points->measures[m]);
    for (size_t m = 0; m < points->metric_count; m++) {
        free(points->metrics[m].name);
        free(points->metrics[m].values);
    }
    for (size_t i = 0; i < points->reason_count; i++)
        free(points->reasons[i].text);
    free_texts(points->hosts, points->host_count);
    free_texts(points->commits, points->commit_count);
    free(points->id_at);
    free(points->ids);
    free(points->parameters);
    free(points->oversubscribed);
    free(points->timeouts);
    free(points->missing);
    free(points->first);
    free(points->order);
    free(points->runs);
    free(points);
}

size_t dlb_points_count(const dlb_points *points)
{
    return points->count;
}

size_t dlb_points_runs(const dlb_points *points)
{
    return points->run_count;
}

size_t dlb_points_parameters(const dlb_points *points)
{
    return points->parameter_count;
}

const char *dlb_points_parameter(const dlb_points *points, size_t parameter)
{
    return points->parameters[parameter].name;
}

int dlb_points_find(const dlb_points *points, const char *parameter)
{
    for (size_t i = 0; i < points->parameter_count; i++)
        if (strcmp(points->parameters[i].name, parameter) == 0)
            return (int)i;
    return -1;
}

bool dlb_points_varies(const dlb_points *points, int parameter)
{
    return parameter >= 0 && points->parameters[parameter].codes;
}

const char *dlb_point_id(const dlb_points *points, size_t point)
{
    return points->ids + points->id_at[point];
}

static uint32_t code_of(const struct parameter *p, size_t point)
{
    return p->codes ? p->codes[point] : p->code;
}

const char *dlb_point_text(const dlb_points *points, size_t point, int parameter)
{
    if (parameter < 0)
        return "";
    const struct parameter *p = &points->parameters[parameter];
    return p->texts[code_of(p, point)];
}

double dlb_point_number(const dlb_points *points, size_t point, int parameter)
{
    if (parameter < 0)
        return NAN;
    const struct parameter *p = &points->parameters[parameter];
    return p->numbers[code_of(p, point)];
}

int dlb_point_compare(const dlb_points *points, int parameter, size_t a, size_t b)
{
    const struct parameter *p = &points->parameters[parameter];
    if (!p->codes || p->codes[a] == p->codes[b])
        return 0;
    double x = p->numbers[p->codes[a]], y = p->numbers[p->codes[b]];
    if (!isnan(x) && !isnan(y) && x != y)
        return x < y ? -1 : 1;
    if (isnan(x) != isnan(y))
        return isnan(x) ? 1 : -1;
    return strcmp(p->texts[p->codes[a]], p->texts[p->codes[b]]);
}

static size_t runs_of(const dlb_points *points, size_t point)
{
    return points->first[point + 1] - points->first[point];
}

size_t dlb_point_runs(const dlb_points *points, size_t point, const dlb_point_run **runs)
{
    *runs = points->runs + points->first[point];
    return runs_of(points, point);
}

/* A column that no run has is one array of missing values for all points. */
static size_t values_of(const dlb_points *points, size_t point, const double *column,
                        const double **values)
{
    *values = column ? column + points->first[point] : points->missing;
    return runs_of(points, point);
}

size_t dlb_point_measure(const dlb_points *points, size_t point, enum dlb_measure measure,
                         const double **values)
{
    return values_of(points, point, points->measures[measure], values);
}

size_t dlb_points_metrics(const dlb_points *points)
{
    return points->metric_count;
}

const char *dlb_points_metric(const dlb_points *points, size_t metric)
{
    return points->metrics[metric].name;
}

size_t dlb_point_metric(const dlb_points *points, size_t point, size_t metric,
                        const double **values)
{
    return values_of(points, point, points->metrics[metric].values, values);
}

bool dlb_points_more_metrics(const dlb_points *points)
{
    return points->more_metrics;
}

size_t dlb_point_timeouts(const dlb_points *points, size_t point, const double **values)
{
    return values_of(points, point, points->timeouts, values);
}

size_t dlb_points_reasons(const dlb_points *points, const dlb_reason **reasons, size_t *others)
{
    *reasons = points->reasons;
    *others = points->other_reasons;
    return points->reason_count;
}

bool dlb_point_oversubscribed(const dlb_points *points, size_t point)
{
    return points->oversubscribed[point];
}

size_t dlb_points_hosts(const dlb_points *points, const char *const **hosts)
{
    *hosts = (const char *const *)points->hosts;
    return points->host_count;
}

size_t dlb_points_commits(const dlb_points *points, const char *const **commits)
{
    *commits = (const char *const *)points->commits;
    return points->commit_count;
}
