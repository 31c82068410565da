/*
 * Parameters of which each thread of a pool has a copy to read.
 *
 * Threads that read one array leave each of its lines in several caches, and whoever updates a
 * parameter then waits until all have given the line up: 7 ns on a Zen 4, 28 where cores do not
 * share a cache. With copies, who updates some hands them out to every thread's own, and that
 * thread takes these lines over when it first reads them (dlk/lines.h).
 *
 * Life: init → make_room → (begin → of … → hand_out …) → release.
 */
#ifndef DLB_GRAPH_COPIES_H
#define DLB_GRAPH_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct dlb_copy dlb_copy;

typedef struct dlb_copies {
    const float *parameters; /* the array that they are copies of */
    size_t floats;
    int count;       /* threads that have one; 0: all read that array */
    dlb_copy **each; /* [count] */
    bool current;    /* they are what that array is */
    int64_t version; /* grows whenever it may have changed */
} dlb_copies;

void dlb_copies_init(dlb_copies *copies, const float *parameters, size_t floats);
void dlb_copies_release(dlb_copies *copies);

/* For so many threads, unless there is but one, or threads or parameters are too many for it to be
 * worth while. False: there is no memory. */
bool dlb_copies_make_room(dlb_copies *copies, int threads);

/* No thread has one any more: somebody may change the parameters and not say so. */
void dlb_copies_give_up(dlb_copies *copies);

/* Before threads read them: `changed` says whether parameters may be others than at the last call.
 * If they are, and were not handed out since, they are copied. */
void dlb_copies_begin(dlb_copies *copies, bool changed);

/* All parameters as that thread reads them. */
const float *dlb_copies_of(dlb_copies *copies, int thread);

/* These were written to the array, by the calling thread. Who has handed out all of them says that
 * they are current. */
void dlb_copies_hand_out(const dlb_copies *copies, size_t first, size_t count);

#endif
