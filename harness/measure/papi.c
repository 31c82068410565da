/* PAPI as the library behind counters.h. Its status codes stay in this file. */
#include <papi.h>
#include <pthread.h>

#include "base/mem.h"
#include "base/str.h"
#include "measure/counter_api.h"
#include "measure/paranoid.h"

static int init_status;
static char library[32];

static void init_library(void)
{
    int version = PAPI_library_init(PAPI_VER_CURRENT);
    snprintf(library, sizeof library, "PAPI %d.%d.%d", PAPI_VERSION_MAJOR(version),
             PAPI_VERSION_MINOR(version), PAPI_VERSION_REVISION(version));
    init_status = version == PAPI_VER_CURRENT ? PAPI_OK : version;
    if (init_status == PAPI_OK)
        init_status = PAPI_thread_init(pthread_self);
    if (init_status == PAPI_OK)
        init_status = PAPI_multiplex_init();
}

static void init_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, init_library);
}

const char *dlb_counters_library(void)
{
    init_once();
    return init_status == PAPI_OK ? library : "";
}

static int papi_enter_thread(dlb_error *err)
{
    init_once();
    int status = init_status == PAPI_OK ? PAPI_register_thread() : init_status;
    if (status == PAPI_OK)
        return 0;
    return dlb_fail(err, DLB_FAIL, "PAPI does not start: %s", PAPI_strerror(status));
}

/* What is known of this system that may explain a refusal; "" if nothing. */
static const char *circumstance(int status, bool hardware_event, char *buffer, size_t size)
{
    const PAPI_hw_info_t *hardware = PAPI_get_hardware_info();
    if (dlb_paranoid_explains(status == PAPI_EPERM, buffer, size))
        return buffer;
    if (hardware_event && hardware && hardware->virtualized)
        snprintf(buffer, size, " (no hardware counters in this virtual machine)");
    return buffer;
}

static int refuse(int status, bool hardware_event, dlb_error *err)
{
    char why[96];
    return dlb_fail(err, DLB_FAIL, "%s%s", PAPI_strerror(status),
                    circumstance(status, hardware_event, why, sizeof why));
}

/* The component that counts CPU and software events, or NULL if this PAPI is built without. */
static const PAPI_component_info_t *perf_component(void)
{
    int index = PAPI_get_component_index("perf_event");
    return index >= 0 ? PAPI_get_component_info(index) : NULL;
}

const char *dlb_counters_library_lacks(void)
{
    init_once();
    const PAPI_component_info_t *perf = perf_component();
    if (!perf)
        return "it is built without";
    return perf->disabled ? perf->disabled_reason : "";
}

typedef struct names {
    char **items;
    size_t count, capacity;
} names;

static void collect(names *list, int code)
{
    char name[PAPI_MAX_STR_LEN];
    if (PAPI_event_code_to_name(code, name) != PAPI_OK)
        return;
    list->items = dlb_grow(list->items, &list->capacity, list->count + 1, sizeof *list->items);
    list->items[list->count++] = dlb_strdup(name);
}

static void collect_all(names *list)
{
    int code = PAPI_PRESET_MASK;
    for (int s = PAPI_enum_event(&code, PAPI_ENUM_FIRST); s == PAPI_OK;
         s = PAPI_enum_event(&code, PAPI_ENUM_EVENTS))
        collect(list, code);
    for (int component = 0; component < PAPI_num_components(); component++) {
        code = PAPI_NATIVE_MASK;
        for (int s = PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, component); s == PAPI_OK;
             s = PAPI_enum_cmp_event(&code, PAPI_ENUM_EVENTS, component))
            collect(list, code);
    }
}

static int refuse_unknown(const char *name, dlb_error *err)
{
    names all = {0};
    collect_all(&all);
    const char *close = dlb_closest(name, (const char *const *)all.items, all.count);
    if (close)
        dlb_fail(err, DLB_BAD_INPUT, "%s has no event %s; did you mean %s?", library, name, close);
    else
        dlb_fail(err, DLB_BAD_INPUT,
                 "%s has no event %s; papi_avail and papi_native_avail list them", library, name);
    for (size_t i = 0; i < all.count; i++)
        free(all.items[i]);
    free(all.items);
    return DLB_BAD_INPUT;
}

static int refuse_component(const char *name, const PAPI_component_info_t *component,
                            dlb_error *err)
{
    char why[96];
    bool preset = strncmp(name, "PAPI_", 5) == 0;
    return dlb_fail(err, DLB_FAIL, "%s: PAPI's %s component is off: %s%s", name, component->name,
                    component->disabled_reason,
                    circumstance(component->disabled, preset, why, sizeof why));
}

/*
 * A native name ("pmu::event") that PAPI does not know is unknown only if the component that
 * would know it works; else the user's list is as good as any, and the event merely missing.
 */
static int papi_find(const char *name, dlb_event_id *id, dlb_error *err)
{
    int status = PAPI_event_name_to_code(name, &id->code);
    const PAPI_component_info_t *perf = perf_component();
    if (status != PAPI_OK && perf && perf->disabled && strstr(name, "::"))
        return refuse_component(name, perf, err);
    if (status != PAPI_OK)
        return refuse_unknown(name, err);

    id->component = PAPI_get_event_component(id->code);
    const PAPI_component_info_t *owner = PAPI_get_component_info(id->component);
    if (owner && owner->disabled)
        return refuse_component(name, owner, err);
    return 0;
}

static int papi_find_with_kernel(const char *name, dlb_event_id *id, dlb_error *err)
{
    char both[PAPI_MAX_STR_LEN];
    if (!strstr(name, "::"))
        return dlb_fail(err, DLB_FAIL, "only native events can be");
    snprintf(both, sizeof both, "%s:u=1:k=1", name);
    return papi_find(both, id, err);
}

static int papi_open(int component, bool multiplexed, int *set, dlb_error *err)
{
    *set = PAPI_NULL;
    int status = PAPI_create_eventset(set);
    if (status == PAPI_OK)
        status = PAPI_assign_eventset_component(*set, component);
    if (status == PAPI_OK && multiplexed)
        status = PAPI_set_multiplex(*set);
    if (status == PAPI_OK)
        return 0;
    if (*set != PAPI_NULL)
        PAPI_destroy_eventset(set);
    return refuse(status, false, err);
}

static int papi_add(int set, const dlb_event_id *id, dlb_error *err)
{
    int status = PAPI_add_event(set, id->code);
    return status == PAPI_OK ? 0 : refuse(status, IS_PRESET(id->code), err);
}

static int papi_start(int set, dlb_error *err)
{
    int status = PAPI_start(set);
    return status == PAPI_OK ? 0 : refuse(status, false, err);
}

static int papi_stop(int set, long long *values, dlb_error *err)
{
    int status = PAPI_stop(set, values);
    return status == PAPI_OK ? 0 : refuse(status, false, err);
}

static void papi_close(int set)
{
    PAPI_cleanup_eventset(set);
    PAPI_destroy_eventset(&set);
}

const dlb_counter_api dlb_papi = {
    .find = papi_find,
    .find_with_kernel = papi_find_with_kernel,
    .enter_thread = papi_enter_thread,
    .open = papi_open,
    .add = papi_add,
    .start = papi_start,
    .stop = papi_stop,
    .close = papi_close,
};
