#include <criterion/criterion.h>
#include <sched.h>
#include <unistd.h>

#include "graph/program.h"

/* Operations that note when they ran. */
enum { OPS_MAX = 8, IMAGES = 3 * DLB_BLOCK_IMAGES + 5 };

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
    dlb_program_run(program, pool, &log, IMAGES, NULL);
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
        dlb_program_seal(&program, IMAGES);
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
    dlb_program_seal(&program, IMAGES);
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

/* ---- Operations that go image by image ---- */

enum { CHAIN = 3 };

/* How often each image has been through each operation, and what went wrong. */
struct journey {
    _Atomic int passed[OPS_MAX][IMAGES];
    _Atomic int whole[OPS_MAX], begun[OPS_MAX], gathered[OPS_MAX], too_early, calls;
};

static void pass_all(void *self, void *context, dlk_team *team)
{
    const struct probe *probe = self;
    struct journey *journey = context;
    (void)team;
    journey->whole[probe->index]++;
    for (int i = 0; i < IMAGES; i++)
        journey->passed[probe->index][i]++;
}

/* An image has been through the operation before by then. */
static void pass_some(void *self, void *context, dlk_team *alone, int first, int end)
{
    const struct probe *probe = self;
    struct journey *journey = context;
    cr_assert_eq(alone->size, 1);
    cr_assert_eq(first % DLB_BLOCK_IMAGES, 0);
    journey->calls++;
    journey->too_early += journey->begun[probe->index] == 0;
    for (int i = first; i < end; i++) {
        journey->passed[probe->index][i]++;
        journey->too_early += probe->index > 0 && journey->passed[probe->index - 1][i] == 0;
    }
}

static void begin(void *self, void *context, dlk_team *team)
{
    const struct probe *probe = self;
    struct journey *journey = context;
    (void)team;
    journey->begun[probe->index]++;
    journey->too_early += journey->calls > 0;
}

static void gather(void *self, void *context, dlk_team *team)
{
    const struct probe *probe = self;
    struct journey *journey = context;
    (void)team;
    journey->gathered[probe->index]++;
    for (int i = 0; i < IMAGES; i++)
        journey->too_early += journey->passed[probe->index][i] == 0;
}

/* CHAIN operations one after the other that go image by image. */
static void add_chain(dlb_program *program)
{
    for (int i = 0; i < CHAIN; i++) {
        add(program, i, i, i + 1);
        program->ops[i].run = pass_all;
        program->ops[i].begin = begin;
        program->ops[i].part = pass_some;
        program->ops[i].gather = gather;
    }
}

static void run_on(dlb_program *program, int threads, void *context)
{
    dlb_pool *pool;
    dlb_error err;
    dlb_pool_options options = {.threads = threads, .teams = 1, .spin_ns = 1000000};
    dlb_program_seal(program, IMAGES);
    cr_assert_eq(dlb_pool_create(&pool, &options, &err), 0);
    dlb_program_run(program, pool, context, IMAGES, NULL);
    dlb_pool_free(pool);
}

/* The chain, but for operation `whole`, which does not go image by image. */
static void take_journey(struct journey *journey, int threads, int whole, bool finer)
{
    dlb_program program;
    *journey = (struct journey){0};
    dlb_program_init(&program);
    add_chain(&program);
    if (whole >= 0)
        program.ops[whole].part = NULL;
    program.ops[0].finer = finer;
    run_on(&program, threads, journey);
    dlb_program_release(&program);
    cr_assert_eq(journey->too_early, 0);
    for (int i = 0; i < CHAIN; i++)
        for (int image = 0; image < IMAGES; image++)
            cr_assert_eq(journey->passed[i][image], 1, "operation %d, image %d: %d times", i, image,
                         journey->passed[i][image]);
}

/* Two blocks for each of two threads, which takes them through together. */
static void expect_chain(const struct journey *journey)
{
    cr_assert_eq(journey->calls, 2 * CHAIN);
    for (int i = 0; i < CHAIN; i++)
        cr_assert(journey->whole[i] == 0 && journey->begun[i] == 1 && journey->gathered[i] == 1);
}

Test(program, threads_take_blocks_of_images_through_operations_that_go_image_by_image)
{
    struct journey journey;
    take_journey(&journey, 2, -1, false);
    expect_chain(&journey);
}

Test(program, an_operation_of_the_whole_batch_ends_the_chain)
{
    struct journey journey;
    take_journey(&journey, 2, 1, false);
    cr_assert_eq(journey.calls, 0);
    take_journey(&journey, 2, CHAIN - 1, false);
    cr_assert_eq(journey.calls, 2 * (CHAIN - 1));
    cr_assert(journey.whole[CHAIN - 1] == 1 && journey.gathered[CHAIN - 1] == 0);
}

Test(program, no_chain_goes_on_with_an_operation_that_reads_behind_an_image)
{
    dlb_program program;
    dlb_program_init(&program);
    add_chain(&program);
    program.ops[1].opens = true;
    dlb_program_seal(&program, IMAGES);
    cr_assert_eq(program.together[0], 1);
    cr_assert_eq(program.together[1], CHAIN);
    dlb_program_release(&program);
}

Test(program, a_chain_is_named_after_its_first_and_its_last_operation)
{
    dlb_program program;
    dlb_program_init(&program);
    add_chain(&program);
    dlb_program_seal(&program, IMAGES);
    cr_assert_str_eq(program.names[0], "op 0-op 2");
    cr_assert_str_eq(program.names[CHAIN - 1], "op 2");
    dlb_program_release(&program);
}

Test(program, a_thread_alone_runs_one_operation_after_the_other)
{
    struct journey journey;
    take_journey(&journey, 1, -1, false);
    cr_assert_eq(journey.calls, 0);
}

/* Four blocks: two for each of two threads, too few for three. */
Test(program, an_operation_whose_own_tasks_are_finer_begins_no_chain_of_few_blocks)
{
    struct journey journey;
    take_journey(&journey, 2, -1, true);
    expect_chain(&journey);
    take_journey(&journey, 3, -1, true);
    cr_assert(journey.whole[0] == 1 && journey.calls == 4 * (CHAIN - 1));
}

Test(program, a_chain_goes_on_from_forward_to_backward_and_counts_the_time_of_both)
{
    struct journey journey = {0};
    dlb_program program;
    dlb_program_init(&program);
    add_chain(&program);
    program.ops[CHAIN - 1].phase = DLB_PHASE_BACKWARD;
    run_on(&program, 2, &journey);
    expect_chain(&journey);
    cr_assert(program.busy_s[DLB_PHASE_FORWARD] > 0 && program.busy_s[DLB_PHASE_BACKWARD] > 0);
    dlb_program_release(&program);
}

/* ---- Operations that go by halves of the batch ---- */

/* The images before it have all been through, and it is the first half or the rest. */
static void pass_half(void *self, void *context, dlk_team *alone, int first, int end)
{
    struct journey *journey = context;
    int middle = dlb_blocks_half(IMAGES);
    journey->too_early += first == 0 ? end != middle : first != middle || end != IMAGES;
    for (int i = first; i < end; i++)
        journey->too_early += journey->passed[CHAIN - 2][i] == 0;
    pass_some(self, context, alone, first, end);
}

Test(program, a_half_is_taken_further_as_soon_as_it_is_through)
{
    for (int threads = 1; threads <= 4; threads++) {
        struct journey journey = {0};
        dlb_program program;
        dlb_program_init(&program);
        add_chain(&program);
        program.ops[CHAIN - 1].part = pass_half;
        program.ops[CHAIN - 1].halves = true;
        run_on(&program, threads, &journey);
        dlb_program_release(&program);
        cr_assert_eq(journey.too_early, 0);
        int calls[] = {0, 2 * (CHAIN - 1) + 2, 4 * (CHAIN - 1) + 2, 4 * (CHAIN - 1) + 2};
        cr_assert_eq(journey.calls, calls[threads - 1]);
        for (int image = 0; image < IMAGES; image++)
            cr_assert_eq(journey.passed[CHAIN - 1][image], 1);
    }
}

Test(program, nothing_follows_a_chain_whose_halves_it_waits_for)
{
    dlb_program program;
    for (int free = 0; free <= 1; free++) {
        dlb_program_init(&program);
        add_chain(&program);
        program.ops[CHAIN - 1].halves = true;
        add(&program, CHAIN, free ? 0 : CHAIN, OPS_MAX);
        program.ops[CHAIN].gaps = program.ops[CHAIN].follows = true;
        dlb_program_seal(&program, IMAGES);
        cr_assert_eq(program.followed[0], free == 1);
        dlb_program_release(&program);
    }
}

/* ---- An operation that follows a chain ---- */

enum { FILLER = 0, FOLLOWER = 1 };

/* What those behind the chain did. */
struct pursuit {
    struct journey journey;
    dlb_program *program;
    _Atomic int taken[IMAGES], caught_up, filled; /* of blocks */
    _Atomic bool begun_before_the_end;
};

/* The last block stays in the chain until another has been followed. */
static void pass_slowly(void *self, void *context, dlk_team *alone, int first, int end)
{
    struct pursuit *pursuit = context;
    bool last = end == IMAGES;
    for (int look = 0; last && look < 10000 && pursuit->caught_up == 0; look++)
        usleep(1000);
    if (last && pursuit->caught_up > 0)
        pursuit->begun_before_the_end = true;
    pass_some(self, context, alone, first, end);
}

/* Any block that is through: there are as many as tasks. */
static int find_block(struct pursuit *pursuit)
{
    for (int block = 0;; block = (block + 1) % dlb_blocks_of(IMAGES)) {
        int first = block * DLB_BLOCK_IMAGES, end = first + DLB_BLOCK_IMAGES;
        if (dlb_blocks_are_through(&pursuit->program->blocks, first, end < IMAGES ? end : IMAGES) &&
            atomic_exchange(&pursuit->taken[block], 1) == 0)
            return block;
        sched_yield();
    }
}

static void follow_block(void *arg, int task, int thread)
{
    (void)task, (void)thread;
    struct pursuit *pursuit = arg;
    int first = find_block(pursuit) * DLB_BLOCK_IMAGES, end = first + DLB_BLOCK_IMAGES;
    for (int i = first; i < end && i < IMAGES; i++)
        pursuit->journey.too_early += pursuit->journey.passed[CHAIN - 1][i] == 0;
    pursuit->caught_up++;
}

static void follow(void *self, void *context, dlk_team *team)
{
    (void)self;
    dlk_parallel(team, dlb_blocks_of(IMAGES), follow_block, context);
}

static void fill_in(void *self, void *context, dlk_team *team)
{
    (void)self, (void)team;
    struct pursuit *pursuit = context;
    for (int i = 0; i < IMAGES; i++)
        pursuit->journey.too_early += pursuit->journey.passed[CHAIN - 1][i] == 0;
    pursuit->filled++;
}

static struct pursuit pursue(int threads)
{
    dlb_program program;
    struct pursuit pursuit = {.program = &program};
    dlb_program_init(&program);
    add_chain(&program);
    program.ops[0].part = threads > 1 ? pass_slowly : pass_some;
    add(&program, CHAIN + FILLER, CHAIN, OPS_MAX);
    add(&program, CHAIN + FOLLOWER, CHAIN, OPS_MAX + 1);
    dlb_op *behind = &program.ops[CHAIN];
    behind[FILLER].run = fill_in;
    behind[FILLER].fills = true;
    behind[FOLLOWER].run = follow;
    behind[FOLLOWER].gaps = behind[FOLLOWER].follows = true;
    run_on(&program, threads, &pursuit);
    dlb_program_release(&program);
    return pursuit;
}

Test(program, an_operation_follows_a_chain_that_others_are_still_in)
{
    for (int threads = 1; threads <= 4; threads++) {
        struct pursuit pursuit = pursue(threads);
        cr_assert_eq(pursuit.journey.too_early, 0);
        cr_assert_eq(pursuit.caught_up, dlb_blocks_of(IMAGES));
        cr_assert_eq(pursuit.filled, 1);
        cr_assert_eq(pursuit.journey.gathered[0], threads > 1);
        cr_assert_eq(pursuit.begun_before_the_end, threads > 1, "%d threads", threads);
    }
}

/* ---- Operations that fill gaps ---- */

enum { SHORT_TASKS = 5, LONG_TASKS = 4 };

/* What two operations have done, and what had been done when the second began and ended. */
struct filling {
    _Atomic int short_tasks, long_tasks;
    int short_at_start, short_at_end;
};

static void short_task(void *arg, int task, int thread)
{
    (void)task, (void)thread;
    ((struct filling *)arg)->short_tasks++;
}

static void long_task(void *arg, int task, int thread)
{
    (void)task, (void)thread;
    usleep(1000);
    ((struct filling *)arg)->long_tasks++;
}

static void run_short(void *self, void *context, dlk_team *team)
{
    (void)self;
    dlk_parallel(team, SHORT_TASKS, short_task, context);
}

static void run_long(void *self, void *context, dlk_team *team)
{
    (void)self;
    struct filling *filling = context;
    filling->short_at_start = filling->short_tasks;
    dlk_parallel(team, LONG_TASKS, long_task, context);
    cr_assert_eq(filling->long_tasks, LONG_TASKS);
    filling->short_at_end = filling->short_tasks;
}

/* `read`: what the second operation reads; the first writes 1. */
static void fill(int threads, int read)
{
    dlb_program program;
    dlb_pool *pool;
    dlb_error err;
    dlb_pool_options options = {.threads = threads, .teams = 1, .spin_ns = 1000000};
    struct filling filling = {0};
    dlb_program_init(&program);
    add(&program, 0, 0, 1);
    add(&program, 1, read, 3);
    program.ops[0].run = run_short;
    program.ops[0].fills = true;
    program.ops[1].run = run_long;
    program.ops[1].gaps = true;
    dlb_program_seal(&program, IMAGES);
    cr_assert_eq(program.fills[0], read != 1);
    cr_assert_eq(dlb_pool_create(&pool, &options, &err), 0);
    dlb_program_run(&program, pool, &filling, IMAGES, NULL);
    dlb_pool_free(pool);
    dlb_program_release(&program);
    cr_assert_eq(filling.short_tasks, SHORT_TASKS);
    cr_assert_eq(filling.short_at_end, SHORT_TASKS);
    cr_assert_eq(filling.short_at_start, threads > 1 && read != 1 ? 0 : SHORT_TASKS);
    cr_assert_eq(filling.long_tasks, LONG_TASKS);
}

Test(program, short_tasks_fill_the_gaps_of_the_operation_that_follows)
{
    for (int threads = 1; threads <= 3; threads++)
        fill(threads, 2);
}

Test(program, several_operations_fill_the_gaps_of_the_one_behind_them)
{
    dlb_program program;
    dlb_program_init(&program);
    add(&program, 0, 0, 1);
    add(&program, 1, 1, 2); /* after 0, which runs before it */
    add(&program, 2, 5, 6);
    add(&program, 3, 0, 7);
    program.ops[0].fills = program.ops[1].fills = program.ops[2].gaps = true;
    dlb_program_seal(&program, IMAGES);
    cr_assert(program.fills[0] && program.fills[1]);
    cr_assert_eq(program.together[0], 3);
    for (int threads = 1; threads <= 2; threads++) {
        struct log log = run(&program, threads, 1);
        cr_assert_lt(log.end[0], log.start[1]);
        cr_assert_gt(log.start[3], log.end[1]);
        cr_assert_gt(log.start[3], log.end[2]);
    }
    dlb_program_release(&program);
}

Test(program, nothing_is_filled_by_what_the_next_operation_waits_for)
{
    fill(2, 1);
}

Test(program, busy_time_is_counted_by_phase)
{
    dlb_program program;
    dlb_program_init(&program);
    add(&program, 0, 0, 1);
    program.ops[0].phase = DLB_PHASE_BACKWARD;
    dlb_program_seal(&program, IMAGES);
    run(&program, 1, 1);
    cr_assert_gt(program.busy_s[DLB_PHASE_BACKWARD], 0.0019);
    cr_assert_eq(program.busy_s[DLB_PHASE_FORWARD], 0);
    dlb_program_release(&program);
}
