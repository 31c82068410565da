#include "base/mem.h"
#include "config/expr_node.h"
#include "config/expr_token.h"

enum { MAX_NAME = 128, NO_NODE = -1 };

/*
 * Recursive descent over binary operators by precedence. Every parse_… function returns the index
 * of the node that it built, or NO_NODE after a fault. Each begins and ends at a token, not at
 * blanks before it.
 */
typedef struct parser {
    const char *text;
    size_t at;
    int depth;
    int in_rounding; /* levels of floor() and ceil() around */
    size_t node_count, slot_count;
    const dlb_expr_scope *scope;
    dlb_expr_fault *fault;
    dlb_node nodes[DLB_EXPR_NODES];
    int slots[DLB_EXPR_NODES];
} parser;

static void skip_blanks(parser *p)
{
    while (p->text[p->at] == ' ' || p->text[p->at] == '\t' || p->text[p->at] == '\n')
        p->at++;
}

static bool take(parser *p, char c)
{
    if (p->text[p->at] != c)
        return false;
    p->at++;
    skip_blanks(p);
    return true;
}

static int add_node(parser *p, dlb_node node)
{
    if (p->node_count == DLB_EXPR_NODES)
        return dlb_expr_fail(p->fault, node.offset, "the expression has more than %d parts",
                             DLB_EXPR_NODES);
    p->nodes[p->node_count] = node;
    return (int)p->node_count++;
}

static int add_operation(parser *p, enum dlb_op op, size_t offset, const int *operands, int count)
{
    dlb_node node = {.op = (uint8_t)op, .offset = (uint32_t)offset};
    for (int i = 0; i < count; i++)
        node.child[i] = (uint16_t)operands[i];
    return add_node(p, node);
}

static int add_constant(parser *p, size_t offset, dlb_scalar value)
{
    return add_node(
        p, (dlb_node){.op = DLB_OP_CONSTANT, .offset = (uint32_t)offset, .constant = value});
}

/* NOLINTBEGIN(misc-no-recursion): every circle goes through enter(), which limits its depth */
static int parse_binary(parser *p, int lowest);

/* With its minus, so that the least integer can be written. */
static int parse_number(parser *p)
{
    const char *at = p->text + p->at;
    size_t start = p->at, length = dlb_number_length(at);
    if (dlb_continues_name(at[length]) || (at[length] == '.' && at[length + 1] != '.'))
        return dlb_expr_fail(p->fault, start + length, "a number cannot go on like this");
    dlb_scalar value;
    if (!dlb_number_value(at, length, &value))
        return dlb_expr_fail(p->fault, start, "%.*s%s is too large", length < 24 ? (int)length : 20,
                             at, length < 24 ? "" : "...");
    p->at += length;
    skip_blanks(p);
    return add_constant(p, start, value);
}

static int parse_text(parser *p)
{
    size_t start = p->at;
    const char *inside = p->text + start + 1;
    size_t length = strcspn(inside, "\"");
    if (inside[length] == '\0')
        return dlb_expr_fail(p->fault, start, "this quote is not closed");
    p->at += length + 2;
    skip_blanks(p);
    dlb_str copy = DLB_STR_INIT;
    dlb_str_add_bytes(&copy, inside, length);
    int node = add_constant(p, start, (dlb_scalar){DLB_SCALAR_TEXT, {.text = copy.text}});
    if (node < 0)
        dlb_str_release(&copy);
    return node;
}

static int add_slot(parser *p, size_t offset, int slot)
{
    int node = add_node(p, (dlb_node){.op = DLB_OP_SLOT, .offset = (uint32_t)offset, .slot = slot});
    if (node < 0)
        return node;
    for (size_t i = 0; i < p->slot_count; i++)
        if (p->slots[i] == slot)
            return node;
    p->slots[p->slot_count++] = slot;
    return node;
}

static int parse_variable(parser *p, size_t length)
{
    size_t start = p->at;
    char name[MAX_NAME];
    if (length >= sizeof name)
        return dlb_expr_fail(p->fault, start, "a name of more than %d characters", MAX_NAME - 1);
    memcpy(name, p->text + start, length);
    name[length] = '\0';
    int slot = p->scope->slot(p->scope->arg, name);
    if (slot < 0) {
        const char *closest = p->scope->closest ? p->scope->closest(p->scope->arg, name) : NULL;
        return dlb_expr_fail(p->fault, start, "there is no %s%s%s%s", name,
                             closest ? "; did you mean " : "", closest ? closest : "",
                             closest ? "?" : "");
    }
    p->at += length;
    skip_blanks(p);
    return add_slot(p, start, slot);
}

typedef struct function {
    const char *name;
    enum dlb_op op;
    int operands;
} function;

static const function functions[] = {
    {"if", DLB_OP_IF, 3},     {"min", DLB_OP_MIN, 2},   {"max", DLB_OP_MAX, 2},
    {"log2", DLB_OP_LOG2, 1}, {"sqrt", DLB_OP_SQRT, 1}, {"floor", DLB_OP_FLOOR, 1},
    {"ceil", DLB_OP_CEIL, 1},
};

static const function *find_function(const char *at, size_t length)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (dlb_is_word(at, length, functions[i].name))
            return &functions[i];
    return NULL;
}

static int enter(parser *p)
{
    if (p->depth == DLB_EXPR_DEPTH)
        return dlb_expr_fail(p->fault, p->at, "nested more than %d levels deep", DLB_EXPR_DEPTH);
    return p->depth++;
}

static int parse_operands(parser *p, const function *f, int *operands)
{
    for (int i = 0; i < f->operands; i++) {
        if (i > 0 && !take(p, ','))
            return dlb_expr_fail(p->fault, p->at, "%s takes %d values, separated by commas",
                                 f->name, f->operands);
        if ((operands[i] = parse_binary(p, 0)) < 0)
            return NO_NODE;
    }
    if (p->text[p->at] == ',')
        return dlb_expr_fail(p->fault, p->at, "%s takes no more than %d value%s", f->name,
                             f->operands, f->operands == 1 ? "" : "s");
    if (!take(p, ')'))
        return dlb_expr_fail(p->fault, p->at, "a ) is missing here, for that of %s", f->name);
    return 0;
}

/* floor(a / b) as one operation, which never leaves the integers. */
static int fuse_rounded_division(parser *p, enum dlb_op op, int operand)
{
    dlb_node *division = &p->nodes[operand];
    if (division->op != DLB_OP_QUOTIENT)
        return NO_NODE;
    division->op = op == DLB_OP_FLOOR ? DLB_OP_FLOOR_DIVIDE : DLB_OP_CEIL_DIVIDE;
    return operand;
}

static int parse_call(parser *p, const function *f)
{
    size_t start = p->at;
    bool rounds = f->op == DLB_OP_FLOOR || f->op == DLB_OP_CEIL;
    int operands[3];
    p->at += strlen(f->name);
    skip_blanks(p);
    if (!take(p, '('))
        return dlb_expr_fail(p->fault, p->at, "%s needs ( and %d value%s here", f->name,
                             f->operands, f->operands == 1 ? "" : "s");
    if (enter(p) < 0)
        return NO_NODE;
    p->in_rounding += rounds;
    int status = parse_operands(p, f, operands);
    p->in_rounding -= rounds;
    p->depth--;
    if (status < 0)
        return NO_NODE;
    int fused = rounds ? fuse_rounded_division(p, f->op, operands[0]) : NO_NODE;
    return fused >= 0 ? fused : add_operation(p, f->op, start, operands, f->operands);
}

static int parse_parentheses(parser *p)
{
    size_t start = p->at;
    if (enter(p) < 0)
        return NO_NODE;
    take(p, '(');
    int node = parse_binary(p, 0);
    p->depth--;
    if (node >= 0 && !take(p, ')'))
        return p->text[p->at]
                   ? dlb_expr_fail(p->fault, p->at, "an operator or ) is missing before this")
                   : dlb_expr_fail(p->fault, start, "this ( is not closed");
    return node;
}

static int parse_truth(parser *p, bool truth)
{
    size_t start = p->at;
    p->at += truth ? strlen("yes") : strlen("no");
    skip_blanks(p);
    return add_constant(p, start, (dlb_scalar){DLB_SCALAR_BOOL, {.truth = truth}});
}

static int parse_name(parser *p, size_t length)
{
    const char *at = p->text + p->at;
    const function *f = find_function(at, length);
    if (f)
        return parse_call(p, f);
    if (dlb_is_word(at, length, "yes") || dlb_is_word(at, length, "no"))
        return parse_truth(p, length == strlen("yes"));
    if (dlb_is_word(at, length, "and") || dlb_is_word(at, length, "or"))
        return dlb_expr_fail(p->fault, p->at, "a value is missing before %.*s", (int)length, at);
    if (at[length] == '(')
        return dlb_expr_fail(p->fault, p->at,
                             "there is no function %.*s; there are if, min, max, log2, sqrt, "
                             "floor, ceil",
                             length < MAX_NAME ? (int)length : MAX_NAME, at);
    return parse_variable(p, length);
}

static int parse_primary(parser *p)
{
    const char *at = p->text + p->at;
    size_t length = dlb_name_length(at);
    if (length)
        return parse_name(p, length);
    if (dlb_number_length(at))
        return parse_number(p);
    if (*at == '"')
        return parse_text(p);
    if (*at == '(')
        return parse_parentheses(p);
    return dlb_expr_fail(p->fault, p->at,
                         *at ? "a value is missing here" : "a value is missing at the end");
}

static int parse_negation(parser *p)
{
    size_t start = p->at;
    if (dlb_number_length(p->text + start))
        return parse_number(p);
    if (enter(p) < 0)
        return NO_NODE;
    take(p, '-');
    int operand = p->text[p->at] == '-' ? parse_negation(p) : parse_primary(p);
    p->depth--;
    return operand < 0 ? NO_NODE : add_operation(p, DLB_OP_NEGATE, start, &operand, 1);
}

static int parse_signed_primary(parser *p)
{
    return p->text[p->at] == '-' ? parse_negation(p) : parse_primary(p);
}

/* The higher, the closer it binds. `not` stands between `and` and the comparisons. */
enum precedence { BINDS_OR = 1, BINDS_AND, BINDS_COMPARISON, BINDS_SUM, BINDS_PRODUCT };

typedef struct binary {
    const char *sign; /* none is the beginning of a later one */
    enum dlb_op op;
    enum precedence binds;
} binary;

static const binary binaries[] = {
    {"or", DLB_OP_OR, BINDS_OR},
    {"and", DLB_OP_AND, BINDS_AND},
    {"==", DLB_OP_EQUAL, BINDS_COMPARISON},
    {"!=", DLB_OP_UNEQUAL, BINDS_COMPARISON},
    {"<=", DLB_OP_LESS_EQUAL, BINDS_COMPARISON},
    {">=", DLB_OP_GREATER_EQUAL, BINDS_COMPARISON},
    {"<", DLB_OP_LESS, BINDS_COMPARISON},
    {">", DLB_OP_GREATER, BINDS_COMPARISON},
    {"+", DLB_OP_ADD, BINDS_SUM},
    {"-", DLB_OP_SUBTRACT, BINDS_SUM},
    {"*", DLB_OP_MULTIPLY, BINDS_PRODUCT},
    {"/", DLB_OP_DIVIDE, BINDS_PRODUCT},
    {"%", DLB_OP_REMAINDER, BINDS_PRODUCT},
};

static const binary *find_binary(const parser *p)
{
    const char *at = p->text + p->at;
    size_t name = dlb_name_length(at);
    for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++) {
        const char *sign = binaries[i].sign;
        if (name ? dlb_is_word(at, name, sign) : strncmp(at, sign, strlen(sign)) == 0)
            return &binaries[i];
    }
    return NULL;
}

/* An operand of a binary operator: a primary, or `not` and a comparison. */
static int parse_operand(parser *p)
{
    size_t start = p->at;
    if (!dlb_is_word(p->text + start, dlb_name_length(p->text + start), "not"))
        return parse_signed_primary(p);
    if (enter(p) < 0)
        return NO_NODE;
    p->at += strlen("not");
    skip_blanks(p);
    int operand = parse_binary(p, BINDS_COMPARISON);
    p->depth--;
    return operand < 0 ? NO_NODE : add_operation(p, DLB_OP_NOT, start, &operand, 1);
}

/* What users of other languages write; a better message than what is made of the rest. */
static int refuse_foreign_sign(parser *p)
{
    static const char *const foreign[][2] = {
        {"&", "and"},
        {"|", "or"},
        {"=", "=="},
        {"!", "not"},
    };
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (strncmp(p->text + p->at, foreign[i][0], strlen(foreign[i][0])) == 0)
            return dlb_expr_fail(p->fault, p->at, "there is no %s; did you mean %s?", foreign[i][0],
                                 foreign[i][1]);
    return 0;
}

static int parse_right_side(parser *p, const binary *b, int left)
{
    size_t start = p->at;
    int operands[2] = {left};
    p->at += strlen(b->sign);
    skip_blanks(p);
    operands[1] = parse_binary(p, (int)b->binds + 1);
    if (operands[1] < 0)
        return NO_NODE;
    const binary *next = find_binary(p);
    if (b->binds == BINDS_COMPARISON && next && next->binds == BINDS_COMPARISON)
        return dlb_expr_fail(p->fault, p->at,
                             "comparisons do not form chains: write a < b and b < c");
    enum dlb_op op = b->op == DLB_OP_DIVIDE && p->in_rounding ? DLB_OP_QUOTIENT : b->op;
    return add_operation(p, op, start, operands, 2);
}

/* Operators that bind at least as closely as `lowest`, all of them from left to right. */
static int parse_binary(parser *p, int lowest)
{
    int left = parse_operand(p);
    while (left >= 0) {
        const binary *b = find_binary(p);
        if (!b && refuse_foreign_sign(p) < 0)
            return NO_NODE;
        if (!b || (int)b->binds < lowest)
            return left;
        left = parse_right_side(p, b, left);
    }
    return NO_NODE;
}

/* NOLINTEND(misc-no-recursion) */

static void free_texts(const dlb_node *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (nodes[i].op == DLB_OP_CONSTANT && nodes[i].constant.kind == DLB_SCALAR_TEXT)
            free((char *)nodes[i].constant.text);
}

static dlb_expr *finish(const parser *p)
{
    size_t node_bytes = p->node_count * sizeof *p->nodes;
    size_t slot_bytes = p->slot_count * sizeof *p->slots;
    dlb_expr *expr = dlb_alloc(1, sizeof *expr + node_bytes + slot_bytes);
    expr->node_count = p->node_count;
    expr->slot_count = p->slot_count;
    memcpy(expr->nodes, p->nodes, node_bytes);
    expr->slots = (int *)(expr->nodes + p->node_count);
    memcpy(expr->slots, p->slots, slot_bytes);
    return expr;
}

static dlb_expr *parse(const char *text, size_t *end, const dlb_expr_scope *scope,
                       dlb_expr_fault *fault, int (*rule)(parser *p))
{
    parser p; /* its arrays are filled as they are needed */
    p.text = text;
    p.at = p.node_count = p.slot_count = 0;
    p.depth = p.in_rounding = 0;
    p.scope = scope;
    p.fault = fault;
    skip_blanks(&p);
    if (rule(&p) < 0) {
        free_texts(p.nodes, p.node_count);
        return NULL;
    }
    *end = p.at;
    return finish(&p);
}

static int parse_whole(parser *p)
{
    return parse_binary(p, 0);
}

dlb_expr *dlb_expr_parse(const char *text, size_t *end, const dlb_expr_scope *scope,
                         dlb_expr_fault *fault)
{
    return parse(text, end, scope, fault, parse_whole);
}

dlb_expr *dlb_expr_parse_primary(const char *text, size_t *end, const dlb_expr_scope *scope,
                                 dlb_expr_fault *fault)
{
    return parse(text, end, scope, fault, parse_signed_primary);
}

void dlb_expr_free(dlb_expr *expr)
{
    if (!expr)
        return;
    free_texts(expr->nodes, expr->node_count);
    free(expr);
}

size_t dlb_expr_slots(const dlb_expr *expr, const int **slots)
{
    *slots = expr->slots;
    return expr->slot_count;
}
