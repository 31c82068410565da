#include "config/list.h"

#include "base/mem.h"
#include "config/list_range.h"

/* Text as it stands, or an expression: all of an item, an end of a range, a stretch of a word. */
typedef struct part {
    size_t offset;  /* in the list's text */
    dlb_expr *expr; /* NULL: literal */
    char *literal;
} part;

enum item_kind { ITEM_VALUE, ITEM_SUM_RANGE, ITEM_PRODUCT_RANGE, ITEM_WORD };

typedef struct item {
    enum item_kind kind;
    size_t offset;
    size_t first, count; /* its parts: of a range its first and last value and, perhaps, its step */
} item;

struct dlb_list {
    item *items;
    size_t count, capacity;
    part *parts;
    size_t part_count, part_capacity;
    int *slots;
    size_t slot_count, slot_capacity;
};

typedef struct parser {
    dlb_list *list;
    const char *text;
    size_t at;
    const dlb_expr_scope *scope;
    dlb_expr_fault *fault;
} parser;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

static void skip_blanks(parser *p)
{
    while (is_blank(p->text[p->at]))
        p->at++;
}

static void add_slots(dlb_list *list, const dlb_expr *expr)
{
    const int *slots;
    size_t count = dlb_expr_slots(expr, &slots);
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < list->slot_count && list->slots[k] != slots[i])
            k++;
        if (k < list->slot_count)
            continue;
        list->slots = dlb_grow(list->slots, &list->slot_capacity, k + 1, sizeof *slots);
        list->slots[list->slot_count++] = slots[i];
    }
}

static void add_part(dlb_list *list, part p)
{
    list->parts = dlb_grow(list->parts, &list->part_capacity, list->part_count + 1, sizeof p);
    list->parts[list->part_count++] = p;
}

static item *add_item(parser *p, enum item_kind kind)
{
    dlb_list *list = p->list;
    list->items = dlb_grow(list->items, &list->capacity, list->count + 1, sizeof *list->items);
    item *added = &list->items[list->count++];
    *added = (item){kind, p->at, list->part_count, 0};
    return added;
}

typedef dlb_expr *(*expr_rule)(const char *text, size_t *end, const dlb_expr_scope *scope,
                               dlb_expr_fault *fault);

/* Read an expression as the next part of the last item. */
static int parse_part(parser *p, expr_rule rule)
{
    size_t length;
    dlb_expr *expr = rule(p->text + p->at, &length, p->scope, p->fault);
    if (!expr) {
        p->fault->offset += p->at;
        return DLB_BAD_INPUT;
    }
    add_part(p->list, (part){p->at, expr, NULL});
    add_slots(p->list, expr);
    p->list->items[p->list->count - 1].count++;
    p->at += length;
    return 0;
}

/* The rest of FIRST..LAST, FIRST..LAST +STEP or FIRST..LAST *FACTOR. */
static int parse_range(parser *p, item *range)
{
    p->at += strlen("..");
    if (parse_part(p, dlb_expr_parse_primary) < 0)
        return DLB_BAD_INPUT;
    char sign = p->text[p->at];
    range->kind = sign == '*' ? ITEM_PRODUCT_RANGE : ITEM_SUM_RANGE;
    if (sign == '+' || sign == '*') {
        p->at++;
        if (parse_part(p, dlb_expr_parse_primary) < 0)
            return DLB_BAD_INPUT;
    }
    if (p->text[p->at] && strchr("+-*/%", p->text[p->at]))
        return dlb_expr_fail(
            p->fault, p->at,
            "an end or step of a range that is computed needs parentheses: 1..(cores / 2)");
    return 0;
}

static int parse_number_item(parser *p)
{
    item *added = add_item(p, ITEM_VALUE);
    if (parse_part(p, dlb_expr_parse) < 0)
        return DLB_BAD_INPUT;
    if (strncmp(p->text + p->at, "..", 2) == 0 && parse_range(p, added) < 0)
        return DLB_BAD_INPUT;
    char next = p->text[p->at];
    if (next == ',')
        return dlb_expr_fail(p->fault, p->at, "items are separated by blanks, not by commas");
    if (next && !is_blank(p->text[p->at - 1]))
        return dlb_expr_fail(p->fault, p->at,
                             "an operator, or a blank between two items, is missing here");
    return 0;
}

static int parse_braces(parser *p)
{
    size_t start = p->at++;
    if (parse_part(p, dlb_expr_parse) < 0)
        return DLB_BAD_INPUT;
    if (p->text[p->at] != '}')
        return p->text[p->at]
                   ? dlb_expr_fail(p->fault, p->at, "an operator or } is missing before this")
                   : dlb_expr_fail(p->fault, start, "this { is not closed; {{ is a brace");
    p->at++;
    return 0;
}

/* The stretch of a word up to a brace that begins an expression, or to its end. */
typedef struct stretch {
    dlb_str text;
    size_t offset;
} stretch;

static void flush(parser *p, stretch *s)
{
    item *word = &p->list->items[p->list->count - 1];
    if (s->text.length == 0 && word->count > 0)
        return;
    dlb_str_add(&s->text, "");
    add_part(p->list, (part){s->offset, NULL, s->text.text});
    word->count++;
    s->text = (dlb_str)DLB_STR_INIT;
}

static bool is_doubled_brace(const char *at)
{
    return (at[0] == '{' || at[0] == '}') && at[1] == at[0];
}

static int parse_stretches(parser *p, stretch *s, bool *quoted, size_t *quote)
{
    for (char c; (c = p->text[p->at]) && (*quoted || !is_blank(c));) {
        if (is_doubled_brace(p->text + p->at)) {
            dlb_str_add_bytes(&s->text, &c, 1);
            p->at += 2;
        } else if (c == '{') {
            if (s->text.length)
                flush(p, s);
            if (parse_braces(p) < 0)
                return DLB_BAD_INPUT;
            s->offset = p->at;
        } else if (c == '}') {
            return dlb_expr_fail(p->fault, p->at, "this } closes nothing; }} is a brace");
        } else if (c == '"') {
            *quoted = !*quoted;
            *quote = p->at++;
        } else {
            dlb_str_add_bytes(&s->text, &c, 1);
            p->at++;
        }
    }
    return 0;
}

static int parse_word(parser *p)
{
    add_item(p, ITEM_WORD);
    stretch s = {DLB_STR_INIT, p->at};
    bool quoted = false;
    size_t quote = 0;
    int status = parse_stretches(p, &s, &quoted, &quote);
    if (status == 0 && quoted)
        status = dlb_expr_fail(p->fault, quote, "this quote is not closed");
    if (status == 0)
        flush(p, &s);
    dlb_str_release(&s.text);
    skip_blanks(p);
    return status;
}

static int parse_items(parser *p, enum dlb_list_kind kind)
{
    skip_blanks(p);
    if (p->text[p->at] == '\0')
        return dlb_expr_fail(p->fault, p->at, "a value is missing here");
    while (p->text[p->at])
        if ((kind == DLB_LIST_NUMBERS ? parse_number_item : parse_word)(p) < 0)
            return DLB_BAD_INPUT;
    return 0;
}

dlb_list *dlb_list_parse(const char *text, enum dlb_list_kind kind, const dlb_expr_scope *scope,
                         dlb_expr_fault *fault)
{
    parser p = {dlb_alloc(1, sizeof(dlb_list)), text, 0, scope, fault};
    if (parse_items(&p, kind) == 0)
        return p.list;
    dlb_list_free(p.list);
    return NULL;
}

void dlb_list_free(dlb_list *list)
{
    if (!list)
        return;
    for (size_t i = 0; i < list->part_count; i++) {
        dlb_expr_free(list->parts[i].expr);
        free(list->parts[i].literal);
    }
    free(list->slots);
    free(list->parts);
    free(list->items);
    free(list);
}

size_t dlb_list_slots(const dlb_list *list, const int **slots)
{
    *slots = list->slots;
    return list->slot_count;
}

typedef struct evaluation {
    const dlb_list *list;
    const dlb_scalar *values;
    size_t limit, count;
    int (*add)(void *arg, const dlb_scalar *value, size_t offset);
    void *arg;
    dlb_str word; /* under construction */
    dlb_expr_fault *fault;
} evaluation;

static int evaluate_part(evaluation *e, const part *p, dlb_scalar *value)
{
    if (dlb_expr_eval(p->expr, e->values, value, e->fault) == 0)
        return 0;
    e->fault->offset += p->offset;
    return DLB_BAD_INPUT;
}

static int give(evaluation *e, const item *i, const dlb_scalar *value)
{
    if (e->count == e->limit)
        return dlb_expr_fail(e->fault, i->offset, "the list has more than %zu values", e->limit);
    e->count++;
    return e->add(e->arg, value, i->offset);
}

static int evaluate_value(evaluation *e, const item *i)
{
    dlb_scalar value;
    if (evaluate_part(e, &e->list->parts[i->first], &value) < 0)
        return DLB_BAD_INPUT;
    return give(e, i, &value);
}

static int evaluate_bound(evaluation *e, const part *p, dlb_scalar *value)
{
    if (evaluate_part(e, p, value) < 0)
        return DLB_BAD_INPUT;
    if (value->kind != DLB_SCALAR_INT && value->kind != DLB_SCALAR_REAL)
        return dlb_expr_fail(e->fault, p->offset, "a range needs numbers");
    return 0;
}

static int evaluate_range(evaluation *e, const item *i)
{
    const part *parts = e->list->parts + i->first;
    dlb_range range = {.step = {DLB_SCALAR_INT, {.integer = 1}},
                       .multiplies = i->kind == ITEM_PRODUCT_RANGE};
    if (evaluate_bound(e, &parts[0], &range.first) < 0 ||
        evaluate_bound(e, &parts[1], &range.last) < 0 ||
        (i->count == 3 && evaluate_bound(e, &parts[2], &range.step) < 0))
        return DLB_BAD_INPUT;
    return dlb_range_eval(&range, e->limit, &e->count, e->add, e->arg, i->offset, e->fault);
}

static int give_text(evaluation *e, const item *i, const char *text)
{
    dlb_scalar value = {DLB_SCALAR_TEXT, {.text = text}};
    return give(e, i, &value);
}

static int evaluate_word(evaluation *e, const item *i)
{
    const part *parts = e->list->parts + i->first;
    if (i->count == 1 && parts->literal)
        return give_text(e, i, parts->literal);
    dlb_str_clear(&e->word);
    for (size_t k = 0; k < i->count; k++) {
        dlb_scalar value = {DLB_SCALAR_TEXT, {.text = parts[k].literal}};
        if (parts[k].expr && evaluate_part(e, &parts[k], &value) < 0)
            return DLB_BAD_INPUT;
        dlb_scalar_format(&value, &e->word);
    }
    return give_text(e, i, e->word.text);
}

static int evaluate_item(evaluation *e, const item *i)
{
    switch (i->kind) {
    case ITEM_VALUE:
        return evaluate_value(e, i);
    case ITEM_WORD:
        return evaluate_word(e, i);
    default:
        return evaluate_range(e, i);
    }
}

int dlb_list_eval(const dlb_list *list, const dlb_scalar *values, size_t limit,
                  int (*add)(void *arg, const dlb_scalar *value, size_t offset), void *arg,
                  dlb_expr_fault *fault)
{
    evaluation e = {.list = list, .values = values, .limit = limit, .add = add, .arg = arg};
    e.fault = fault;
    int status = 0;
    for (size_t i = 0; status == 0 && i < list->count; i++)
        status = evaluate_item(&e, &list->items[i]);
    dlb_str_release(&e.word);
    return status;
}
