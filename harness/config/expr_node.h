/* What an expression is made of: for expr_parse.c, which builds it, and expr_eval.c. */
#ifndef DLB_CONFIG_EXPR_NODE_H
#define DLB_CONFIG_EXPR_NODE_H

#include "config/expr.h"

enum dlb_op {
    DLB_OP_CONSTANT,
    DLB_OP_SLOT,
    DLB_OP_NEGATE,
    DLB_OP_NOT,
    DLB_OP_AND,
    DLB_OP_OR,
    DLB_OP_EQUAL,
    DLB_OP_UNEQUAL,
    DLB_OP_LESS,
    DLB_OP_LESS_EQUAL,
    DLB_OP_GREATER,
    DLB_OP_GREATER_EQUAL,
    DLB_OP_ADD,
    DLB_OP_SUBTRACT,
    DLB_OP_MULTIPLY,
    DLB_OP_DIVIDE,
    DLB_OP_QUOTIENT, /* a division within floor() or ceil(): a real if it leaves a remainder */
    DLB_OP_REMAINDER,
    DLB_OP_FLOOR_DIVIDE, /* floor(a / b) and ceil(a / b), exact for integers */
    DLB_OP_CEIL_DIVIDE,
    DLB_OP_IF,
    DLB_OP_MIN,
    DLB_OP_MAX,
    DLB_OP_LOG2,
    DLB_OP_SQRT,
    DLB_OP_FLOOR,
    DLB_OP_CEIL,
};

enum { DLB_EXPR_DEPTH = 64, DLB_EXPR_NODES = 1000 };

typedef struct dlb_node {
    uint8_t op;
    uint16_t child[3]; /* indices of its operands, smaller than its own */
    uint32_t offset;   /* of the operator, or of what stands alone, in the text */
    union {
        dlb_scalar constant; /* a text is owned by the expression */
        int slot;
    };
} dlb_node;

struct dlb_expr {
    size_t node_count, slot_count;
    int *slots;
    dlb_node nodes[]; /* the last is the root; the slots stand behind it */
};

#endif
