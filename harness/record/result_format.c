/* A result as JSON text. */
#include "record/json_text.h"
#include "record/result.h"

/*
 * jansson returns NULL for want of memory, and refuses to put NULL anywhere. These two remember
 * that in *whole, so that only the end needs a check.
 */
static void put(json_t *object, const char *key, json_t *value, bool *whole)
{
    if (json_object_set_new(object, key, value) < 0)
        *whole = false;
}

static void push(json_t *array, json_t *value, bool *whole)
{
    if (json_array_append_new(array, value) < 0)
        *whole = false;
}

static json_t *cell_to_json(const dlb_cell *cell)
{
    switch (cell->kind) {
    case DLB_CELL_INT:
        return json_integer(cell->integer);
    case DLB_CELL_REAL:
        return json_real(cell->real);
    case DLB_CELL_TEXT:
        return dlb_json_text(cell->text);
    case DLB_CELL_MISSING:
        break;
    }
    return json_null();
}

static json_t *counter_to_json(const dlb_row_counter *counter, bool *whole)
{
    json_t *object = json_object();
    put(object, "name", dlb_json_text(counter->name), whole);
    put(object, "value", counter->missing ? json_null() : json_integer(counter->value), whole);
    put(object, "why", counter->missing ? dlb_json_text(counter->why) : json_null(), whole);
    return object;
}

static json_t *counters_to_json(const dlb_row *row, bool *whole)
{
    json_t *array = json_array();
    for (size_t i = 0; i < row->counter_count; i++)
        push(array, counter_to_json(&row->counters[i], whole), whole);
    return array;
}

static json_t *row_to_json(const dlb_row *row, bool *whole)
{
    json_t *object = json_object();
    for (int i = 0; i < row->table->count; i++)
        put(object, row->table->columns[i].name, cell_to_json(&row->cells[i]), whole);
    return object;
}

static json_t *rows_to_json(const dlb_row_list *list, bool *whole)
{
    json_t *array = json_array();
    for (size_t i = 0; i < list->count; i++) {
        json_t *row = row_to_json(&list->rows[i], whole);
        if (list->rows[i].table->has_counters)
            put(row, "counters", counters_to_json(&list->rows[i], whole), whole);
        push(array, row, whole);
    }
    return array;
}

static json_t *settings_to_json(const dlb_setting_list *list, bool *whole)
{
    json_t *object = json_object();
    for (size_t i = 0; i < list->count; i++)
        put(object, list->settings[i].key, dlb_json_text(list->settings[i].value), whole);
    return object;
}

static json_t *extras_to_json(const dlb_row *row, bool *whole)
{
    json_t *object = json_object();
    for (size_t i = 0; i < row->extra_count; i++)
        put(object, row->extras[i].name, dlb_json_text(row->extras[i].text), whole);
    return object;
}

static json_t *texts_to_json(const dlb_text_list *list, bool *whole)
{
    json_t *array = json_array();
    for (size_t i = 0; i < list->count; i++)
        push(array, dlb_json_text(list->texts[i]), whole);
    return array;
}

static json_t *end_to_json(const dlb_result *result, bool *whole)
{
    json_t *object = json_object();
    put(object, "status", cell_to_json(&result->run.cells[DLB_RUN_status]), whole);
    put(object, "ranks_ended", json_integer(result->ranks_ended), whole);
    return object;
}

static json_t *result_to_json(const dlb_result *result, bool *whole)
{
    json_t *root = json_object();
    put(root, "schema", json_integer(DLB_RESULT_SCHEMA), whole);
    put(root, "workload", settings_to_json(&result->workload, whole), whole);
    put(root, "run", row_to_json(&result->run, whole), whole);
    put(root, "epochs", rows_to_json(&result->epochs, whole), whole);
    put(root, "ranks", rows_to_json(&result->ranks, whole), whole);
    if (result->run.extra_count)
        put(root, "extras", extras_to_json(&result->run, whole), whole);
    put(root, "counters", counters_to_json(&result->run, whole), whole);
    put(root, "placement", texts_to_json(&result->placement, whole), whole);
    put(root, "notes", texts_to_json(&result->notes, whole), whole);
    put(root, "end", end_to_json(result, whole), whole);
    return root;
}

int dlb_result_format(const dlb_result *result, dlb_str *text, dlb_error *err)
{
    bool whole = true;
    json_t *root = result_to_json(result, &whole);
    char *json = whole ? json_dumps(root, JSON_INDENT(1)) : NULL;
    json_decref(root);
    if (!json)
        return dlb_fail(err, DLB_FAIL, "not enough memory to write a result");
    dlb_str_addf(text, "%s\n", json);
    free(json);
    return 0;
}
