/*
 * What made the numbers of a study: its host.json as facts, each a path and a text, such as
 * "machine.cores.allowed" and "2".
 */
#ifndef DLB_REPORT_PROVENANCE_H
#define DLB_REPORT_PROVENANCE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct dlb_fact {
    char *path, *text;
} dlb_fact;

/* By path. */
typedef struct dlb_provenance {
    dlb_fact *facts;
    size_t count, capacity;
} dlb_provenance;

/*
 * Read a host.json; false, and no facts, if it is not there or no JSON. When it was written, the
 * text of the sweep file, and what earlier programs and machines were, are left out.
 */
bool dlb_provenance_read(dlb_provenance *provenance, const char *path);
void dlb_provenance_release(dlb_provenance *provenance);

/* The text at that path, or NULL. */
const char *dlb_provenance_find(const dlb_provenance *provenance, const char *path);

/* The cores that runs were allowed to use; NaN if that is not told. */
double dlb_provenance_cores(const dlb_provenance *provenance);

#endif
