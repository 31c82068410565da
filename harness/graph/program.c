#include "graph/program.h"

#include <assert.h>
#include <pthread.h>

#include "base/clock.h"
#include "base/mem.h"

const char *dlb_phase_name(dlb_phase phase)
{
    static const char *const names[DLB_PHASES] = {"forward", "backward", "update"};
    return names[phase];
}

void dlb_program_init(dlb_program *program)
{
    *program = (dlb_program){0};
}

void dlb_program_release(dlb_program *program)
{
    dlb_blocks_release(&program->blocks);
    free(program->names);
    free(program->followed);
    free(program->fills);
    free(program->together);
    free(program->taken);
    free(program->remaining);
    free(program->waits_for);
    free(program->successor_start);
    free(program->successors);
    free(program->ops);
    *program = (dlb_program){0};
}

void dlb_op_name(dlb_op *op, const char *first, const char *last, const char *what)
{
    if (strcmp(first, last) == 0)
        snprintf(op->name, sizeof op->name, "%s %s", first, what);
    else
        snprintf(op->name, sizeof op->name, "%.17s-%.17s %s", first, last, what);
}

static void add_operand(int *operands, int *count, int buffer)
{
    if (buffer < 0)
        return;
    assert(*count < DLB_OP_OPERANDS);
    operands[(*count)++] = buffer;
}

void dlb_op_reads(dlb_op *op, int buffer)
{
    add_operand(op->reads, &op->read_count, buffer);
}

void dlb_op_writes(dlb_op *op, int buffer)
{
    add_operand(op->writes, &op->write_count, buffer);
}

void dlb_program_add(dlb_program *program, const dlb_op *op)
{
    program->ops = dlb_grow(program->ops, &program->capacity, (size_t)program->count + 1,
                            sizeof *program->ops);
    program->ops[program->count++] = *op;
}

/* ---- Order ---- */

static bool share(const int *a, int a_count, const int *b, int b_count)
{
    for (int i = 0; i < a_count; i++)
        for (int k = 0; k < b_count; k++)
            if (a[i] == b[k])
                return true;
    return false;
}

static bool must_precede(const dlb_op *early, const dlb_op *late)
{
    return share(early->writes, early->write_count, late->reads, late->read_count) ||
           share(early->writes, early->write_count, late->writes, late->write_count) ||
           share(early->reads, early->read_count, late->writes, late->write_count);
}

/* ---- What is run together: chains that go image by image, pairs that fill gaps ---- */

static bool continues(const dlb_op *op, const dlb_op *next)
{
    return op->part && next->part && !next->opens && (!op->halves || next->halves);
}

/* Two names are cut to fit. */
static void name_together(const dlb_op *first, const dlb_op *last, char *name, size_t size)
{
    if (first == last)
        snprintf(name, size, "%s", first->name);
    else
        snprintf(name, size, "%.22s-%.22s", first->name, last->name);
}

/* Whether operation i can fill the gaps of the next, or with the next those of a later one. */
static bool fills(const dlb_program *program, int i)
{
    const dlb_op *op = &program->ops[i];
    if (!op->fills || i + 1 == program->count || op[1].phase != op->phase)
        return false;
    const dlb_op *last =
        program->fills[i + 1] ? &program->ops[program->together[i + 1] - 1] : op + 1;
    return last->gaps && !must_precede(op, last);
}

/* The end of what is run together with operation i, where that of all behind it is known. */
static int end_together(const dlb_program *program, int i)
{
    const dlb_op *op = &program->ops[i];
    if (i + 1 == program->count)
        return i + 1;
    if (program->fills[i])
        return program->fills[i + 1] ? program->together[i + 1] : i + 2;
    return continues(op, op + 1) ? program->together[i + 1] : i + 1;
}

/* Whether none of [first, end) waits for an operation. */
static bool are_free_of(const dlb_program *program, const dlb_op *op, int first, int end)
{
    while (first < end && !must_precede(op, &program->ops[first]))
        first++;
    return first == end;
}

/* Whether what is run together behind operation i ends with one that follows. Halves may be under
 * way then. */
static bool is_followed(const dlb_program *program, int i)
{
    int next = program->together[i];
    if (program->fills[i] || !program->ops[i].part || next == program->count)
        return false;
    int end = program->fills[next] ? program->together[next] : next + 1;
    bool follows = program->ops[end - 1].follows;
    for (int k = i; k < next && follows; k++)
        follows = !program->ops[k].halves || are_free_of(program, &program->ops[k], next, end);
    return follows;
}

static void find_together(dlb_program *program)
{
    size_t count = (size_t)program->count;
    program->together = dlb_alloc(count, sizeof *program->together);
    program->fills = dlb_alloc(count, sizeof *program->fills);
    program->followed = dlb_alloc(count, sizeof *program->followed);
    program->names = dlb_alloc(count, sizeof *program->names);
    for (int i = program->count - 1; i >= 0; i--) {
        const dlb_op *op = &program->ops[i];
        program->fills[i] = fills(program, i);
        program->together[i] = end_together(program, i);
        program->followed[i] = is_followed(program, i);
        name_together(op, &program->ops[program->together[i] - 1], program->names[i],
                      sizeof *program->names);
    }
}

void dlb_program_seal(dlb_program *program, int images)
{
    int count = program->count;
    find_together(program);
    dlb_blocks_init(&program->blocks, images);
    size_t edges = 0, capacity = 0;
    program->successor_start = dlb_alloc((size_t)count + 1, sizeof(int));
    program->waits_for = dlb_alloc((size_t)count, sizeof(int));
    program->remaining = dlb_alloc((size_t)count, sizeof(int));
    program->taken = dlb_alloc((size_t)count, sizeof(bool));
    for (int i = 0; i < count; i++) {
        program->successor_start[i] = (int)edges;
        for (int k = i + 1; k < count; k++) {
            if (!must_precede(&program->ops[i], &program->ops[k]))
                continue;
            program->successors = dlb_grow(program->successors, &capacity, edges + 1, sizeof(int));
            program->successors[edges++] = k;
            program->waits_for[k]++;
        }
    }
    program->successor_start[count] = (int)edges;
}

/* ---- Running ---- */

typedef struct run {
    dlb_program *program;
    dlb_pool *pool;
    void *context;
    int images;
    dlb_trace *trace;
    pthread_mutex_t lock; /* of the program's run state and of busy_s */
    dlk_gate progress;    /* advances when an operation has ended */
} run;

/* ---- Where the time goes ---- */

static void trace(const run *r, int team_index, const char *name, dlb_phase phase, int64_t start,
                  int64_t end)
{
    if (r->trace)
        dlb_trace_add(r->trace, team_index, name, dlb_phase_name(phase), start, end);
}

/* Seconds of the pool: times the team's share of the threads. */
static double seconds_of_pool(const run *r, const dlk_team *team, int64_t ns)
{
    return 1e-9 * (double)ns * team->size / dlb_pool_threads(r->pool);
}

static double run_op(const run *r, int index, int team_index, dlk_team *team)
{
    const dlb_op *op = &r->program->ops[index];
    int64_t start = dlb_clock_ns();
    op->run(op->self, r->context, team);
    int64_t end = dlb_clock_ns();
    trace(r, team_index, op->name, op->phase, start, end);
    return seconds_of_pool(r, team, end - start);
}

/* ---- Some of them together ---- */

/* Operations [first, end) of the program. */
typedef struct few_ops {
    const run *run;
    int first, end;
    int team_index;
    dlk_team *team;
    int stretch;                /* blocks that a thread takes through them at a time */
    int halves;                 /* the first that goes by halves; end: none */
    int turn;                   /* the first that is of backward; end: none */
    _Atomic int left[2];        /* of each half: blocks that are not through */
    _Atomic int64_t forward_ns; /* of all threads, in blocks before that */
    int64_t leader_out;         /* when the leader's last block was through */
} few_ops;

static const dlb_op *op_at(const few_ops *few, int index)
{
    return &few->run->program->ops[index];
}

/* A thread, as a team of its own. */
static dlk_team one_of(const dlk_team *team, int thread)
{
    dlk_team alone;
    dlk_team_init(&alone, 1, NULL, dlk_scratch(team, thread), team->scratch_floats, 0);
    alone.first_thread = team->first_thread + thread;
    return alone;
}

static void run_part(const few_ops *few, int index, dlk_team *alone, int first, int end)
{
    const dlb_op *op = op_at(few, index);
    op->part(op->self, few->run->context, alone, first, end);
}

/* Who brings its last block through has it to do. */
static void leave_half(few_ops *few, int block, dlk_team *alone)
{
    int images = few->run->images, middle = dlb_blocks_half(images);
    bool second = block * DLB_BLOCK_IMAGES >= middle;
    if (atomic_fetch_sub_explicit(&few->left[second], 1, memory_order_acq_rel) > 1)
        return;
    for (int i = few->halves; i < few->end; i++)
        run_part(few, i, alone, second ? middle : 0, second ? images : middle);
}

static void run_stretch(void *arg, int task, int thread)
{
    few_ops *few = arg;
    const run *r = few->run;
    int block = task * few->stretch, last = block + few->stretch;
    int first = block * DLB_BLOCK_IMAGES, end = last * DLB_BLOCK_IMAGES;
    int64_t start = dlb_clock_ns();
    dlk_team alone = one_of(few->team, thread);
    for (int i = few->first; i < few->halves; i++) {
        if (i == few->turn)
            few->forward_ns += dlb_clock_ns() - start;
        run_part(few, i, &alone, first, end < r->images ? end : r->images);
    }
    for (; block < last && block < r->program->blocks.count; block++) {
        dlb_blocks_note(&r->program->blocks, block);
        leave_half(few, block, &alone);
    }
    if (thread == 0)
        few->leader_out = dlb_clock_ns();
}

/* Two, where each thread finds as many: a layer's weights are then laid out for its kernels once.
 */
static int blocks_a_stretch(int blocks, int threads)
{
    return blocks >= 2 * threads ? 2 : 1;
}

static int stretches_of(const few_ops *few)
{
    return (dlb_blocks_of(few->run->images) + few->stretch - 1) / few->stretch;
}

static void begin_blocks(few_ops *few)
{
    for (int i = few->first; i < few->end; i++)
        if (op_at(few, i)->begin)
            op_at(few, i)->begin(op_at(few, i)->self, few->run->context, few->team);
    dlb_blocks_begin(&few->run->program->blocks, few->run->images);
}

static void end_blocks(few_ops *few)
{
    dlb_blocks_end(&few->run->program->blocks);
    for (int i = few->first; i < few->end; i++)
        if (op_at(few, i)->gather)
            op_at(few, i)->gather(op_at(few, i)->self, few->run->context, few->team);
}

static bool all_blocks_are_through(void *arg)
{
    const few_ops *few = arg;
    return dlb_blocks_are_through(&few->run->program->blocks, 0, few->run->images);
}

/* All but the last. */
static void run_fillers(void *arg)
{
    const few_ops *few = arg;
    const run *r = few->run;
    dlb_blocks_await(&r->program->blocks, 0, r->images, few->team->spin_ns);
    for (int i = few->first; i < few->end - 1; i++)
        op_at(few, i)->run(op_at(few, i)->self, r->context, few->team);
}

/* The leader runs the others while its team begins with the last. */
static void run_filling(few_ops *few)
{
    const dlb_op *last = op_at(few, few->end - 1);
    if (few->end - few->first > 1)
        dlk_meanwhile(few->team, run_fillers, all_blocks_are_through, few);
    last->run(last->self, few->run->context, few->team);
    if (dlk_meanwhile_is_due(few->team))
        run_fillers(few);
}

/* A chain, and those that follow it, which may be none. */
static void run_chain(few_ops *chain, few_ops *rest)
{
    const run *r = chain->run;
    int64_t start = chain->leader_out = dlb_clock_ns();
    begin_blocks(chain);
    dlk_parallel_ahead(chain->team, stretches_of(chain), run_stretch, chain);
    if (rest->first < rest->end)
        run_filling(rest);
    dlk_join(chain->team);
    end_blocks(chain);
    trace(r, chain->team_index, r->program->names[chain->first], op_at(chain, chain->first)->phase,
          start, chain->leader_out);
    if (rest->first < rest->end)
        trace(r, chain->team_index, r->program->names[rest->first], op_at(rest, rest->first)->phase,
              chain->leader_out, dlb_clock_ns());
}

static few_ops ops_from(const run *r, int first, int team_index, dlk_team *team)
{
    int end = r->program->together[first];
    int first_half = dlb_blocks_of(dlb_blocks_half(r->images));
    few_ops few = {.run = r,
                   .first = first,
                   .end = end,
                   .team_index = team_index,
                   .team = team,
                   .stretch = blocks_a_stretch(dlb_blocks_of(r->images), team->size),
                   .halves = first,
                   .turn = first,
                   .left = {first_half, dlb_blocks_of(r->images) - first_half}};
    while (few.halves < end && !op_at(&few, few.halves)->halves)
        few.halves++;
    while (few.turn < end && op_at(&few, few.turn)->phase == DLB_PHASE_FORWARD)
        few.turn++;
    return few;
}

/* Returns the end of what was run. */
static int run_together(const run *r, int first, int team_index, dlk_team *team)
{
    dlb_program *program = r->program;
    few_ops few = ops_from(r, first, team_index, team), rest = {.end = 0};
    int64_t start = dlb_clock_ns();
    if (program->followed[first])
        rest = ops_from(r, few.end, team_index, team);
    if (program->fills[first])
        run_filling(&few);
    else
        run_chain(&few, &rest);
    int end = rest.end ? rest.end : few.end;
    dlb_phase phase = program->ops[end - 1].phase;
    double forward_s = 1e-9 * (double)few.forward_ns / dlb_pool_threads(r->pool);
    program->busy_s[DLB_PHASE_FORWARD] += forward_s;
    program->busy_s[phase] += seconds_of_pool(r, team, dlb_clock_ns() - start) - forward_s;
    return end;
}

/* Whether a team runs operation i together with others. */
static bool is_together(const run *r, int i, const dlk_team *team)
{
    const dlb_program *program = r->program;
    int blocks = dlb_blocks_of(r->images);
    if (team->size == 1 || blocks < 2 || program->together[i] == i + 1)
        return false;
    return !program->ops[i].finer || blocks >= 2 * team->size;
}

static void lead_alone(void *arg, int team_index, dlk_team *team)
{
    run *r = arg;
    dlb_program *program = r->program;
    for (int i = 0; i < program->count;) {
        if (is_together(r, i, team))
            i = run_together(r, i, team_index, team);
        else {
            program->busy_s[program->ops[i].phase] += run_op(r, i, team_index, team);
            i++;
        }
    }
}

/* The first operation that is ready and not taken, or -1. */
static int take_ready(dlb_program *program)
{
    for (int i = 0; i < program->count; i++) {
        if (program->taken[i] || program->remaining[i])
            continue;
        program->taken[i] = true;
        return i;
    }
    return -1;
}

static void end_op(dlb_program *program, int index, double busy_s)
{
    for (int k = program->successor_start[index]; k < program->successor_start[index + 1]; k++)
        program->remaining[program->successors[k]]--;
    program->busy_s[program->ops[index].phase] += busy_s;
    program->ended++;
}

static void lead_among_others(void *arg, int team_index, dlk_team *team)
{
    run *r = arg;
    pthread_mutex_lock(&r->lock);
    while (r->program->ended < r->program->count) {
        int index = take_ready(r->program);
        uint32_t seen = dlk_gate_value(&r->progress);
        pthread_mutex_unlock(&r->lock);
        if (index < 0) {
            dlk_gate_wait(&r->progress, seen, dlb_pool_spin_ns(r->pool));
            pthread_mutex_lock(&r->lock);
            continue;
        }
        double busy_s = run_op(r, index, team_index, team);
        pthread_mutex_lock(&r->lock);
        end_op(r->program, index, busy_s);
        atomic_fetch_add(&r->progress.value, 1);
        dlk_gate_wake(&r->progress);
    }
    pthread_mutex_unlock(&r->lock);
}

void dlb_program_run(dlb_program *program, dlb_pool *pool, void *context, int images,
                     dlb_trace *trace)
{
    run r = {
        .program = program, .pool = pool, .context = context, .images = images, .trace = trace};
    if (dlb_pool_teams(pool) == 1) {
        dlb_pool_run(pool, lead_alone, &r);
        return;
    }
    pthread_mutex_init(&r.lock, NULL);
    memcpy(program->remaining, program->waits_for, (size_t)program->count * sizeof(int));
    memset(program->taken, 0, (size_t)program->count * sizeof(bool));
    program->ended = 0;
    dlb_pool_run(pool, lead_among_others, &r);
    pthread_mutex_destroy(&r.lock);
}
