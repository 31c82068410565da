#include <math.h>

#include "config/expr_node.h"

static const double two_63 = 9223372036854775808.0; /* one more than the largest integer */

typedef struct evaluation {
    const dlb_node *nodes;
    const dlb_scalar *values; /* of the slots */
    dlb_expr_fault *fault;
} evaluation;

int dlb_expr_fail(dlb_expr_fault *fault, size_t offset, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it does not see va_start here
    vsnprintf(fault->message, sizeof fault->message, format, args);
    va_end(args);
    fault->offset = offset;
    return DLB_BAD_INPUT;
}

static const char *sign_of(enum dlb_op op)
{
    static const char *const signs[] = {
        [DLB_OP_NEGATE] = "-",       [DLB_OP_NOT] = "not",
        [DLB_OP_AND] = "and",        [DLB_OP_OR] = "or",
        [DLB_OP_EQUAL] = "==",       [DLB_OP_UNEQUAL] = "!=",
        [DLB_OP_LESS] = "<",         [DLB_OP_LESS_EQUAL] = "<=",
        [DLB_OP_GREATER] = ">",      [DLB_OP_GREATER_EQUAL] = ">=",
        [DLB_OP_ADD] = "+",          [DLB_OP_SUBTRACT] = "-",
        [DLB_OP_MULTIPLY] = "*",     [DLB_OP_DIVIDE] = "/",
        [DLB_OP_QUOTIENT] = "/",     [DLB_OP_REMAINDER] = "%",
        [DLB_OP_FLOOR_DIVIDE] = "/", [DLB_OP_CEIL_DIVIDE] = "/",
        [DLB_OP_IF] = "if",          [DLB_OP_MIN] = "min",
        [DLB_OP_MAX] = "max",        [DLB_OP_LOG2] = "log2",
        [DLB_OP_SQRT] = "sqrt",      [DLB_OP_FLOOR] = "floor",
        [DLB_OP_CEIL] = "ceil",
    };
    return signs[op];
}

/* "the text cray", for messages. */
typedef struct described {
    char text[80];
} described;

static described describe(const dlb_scalar *value)
{
    static const char *const kinds[] = {
        [DLB_SCALAR_INT] = "the integer ",
        [DLB_SCALAR_REAL] = "the real ",
        [DLB_SCALAR_TEXT] = "the text ",
        [DLB_SCALAR_BOOL] = "",
    };
    dlb_str shown = DLB_STR_INIT;
    described d;
    dlb_scalar_format(value, &shown);
    snprintf(d.text, sizeof d.text, "%s%.60s", kinds[value->kind], shown.text);
    dlb_str_release(&shown);
    return d;
}

static bool is_number(const dlb_scalar *value)
{
    return value->kind == DLB_SCALAR_INT || value->kind == DLB_SCALAR_REAL;
}

static double as_real(const dlb_scalar *value)
{
    return value->kind == DLB_SCALAR_INT ? (double)value->integer : value->real;
}

static int need_number(const evaluation *e, const dlb_node *node, const dlb_scalar *value)
{
    if (is_number(value))
        return 0;
    return dlb_expr_fail(e->fault, node->offset, "%s needs numbers, but has %s", sign_of(node->op),
                         describe(value).text);
}

static int give_integer(dlb_scalar *result, int64_t integer)
{
    *result = (dlb_scalar){DLB_SCALAR_INT, {.integer = integer}};
    return 0;
}

static int give_truth(dlb_scalar *result, bool truth)
{
    *result = (dlb_scalar){DLB_SCALAR_BOOL, {.truth = truth}};
    return 0;
}

static int give_real(const evaluation *e, const dlb_node *node, dlb_scalar *result, double real)
{
    if (!isfinite(real))
        return dlb_expr_fail(e->fault, node->offset, "the result of %s is not finite",
                             sign_of(node->op));
    *result = (dlb_scalar){DLB_SCALAR_REAL, {.real = real}};
    return 0;
}

static int give_rounded(const evaluation *e, const dlb_node *node, dlb_scalar *result, double whole)
{
    if (whole < -two_63 || whole >= two_63)
        return dlb_expr_fail(e->fault, node->offset, "the result of %s is too large for 64 bits",
                             sign_of(node->op));
    return give_integer(result, (int64_t)whole);
}

static int fail_overflow(const evaluation *e, const dlb_node *node, int64_t a, int64_t b)
{
    return dlb_expr_fail(e->fault, node->offset, "%lld %s %lld is too large for 64 bits",
                         (long long)a, sign_of(node->op), (long long)b);
}

static int check_division(const evaluation *e, const dlb_node *node, int64_t a, int64_t b)
{
    if (b == 0)
        return dlb_expr_fail(e->fault, node->offset, "%lld %s 0 has no value", (long long)a,
                             sign_of(node->op));
    if (a == INT64_MIN && b == -1)
        return fail_overflow(e, node, a, b);
    return 0;
}

static int divide_evenly(const evaluation *e, const dlb_node *node, int64_t a, int64_t b,
                         dlb_scalar *result)
{
    if (check_division(e, node, a, b) < 0)
        return DLB_BAD_INPUT;
    if (a % b == 0)
        return give_integer(result, a / b);
    if (node->op == DLB_OP_QUOTIENT)
        return give_real(e, node, result, (double)a / (double)b);
    return dlb_expr_fail(e->fault, node->offset,
                         "%lld / %lld leaves a remainder; floor(a / b) rounds it down",
                         (long long)a, (long long)b);
}

static int divide_rounded(const evaluation *e, const dlb_node *node, int64_t a, int64_t b,
                          dlb_scalar *result)
{
    if (check_division(e, node, a, b) < 0)
        return DLB_BAD_INPUT;
    bool uneven = a % b != 0, positive = (a < 0) == (b < 0);
    if (node->op == DLB_OP_FLOOR_DIVIDE)
        return give_integer(result, a / b - (uneven && !positive));
    return give_integer(result, a / b + (uneven && positive));
}

static int compute_remainder(const evaluation *e, const dlb_node *node, int64_t a, int64_t b,
                             dlb_scalar *result)
{
    if (b == 0)
        return dlb_expr_fail(e->fault, node->offset, "%lld %% 0 has no value", (long long)a);
    return give_integer(result, b == -1 ? 0 : a % b);
}

static int compute_integers(const evaluation *e, const dlb_node *node, int64_t a, int64_t b,
                            dlb_scalar *result)
{
    int64_t integer;
    bool overflow;
    switch ((enum dlb_op)node->op) {
    case DLB_OP_ADD:
        overflow = __builtin_add_overflow(a, b, &integer);
        break;
    case DLB_OP_SUBTRACT:
        overflow = __builtin_sub_overflow(a, b, &integer);
        break;
    case DLB_OP_MULTIPLY:
        overflow = __builtin_mul_overflow(a, b, &integer);
        break;
    case DLB_OP_REMAINDER:
        return compute_remainder(e, node, a, b, result);
    case DLB_OP_FLOOR_DIVIDE:
    case DLB_OP_CEIL_DIVIDE:
        return divide_rounded(e, node, a, b, result);
    default:
        return divide_evenly(e, node, a, b, result);
    }
    return overflow ? fail_overflow(e, node, a, b) : give_integer(result, integer);
}

static int compute_reals(const evaluation *e, const dlb_node *node, double a, double b,
                         dlb_scalar *result)
{
    switch ((enum dlb_op)node->op) {
    case DLB_OP_ADD:
        return give_real(e, node, result, a + b);
    case DLB_OP_SUBTRACT:
        return give_real(e, node, result, a - b);
    case DLB_OP_MULTIPLY:
        return give_real(e, node, result, a * b);
    case DLB_OP_REMAINDER:
        return dlb_expr_fail(e->fault, node->offset, "%% needs integers");
    default:
        break;
    }
    if (b == 0)
        return dlb_expr_fail(e->fault, node->offset, "a division by 0 has no value");
    if (node->op == DLB_OP_FLOOR_DIVIDE)
        return give_rounded(e, node, result, floor(a / b));
    if (node->op == DLB_OP_CEIL_DIVIDE)
        return give_rounded(e, node, result, ceil(a / b));
    return give_real(e, node, result, a / b);
}

static int compute(const evaluation *e, const dlb_node *node, const dlb_scalar *a,
                   const dlb_scalar *b, dlb_scalar *result)
{
    if (need_number(e, node, a) < 0 || need_number(e, node, b) < 0)
        return DLB_BAD_INPUT;
    if (a->kind == DLB_SCALAR_INT && b->kind == DLB_SCALAR_INT)
        return compute_integers(e, node, a->integer, b->integer, result);
    return compute_reals(e, node, as_real(a), as_real(b), result);
}

/* Exact, where a conversion to double would lose the lower bits of a large integer. */
static int order_integer_and_real(int64_t a, double b)
{
    if (b >= two_63)
        return -1;
    if (b < -two_63)
        return 1;
    int64_t whole = (int64_t)b;
    double fraction = b - (double)whole;
    if (a != whole)
        return a < whole ? -1 : 1;
    return (fraction < 0) - (fraction > 0);
}

static int order_numbers(const dlb_scalar *a, const dlb_scalar *b)
{
    if (a->kind == DLB_SCALAR_INT && b->kind == DLB_SCALAR_INT)
        return (a->integer > b->integer) - (a->integer < b->integer);
    if (a->kind == DLB_SCALAR_INT)
        return order_integer_and_real(a->integer, b->real);
    if (b->kind == DLB_SCALAR_INT)
        return -order_integer_and_real(b->integer, a->real);
    return (a->real > b->real) - (a->real < b->real);
}

/* Numbers have an order; texts and truth values are only the same or not. */
static int check_comparable(const evaluation *e, const dlb_node *node, const dlb_scalar *a,
                            const dlb_scalar *b)
{
    if (is_number(a) && is_number(b))
        return 0;
    if (a->kind != b->kind)
        return dlb_expr_fail(e->fault, node->offset, "%s compares %s with %s", sign_of(node->op),
                             describe(a).text, describe(b).text);
    if (node->op != DLB_OP_EQUAL && node->op != DLB_OP_UNEQUAL)
        return dlb_expr_fail(e->fault, node->offset, "%s needs numbers, but has %s",
                             sign_of(node->op), describe(a).text);
    return 0;
}

static int order_scalars(const dlb_scalar *a, const dlb_scalar *b)
{
    switch (a->kind) {
    case DLB_SCALAR_TEXT:
        return strcmp(a->text, b->text);
    case DLB_SCALAR_BOOL:
        return a->truth != b->truth;
    default:
        return order_numbers(a, b);
    }
}

static int compare(const evaluation *e, const dlb_node *node, const dlb_scalar *a,
                   const dlb_scalar *b, dlb_scalar *result)
{
    if (check_comparable(e, node, a, b) < 0)
        return DLB_BAD_INPUT;
    int order = order_scalars(a, b);
    switch ((enum dlb_op)node->op) {
    case DLB_OP_EQUAL:
        return give_truth(result, order == 0);
    case DLB_OP_UNEQUAL:
        return give_truth(result, order != 0);
    case DLB_OP_LESS:
        return give_truth(result, order < 0);
    case DLB_OP_LESS_EQUAL:
        return give_truth(result, order <= 0);
    case DLB_OP_GREATER:
        return give_truth(result, order > 0);
    default:
        return give_truth(result, order >= 0);
    }
}

static int choose_extreme(const evaluation *e, const dlb_node *node, const dlb_scalar *a,
                          const dlb_scalar *b, dlb_scalar *result)
{
    if (need_number(e, node, a) < 0 || need_number(e, node, b) < 0)
        return DLB_BAD_INPUT;
    int order = order_numbers(a, b);
    *result = (node->op == DLB_OP_MIN ? order <= 0 : order >= 0) ? *a : *b;
    return 0;
}

static int negate(const evaluation *e, const dlb_node *node, const dlb_scalar *value,
                  dlb_scalar *result)
{
    if (value->kind == DLB_SCALAR_REAL)
        return give_real(e, node, result, -value->real);
    if (value->integer == INT64_MIN)
        return fail_overflow(e, node, 0, value->integer);
    return give_integer(result, -value->integer);
}

static int apply_function(const evaluation *e, const dlb_node *node, const dlb_scalar *value,
                          dlb_scalar *result)
{
    if (need_number(e, node, value) < 0)
        return DLB_BAD_INPUT;
    double real = as_real(value);
    bool rounds = node->op == DLB_OP_FLOOR || node->op == DLB_OP_CEIL;
    if (rounds && value->kind == DLB_SCALAR_INT) {
        *result = *value;
        return 0;
    }
    switch ((enum dlb_op)node->op) {
    case DLB_OP_NEGATE:
        return negate(e, node, value, result);
    case DLB_OP_FLOOR:
        return give_rounded(e, node, result, floor(real));
    case DLB_OP_CEIL:
        return give_rounded(e, node, result, ceil(real));
    case DLB_OP_LOG2:
        return real > 0
                   ? give_real(e, node, result, log2(real))
                   : dlb_expr_fail(e->fault, node->offset,
                                   "log2 needs a number above 0, but has %s", describe(value).text);
    default:
        return real >= 0 ? give_real(e, node, result, sqrt(real))
                         : dlb_expr_fail(e->fault, node->offset, "sqrt needs 0 or more, but has %s",
                                         describe(value).text);
    }
}

/* NOLINTBEGIN(misc-no-recursion): as deep as the expression, whose size the parser limits */
static int evaluate(const evaluation *e, const dlb_node *node, dlb_scalar *result);

static int evaluate_truth(const evaluation *e, const dlb_node *node, int operand, bool *truth)
{
    dlb_scalar value;
    if (evaluate(e, e->nodes + node->child[operand], &value) < 0)
        return DLB_BAD_INPUT;
    if (value.kind != DLB_SCALAR_BOOL)
        return dlb_expr_fail(e->fault, node->offset,
                             "%s needs yes or no, such as of a comparison, but has %s",
                             sign_of(node->op), describe(&value).text);
    *truth = value.truth;
    return 0;
}

/* `and`, `or`, `not`, `if`: their first operand decides what else is evaluated. */
static int evaluate_lazy(const evaluation *e, const dlb_node *node, dlb_scalar *result)
{
    bool truth = false;
    if (evaluate_truth(e, node, 0, &truth) < 0)
        return DLB_BAD_INPUT;
    if (node->op == DLB_OP_NOT)
        return give_truth(result, !truth);
    if (node->op == DLB_OP_IF)
        return evaluate(e, e->nodes + node->child[truth ? 1 : 2], result);
    if (truth == (node->op == DLB_OP_AND) && evaluate_truth(e, node, 1, &truth) < 0)
        return DLB_BAD_INPUT;
    return give_truth(result, truth);
}

static int evaluate_pair(const evaluation *e, const dlb_node *node, dlb_scalar *result)
{
    dlb_scalar a, b;
    if (evaluate(e, e->nodes + node->child[0], &a) < 0 ||
        evaluate(e, e->nodes + node->child[1], &b) < 0)
        return DLB_BAD_INPUT;
    if (node->op >= DLB_OP_EQUAL && node->op <= DLB_OP_GREATER_EQUAL)
        return compare(e, node, &a, &b, result);
    if (node->op == DLB_OP_MIN || node->op == DLB_OP_MAX)
        return choose_extreme(e, node, &a, &b, result);
    return compute(e, node, &a, &b, result);
}

static int evaluate(const evaluation *e, const dlb_node *node, dlb_scalar *result)
{
    dlb_scalar operand;
    switch ((enum dlb_op)node->op) {
    case DLB_OP_CONSTANT:
        *result = node->constant;
        return 0;
    case DLB_OP_SLOT:
        *result = e->values[node->slot];
        return 0;
    case DLB_OP_NOT:
    case DLB_OP_AND:
    case DLB_OP_OR:
    case DLB_OP_IF:
        return evaluate_lazy(e, node, result);
    case DLB_OP_NEGATE:
    case DLB_OP_LOG2:
    case DLB_OP_SQRT:
    case DLB_OP_FLOOR:
    case DLB_OP_CEIL:
        if (evaluate(e, e->nodes + node->child[0], &operand) < 0)
            return DLB_BAD_INPUT;
        return apply_function(e, node, &operand, result);
    default:
        return evaluate_pair(e, node, result);
    }
}

/* NOLINTEND(misc-no-recursion) */

int dlb_expr_eval(const dlb_expr *expr, const dlb_scalar *values, dlb_scalar *result,
                  dlb_expr_fault *fault)
{
    evaluation e = {expr->nodes, values, fault};
    return evaluate(&e, expr->nodes + expr->node_count - 1, result);
}

/* Whole numbers without an exponent, so that they can be read as integers, too; -0 is 0. */
static void format_real(double real, dlb_str *out)
{
    char digits[32];
    if (fabs(real) < 1e15 && real == floor(real))
        snprintf(digits, sizeof digits, "%.0f", real + 0.0);
    else
        dlb_format_real(real, digits, sizeof digits);
    dlb_str_add(out, digits);
}

void dlb_scalar_format(const dlb_scalar *value, dlb_str *out)
{
    switch (value->kind) {
    case DLB_SCALAR_INT:
        dlb_str_addf(out, "%lld", (long long)value->integer);
        break;
    case DLB_SCALAR_REAL:
        format_real(value->real, out);
        break;
    case DLB_SCALAR_TEXT:
        dlb_str_add(out, value->text);
        break;
    case DLB_SCALAR_BOOL:
        dlb_str_add(out, value->truth ? "yes" : "no");
        break;
    }
}
