/*
 * What ran when, as a Chrome trace (chrome://tracing, ui.perfetto.dev). One lane a team; a lane is
 * written by one thread at a time. Events beyond the capacity of a lane are counted, not kept.
 */
#ifndef DLB_GRAPH_TRACE_H
#define DLB_GRAPH_TRACE_H

#include <stdint.h>

#include "base/error.h"

typedef struct dlb_trace dlb_trace;

enum { DLB_TRACE_EVENTS_MAX = 1 << 19 }; /* of a lane */

dlb_trace *dlb_trace_create(int lanes);
void dlb_trace_free(dlb_trace *trace);

/* `name` and `category` must outlive the trace. */
void dlb_trace_add(dlb_trace *trace, int lane, const char *name, const char *category,
                   int64_t start_ns, int64_t end_ns);

/* Write the file in one go. */
int dlb_trace_write(const dlb_trace *trace, const char *path, dlb_error *err);

/* Events that did not fit. */
long long dlb_trace_dropped(const dlb_trace *trace);

#endif
