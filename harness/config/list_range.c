#include "config/list_range.h"

#include <math.h>

/* Where the values of a range go. */
typedef struct output {
    size_t limit, *count;
    int (*add)(void *arg, const dlb_scalar *value, size_t offset);
    void *arg;
    size_t offset;
    dlb_expr_fault *fault;
} output;

static int fail_limit(const output *out)
{
    return dlb_expr_fail(out->fault, out->offset, "the list has more than %zu values", out->limit);
}

static int put(const output *out, dlb_scalar value)
{
    if (*out->count == out->limit)
        return fail_limit(out);
    ++*out->count;
    return out->add(out->arg, &value, out->offset);
}

static int put_integer(const output *out, int64_t integer)
{
    return put(out, (dlb_scalar){DLB_SCALAR_INT, {.integer = integer}});
}

static double as_real(const dlb_scalar *value)
{
    return value->kind == DLB_SCALAR_INT ? (double)value->integer : value->real;
}

/* Exact for integers, of which doubles lose the lower bits: -1, 0 or 1. */
static int heading(const dlb_range *range)
{
    const dlb_scalar *a = &range->first, *b = &range->last;
    if (a->kind == DLB_SCALAR_INT && b->kind == DLB_SCALAR_INT)
        return (b->integer > a->integer) - (b->integer < a->integer);
    return (as_real(b) > as_real(a)) - (as_real(b) < as_real(a));
}

/* A range must move, and towards its end. */
static int check_direction(const output *out, const dlb_range *range)
{
    double first = as_real(&range->first), step = as_real(&range->step);
    bool stands = range->multiplies ? step == 1 || first == 0 : step == 0;
    bool rises = range->multiplies ? (step > 1) == (first > 0) : step > 0;
    int wanted = heading(range);
    if (range->multiplies && !(step > 0))
        return dlb_expr_fail(out->fault, out->offset,
                             "a range cannot be multiplied by %g: the factor must be above 0",
                             step);
    if (stands)
        return dlb_expr_fail(out->fault, out->offset,
                             "the range does not advance: its steps stay at %g", first);
    if (wanted != 0 && rises != (wanted > 0))
        return dlb_expr_fail(out->fault, out->offset,
                             "the range is empty: its steps lead from %g away from %g", first,
                             as_real(&range->last));
    return 0;
}

/* Distances are taken without a sign, where none can overflow. */
static int put_sums(const output *out, int64_t first, int64_t last, int64_t step)
{
    bool rises = step > 0;
    uint64_t distance = rises ? (uint64_t)last - (uint64_t)first : (uint64_t)first - (uint64_t)last;
    uint64_t stride = rises ? (uint64_t)step : 0 - (uint64_t)step;
    uint64_t steps = distance / stride;
    if (steps >= out->limit - *out->count)
        return fail_limit(out);
    int status = 0;
    for (uint64_t i = 0; status == 0 && i <= steps; i++)
        status = put_integer(out, (int64_t)((uint64_t)first + i * (uint64_t)step));
    return status;
}

static int put_products(const output *out, int64_t first, int64_t last, int64_t factor)
{
    int status = 0;
    bool overflow = false;
    for (int64_t value = first;
         status == 0 && !overflow && (first > 0 ? value <= last : value >= last);) {
        status = put_integer(out, value);
        overflow = __builtin_mul_overflow(value, factor, &value);
    }
    return status;
}

/* Without the last digits, which are of rounding. */
static double neat(double value)
{
    char digits[32];
    double rounded;
    snprintf(digits, sizeof digits, "%.13e", value);
    return dlb_parse_real(digits, &rounded) ? rounded : value;
}

static int put_reals(const output *out, const dlb_range *range)
{
    double first = as_real(&range->first), last = as_real(&range->last);
    double step = as_real(&range->step), value = first;
    bool rises = heading(range) > 0;
    int status = 0;
    for (double i = 1; status == 0; i++) {
        status = put(out, (dlb_scalar){DLB_SCALAR_REAL, {.real = value}});
        double next = neat(range->multiplies ? first * pow(step, i) : first + i * step);
        bool within = rises ? next > value && next <= last : next < value && next >= last;
        if (!within)
            break;
        value = next;
    }
    return status;
}

int dlb_range_eval(const dlb_range *range, size_t limit, size_t *count,
                   int (*add)(void *arg, const dlb_scalar *value, size_t offset), void *arg,
                   size_t offset, dlb_expr_fault *fault)
{
    output out = {limit, count, add, arg, offset, fault};
    if (check_direction(&out, range) < 0)
        return DLB_BAD_INPUT;
    if (range->first.kind != DLB_SCALAR_INT || range->last.kind != DLB_SCALAR_INT ||
        range->step.kind != DLB_SCALAR_INT)
        return put_reals(&out, range);
    return (range->multiplies ? put_products : put_sums)(&out, range->first.integer,
                                                         range->last.integer, range->step.integer);
}
