#include "measure/counter_plan.h"

#include "base/mem.h"
#include "base/str.h"
#include "measure/known_work.h"
#include "measure/sysfile.h"

static void set_why(dlb_planned_event *e, const char *why)
{
    free(e->why);
    e->why = dlb_strdup(why);
}

/* Notes on an event that counts; the first begins with its name. */
static void add_note(dlb_planned_event *e, const char *note)
{
    dlb_str notes = DLB_STR_INIT;
    dlb_str_addf(&notes, "%s%s%s", e->why[0] ? e->why : e->name, e->why[0] ? "; " : ": ", note);
    set_why(e, notes.text);
    dlb_str_release(&notes);
}

static void leave_out(dlb_planned_event *e, const char *why)
{
    e->set = -1;
    set_why(e, why);
}

int dlb_counter_plan_open(const dlb_counter_plan *plan, int s, int *set, dlb_error *err)
{
    const dlb_planned_set *planned = &plan->sets[s];
    if (plan->api->open(planned->component, planned->multiplexed, set, err) < 0)
        return err->code;
    for (size_t i = 0; i < plan->count; i++) {
        const dlb_planned_event *e = &plan->events[i];
        if (e->set == s && plan->api->add(*set, &e->id, err) < 0) {
            plan->api->close(*set);
            return dlb_error_prefix(err, "%s: cannot be added", e->name);
        }
    }
    return 0;
}

static dlb_planned_event *last_of(const dlb_counter_plan *plan, int s)
{
    for (size_t i = plan->count; i-- > 0;) {
        if (plan->events[i].set == s)
            return &plan->events[i];
    }
    return NULL;
}

/* Count set `s`, which has events, once over known work. */
static int try_set(const dlb_counter_plan *plan, int s, long long *values, dlb_error *err)
{
    int set;
    if (dlb_counter_plan_open(plan, s, &set, err) < 0)
        return err->code;
    const char *failure = "started";
    int status = plan->api->start(set, err);
    if (status == 0) {
        dlb_known_work();
        failure = "counted";
        status = plan->api->stop(set, values, err);
    }
    if (status < 0)
        dlb_error_prefix(err, "%s: cannot be %s", last_of(plan, s)->name, failure);
    plan->api->close(set);
    return status;
}

/* What one event, found before, counts over known work. */
static int count_alone(const dlb_counter_api *api, dlb_planned_event *e, long long *value,
                       dlb_error *err)
{
    dlb_counter_plan alone = {.api = api, .events = e, .count = 1, .set_count = 1};
    alone.sets[0].component = e->id.component;
    e->set = 0;
    return try_set(&alone, 0, value, err);
}

/* The second chance of an event that stays at 0 in user mode. */
static int probe_with_kernel(const dlb_counter_api *api, dlb_planned_event *e, dlb_error *err)
{
    long long value = 0;
    dlb_error refusal;
    if (api->find_with_kernel(e->name, &e->id, &refusal) < 0 ||
        count_alone(api, e, &value, &refusal) < 0)
        return dlb_fail(err, DLB_FAIL,
                        "%s: counted 0 over known work; with the kernel's part: %.500s", e->name,
                        refusal.message);
    if (value <= 0)
        return dlb_fail(err, DLB_FAIL, "%s: counted 0 over known work", e->name);
    add_note(e, "counted in kernel mode, too");
    return 0;
}

/* Does the event count here? DLB_BAD_INPUT: it is unknown. DLB_FAIL: no, and *err says why. */
static int probe(const dlb_counter_api *api, dlb_planned_event *e, dlb_error *err)
{
    long long value = 0;
    if (api->enter_thread(err) < 0 || api->find(e->name, &e->id, err) < 0 ||
        count_alone(api, e, &value, err) < 0)
        return err->code;
    if (e->id.note)
        add_note(e, e->id.note);
    return value > 0 ? 0 : probe_with_kernel(api, e, err);
}

static void init_event(dlb_planned_event *e, const char *name)
{
    *e = (dlb_planned_event){.why = dlb_strdup("")};
    snprintf(e->name, sizeof e->name, "%s", name);
}

int dlb_counters_probe_with(const dlb_counter_api *api, const char *event, const char **note,
                            dlb_error *err)
{
    dlb_planned_event e;
    init_event(&e, event);
    int status = probe(api, &e, err);
    *note = status == 0 && e.id.note ? e.id.note : "";
    free(e.why);
    return status;
}

static bool is_named(const dlb_counter_plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->count; i++) {
        if (strcmp(plan->events[i].name, name) == 0)
            return true;
    }
    return false;
}

static int parse_names(dlb_counter_plan *plan, const char *names, dlb_error *err)
{
    char name[DLB_EVENT_NAME];
    while (dlb_next_word(&names, name, sizeof name)) {
        if (is_named(plan, name))
            return dlb_fail(err, DLB_BAD_INPUT, "counters: %s is named twice", name);
        if (plan->count == DLB_MAX_EVENTS)
            return dlb_fail(err, DLB_BAD_INPUT, "counters: more than %d events", DLB_MAX_EVENTS);
        init_event(&plan->events[plan->count++], name);
    }
    return 0;
}

static int probe_all(dlb_counter_plan *plan, dlb_error *err)
{
    for (size_t i = 0; i < plan->count; i++) {
        dlb_error reason;
        int status = probe(plan->api, &plan->events[i], &reason);
        if (status == DLB_BAD_INPUT) {
            *err = reason;
            return dlb_error_prefix(err, "counters");
        }
        if (status < 0)
            leave_out(&plan->events[i], reason.message);
    }
    return 0;
}

/* The set of a component, made if need be; -1 when there are too many. */
static int set_of(dlb_counter_plan *plan, int component)
{
    for (int s = 0; s < plan->set_count; s++) {
        if (plan->sets[s].component == component)
            return s;
    }
    if (plan->set_count == DLB_MAX_EVENT_SETS)
        return -1;
    plan->sets[plan->set_count] = (dlb_planned_set){.component = component};
    return plan->set_count++;
}

static void group(dlb_counter_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        dlb_planned_event *e = &plan->events[i];
        if (e->set < 0)
            continue;
        e->set = set_of(plan, e->id.component);
        if (e->set < 0) {
            dlb_error reason;
            dlb_fail(&reason, DLB_FAIL, "%s: more than %d components would count at once", e->name,
                     DLB_MAX_EVENT_SETS);
            leave_out(e, reason.message);
        }
    }
}

static void note_multiplexing(dlb_counter_plan *plan, int s)
{
    for (size_t i = 0; i < plan->count; i++) {
        if (plan->events[i].set == s)
            add_note(&plan->events[i], "an estimate: more events than counters, they took turns");
    }
}

/* Events that count alone may not fit together: let them take turns, or else leave some out. */
static void settle(dlb_counter_plan *plan, int s)
{
    long long values[DLB_MAX_EVENTS];
    dlb_error reason;
    if (try_set(plan, s, values, &reason) == 0)
        return;
    plan->sets[s].multiplexed = true;
    if (try_set(plan, s, values, &reason) == 0) {
        note_multiplexing(plan, s);
        return;
    }
    plan->sets[s].multiplexed = false;
    for (dlb_planned_event *e; (e = last_of(plan, s)) && try_set(plan, s, values, &reason) < 0;) {
        dlb_error_prefix(&reason, "%s: counts alone, but not with the events before it", e->name);
        leave_out(e, reason.message);
    }
}

int dlb_counter_plan_init(dlb_counter_plan *plan, const dlb_counter_api *api, const char *names,
                          dlb_error *err)
{
    *plan = (dlb_counter_plan){.api = api};
    plan->events = dlb_alloc(DLB_MAX_EVENTS, sizeof *plan->events);
    if (parse_names(plan, names, err) < 0 || probe_all(plan, err) < 0) {
        dlb_counter_plan_release(plan);
        return DLB_BAD_INPUT;
    }
    group(plan);
    for (int s = 0; s < plan->set_count; s++)
        settle(plan, s);
    return 0;
}

void dlb_counter_plan_release(dlb_counter_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        free(plan->events[i].why);
    free(plan->events);
    *plan = (dlb_counter_plan){0};
}
