#include "dlk/team.h"

void dlk_team_init(dlk_team *team, int size, dlk_share *shares, float *scratch,
                   size_t scratch_floats, int64_t spin_ns)
{
    *team = (dlk_team){
        .size = size,
        .jobs = {{.shares = shares}, {.shares = shares ? shares + size : NULL}},
        .scratch = scratch,
        .scratch_floats = scratch_floats,
        .spin_ns = spin_ns,
    };
}

static void pause_between(const dlk_team *team)
{
    if (team->between)
        team->between(team->between_arg);
}

/* The job of the round with this number. */
static dlk_job *job_of(dlk_team *team, uint32_t round)
{
    return &team->jobs[round % 2];
}

static bool take_of_share(const dlk_team *team, dlk_share *share, dlk_task_fn *fn, void *arg,
                          int thread)
{
    if (atomic_load_explicit(&share->next, memory_order_relaxed) >= share->end)
        return false;
    int task = atomic_fetch_add_explicit(&share->next, 1, memory_order_relaxed);
    if (task >= share->end)
        return false;
    fn(arg, task, thread);
    if (thread == 0)
        pause_between(team);
    return true;
}

/* One of the thread's own share, or of what the others have left; false: there is none. */
static bool take_task(const dlk_team *team, dlk_job *job, int thread)
{
    for (int i = 0; i < team->size; i++)
        if (take_of_share(team, &job->shares[(thread + i) % team->size], job->fn, job->arg, thread))
            return true;
    return false;
}

/* All that are left, then what fills the gap. */
static void take_tasks(dlk_team *team, dlk_job *job, int thread)
{
    while (take_task(team, job, thread))
        ;
    dlk_task_fn *filler_fn = atomic_load_explicit(&team->filler_fn, memory_order_acquire);
    while (filler_fn && take_of_share(team, &team->filler, filler_fn, team->filler_arg, thread))
        ;
}

static void share_out(const dlk_team *team, dlk_job *job, int tasks)
{
    for (int i = 0; i < team->size; i++) {
        dlk_share *share = &job->shares[i];
        share->end = dlk_share_start(team, tasks, i + 1);
        atomic_store_explicit(&share->next, dlk_share_start(team, tasks, i), memory_order_relaxed);
    }
}

static void await_job(dlk_team *team, dlk_job *job)
{
    for (uint32_t busy; (busy = dlk_gate_value(&job->busy)) != 0;)
        dlk_gate_wait(&job->busy, busy, team->spin_ns);
}

/* Leader: what is left of a job that the others have begun ahead. */
static void catch_up(dlk_team *team)
{
    dlk_job *job = team->ahead;
    team->ahead = NULL;
    if (job)
        take_tasks(team, job, 0);
}

/* The job before the last has ended by then. */
static dlk_job *open_round(dlk_team *team, int tasks, dlk_task_fn *fn, void *arg)
{
    dlk_job *job = job_of(team, dlk_gate_value(&team->round) + 1);
    await_job(team, job);
    job->fn = fn;
    job->arg = arg;
    share_out(team, job, tasks);
    atomic_store_explicit(&job->busy.value, (uint32_t)team->size - 1, memory_order_relaxed);
    atomic_fetch_add(&team->round.value, 1);
    dlk_gate_wake(&team->round);
    return job;
}

void dlk_join(dlk_team *team)
{
    catch_up(team);
    await_job(team, &team->jobs[0]);
    await_job(team, &team->jobs[1]);
}

void dlk_alone(dlk_team *team, int tasks, dlk_task_fn *fn, void *arg)
{
    catch_up(team);
    for (int task = 0; task < tasks; task++) {
        fn(arg, task, 0);
        pause_between(team);
    }
}

static void join_round(dlk_team *team)
{
    team->open = false;
    take_tasks(team, job_of(team, dlk_gate_value(&team->round)), 0);
    dlk_join(team);
    atomic_store_explicit(&team->filler_fn, NULL, memory_order_relaxed);
}

/* What is done meanwhile may have joined the round itself. */
static void do_meanwhile(dlk_team *team, dlk_job *job)
{
    dlk_meanwhile_fn *meanwhile = team->meanwhile;
    team->meanwhile = NULL;
    if (!meanwhile)
        return;
    while (team->meanwhile_ready && !team->meanwhile_ready(team->meanwhile_arg) &&
           take_task(team, job, 0))
        ;
    meanwhile(team->meanwhile_arg);
}

static void run_round(dlk_team *team, int tasks, dlk_task_fn *fn, void *arg)
{
    dlk_job *job = open_round(team, tasks, fn, arg);
    catch_up(team);
    team->open = true;
    do_meanwhile(team, job);
    if (team->open)
        join_round(team);
}

/* The others may be looking for tasks already. */
static void fill_round(dlk_team *team, int tasks, dlk_task_fn *fn, void *arg)
{
    team->filler_arg = arg;
    team->filler.end = tasks;
    atomic_store_explicit(&team->filler.next, 0, memory_order_relaxed);
    atomic_store_explicit(&team->filler_fn, fn, memory_order_release);
    join_round(team);
}

void dlk_parallel(dlk_team *team, int tasks, dlk_task_fn *fn, void *arg)
{
    if (team->size == 1 || tasks <= 1)
        dlk_alone(team, tasks, fn, arg);
    else if (team->open)
        fill_round(team, tasks, fn, arg);
    else
        run_round(team, tasks, fn, arg);
}

static void begin_ahead(dlk_team *team, dlk_job *job)
{
    catch_up(team);
    team->ahead = job;
}

void dlk_parallel_ahead(dlk_team *team, int tasks, dlk_task_fn *fn, void *arg)
{
    if (team->size == 1 || tasks <= 1)
        dlk_alone(team, tasks, fn, arg);
    else
        begin_ahead(team, open_round(team, tasks, fn, arg));
}

void dlk_meanwhile(dlk_team *team, dlk_meanwhile_fn *fn, dlk_ready_fn *ready, void *arg)
{
    team->meanwhile = fn;
    team->meanwhile_ready = ready;
    team->meanwhile_arg = arg;
}

bool dlk_meanwhile_is_due(dlk_team *team)
{
    bool due = team->meanwhile != NULL;
    team->meanwhile = NULL;
    return due;
}

void dlk_team_dismiss(dlk_team *team)
{
    if (team->size == 1)
        return;
    open_round(team, 0, NULL, NULL);
    dlk_join(team);
    team->home = dlk_gate_value(&team->round);
}

void dlk_team_serve(dlk_team *team, int thread)
{
    for (uint32_t seen = team->home;; seen++) {
        dlk_gate_wait(&team->round, seen, team->spin_ns);
        dlk_job *job = job_of(team, seen + 1);
        bool dismissed = job->fn == NULL;
        if (!dismissed)
            take_tasks(team, job, thread);
        if (atomic_fetch_sub(&job->busy.value, 1) == 1)
            dlk_gate_wake(&job->busy);
        if (dismissed)
            return;
    }
}
