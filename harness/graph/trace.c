#include "graph/trace.h"

#include "base/file.h"
#include "base/mem.h"

typedef struct event {
    const char *name, *category;
    int64_t start_ns, end_ns;
} event;

typedef struct lane {
    _Alignas(DLB_CACHE_LINE) event *events;
    size_t count, capacity;
    long long dropped;
} lane;

struct dlb_trace {
    int lane_count;
    lane *lanes;
};

dlb_trace *dlb_trace_create(int lanes)
{
    dlb_trace *trace = dlb_alloc(1, sizeof *trace);
    trace->lane_count = lanes;
    trace->lanes = dlb_alloc((size_t)lanes, sizeof *trace->lanes);
    return trace;
}

void dlb_trace_free(dlb_trace *trace)
{
    if (!trace)
        return;
    for (int i = 0; i < trace->lane_count; i++)
        free(trace->lanes[i].events);
    free(trace->lanes);
    free(trace);
}

void dlb_trace_add(dlb_trace *trace, int index, const char *name, const char *category,
                   int64_t start_ns, int64_t end_ns)
{
    lane *l = &trace->lanes[index];
    if (l->count == DLB_TRACE_EVENTS_MAX) {
        l->dropped++;
        return;
    }
    l->events = dlb_grow(l->events, &l->capacity, l->count + 1, sizeof *l->events);
    l->events[l->count++] = (event){name, category, start_ns, end_ns};
}

long long dlb_trace_dropped(const dlb_trace *trace)
{
    long long dropped = 0;
    for (int i = 0; i < trace->lane_count; i++)
        dropped += trace->lanes[i].dropped;
    return dropped;
}

static int64_t origin_ns(const dlb_trace *trace)
{
    int64_t origin = INT64_MAX;
    for (int i = 0; i < trace->lane_count; i++)
        for (size_t k = 0; k < trace->lanes[i].count; k++)
            if (trace->lanes[i].events[k].start_ns < origin)
                origin = trace->lanes[i].events[k].start_ns;
    return origin;
}

static void add_lane(dlb_str *json, const lane *l, int index, int64_t origin)
{
    dlb_str_addf(json,
                 "%s{\"ph\":\"M\",\"pid\":0,\"tid\":%d,\"name\":\"thread_name\","
                 "\"args\":{\"name\":\"team %d\"}}",
                 index ? ",\n" : "", index, index);
    for (size_t k = 0; k < l->count; k++) {
        const event *e = &l->events[k];
        dlb_str_addf(json,
                     ",\n{\"ph\":\"X\",\"pid\":0,\"tid\":%d,\"name\":\"%s\",\"cat\":\"%s\","
                     "\"ts\":%.3f,\"dur\":%.3f}",
                     index, e->name, e->category, 1e-3 * (double)(e->start_ns - origin),
                     1e-3 * (double)(e->end_ns - e->start_ns));
    }
}

int dlb_trace_write(const dlb_trace *trace, const char *path, dlb_error *err)
{
    dlb_str json = DLB_STR_INIT;
    int64_t origin = origin_ns(trace);
    dlb_str_add(&json, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
    for (int i = 0; i < trace->lane_count; i++)
        add_lane(&json, &trace->lanes[i], i, origin);
    dlb_str_add(&json, "\n]}\n");
    int status = dlb_file_write_atomic(path, json.text, json.length, err);
    dlb_str_release(&json);
    return status;
}
