#include "cli/bench_apart.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
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

static void bind_to(int cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    sched_setaffinity(0, sizeof one, &one); /* where it is refused, the kernel places it */
}

static _Noreturn void train_as(int index, dlb_bench_trainings *t,
                               const dlb_bench_training *training, int to)
{
    outcome o = {0};
    bind_to(dlb_cpus_at(&dlb_cores_of_process()->cpus, index));
    o.status = dlb_bench_train_alone(t, training, index, &o.speed, &o.err);
    ssize_t written = write(to, &o, sizeof o); /* less than a pipe takes at once */
    _exit(written == (ssize_t)sizeof o ? 0 : 1);
}

/* ---- The parent ---- */

static int begin(child *c, int index, dlb_bench_trainings *t, const dlb_bench_training *training,
                 dlb_error *err)
{
    int ends[2];
    if (pipe(ends) < 0)
        return dlb_fail(err, DLB_FAIL, "no pipe can be made: %s", strerror(errno));
    fflush(NULL);
    *c = (child){.pid = fork(), .from = ends[0]};
    if (c->pid == 0)
        train_as(index, t, training, ends[1]);
    close(ends[1]);
    if (c->pid > 0)
        return 0;
    close(ends[0]);
    return dlb_fail(err, DLB_FAIL, "no process can be started: %s", strerror(errno));
}

static outcome end(const child *c)
{
    outcome o;
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
    sum->eval_images_per_s += one->eval_images_per_s;
    sum->peak_mb = fmax(sum->peak_mb, one->peak_mb);
    memcpy(sum->host, one->host, sizeof sum->host);
}

int dlb_bench_train_apart(dlb_bench_trainings *t, const dlb_bench_training *training, int count,
                          dlb_bench_speed *speed, dlb_error *err)
{
    child *children = dlb_alloc((size_t)count, sizeof *children);
    int begun = 0, status = 0;
    *speed = (dlb_bench_speed){0};
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
