#include "cli/sweep_placement.h"

#include "measure/cpus.h"

static bool overlap(const dlb_cpus *a, const dlb_cpus *b)
{
    for (int word = 0; word < DLB_CPUS_MAX / 64; word++)
        if (a->bits[word] & b->bits[word])
            return true;
    return false;
}

/* The first rank before this one on the same host that shares a CPU with it; -1: none does. */
static int find_sharer(const dlb_result *result, size_t rank, const dlb_cpus *own)
{
    const dlb_row *row = &result->ranks.rows[rank];
    for (size_t other = 0; other < rank; other++) {
        const dlb_row *candidate = &result->ranks.rows[other];
        dlb_cpus cpus;
        if (strcmp(dlb_row_text(row, DLB_RANK_host), dlb_row_text(candidate, DLB_RANK_host)) == 0 &&
            dlb_cpus_parse(&cpus, dlb_row_text(candidate, DLB_RANK_cpus_allowed)) &&
            overlap(own, &cpus))
            return (int)other;
    }
    return -1;
}

static bool note_misplaced(dlb_result *result, size_t rank, int threads)
{
    const char *allowed = dlb_row_text(&result->ranks.rows[rank], DLB_RANK_cpus_allowed);
    dlb_cpus own;
    if (!dlb_cpus_parse(&own, allowed))
        return false;
    dlb_str note = DLB_STR_INIT;
    int sharer = find_sharer(result, rank, &own);
    if (dlb_cpus_count(&own) < threads)
        dlb_str_addf(&note, "placement: %d CPUs asked for each rank, but rank %zu got %s", threads,
                     rank, allowed);
    else if (sharer >= 0)
        dlb_str_addf(&note,
                     "placement: CPUs of its own asked for each rank, but ranks %d and %zu "
                     "share some of %s",
                     sharer, rank, allowed);
    bool misplaced = note.length > 0;
    if (misplaced)
        dlb_result_add_note(result, note.text);
    dlb_str_release(&note);
    return misplaced;
}

void dlb_sweep_check_placement(dlb_result *result, const dlb_sweep_shape *shape)
{
    for (size_t rank = 0; shape->bound && rank < result->ranks.count; rank++)
        if (note_misplaced(result, rank, shape->threads))
            return; /* one says it for all */
}
