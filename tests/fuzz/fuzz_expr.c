/*
 * Any text is an expression, or a list, or a fault within the text; and a value, once written out,
 * reads back as the same value.
 */
#include <math.h>

#include "../support/named_scope.h"
#include "base/mem.h"
#include "config/list.h"
#include "fuzz.h"

enum { LIMIT = 100 };

static const char *const names[] = {"cores", "lr", "kernels", "drop_last", "env.X", NULL};
static const dlb_scalar values[] = {
    {DLB_SCALAR_INT, {.integer = 12}},        {DLB_SCALAR_REAL, {.real = 0.01}},
    {DLB_SCALAR_TEXT, {.text = "ref"}},       {DLB_SCALAR_BOOL, {.truth = true}},
    {DLB_SCALAR_INT, {.integer = INT64_MIN}},
};

enum { NAMES = sizeof values / sizeof *values };

static void require(int holds)
{
    if (!holds)
        abort();
}

static const dlb_expr_scope scope = NAMED_SCOPE(names);

static void check_fault(const dlb_expr_fault *fault, size_t length)
{
    require(fault->offset <= length && fault->message[0] != '\0');
}

static void check_slots(size_t count, const int *slots)
{
    require(count <= NAMES);
    for (size_t i = 0; i < count; i++)
        require(slots[i] >= 0 && slots[i] < NAMES);
}

static int same(const dlb_scalar *a, const dlb_scalar *b)
{
    switch (a->kind) {
    case DLB_SCALAR_INT:
        return b->kind == DLB_SCALAR_INT && a->integer == b->integer;
    case DLB_SCALAR_REAL: /* 2.0 is written as 2 */
        return (b->kind == DLB_SCALAR_REAL ? b->real : (double)b->integer) == a->real;
    case DLB_SCALAR_BOOL:
        return b->kind == DLB_SCALAR_BOOL && a->truth == b->truth;
    default:
        return 1;
    }
}

static void check_value(const dlb_scalar *value)
{
    require(value->kind != DLB_SCALAR_REAL || isfinite(value->real));
    if (value->kind == DLB_SCALAR_TEXT)
        return;
    dlb_str text = DLB_STR_INIT;
    dlb_expr_fault fault;
    size_t end;
    dlb_scalar again;
    dlb_scalar_format(value, &text);
    dlb_expr *expr = dlb_expr_parse(text.text, &end, &scope, &fault);
    require(expr && end == text.length && dlb_expr_eval(expr, values, &again, &fault) == 0);
    require(same(value, &again));
    dlb_expr_free(expr);
    dlb_str_release(&text);
}

static void check_expr(const char *text, size_t length)
{
    dlb_expr_fault fault = {0};
    dlb_scalar result;
    const int *slots;
    size_t end;
    dlb_expr *expr = dlb_expr_parse(text, &end, &scope, &fault);
    if (!expr) {
        check_fault(&fault, length);
        return;
    }
    require(end <= length);
    size_t count = dlb_expr_slots(expr, &slots);
    check_slots(count, slots);
    if (dlb_expr_eval(expr, values, &result, &fault) == 0)
        check_value(&result);
    else
        check_fault(&fault, end);
    dlb_expr_free(expr);
}

typedef struct seen {
    size_t count, offset, length;
} seen;

static int count_value(void *arg, const dlb_scalar *value, size_t offset)
{
    seen *s = arg;
    require(offset >= s->offset && offset < s->length);
    s->offset = offset;
    s->count++;
    check_value(value);
    return 0;
}

static void check_list(const char *text, size_t length, enum dlb_list_kind kind)
{
    dlb_expr_fault fault = {0};
    const int *slots;
    seen s = {.length = length};
    dlb_list *list = dlb_list_parse(text, kind, &scope, &fault);
    if (!list) {
        check_fault(&fault, length);
        return;
    }
    size_t count = dlb_list_slots(list, &slots);
    check_slots(count, slots);
    if (dlb_list_eval(list, values, LIMIT, count_value, &s, &fault) < 0)
        check_fault(&fault, length);
    else
        require(s.count > 0 && s.count <= LIMIT);
    dlb_list_free(list);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    char *text = dlb_alloc(count + 1, 1);
    if (count)
        memcpy(text, bytes, count);
    size_t length = strlen(text);
    check_expr(text, length);
    check_list(text, length, DLB_LIST_NUMBERS);
    check_list(text, length, DLB_LIST_TEXTS);
    free(text);
    return 0;
}
