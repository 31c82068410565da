#include "dlk/team.h"

void dlk_team_init(dlk_team *team, int size, dlk_share *shares, float *scratch,
                   size_t scratch_floats, int64_t spin_ns)
{
    *team = (dlk_team){
        .size = size,
        .shares = shares,
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

static void take_share(const dlk_team *team, dlk_share *share, dlk_task_fn *fn, void *arg,
                       int thread)
{
    for (;;) {
        int task = atomic_fetch_add_explicit(&share->next, 1, memory_order_relaxed);
        if (task >= share->end)
            return;
        fn(arg, task, thread);
        if (thread == 0)
            pause_between(team);
    }
}

/* The thread's own share first, then what the others have left, then what fills the gap. */
static void take_tasks(dlk_team *team, int thread)
{
    for (int i = 0; i < team->size; i++)
        take_share(team, &team->shares[(thread + i) % team->size], team->fn, team->arg, thread);
    dlk_task_fn *filler_fn = atomic_load_explicit(&team->filler_fn, memory_order_acquire);
    if (filler_fn)
        take_share(team, &team->filler, filler_fn, team->filler_arg, thread);
}

static void share_out(dlk_team *team, int tasks)
{
    for (int i = 0; i < team->size; i++) {
        dlk_share *share = &team->shares[i];
        share->end = dlk_share_start(team, tasks, i + 1);
        atomic_store_explicit(&share->next, dlk_share_start(team, tasks, i), memory_order_relaxed);
    }
}

static void open_round(dlk_team *team, int tasks, dlk_task_fn *fn, void *arg)
{
    team->fn = fn;
    team->arg = arg;
    share_out(team, tasks);
    atomic_store_explicit(&team->busy.value, (uint32_t)team->size - 1, memory_order_relaxed);
    atomic_fetch_add(&team->round.value, 1);
    dlk_gate_wake(&team->round);
}

static void close_round(dlk_team *team)
{
    for (uint32_t busy; (busy = dlk_gate_value(&team->busy)) != 0;)
        dlk_gate_wait(&team->busy, busy, team->spin_ns);
}

void dlk_alone(dlk_team *team, int tasks, dlk_task_fn *fn, void *arg)
{
    for (int task = 0; task < tasks; task++) {
        fn(arg, task, 0);
        pause_between(team);
    }
}

static void join_round(dlk_team *team)
{
    team->open = false;
    take_tasks(team, 0);
    close_round(team);
    atomic_store_explicit(&team->filler_fn, NULL, memory_order_relaxed);
}

/* What is done meanwhile may have joined the round itself. */
static void run_round(dlk_team *team, int tasks, dlk_task_fn *fn, void *arg)
{
    open_round(team, tasks, fn, arg);
    team->open = true;
    dlk_meanwhile_fn *meanwhile = team->meanwhile;
    team->meanwhile = NULL;
    if (meanwhile)
        meanwhile(team->meanwhile_arg);
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

void dlk_meanwhile(dlk_team *team, dlk_meanwhile_fn *fn, void *arg)
{
    team->meanwhile = fn;
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
    close_round(team);
    team->home = dlk_gate_value(&team->round);
}

void dlk_team_serve(dlk_team *team, int thread)
{
    for (uint32_t seen = team->home;; seen++) {
        dlk_gate_wait(&team->round, seen, team->spin_ns);
        bool dismissed = team->fn == NULL;
        if (!dismissed)
            take_tasks(team, thread);
        if (atomic_fetch_sub(&team->busy.value, 1) == 1)
            dlk_gate_wake(&team->busy);
        if (dismissed)
            return;
    }
}
