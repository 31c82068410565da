#include "plan/rows.h"

#include "base/mem.h"

enum { CHUNK = 4096, AHEAD = 16 };

static void grow(dlb_plan *plan, size_t need)
{
    plan->points = dlb_grow(plan->points, &plan->point_capacity, need, sizeof *plan->points);
    plan->cells =
        dlb_grow(plan->cells, &plan->row_capacity, need, plan->column_count * sizeof *plan->cells);
}

/* With what may be waiting to be dropped. */
void dlb_rows_reserve(dlb_rows *rows, size_t count)
{
    grow(rows->plan, rows->plan->count + count + CHUNK);
    dlb_identity_set_reserve(&rows->seen, rows->seen.used + count + CHUNK);
}

int dlb_rows_add(dlb_rows *rows, const dlb_draft *draft, uint32_t grid, uint64_t id, dlb_error *err)
{
    dlb_plan *plan = rows->plan;
    size_t columns = plan->column_count, point = plan->count;
    grow(plan, point + 1);
    plan->points[point] = (dlb_point){id, grid, draft->index[DLB_SLOT_MODE]};
    for (size_t c = 0; c < columns; c++)
        plan->cells[point * columns + c] = draft->index[plan->columns[c]];
    plan->count++;
    return plan->count - rows->united < CHUNK ? 0 : dlb_rows_unite(rows, err);
}

static void move(dlb_plan *plan, size_t to, size_t from)
{
    size_t columns = plan->column_count;
    plan->points[to] = plan->points[from];
    memcpy(plan->cells + to * columns, plan->cells + from * columns, columns * sizeof *plan->cells);
}

int dlb_rows_unite(dlb_rows *rows, dlb_error *err)
{
    dlb_plan *plan = rows->plan;
    size_t kept = rows->united;
    dlb_identity_set_reserve(&rows->seen, rows->seen.used + plan->count - rows->united);
    for (size_t point = rows->united; point < plan->count; point++) {
        if (point + AHEAD < plan->count)
            dlb_identity_set_prefetch(&rows->seen, plan->points[point + AHEAD].id);
        if (!dlb_identity_set_add(&rows->seen, plan->points[point].id))
            continue;
        if (kept != point)
            move(plan, kept, point);
        kept++;
    }
    rows->united = plan->count = kept;
    if (kept > plan->max_points)
        return dlb_fail(err, DLB_BAD_INPUT, "there are more than %zu points", plan->max_points);
    return 0;
}

void dlb_rows_release(dlb_rows *rows)
{
    dlb_identity_set_release(&rows->seen);
}
