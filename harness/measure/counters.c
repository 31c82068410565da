#include "measure/counters.h"

#include <pthread.h>

#include "base/mem.h"
#include "measure/counter_plan.h"

/* What one thread owns; nobody else touches it until the last stop. */
typedef struct thread_slot {
    _Alignas(DLB_CACHE_LINE) bool opened;
    int set[DLB_MAX_EVENT_SETS]; /* the library's handle, -1 if it could not be had */
    bool running[DLB_MAX_EVENT_SETS];
    long long *totals; /* of each event */
} thread_slot;

struct dlb_counters {
    dlb_counter_plan plan;
    int threads;
    thread_slot *slots;
    pthread_mutex_t losing; /* guards `lost` while threads run */
    char **lost;            /* of each event: why it was lost while counting, or NULL */
};

static void create_slots(dlb_counters *c, int threads)
{
    c->threads = threads;
    c->slots = dlb_alloc((size_t)threads, sizeof *c->slots);
    for (int t = 0; t < threads; t++)
        c->slots[t].totals = dlb_alloc(c->plan.count, sizeof(long long));
}

int dlb_counters_create_with(dlb_counters **counters, const dlb_counter_api *api,
                             const char *events, int threads, dlb_error *err)
{
    dlb_counters *c = dlb_alloc(1, sizeof *c);
    if (dlb_counter_plan_init(&c->plan, api, events, err) < 0) {
        free(c);
        return DLB_BAD_INPUT;
    }
    c->lost = dlb_alloc(c->plan.count, sizeof *c->lost);
    pthread_mutex_init(&c->losing, NULL);
    create_slots(c, threads);
    *counters = c;
    return 0;
}

int dlb_counters_create(dlb_counters **counters, const char *events, int threads, dlb_error *err)
{
    return dlb_counters_create_with(counters, &dlb_counter_library, events, threads, err);
}

static void release_slot(const dlb_counters *c, thread_slot *slot)
{
    for (int s = 0; slot->opened && s < c->plan.set_count; s++) {
        if (slot->set[s] >= 0)
            c->plan.api->close(slot->set[s]);
    }
    free(slot->totals);
}

void dlb_counters_free(dlb_counters *c)
{
    if (!c)
        return;
    for (int t = 0; t < c->threads; t++)
        release_slot(c, &c->slots[t]);
    free(c->slots);
    pthread_mutex_destroy(&c->losing);
    for (size_t i = 0; i < c->plan.count; i++)
        free(c->lost[i]);
    free(c->lost);
    dlb_counter_plan_release(&c->plan);
    free(c);
}

/* A thread that cannot count makes the sums too small: the events of the set are missing then. */
static void lose_set(dlb_counters *c, int s, int thread, dlb_error *reason)
{
    dlb_error_prefix(reason, "thread %d", thread);
    pthread_mutex_lock(&c->losing);
    for (size_t i = 0; i < c->plan.count; i++) {
        const dlb_planned_event *e = &c->plan.events[i];
        dlb_error named = *reason;
        dlb_error_prefix(&named, "%s", e->name);
        if (e->set == s && !c->lost[i])
            c->lost[i] = dlb_strdup(named.message);
    }
    pthread_mutex_unlock(&c->losing);
}

static void open_slot(dlb_counters *c, int thread)
{
    thread_slot *slot = &c->slots[thread];
    slot->opened = true;
    for (int s = 0; s < c->plan.set_count; s++) {
        dlb_error reason;
        if (c->plan.api->enter_thread(&reason) == 0 &&
            dlb_counter_plan_open(&c->plan, s, &slot->set[s], &reason) == 0)
            continue;
        slot->set[s] = -1;
        lose_set(c, s, thread, &reason);
    }
}

void dlb_counters_start(dlb_counters *c, int thread)
{
    thread_slot *slot = &c->slots[thread];
    if (!slot->opened)
        open_slot(c, thread);
    for (int s = 0; s < c->plan.set_count; s++) {
        dlb_error reason;
        if (slot->set[s] < 0 || slot->running[s])
            continue;
        slot->running[s] = c->plan.api->start(slot->set[s], &reason) == 0;
        if (!slot->running[s])
            lose_set(c, s, thread, &reason);
    }
}

/* A set's values come in the order of its events in the plan. */
static void add_values(const dlb_counters *c, thread_slot *slot, int s, const long long *values)
{
    for (size_t i = 0; i < c->plan.count; i++) {
        if (c->plan.events[i].set == s)
            slot->totals[i] += *values++;
    }
}

void dlb_counters_stop(dlb_counters *c, int thread)
{
    thread_slot *slot = &c->slots[thread];
    for (int s = c->plan.set_count; s-- > 0;) {
        long long values[DLB_MAX_EVENTS];
        dlb_error reason;
        if (!slot->running[s])
            continue;
        slot->running[s] = false;
        if (c->plan.api->stop(slot->set[s], values, &reason) < 0)
            lose_set(c, s, thread, &reason);
        else
            add_values(c, slot, s, values);
    }
}

size_t dlb_counters_count(const dlb_counters *c)
{
    return c->plan.count;
}

const char *dlb_counters_name(const dlb_counters *c, size_t event)
{
    return c->plan.events[event].name;
}

const char *dlb_counters_why(const dlb_counters *c, size_t event)
{
    return c->lost[event] ? c->lost[event] : c->plan.events[event].why;
}

bool dlb_counters_value(const dlb_counters *c, size_t event, long long *total)
{
    if (c->plan.events[event].set < 0 || c->lost[event])
        return false;
    *total = 0;
    for (int t = 0; t < c->threads; t++)
        *total += c->slots[t].totals[event];
    return true;
}

dlb_value dlb_ipc(const long long *instructions, const long long *cycles)
{
    if (!instructions || !cycles)
        return dlb_value_missing("PAPI_TOT_INS and PAPI_TOT_CYC were not both counted");
    if (*cycles <= 0)
        return dlb_value_missing("PAPI_TOT_CYC counted nothing in the window");
    return dlb_value_of((double)*instructions / (double)*cycles);
}

int dlb_counters_probe(const char *event, const char **note, dlb_error *err)
{
    return dlb_counters_probe_with(&dlb_counter_library, event, note, err);
}
