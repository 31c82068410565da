#include "fake_counters.h"

enum { SETS = 256, EVENTS = 16 };
enum { DEAD = 100, KERNEL, KERNEL_TOO, FORBIDDEN, TWICE };

static const struct {
    const char *name;
    int code, component;
} KNOWN[] = {
    {"FAKE_A", 0, 0},           {"FAKE_B", 1, 0},
    {"FAKE_C", 2, 0},           {"FAKE_D", 3, 0},
    {"OTHER_A", 4, 1},          {"PAPI_TOT_CYC", 5, 0},
    {"PAPI_TOT_INS", TWICE, 0}, {"FAKE_DEAD", DEAD, 0},
    {"FAKE_KERNEL", KERNEL, 0}, {"FAKE_FORBIDDEN", FORBIDDEN, 0},
};

_Thread_local long long fake_work;
_Thread_local bool fake_start_fails;
int fake_capacity = EVENTS;
bool fake_multiplexing = true;
_Atomic int fake_open_sets;

static struct {
    bool multiplexed;
    int count, code[EVENTS];
    long long work_at_start;
} sets[SETS];

static _Atomic int next_set;

static int fake_find(const char *name, dlb_event_id *id, dlb_error *err)
{
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        if (strcmp(KNOWN[i].name, name) == 0) {
            *id = (dlb_event_id){.code = KNOWN[i].code, .component = KNOWN[i].component};
            return 0;
        }
    }
    if (strcmp(name, "FAKE_OFF") == 0)
        return dlb_fail(err, DLB_FAIL, "FAKE_OFF: its component is off");
    return dlb_fail(err, DLB_BAD_INPUT, "no event %s", name);
}

static int fake_find_with_kernel(const char *name, dlb_event_id *id, dlb_error *err)
{
    if (strcmp(name, "FAKE_KERNEL") != 0)
        return dlb_fail(err, DLB_FAIL, "not in the kernel");
    *id = (dlb_event_id){.code = KERNEL_TOO};
    return 0;
}

static int fake_enter_thread(dlb_error *err)
{
    (void)err;
    return 0;
}

static int fake_open(int component, bool multiplexed, int *set, dlb_error *err)
{
    (void)component;
    if (multiplexed && !fake_multiplexing)
        return dlb_fail(err, DLB_FAIL, "no multiplexing");
    *set = atomic_fetch_add(&next_set, 1);
    sets[*set].multiplexed = multiplexed;
    atomic_fetch_add(&fake_open_sets, 1);
    return 0;
}

static int fake_add(int set, const dlb_event_id *id, dlb_error *err)
{
    if (id->code == FORBIDDEN)
        return dlb_fail(err, DLB_FAIL, "Permission denied");
    if (!sets[set].multiplexed && sets[set].count == fake_capacity)
        return dlb_fail(err, DLB_FAIL, "conflict");
    sets[set].code[sets[set].count++] = id->code;
    return 0;
}

static int fake_start(int set, dlb_error *err)
{
    sets[set].work_at_start = fake_work;
    return fake_start_fails ? dlb_fail(err, DLB_FAIL, "no counter left") : 0;
}

static int fake_stop(int set, long long *values, dlb_error *err)
{
    (void)err;
    long long value = 1 + fake_work - sets[set].work_at_start;
    for (int i = 0; i < sets[set].count; i++) {
        int code = sets[set].code[i];
        values[i] = code == DEAD || code == KERNEL ? 0 : code == TWICE ? 2 * value : value;
    }
    return 0;
}

static void fake_close(int set)
{
    (void)set;
    atomic_fetch_sub(&fake_open_sets, 1);
}

const dlb_counter_api fake_counters = {
    .find = fake_find,
    .find_with_kernel = fake_find_with_kernel,
    .enter_thread = fake_enter_thread,
    .open = fake_open,
    .add = fake_add,
    .start = fake_start,
    .stop = fake_stop,
    .close = fake_close,
};
