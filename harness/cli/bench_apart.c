#include "cli/bench_apart.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/stop.h"
#include "measure/cores.h"

/* What a child tells of its training. */
typedef struct outcome {
    int status;
    dlb_bench_speed speed;
    dlb_error err;
} outcome;

typedef struct child {
    pid_t pid;
    int from; /* a pipe, with its outcome at the end */
} child;

/* ---- A child ---- */

/* The first CPUs of all cores, which begin again behind the last: one hardware thread of each. */
static int cpu_for(int index)
{
    const dlb_cores *cores = dlb_cores_of_process();
    dlb_cpus firsts = {0};
    for (int cpu = -1; (cpu = dlb_cpus_next(&cores->cpus, cpu)) >= 0;)
        if (dlb_core_of(cpu) == cpu)
            dlb_cpus_add(&firsts, cpu);
    return dlb_cpus_at(dlb_cpus_count(&firsts) ? &firsts : &cores->cpus, index);
}

/* If the parent dies, so does the child, and with it what it has launched. */
static void die_with(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
}

static _Noreturn void train_as(int index, dlb_bench_trainings *t,
                               const dlb_bench_training *training, int to)
{
    outcome o = {0};
    dlb_cpu_bind(cpu_for(index)); /* where it is refused, the kernel places it */
    o.status = dlb_bench_train_alone(t, training, index, &o.speed, &o.err);
    ssize_t written = write(to, &o, sizeof o); /* less than a pipe takes at once */
    _exit(written == (ssize_t)sizeof o ? 0 : 1);
}

/* ---- The parent ---- */

static int begin(child *c, int index, dlb_bench_trainings *t, const dlb_bench_training *training,
                 dlb_error *err)
{
    int ends[2];
    pid_t parent = getpid();
    if (pipe2(ends, O_CLOEXEC) < 0)
        return dlb_fail(err, DLB_FAIL, "no pipe can be made: %s", strerror(errno));
    fflush(NULL);
    *c = (child){.pid = fork(), .from = ends[0]};
    if (c->pid == 0) {
        die_with(parent);
        close(ends[0]);
        train_as(index, t, training, ends[1]);
    }
    int status = 0;
    if (c->pid < 0) {
        status = dlb_fail(err, DLB_FAIL, "no process can be started: %s", strerror(errno));
        close(ends[0]);
    }
    close(ends[1]);
    return status;
}

/* Until it has something to say, or has died; a wish to stop is passed on. */
static void wait_for(const child *c)
{
    enum { LOOK_MS = 50 };
    struct pollfd from = {.fd = c->from, .events = POLLIN};
    for (bool told = false; poll(&from, 1, LOOK_MS) <= 0;) {
        if (dlb_stop_asked() && !told)
            told = kill(c->pid, SIGTERM) == 0;
    }
}

static outcome end(const child *c)
{
    outcome o;
    wait_for(c);
    ssize_t got = read(c->from, &o, sizeof o);
    if (got != (ssize_t)sizeof o)
        o.status = dlb_fail(&o.err, DLB_FAIL, "a training apart ended without a word");
    close(c->from);
    waitpid(c->pid, NULL, 0);
    return o;
}

static void add(dlb_bench_speed *sum, const dlb_bench_speed *one, int count)
{
    sum->train_s += one->train_s / count;
    sum->images_per_s += one->images_per_s;
    sum->step_images_per_s += one->step_images_per_s;
    sum->eval_images_per_s += one->eval_images_per_s;
    sum->peak_mb = fmax(sum->peak_mb, one->peak_mb);
    memcpy(sum->host, one->host, sizeof sum->host);
}

int dlb_bench_train_apart(dlb_bench_trainings *t, const dlb_bench_training *training, int count,
                          dlb_bench_speed *speed, dlb_error *err)
{
    child *children = dlb_alloc((size_t)count, sizeof *children);
    int begun = 0, status = 0;
    *speed = (dlb_bench_speed){.exposed_pct = NAN, .wait_pct = NAN, .peak_mb = NAN};
    while (begun < count && status == 0) {
        status = begin(&children[begun], begun, t, training, err);
        begun += status == 0;
    }
    for (int i = 0; i < begun; i++) {
        outcome o = end(&children[i]);
        if (o.status == 0)
            add(speed, &o.speed, count);
        if (o.status < 0 && status == 0)
            *err = o.err, status = o.status;
    }
    free(children);
    if (dlb_stop_asked())
        return dlb_fail(err, DLB_STOPPED, "stopped before all was measured");
    return status;
}
