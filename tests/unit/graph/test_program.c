#include <criterion/criterion.h>
#include <unistd.h>

#include "graph/program.h"

/* Operations that note when they ran. */
enum { OPS_MAX = 8 };

struct log {
    _Atomic int clock, started;
    int start[OPS_MAX], end[OPS_MAX];
};

struct probe {
    int index;
};

static void run_probe(void *self, void *context, dlk_team *team)
{
    struct probe *probe = self;
    struct log *log = context;
    (void)team;
    log->start[probe->index] = log->clock++;
    usleep(2000);
    log->end[probe->index] = log->clock++;
}

/* Goes on only when two operations have started, or after ten seconds if none follows. */
static void run_meeting(void *self, void *context, dlk_team *team)
{
    struct probe *probe = self;
    struct log *log = context;
    (void)team;
    log->start[probe->index] = log->clock++;
    log->started++;
    for (int look = 0; look < 10000 && log->started < 2; look++)
        usleep(1000);
    log->end[probe->index] = log->clock++;
}

static struct probe probes[OPS_MAX] = {{0}, {1}, {2}, {3}, {4}, {5}, {6}, {7}};

/* Operation `index` reads buffer `read` and writes buffer `written`. */
static void add(dlb_program *program, int index, int read, int written)
{
    dlb_op op = {.run = run_probe,
                 .self = &probes[index],
                 .reads = {read},
                 .read_count = 1,
                 .writes = {written},
                 .write_count = 1};
    snprintf(op.name, sizeof op.name, "op %d", index);
    dlb_program_add(program, &op);
}

static struct log run(dlb_program *program, int threads, int teams)
{
    dlb_pool *pool;
    dlb_error err;
    dlb_pool_options options = {.threads = threads, .teams = teams, .spin_ns = 1000000};
    cr_assert_eq(dlb_pool_create(&pool, &options, &err), 0);
    struct log log = {0};
    dlb_program_run(program, pool, &log, 0, NULL);
    dlb_pool_free(pool);
    return log;
}

static bool overlap(const struct log *log, int a, int b)
{
    return log->start[a] < log->end[b] && log->start[b] < log->end[a];
}

Test(program, operands_keep_their_order_on_any_number_of_teams)
{
    for (int teams = 1; teams <= 3; teams++) {
        dlb_program program;
        dlb_program_init(&program);
        add(&program, 0, 0, 1); /* writes 1 */
        add(&program, 1, 1, 2); /* reads what 0 wrote */
        add(&program, 2, 1, 3); /* so does this: free of 1 */
        add(&program, 3, 9, 1); /* writes what 1 and 2 read */
        add(&program, 4, 8, 3); /* writes what 2 wrote */
        dlb_program_seal(&program);
        for (int repeat = 0; repeat < 3; repeat++) {
            struct log log = run(&program, 3, teams);
            cr_assert_lt(log.end[0], log.start[1]);
            cr_assert_lt(log.end[0], log.start[2]);
            cr_assert_lt(log.end[1], log.start[3]);
            cr_assert_lt(log.end[2], log.start[3]);
            cr_assert_lt(log.end[2], log.start[4]);
        }
        dlb_program_release(&program);
    }
}

/* Two operations that have no buffer in common. */
static struct log run_independent(dlb_op_fn *fn, int teams)
{
    dlb_program program;
    dlb_program_init(&program);
    add(&program, 0, 0, 1);
    add(&program, 1, 2, 3);
    program.ops[0].run = program.ops[1].run = fn;
    dlb_program_seal(&program);
    struct log log = run(&program, 2, teams);
    dlb_program_release(&program);
    return log;
}

Test(program, independent_operations_overlap_on_two_teams)
{
    struct log log = run_independent(run_meeting, 2);
    cr_assert(overlap(&log, 0, 1));
}

Test(program, operations_never_overlap_on_one_team)
{
    struct log log = run_independent(run_probe, 1);
    cr_assert_not(overlap(&log, 0, 1));
}

Test(program, busy_time_is_counted_by_phase)
{
    dlb_program program;
    dlb_program_init(&program);
    add(&program, 0, 0, 1);
    program.ops[0].phase = DLB_PHASE_BACKWARD;
    dlb_program_seal(&program);
    run(&program, 1, 1);
    cr_assert_gt(program.busy_s[DLB_PHASE_BACKWARD], 0.0019);
    cr_assert_eq(program.busy_s[DLB_PHASE_FORWARD], 0);
    dlb_program_release(&program);
}
