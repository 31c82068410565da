/* A result from JSON text. Nothing in it is trusted: another program may have written it. */
#include <jansson.h>
#include <limits.h>

#include "record/result.h"

/* A row of a file may not make the search among its counters, or extra columns, long. */
enum { MAX_COUNTERS = 1024, MAX_EXTRAS = 1024 };

/* Where the JSON came from, for messages. */
typedef struct source {
    const char *name;
    dlb_error *err;
} source;

static int refuse(const source *s, const char *where, const char *what)
{
    return dlb_fail(s->err, DLB_BAD_INPUT, "%s: %s: %s", s->name, where, what);
}

static int refuse_cell(const source *s, const char *where, const dlb_column *column)
{
    static const char *const kinds[] = {
        [DLB_COLUMN_INT] = "an integer",
        [DLB_COLUMN_REAL] = "a number",
        [DLB_COLUMN_TEXT] = "a text",
    };
    bool closed = column->type == DLB_COLUMN_TEXT && *column->unit;
    return dlb_fail(s->err, DLB_BAD_INPUT, "%s: %s.%s: must be %s%s%s, or null", s->name, where,
                    column->name, kinds[column->type], closed ? ", " : "",
                    closed ? column->unit : "");
}

static int read_cell(const source *s, const char *where, const json_t *json, dlb_row *row, int i)
{
    const dlb_column *column = &row->table->columns[i];
    if (json_is_null(json))
        return 0;
    if (column->type == DLB_COLUMN_INT && json_is_integer(json))
        dlb_row_set_int(row, i, json_integer_value(json));
    else if (column->type == DLB_COLUMN_REAL && json_is_number(json))
        dlb_row_set_real(row, i, json_number_value(json));
    else if (column->type == DLB_COLUMN_TEXT && json_is_string(json) &&
             dlb_column_allows(column, json_string_value(json)))
        dlb_row_set_text(row, i, json_string_value(json));
    else
        return refuse_cell(s, where, column);
    return 0;
}

/* The members of a row's object are the columns of its table and, where `counters`, its counters.
 */
static int check_members(const source *s, const char *where, json_t *object, bool counters,
                         const dlb_table *table)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        bool known = dlb_table_find(table, key) >= 0 || (counters && strcmp(key, "counters") == 0);
        if (!known)
            return dlb_fail(s->err, DLB_BAD_INPUT, "%s: %s: unknown column %.80s", s->name, where,
                            key);
    }
    return 0;
}

/* Every column must be there, null or not. */
static int read_columns(const source *s, const char *where, json_t *object, bool counters,
                        dlb_row *row)
{
    if (!json_is_object(object))
        return refuse(s, where, "must be an object");
    int status = check_members(s, where, object, counters, row->table);
    for (int i = 0; status == 0 && i < row->table->count; i++) {
        const char *name = row->table->columns[i].name;
        const json_t *json = json_object_get(object, name);
        status = json ? read_cell(s, where, json, row, i)
                      : dlb_fail(s->err, DLB_BAD_INPUT, "%s: %s: has no %s", s->name, where, name);
    }
    return status;
}

static int read_counter(const source *s, const char *where, json_t *json, dlb_row *row)
{
    const char *name;
    json_t *value, *why;
    json_error_t problem;
    if (json_unpack_ex(json, &problem, 0, "{s:s, s:o, s:o !}", "name", &name, "value", &value,
                       "why", &why) < 0)
        return dlb_fail(s->err, DLB_BAD_INPUT, "%s: a counter of %s: %s", s->name, where,
                        problem.text);
    if (json_is_integer(value) && json_is_null(why))
        dlb_row_set_counter(row, name, json_integer_value(value));
    else if (json_is_null(value) && json_is_string(why))
        dlb_row_miss_counter(row, name, json_string_value(why));
    else
        return dlb_fail(s->err, DLB_BAD_INPUT,
                        "%s: counter %.80s of %s: must have an integer value, or say why not",
                        s->name, name, where);
    return 0;
}

static int read_counters(const source *s, const char *where, json_t *array, dlb_row *row)
{
    if (!json_is_array(array) || json_array_size(array) > MAX_COUNTERS)
        return dlb_fail(s->err, DLB_BAD_INPUT, "%s: %s: must have a list of at most %d counters",
                        s->name, where, MAX_COUNTERS);
    int status = 0;
    for (size_t i = 0; status == 0 && i < json_array_size(array); i++)
        status = read_counter(s, where, json_array_get(array, i), row);
    return status;
}

/* The rows of the array `where`, each made by `add`. */
static int read_rows(const source *s, const char *where, json_t *array,
                     dlb_row *(*add)(dlb_result *), dlb_result *result)
{
    if (!json_is_array(array))
        return refuse(s, where, "must be a list");
    int status = 0;
    for (size_t i = 0; status == 0 && i < json_array_size(array); i++) {
        char place[32];
        snprintf(place, sizeof place, "%s[%zu]", where, i);
        json_t *object = json_array_get(array, i);
        dlb_row *row = add(result);
        bool counters = row->table->has_counters;
        status = read_columns(s, place, object, counters, row);
        if (status == 0 && counters)
            status = read_counters(s, place, json_object_get(object, "counters"), row);
    }
    return status;
}

static int read_texts(const source *s, const char *where, json_t *array, dlb_text_list *list)
{
    if (!json_is_array(array))
        return refuse(s, where, "must be a list");
    for (size_t i = 0; i < json_array_size(array); i++) {
        const char *text = json_string_value(json_array_get(array, i));
        if (!text)
            return refuse(s, where, "must be a list of texts");
        dlb_text_list_add(list, text);
    }
    return 0;
}

static int read_settings(const source *s, json_t *object, dlb_result *result)
{
    const char *key;
    json_t *value;
    if (!json_is_object(object))
        return refuse(s, "workload", "must be an object");
    json_object_foreach(object, key, value)
    {
        if (!json_is_string(value))
            return dlb_fail(s->err, DLB_BAD_INPUT, "%s: workload.%.80s: must be a text", s->name,
                            key);
        dlb_result_add_setting(result, key, json_string_value(value));
    }
    return 0;
}

/* NULL where the result has none. */
static int read_extras(const source *s, json_t *object, dlb_row *row)
{
    if (!object)
        return 0;
    if (!json_is_object(object) || json_object_size(object) > MAX_EXTRAS)
        return dlb_fail(s->err, DLB_BAD_INPUT,
                        "%s: extras: must be an object of at most %d columns", s->name, MAX_EXTRAS);
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        if (!json_is_string(value) || dlb_table_find(row->table, key) >= 0)
            return dlb_fail(s->err, DLB_BAD_INPUT,
                            "%s: extras.%.80s: must be a text in a column of its own", s->name,
                            key);
        dlb_row_set_extra(row, key, json_string_value(value));
    }
    return 0;
}

static int check_schema(const source *s, const json_t *root)
{
    const json_t *schema = json_object_get(root, "schema");
    if (!json_is_integer(schema))
        return refuse(s, "schema", "is not there; this is no result of a run");
    if (json_integer_value(schema) != DLB_RESULT_SCHEMA)
        return dlb_fail(s->err, DLB_BAD_INPUT, "%s: schema %lld: this program reads schema %d only",
                        s->name, (long long)json_integer_value(schema), DLB_RESULT_SCHEMA);
    return 0;
}

static int read_end(const source *s, json_t *end, const json_t *run, dlb_result *result)
{
    json_t *status;
    json_int_t ranks;
    json_error_t problem;
    if (json_unpack_ex(end, &problem, 0, "{s:o, s:I !}", "status", &status, "ranks_ended", &ranks) <
        0)
        return refuse(s, "end", problem.text);
    if (!json_equal(status, json_object_get(run, "status")))
        return refuse(s, "end.status", "is not that of the run");
    if (ranks < 0 || ranks > INT_MAX)
        return refuse(s, "end.ranks_ended", "must be a number of ranks");
    result->ranks_ended = (int)ranks;
    return 0;
}

static int read_root(const source *s, json_t *root, dlb_result *result)
{
    int status = check_schema(s, root);
    if (status < 0)
        return status;
    json_t *schema, *workload, *run, *epochs, *ranks, *counters, *placement, *notes, *end;
    json_t *extras = NULL;
    json_error_t problem;
    if (json_unpack_ex(root, &problem, 0, "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s?o !}",
                       "schema", &schema, "workload", &workload, "run", &run, "epochs", &epochs,
                       "ranks", &ranks, "counters", &counters, "placement", &placement, "notes",
                       &notes, "end", &end, "extras", &extras) < 0)
        return refuse(s, "result", problem.text);
    if ((status = read_settings(s, workload, result)) < 0 ||
        (status = read_columns(s, "run", run, false, &result->run)) < 0 ||
        (status = read_rows(s, "epochs", epochs, dlb_result_add_epoch, result)) < 0 ||
        (status = read_rows(s, "ranks", ranks, dlb_result_add_rank, result)) < 0 ||
        (status = read_extras(s, extras, &result->run)) < 0 ||
        (status = read_counters(s, "run", counters, &result->run)) < 0 ||
        (status = read_texts(s, "placement", placement, &result->placement)) < 0 ||
        (status = read_texts(s, "notes", notes, &result->notes)) < 0)
        return status;
    return read_end(s, end, run, result);
}

int dlb_result_parse(dlb_result *result, const char *name, const char *bytes, size_t count,
                     dlb_error *err)
{
    *result = (dlb_result){0};
    json_error_t problem;
    json_t *root = json_loadb(bytes, count, JSON_REJECT_DUPLICATES, &problem);
    if (!root)
        return dlb_fail(err, DLB_BAD_INPUT, "%s:%d: %s", name, problem.line, problem.text);
    dlb_result_init(result);
    int status = read_root(&(source){name, err}, root, result);
    if (status < 0)
        dlb_result_release(result);
    json_decref(root);
    return status;
}
