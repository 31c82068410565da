/*
 * PAPI and the kernel as one library. An event belongs to the first that has it, and component and
 * set handles tell whose they are: the owner's own number times LIBRARIES, plus the owner.
 */
#include "measure/counter_api.h"

static const struct {
    const dlb_counter_api *api;
    const char *note; /* on each of its events */
} LIBRARY[] = {
    {&dlb_papi, NULL},
    {&dlb_linux_perf, "counted by the kernel, because PAPI's perf_event component is off"},
};

enum { LIBRARIES = sizeof LIBRARY / sizeof *LIBRARY };

static int owner_of(int handle)
{
    return handle % LIBRARIES;
}

static int own_number(int handle)
{
    return handle / LIBRARIES;
}

static const dlb_counter_api *api_of(int handle)
{
    return LIBRARY[owner_of(handle)].api;
}

static int handle_of(int owner, int number)
{
    return number * LIBRARIES + owner;
}

static int adopt(dlb_event_id *id, int owner)
{
    id->component = handle_of(owner, id->component);
    id->note = LIBRARY[owner].note;
    return 0;
}

/* What the first does not know is unknown; what it knows but cannot count, another may. */
static int library_find(const char *name, dlb_event_id *id, dlb_error *err)
{
    int refusal = LIBRARY[0].api->find(name, id, err);
    if (refusal == 0)
        return adopt(id, 0);
    for (int owner = 1; owner < LIBRARIES && refusal == DLB_FAIL; owner++) {
        dlb_error ignored;
        if (LIBRARY[owner].api->find(name, id, &ignored) == 0)
            return adopt(id, owner);
    }
    return refusal;
}

static int library_find_with_kernel(const char *name, dlb_event_id *id, dlb_error *err)
{
    int owner = owner_of(id->component);
    int status = LIBRARY[owner].api->find_with_kernel(name, id, err);
    return status < 0 ? status : adopt(id, owner);
}

static int library_enter_thread(dlb_error *err)
{
    int status = 0;
    for (int owner = 0; owner < LIBRARIES && status == 0; owner++)
        status = LIBRARY[owner].api->enter_thread(err);
    return status;
}

static int library_open(int component, bool multiplexed, int *set, dlb_error *err)
{
    int number;
    int status = api_of(component)->open(own_number(component), multiplexed, &number, err);
    if (status == 0)
        *set = handle_of(owner_of(component), number);
    return status;
}

static int library_add(int set, const dlb_event_id *id, dlb_error *err)
{
    dlb_event_id own = {.code = id->code, .component = own_number(id->component)};
    return api_of(set)->add(own_number(set), &own, err);
}

static int library_start(int set, dlb_error *err)
{
    return api_of(set)->start(own_number(set), err);
}

static int library_stop(int set, long long *values, dlb_error *err)
{
    return api_of(set)->stop(own_number(set), values, err);
}

static void library_close(int set)
{
    api_of(set)->close(own_number(set));
}

const dlb_counter_api dlb_counter_library = {
    .find = library_find,
    .find_with_kernel = library_find_with_kernel,
    .enter_thread = library_enter_thread,
    .open = library_open,
    .add = library_add,
    .start = library_start,
    .stop = library_stop,
    .close = library_close,
};
