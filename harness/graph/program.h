/*
 * A program: operations and the order that their operands demand.
 *
 * Each operation names the buffers that it reads and writes. Two operations of which one writes
 * what the other touches keep the order in which they were added; all others may run at the same
 * time, each on a team of the pool. A program run on one team runs in the order of addition.
 *
 * Where a team has several threads, it meets as seldom as it can; what is computed is the same:
 * - Operations that follow each other and that each go image by image are a chain: a thread takes
 *   one or two blocks of images through all of them. Behind them there may be some that go by
 *   halves of the batch: who brings the last block of a half through takes the half through those.
 * - Operations may fill the gaps that the next one leaves, if neither waits for the other: its
 *   leader runs them while the others begin with that one, and who finds no more of its tasks takes
 *   theirs.
 * - An operation may follow a chain: it begins with images that are through while others are still
 *   in it, and what fills its gaps begins when all are.
 *
 * Life: init → add … → seal → run … → release.
 */
#ifndef DLB_GRAPH_PROGRAM_H
#define DLB_GRAPH_PROGRAM_H

#include <stdbool.h>

#include "dlk/dispatch.h"
#include "graph/blocks.h"
#include "graph/pool.h"
#include "graph/trace.h"

typedef enum dlb_phase {
    DLB_PHASE_FORWARD,
    DLB_PHASE_BACKWARD,
    DLB_PHASE_UPDATE,
    DLB_PHASES,
} dlb_phase;

const char *dlb_phase_name(dlb_phase phase);

enum { DLB_OP_OPERANDS = 12 };

typedef void dlb_op_fn(void *self, void *context, dlk_team *team);

/* A part of an operation: images [first, end), a block or a half of them (graph/blocks.h), on the
 * calling thread, which is a team of its own. */
typedef void dlb_op_part_fn(void *self, void *context, dlk_team *alone, int first, int end);

typedef struct dlb_op {
    char name[48]; /* "conv2d_1 forward" */
    dlb_phase phase;
    dlb_op_fn *run;
    dlb_op_part_fn *part; /* NULL: it does not go image by image */
    bool halves;          /* its parts are halves of the batch */
    bool opens;           /* it reads a little behind an image: no chain goes on with it */
    dlb_op_fn *begin;     /* to be run before all parts, */
    dlb_op_fn *gather;    /* and after them; NULL: there is nothing to do */
    void *self;           /* passed to all of them; not owned */
    bool finer;   /* its own tasks are smaller than blocks: if there are few, it is better run by
                     itself */
    bool fills;   /* its tasks are short: they may be taken while the next operation is under way */
    bool gaps;    /* its tasks are long; it uses neither the team's shared scratch nor, from one job
                     to the next, that of a thread */
    bool follows; /* what it reads and writes of an image is all that it shares with the chain
                     before it, and it awaits the image (dlb_program.blocks) */
    dlk_operation
        operation; /* the entry of the table of kernels that it calls; DLK_OP_COUNT: none */
    int read_count, write_count;
    int reads[DLB_OP_OPERANDS], writes[DLB_OP_OPERANDS]; /* buffers */
} dlb_op;

typedef struct dlb_program {
    int count;
    size_t capacity;
    dlb_op *ops;
    int *successors;      /* of all operations, one after the other */
    int *successor_start; /* count + 1 */
    int *waits_for;       /* number of predecessors of each operation */
    int *together;        /* the end of the operations that can be run together from each on */
    bool *fills;          /* whether each can fill the gaps of the next */
    bool *followed;       /* whether those together from each on are a chain that the next follow */
    char (*names)[48];    /* of those, [i, together[i]), as one */

    /* One run. */
    dlb_blocks blocks; /* in a chain that is followed */
    int *remaining;    /* predecessors that have not ended */
    bool *taken;
    int ended;
    double busy_s[DLB_PHASES]; /* summed up over runs: seconds × share of the pool's threads */
} dlb_program;

void dlb_program_init(dlb_program *program);
void dlb_program_release(dlb_program *program);

/* Name it after its layers, the first and the last, and what it does of them: "conv2d_1 forward",
 * "conv2d_1-relu_2 forward". Long names are cut to fit. */
void dlb_op_name(dlb_op *op, const char *first, const char *last, const char *what);

/* Add an operand to an operation; one that is negative is none. */
void dlb_op_reads(dlb_op *op, int buffer);
void dlb_op_writes(dlb_op *op, int buffer);

void dlb_program_add(dlb_program *program, const dlb_op *op);

/* Work out the order; a run has so many images at most. No operation may be added after this. */
void dlb_program_seal(dlb_program *program, int images);

/*
 * Run every operation once; `context`, which has that many images, is passed to each. `trace` may
 * be NULL: it has what a leader did when.
 */
void dlb_program_run(dlb_program *program, dlb_pool *pool, void *context, int images,
                     dlb_trace *trace);

#endif
