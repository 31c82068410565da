/*
 * The kernel as the library behind counters.h: perf_event_open(2), which PAPI uses as well, for the
 * events that every Linux names alike. It needs no knowledge of the processor.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdint.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "measure/counter_api.h"
#include "measure/paranoid.h"

/* The component of an event is its type, the code its config, with one bit more: */
enum { WITH_KERNEL = 1 << 16 };

enum { NAMES = 4 };

#define EVENT(type, config, ...)                                                                   \
    {                                                                                              \
        {config, type, NULL},                                                                      \
        {                                                                                          \
            "perf::" #config, __VA_ARGS__                                                          \
        }                                                                                          \
    }

/* With libpfm4's names, and the presets of PAPI that mean the same; upper and lower case alike. */
static const struct {
    dlb_event_id id;
    const char *names[NAMES]; /* NULL behind the last */
} EVENTS[] = {
    EVENT(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, "perf::CPU-CLOCK"),
    EVENT(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, "perf::TASK-CLOCK"),
    EVENT(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "perf::PAGE-FAULTS", "perf::FAULTS"),
    EVENT(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, "perf::MINOR-FAULTS"),
    EVENT(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, "perf::MAJOR-FAULTS"),
    EVENT(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, "perf::CONTEXT-SWITCHES", "perf::CS"),
    EVENT(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, "perf::CPU-MIGRATIONS",
          "perf::MIGRATIONS"),
    EVENT(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS, "perf::ALIGNMENT-FAULTS"),
    EVENT(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS, "perf::EMULATION-FAULTS"),
    EVENT(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "perf::CPU-CYCLES", "perf::CYCLES",
          "PAPI_TOT_CYC"),
    EVENT(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, "perf::INSTRUCTIONS", "PAPI_TOT_INS"),
    EVENT(PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, "perf::REF-CYCLES", "PAPI_REF_CYC"),
    EVENT(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, "perf::CACHE-REFERENCES"),
    EVENT(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, "perf::CACHE-MISSES"),
    EVENT(PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, "perf::BRANCH-INSTRUCTIONS",
          "perf::BRANCHES"),
    EVENT(PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, "perf::BRANCH-MISSES"),
    EVENT(PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES, "perf::BUS-CYCLES"),
    EVENT(PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND,
          "perf::STALLED-CYCLES-FRONTEND", "perf::IDLE-CYCLES-FRONTEND"),
    EVENT(PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, "perf::STALLED-CYCLES-BACKEND",
          "perf::IDLE-CYCLES-BACKEND"),
};

/* What read(2) gives with the read_format asked for: running < enabled while others had a turn. */
typedef struct reading {
    uint64_t count, enabled_ns, running_ns;
} reading;

typedef struct open_event {
    int fd;
    reading before; /* at the end of the window before; it stands still between windows */
} open_event;

typedef struct event_set {
    int type;
    bool multiplexed;
    open_event *events;
    size_t count, capacity;
} event_set;

/* The open sets; a handle is an index. What is in a set only the thread that counts touches. */
static struct {
    pthread_mutex_t lock;
    event_set **sets; /* NULL: a free handle */
    size_t count, capacity;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int enlist(event_set *set)
{
    size_t handle = 0;
    pthread_mutex_lock(&table.lock);
    while (handle < table.count && table.sets[handle])
        handle++;
    if (handle == table.count)
        table.sets = dlb_grow(table.sets, &table.capacity, ++table.count, sizeof(event_set *));
    table.sets[handle] = set;
    pthread_mutex_unlock(&table.lock);
    return (int)handle;
}

static event_set *set_at(int handle)
{
    pthread_mutex_lock(&table.lock);
    event_set *set = table.sets[handle];
    pthread_mutex_unlock(&table.lock);
    return set;
}

static event_set *delist(int handle)
{
    pthread_mutex_lock(&table.lock);
    event_set *set = table.sets[handle];
    table.sets[handle] = NULL;
    pthread_mutex_unlock(&table.lock);
    return set;
}

static bool is_called(const char *const *names, const char *name)
{
    for (int i = 0; i < NAMES && names[i]; i++) {
        if (strcasecmp(names[i], name) == 0)
            return true;
    }
    return false;
}

static int perf_find(const char *name, dlb_event_id *id, dlb_error *err)
{
    for (size_t i = 0; i < sizeof EVENTS / sizeof *EVENTS; i++) {
        if (is_called(EVENTS[i].names, name)) {
            *id = EVENTS[i].id;
            return 0;
        }
    }
    return dlb_fail(err, DLB_BAD_INPUT, "the kernel has no event %s", name);
}

static int perf_find_with_kernel(const char *name, dlb_event_id *id, dlb_error *err)
{
    if (perf_find(name, id, err) < 0)
        return err->code;
    id->code |= WITH_KERNEL;
    return 0;
}

static int perf_enter_thread(dlb_error *err)
{
    (void)err;
    return 0;
}

static int perf_open(int component, bool multiplexed, int *set, dlb_error *err)
{
    (void)err;
    event_set *opened = dlb_alloc(1, sizeof *opened);
    opened->type = component;
    opened->multiplexed = multiplexed;
    *set = enlist(opened);
    return 0;
}

static int refuse(int error, int type, dlb_error *err)
{
    char hint[96];
    bool absent = error == ENOENT || error == ENODEV || error == EOPNOTSUPP;
    if (type == PERF_TYPE_HARDWARE && absent)
        return dlb_fail(err, DLB_FAIL,
                        "the kernel offers no such counter here, as usual in a virtual machine");
    dlb_paranoid_explains(error == EACCES || error == EPERM, hint, sizeof hint);
    return dlb_fail(err, DLB_FAIL, "%s%s", strerror(error), hint);
}

/* An event of the calling thread on whatever CPU it runs, not counting yet. */
static int open_event_fd(int type, int code)
{
    struct perf_event_attr attr = {
        .type = (uint32_t)type,
        .size = sizeof attr,
        .config = (uint64_t)(code & ~WITH_KERNEL),
        .disabled = 1,
        .exclude_kernel = !(code & WITH_KERNEL),
        .exclude_hv = 1,
        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
    };
    enum { THIS_THREAD = 0, ANY_CPU = -1, NO_GROUP = -1 };
    return (int)syscall(SYS_perf_event_open, &attr, THIS_THREAD, ANY_CPU, NO_GROUP,
                        PERF_FLAG_FD_CLOEXEC);
}

static int perf_add(int handle, const dlb_event_id *id, dlb_error *err)
{
    event_set *set = set_at(handle);
    int fd = open_event_fd(set->type, id->code);
    if (fd < 0)
        return refuse(errno, set->type, err);
    set->events = dlb_grow(set->events, &set->capacity, set->count + 1, sizeof *set->events);
    set->events[set->count++].fd = fd;
    return 0;
}

static int perf_start(int handle, dlb_error *err)
{
    const event_set *set = set_at(handle);
    for (size_t i = 0; i < set->count; i++) {
        if (ioctl(set->events[i].fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
            return refuse(errno, set->type, err);
    }
    return 0;
}

static reading difference(const reading *now, const reading *before)
{
    return (reading){
        .count = now->count - before->count,
        .enabled_ns = now->enabled_ns - before->enabled_ns,
        .running_ns = now->running_ns - before->running_ns,
    };
}

/* The count of a whole window; of one that took turns, an estimate. */
static int extrapolate(const reading *window, bool multiplexed, long long *value, dlb_error *err)
{
    double enabled = (double)window->enabled_ns, running = (double)window->running_ns;
    *value = (long long)window->count;
    if (window->running_ns == window->enabled_ns)
        return 0;
    if (!multiplexed || window->running_ns == 0)
        return dlb_fail(err, DLB_FAIL, "it had a counter for only %.0f %% of the time",
                        100 * running / enabled);
    *value = (long long)((double)window->count * enabled / running);
    return 0;
}

/* What the event, disabled now, has counted since it was enabled. */
static int read_window(open_event *event, bool multiplexed, long long *value, dlb_error *err)
{
    reading now;
    if (read(event->fd, &now, sizeof now) != (ssize_t)sizeof now)
        return dlb_fail(err, DLB_FAIL, "the kernel does not give the count");
    reading window = difference(&now, &event->before);
    event->before = now;
    return extrapolate(&window, multiplexed, value, err);
}

static int perf_stop(int handle, long long *values, dlb_error *err)
{
    event_set *set = set_at(handle);
    int status = 0;
    for (size_t i = set->count; i-- > 0;)
        ioctl(set->events[i].fd, PERF_EVENT_IOC_DISABLE, 0);
    for (size_t i = 0; i < set->count && status == 0; i++)
        status = read_window(&set->events[i], set->multiplexed, &values[i], err);
    return status;
}

static void perf_close(int handle)
{
    event_set *set = delist(handle);
    for (size_t i = set->count; i-- > 0;)
        close(set->events[i].fd);
    free(set->events);
    free(set);
}

const dlb_counter_api dlb_linux_perf = {
    .find = perf_find,
    .find_with_kernel = perf_find_with_kernel,
    .enter_thread = perf_enter_thread,
    .open = perf_open,
    .add = perf_add,
    .start = perf_start,
    .stop = perf_stop,
    .close = perf_close,
};
