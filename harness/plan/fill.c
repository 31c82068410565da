/* Braces in the words of a command, filled for a point. */
#include "base/mem.h"
#include "config/list.h"
#include "plan/plan_state.h"

typedef struct filling {
    const dlb_plan *plan;
    size_t point;
    bool *known;
    dlb_scalar *values;
    void (*add)(void *arg, const char *word);
    void *arg;
} filling;

static void load_values(filling *f, const dlb_fill *fill)
{
    size_t slots = dlb_names_count(&f->plan->names);
    bool *has = dlb_alloc(slots, sizeof *has);
    f->values = dlb_alloc(slots, sizeof *f->values);
    dlb_plan_host_values(f->plan, f->values);
    for (size_t slot = 0; slot < slots; slot++) {
        const dlb_values_item *value = dlb_plan_value_of_slot(f->plan, f->point, (int)slot);
        has[slot] = value || (slot >= DLB_SLOT_CORES && slot <= DLB_SLOT_HOSTNAME);
        if (value)
            f->values[slot] = value->scalar;
    }
    f->known = dlb_plan_names_of_run(f->plan, has);
    free(has);
    f->values[DLB_KEY_seed] = (dlb_scalar){DLB_SCALAR_INT, {.integer = fill->seed}};
    f->values[DLB_SLOT_REPEAT] = (dlb_scalar){DLB_SCALAR_INT, {.integer = fill->repeat}};
    f->values[DLB_SLOT_RUN_DIR] =
        (dlb_scalar){DLB_SCALAR_TEXT, {.text = fill->run_dir ? fill->run_dir : ""}};
}

static int add_filled(void *arg, const dlb_scalar *value, size_t offset)
{
    const filling *f = arg;
    (void)offset;
    f->add(f->arg, value->text);
    return 0;
}

/* Within quotes a word is one item of a list of texts, whatever it holds. */
static int fill_word(filling *f, const char *word, dlb_error *err)
{
    dlb_scope scope;
    dlb_expr_scope within = dlb_scope_init(&scope, &f->plan->names, f->known, "");
    dlb_expr_fault fault;
    dlb_str quoted = DLB_STR_INIT;
    dlb_str_addf(&quoted, "\"%s\"", word);
    dlb_list *list = dlb_list_parse(quoted.text, DLB_LIST_TEXTS, &within, &fault);
    int status = list ? dlb_list_eval(list, f->values, 1, add_filled, f, &fault) : DLB_BAD_INPUT;
    dlb_list_free(list);
    dlb_str_release(&quoted);
    return status < 0 ? dlb_fail(err, status, "%.200s: %s", word, fault.message) : 0;
}

int dlb_plan_fill(const dlb_plan *plan, size_t point, dlb_words words, const dlb_fill *fill,
                  void (*add)(void *arg, const char *word), void *arg, dlb_error *err)
{
    filling f = {.plan = plan, .point = point, .add = add, .arg = arg};
    int status = 0;
    load_values(&f, fill);
    for (size_t i = 0; status == 0 && words[i]; i++)
        status = fill_word(&f, words[i], err);
    free(f.values);
    free(f.known);
    return status;
}
