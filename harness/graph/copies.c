#include "graph/copies.h"

#include <stdalign.h>

#include "base/mem.h"
#include "dlk/lines.h"

/* Each thread writes parts of all copies, so with many threads that takes longer than it saves. */
enum { MOST_THREADS = 4 };

struct dlb_copy {
    int64_t seen; /* the version whose lines the thread has taken over */
    alignas(DLB_PAGE) float parameters[];
};

void dlb_copies_init(dlb_copies *copies, const float *parameters, size_t floats)
{
    *copies = (dlb_copies){.parameters = parameters, .floats = floats};
}

void dlb_copies_give_up(dlb_copies *copies)
{
    for (int i = 0; i < copies->count; i++)
        free(copies->each[i]);
    free(copies->each);
    copies->each = NULL;
    copies->count = 0;
    copies->current = false;
}

void dlb_copies_release(dlb_copies *copies)
{
    dlb_copies_give_up(copies);
    *copies = (dlb_copies){0};
}

bool dlb_copies_make_room(dlb_copies *copies, int threads)
{
    dlb_copies_give_up(copies);
    if (threads == 1 || threads > MOST_THREADS || copies->floats > DLK_CACHED_FLOATS)
        return true;
    copies->each = dlb_alloc((size_t)threads, sizeof *copies->each);
    for (; copies->count < threads; copies->count++) {
        dlb_copy *copy = dlb_try_alloc(1, sizeof *copy + copies->floats * sizeof(float));
        if (!copy)
            return false;
        copies->each[copies->count] = copy;
    }
    return true;
}

void dlb_copies_begin(dlb_copies *copies, bool changed)
{
    if (changed || !copies->current)
        copies->version++;
    if (!copies->current)
        dlb_copies_hand_out(copies, 0, copies->floats);
    copies->current = true;
}

const float *dlb_copies_of(dlb_copies *copies, int thread)
{
    if (thread >= copies->count)
        return copies->parameters;
    dlb_copy *own = copies->each[thread];
    if (own->seen != copies->version) {
        own->seen = copies->version;
        dlk_take_over(own->parameters, copies->floats * sizeof(float));
    }
    return own->parameters;
}

void dlb_copies_hand_out(const dlb_copies *copies, size_t first, size_t count)
{
    for (int i = 0; i < copies->count; i++)
        memcpy(copies->each[i]->parameters + first, copies->parameters + first,
               count * sizeof(float));
}
