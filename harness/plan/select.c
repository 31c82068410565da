#include "base/mem.h"
#include "plan/plan_state.h"

typedef struct selection {
    dlb_plan *plan;
    dlb_expr *expr;
    const int *slots; /* that it needs */
    size_t slot_count;
    dlb_scalar *values; /* [slots] */
} selection;

/* The expression comes from a command line: it is shown with the caret, but has no file. */
static int refuse(const char *text, const dlb_expr_fault *fault, dlb_error *err)
{
    return dlb_fail(err, DLB_BAD_INPUT, "%s\n  %.300s\n  %*s^", fault->message, text,
                    fault->offset < 300 ? (int)fault->offset : 300, "");
}

/* A name that some grid sets is known; points that lack it are not selected. */
static bool *known_names(const dlb_plan *plan)
{
    size_t slots = dlb_names_count(&plan->names);
    bool *known = dlb_alloc(slots, sizeof *known);
    for (size_t slot = 0; slot < slots; slot++)
        known[slot] = plan->column_of[slot] >= 0 ||
                      (slot >= DLB_SLOT_CORES && slot <= DLB_SLOT_HOSTNAME) ||
                      (slot < DLB_KEY_COUNT && !plan->study->command);
    return known;
}

static dlb_expr *parse(const dlb_plan *plan, const char *text, dlb_expr_fault *fault)
{
    bool *known = known_names(plan);
    dlb_scope scope;
    dlb_expr_scope within = dlb_scope_init(&scope, &plan->names, known, "");
    size_t end;
    dlb_expr *expr = dlb_expr_parse(text, &end, &within, fault);
    free(known);
    if (expr && text[end += strspn(text + end, " \t\n")]) {
        *fault = (dlb_expr_fault){.offset = end, .message = "an operator is missing before this"};
        dlb_expr_free(expr);
        return NULL;
    }
    if (!expr && scope.unset >= 0)
        snprintf(fault->message, sizeof fault->message, "%s is set in no grid of this study",
                 dlb_names_of(&plan->names, scope.unset));
    return expr;
}

/* 1, 0, or a fault. */
static int is_selected(const selection *s, size_t point, dlb_expr_fault *fault)
{
    dlb_scalar answer;
    for (size_t i = 0; i < s->slot_count; i++) {
        int slot = s->slots[i];
        if (slot >= DLB_SLOT_CORES && slot <= DLB_SLOT_HOSTNAME)
            continue;
        const dlb_values_item *value = dlb_plan_value_of_slot(s->plan, point, slot);
        if (!value)
            return 0;
        s->values[slot] = value->scalar;
    }
    if (dlb_expr_eval(s->expr, s->values, &answer, fault) < 0)
        return DLB_BAD_INPUT;
    if (answer.kind == DLB_SCALAR_BOOL)
        return answer.truth;
    *fault = (dlb_expr_fault){.message = "this must be true or false; compare, as in threads > 1"};
    return DLB_BAD_INPUT;
}

static int keep_selected(const selection *s, dlb_expr_fault *fault)
{
    dlb_plan *plan = s->plan;
    size_t row = plan->column_count, kept = 0;
    for (size_t point = 0; point < plan->count; point++) {
        int selected = is_selected(s, point, fault);
        if (selected < 0)
            return selected;
        if (!selected)
            continue;
        plan->points[kept] = plan->points[point];
        memmove(plan->cells + kept * row, plan->cells + point * row, row * sizeof *plan->cells);
        kept++;
    }
    plan->count = kept;
    return 0;
}

int dlb_plan_select(dlb_plan *plan, const char *expression, dlb_error *err)
{
    dlb_expr_fault fault;
    selection s = {.plan = plan, .expr = parse(plan, expression, &fault)};
    if (!s.expr)
        return refuse(expression, &fault, err);
    s.slot_count = dlb_expr_slots(s.expr, &s.slots);
    s.values = dlb_alloc(dlb_names_count(&plan->names), sizeof *s.values);
    dlb_plan_host_values(plan, s.values);
    int status = keep_selected(&s, &fault);
    if (status < 0)
        refuse(expression, &fault, err);
    else if (plan->count == 0)
        status = dlb_fail(err, DLB_BAD_INPUT, "no point is left by %.300s", expression);
    dlb_plan_compare(plan);
    free(s.values);
    dlb_expr_free(s.expr);
    return status;
}
