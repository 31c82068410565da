/*
 * The memory of a graph: buffers are planned first, then allocated together, so that a model too
 * large for the machine is refused before anything is allocated. The index of a buffer is also its
 * name as an operand of operations (graph/program.h).
 */
#ifndef DLB_GRAPH_BUFFERS_H
#define DLB_GRAPH_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

typedef struct dlb_buffer {
    size_t bytes; /* 0: an operand only, without memory of its own */
    void *memory;
} dlb_buffer;

typedef struct dlb_buffers {
    int count;
    size_t capacity;
    dlb_buffer *list;
} dlb_buffers;

enum { DLB_NO_BUFFER = -1 };

/* Each returns the index of the new buffer. */
int dlb_buffers_plan(dlb_buffers *buffers, size_t bytes);
int dlb_buffers_plan_floats(dlb_buffers *buffers, size_t count);
int dlb_buffers_plan_operand(dlb_buffers *buffers);

/* Of all that is planned. */
size_t dlb_buffers_bytes(const dlb_buffers *buffers);

/* Allocate all, zeroed; false if there is no memory for it, or it is above the limit (0: none). */
bool dlb_buffers_allocate(dlb_buffers *buffers, size_t limit);
void dlb_buffers_release(dlb_buffers *buffers);

/* NULL for DLB_NO_BUFFER and for operands. */
void *dlb_buffers_memory(const dlb_buffers *buffers, int index);

#endif
