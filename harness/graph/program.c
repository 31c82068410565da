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
    free(program->names);
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
    return op->part && next->part && !next->fills && next->phase == op->phase;
}

/* Both names are cut to fit. */
static void name_together(const dlb_op *first, const dlb_op *last, char *name, size_t size)
{
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

static void find_together(dlb_program *program)
{
    size_t count = (size_t)program->count;
    program->together = dlb_alloc(count, sizeof *program->together);
    program->fills = dlb_alloc(count, sizeof *program->fills);
    program->names = dlb_alloc(count, sizeof *program->names);
    for (int i = program->count - 1; i >= 0; i--) {
        const dlb_op *op = &program->ops[i];
        program->fills[i] = fills(program, i);
        program->together[i] = end_together(program, i);
        name_together(op, &program->ops[program->together[i] - 1], program->names[i],
                      sizeof *program->names);
    }
}

void dlb_program_seal(dlb_program *program)
{
    int count = program->count;
    find_together(program);
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

/* What began at `start` has ended. Returns seconds × the team's share of the threads. */
static double note_time(const run *r, int team_index, const dlk_team *team, const char *name,
                        dlb_phase phase, int64_t start)
{
    int64_t end = dlb_clock_ns();
    if (r->trace)
        dlb_trace_add(r->trace, team_index, name, dlb_phase_name(phase), start, end);
    return 1e-9 * (double)(end - start) * team->size / dlb_pool_threads(r->pool);
}

static double run_op(const run *r, int index, int team_index, dlk_team *team)
{
    const dlb_op *op = &r->program->ops[index];
    int64_t start = dlb_clock_ns();
    op->run(op->self, r->context, team);
    return note_time(r, team_index, team, op->name, op->phase, start);
}

/* ---- Some of them together ---- */

/* Operations [first, end) of the program. */
typedef struct few_ops {
    const run *run;
    int first, end;
    dlk_team *team;
} few_ops;

static void run_block(void *arg, int block, int thread)
{
    const few_ops *few = arg;
    const run *r = few->run;
    int first = block * DLB_BLOCK_IMAGES, end = first + DLB_BLOCK_IMAGES;
    dlk_team alone;
    dlk_team_init(&alone, 1, NULL, dlk_scratch(few->team, thread), few->team->scratch_floats, 0);
    for (const dlb_op *op = &r->program->ops[few->first]; op < &r->program->ops[few->end]; op++)
        op->part(op->self, r->context, &alone, first, end < r->images ? end : r->images);
}

static void run_blocks(few_ops *few)
{
    const run *r = few->run;
    int blocks = (r->images + DLB_BLOCK_IMAGES - 1) / DLB_BLOCK_IMAGES;
    dlk_parallel(few->team, blocks, run_block, few);
    for (int i = few->first; i < few->end; i++) {
        const dlb_op *op = &r->program->ops[i];
        if (op->gather)
            op->gather(op->self, r->context, few->team);
    }
}

/* All but the last. */
static void run_fillers(void *arg)
{
    const few_ops *few = arg;
    for (int i = few->first; i < few->end - 1; i++) {
        const dlb_op *op = &few->run->program->ops[i];
        op->run(op->self, few->run->context, few->team);
    }
}

/* The leader runs the others while its team begins with the last. */
static void run_filling(few_ops *few)
{
    const dlb_op *op = &few->run->program->ops[few->end - 1];
    dlk_meanwhile(few->team, run_fillers, few);
    op->run(op->self, few->run->context, few->team);
    if (dlk_meanwhile_is_due(few->team))
        run_fillers(few);
}

static double run_together(const run *r, int first, int team_index, dlk_team *team)
{
    const dlb_program *program = r->program;
    few_ops few = {r, first, program->together[first], team};
    int64_t start = dlb_clock_ns();
    if (program->fills[first])
        run_filling(&few);
    else
        run_blocks(&few);
    return note_time(r, team_index, team, program->names[first], program->ops[first].phase, start);
}

static void lead_alone(void *arg, int team_index, dlk_team *team)
{
    run *r = arg;
    dlb_program *program = r->program;
    bool shares = team->size > 1 && r->images > DLB_BLOCK_IMAGES;
    for (int i = 0; i < program->count;) {
        int end = shares ? program->together[i] : i + 1;
        program->busy_s[program->ops[i].phase] +=
            end > i + 1 ? run_together(r, i, team_index, team) : run_op(r, i, team_index, team);
        i = end;
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
