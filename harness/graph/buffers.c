#include "graph/buffers.h"

#include "base/mem.h"

int dlb_buffers_plan(dlb_buffers *buffers, size_t bytes)
{
    buffers->list = dlb_grow(buffers->list, &buffers->capacity, (size_t)buffers->count + 1,
                             sizeof *buffers->list);
    buffers->list[buffers->count] = (dlb_buffer){.bytes = bytes};
    return buffers->count++;
}

int dlb_buffers_plan_floats(dlb_buffers *buffers, size_t count)
{
    return dlb_buffers_plan(buffers, count * sizeof(float));
}

int dlb_buffers_plan_operand(dlb_buffers *buffers)
{
    return dlb_buffers_plan(buffers, 0);
}

size_t dlb_buffers_bytes(const dlb_buffers *buffers)
{
    size_t bytes = 0;
    for (int i = 0; i < buffers->count; i++)
        bytes += buffers->list[i].bytes;
    return bytes;
}

bool dlb_buffers_allocate(dlb_buffers *buffers, size_t limit)
{
    bool fits = limit == 0 || dlb_buffers_bytes(buffers) <= limit;
    for (int i = 0; i < buffers->count && fits; i++) {
        dlb_buffer *b = &buffers->list[i];
        if (b->bytes)
            fits = (b->memory = dlb_try_alloc(b->bytes, 1)) != NULL;
    }
    return fits;
}

void dlb_buffers_release(dlb_buffers *buffers)
{
    for (int i = 0; i < buffers->count; i++)
        free(buffers->list[i].memory);
    free(buffers->list);
    *buffers = (dlb_buffers){0};
}

void *dlb_buffers_memory(const dlb_buffers *buffers, int index)
{
    return index == DLB_NO_BUFFER ? NULL : buffers->list[index].memory;
}
