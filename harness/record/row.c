#include "record/row.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>

#include "base/csv.h"
#include "base/mem.h"

void dlb_row_init(dlb_row *row, const dlb_table *table)
{
    *row = (dlb_row){
        .table = table,
        .cells = dlb_alloc((size_t)table->count, sizeof *row->cells),
    };
}

static void counter_release(dlb_row_counter *counter)
{
    free(counter->why);
    free(counter->column);
    free(counter->name);
}

void dlb_row_release(dlb_row *row)
{
    for (size_t i = 0; i < row->counter_count; i++)
        counter_release(&row->counters[i]);
    free(row->counters);
    for (size_t i = 0; i < row->extra_count; i++) {
        free(row->extras[i].text);
        free(row->extras[i].name);
    }
    free(row->extras);
    for (int column = 0; row->table && column < row->table->count; column++)
        dlb_row_clear(row, column);
    free(row->cells);
    *row = (dlb_row){0};
}

void dlb_row_clear(dlb_row *row, int column)
{
    dlb_cell *cell = &row->cells[column];
    if (cell->kind == DLB_CELL_TEXT)
        free(cell->text);
    *cell = (dlb_cell){0};
}

void dlb_row_set_int(dlb_row *row, int column, long long value)
{
    if (row->table->columns[column].type == DLB_COLUMN_REAL) {
        dlb_row_set_real(row, column, (double)value);
        return;
    }
    assert(row->table->columns[column].type == DLB_COLUMN_INT);
    row->cells[column] = (dlb_cell){.kind = DLB_CELL_INT, .integer = value};
}

void dlb_row_set_real(dlb_row *row, int column, double value)
{
    assert(row->table->columns[column].type == DLB_COLUMN_REAL);
    row->cells[column] = isfinite(value) ? (dlb_cell){.kind = DLB_CELL_REAL, .real = value}
                                         : (dlb_cell){.kind = DLB_CELL_MISSING};
}

void dlb_row_set_text(dlb_row *row, int column, const char *text)
{
    assert(row->table->columns[column].type == DLB_COLUMN_TEXT);
    char *own = dlb_strdup(text); /* before the clear: text may be the value itself */
    dlb_row_clear(row, column);
    if (*own)
        row->cells[column] = (dlb_cell){.kind = DLB_CELL_TEXT, .text = own};
    else
        free(own);
}

const char *dlb_row_text(const dlb_row *row, int column)
{
    const dlb_cell *cell = &row->cells[column];
    return cell->kind == DLB_CELL_TEXT ? cell->text : "";
}

double dlb_row_real(const dlb_row *row, int column)
{
    const dlb_cell *cell = &row->cells[column];
    if (cell->kind == DLB_CELL_INT)
        return (double)cell->integer;
    return cell->kind == DLB_CELL_REAL ? cell->real : NAN;
}

long long dlb_row_int(const dlb_row *row, int column, long long missing)
{
    const dlb_cell *cell = &row->cells[column];
    return cell->kind == DLB_CELL_INT ? cell->integer : missing;
}

static int refuse_cell(const dlb_column *column, const char *text, const char *what, dlb_error *err)
{
    return dlb_fail(err, DLB_BAD_INPUT, "%s: %.80s is not %s", column->name, text, what);
}

int dlb_row_parse(dlb_row *row, int column, const char *text, dlb_error *err)
{
    const dlb_column *info = &row->table->columns[column];
    long long integer;
    double real;
    if (*text == '\0') {
        dlb_row_clear(row, column);
    } else if (info->type == DLB_COLUMN_INT) {
        if (!dlb_parse_int(text, &integer))
            return refuse_cell(info, text, "an integer", err);
        dlb_row_set_int(row, column, integer);
    } else if (info->type == DLB_COLUMN_REAL) {
        if (!dlb_parse_real(text, &real) || !isfinite(real))
            return refuse_cell(info, text, "a finite number", err);
        dlb_row_set_real(row, column, real);
    } else {
        if (!dlb_column_allows(info, text))
            return refuse_cell(info, text, info->unit, err);
        dlb_row_set_text(row, column, text);
    }
    return 0;
}

void dlb_row_set_extra(dlb_row *row, const char *name, const char *text)
{
    char *own = dlb_strdup(text); /* before the free: text may be the value itself */
    size_t i = 0;
    while (i < row->extra_count && strcmp(row->extras[i].name, name) != 0)
        i++;
    if (i == row->extra_count) {
        row->extras =
            dlb_grow(row->extras, &row->extra_capacity, ++row->extra_count, sizeof *row->extras);
        row->extras[i].name = dlb_strdup(name);
    }
    free(row->extras[i].text);
    row->extras[i].text = own;
}

/* PAPI_TOT_INS → papi_tot_ins; perf::TASK-CLOCK → papi_perf_task_clock */
static char *counter_column(const char *event)
{
    dlb_str name = DLB_STR_INIT;
    dlb_str_add(&name, strncasecmp(event, "papi_", 5) == 0 ? "" : "papi_");
    for (const char *c = event; *c; c++) {
        bool plain = isalnum((unsigned char)*c);
        char lower = (char)tolower((unsigned char)*c);
        if (plain)
            dlb_str_add_bytes(&name, &lower, 1);
        else if (name.length && name.text[name.length - 1] != '_')
            dlb_str_add(&name, "_");
    }
    return name.text;
}

/* The row's counter of that event, empty: the one there was, or a new one. */
static dlb_row_counter *counter_slot(dlb_row *row, const char *event)
{
    assert(row->table->has_counters);
    char *column = counter_column(event);
    size_t i = 0;
    while (i < row->counter_count && strcmp(row->counters[i].column, column) != 0)
        i++;
    if (i == row->counter_count) {
        row->counters = dlb_grow(row->counters, &row->counter_capacity, ++row->counter_count,
                                 sizeof *row->counters);
    } else {
        counter_release(&row->counters[i]);
    }
    row->counters[i] = (dlb_row_counter){.name = dlb_strdup(event), .column = column};
    return &row->counters[i];
}

void dlb_row_set_counter(dlb_row *row, const char *event, long long value)
{
    counter_slot(row, event)->value = value;
}

void dlb_row_miss_counter(dlb_row *row, const char *event, const char *why)
{
    char *own = dlb_strdup(why);
    dlb_row_counter *counter = counter_slot(row, event);
    counter->missing = true;
    counter->why = own;
}

/* The columns without the counters. */
static size_t plain_width(const dlb_row *row)
{
    return (size_t)row->table->count + row->extra_count;
}

size_t dlb_row_width(const dlb_row *row)
{
    return plain_width(row) + row->counter_count;
}

const char *dlb_row_name(const dlb_row *row, size_t column)
{
    size_t fixed = (size_t)row->table->count, plain = plain_width(row);
    if (column < fixed)
        return row->table->columns[column].name;
    return column < plain ? row->extras[column - fixed].name : row->counters[column - plain].column;
}

static void add_names(const dlb_row *row, size_t count, dlb_str *line)
{
    for (size_t i = 0; i < count; i++)
        dlb_csv_add(line, i, dlb_row_name(row, i));
}

void dlb_row_header(const dlb_row *row, dlb_str *line)
{
    add_names(row, dlb_row_width(row), line);
}

static void add_cell(dlb_str *line, size_t place, const dlb_cell *cell)
{
    char number[32] = "";
    if (cell->kind == DLB_CELL_INT)
        snprintf(number, sizeof number, "%lld", cell->integer);
    else if (cell->kind == DLB_CELL_REAL)
        dlb_format_real(cell->real, number, sizeof number);
    dlb_csv_add(line, place, cell->kind == DLB_CELL_TEXT ? cell->text : number);
}

static void add_counter(dlb_str *line, size_t place, const dlb_row_counter *counter)
{
    char number[32] = "";
    if (!counter->missing)
        snprintf(number, sizeof number, "%lld", counter->value);
    dlb_csv_add(line, place, number);
}

/* The value of one of the row's columns, as the field of a line at that place. */
static void add_value(const dlb_row *row, size_t column, dlb_str *line, size_t place)
{
    size_t fixed = (size_t)row->table->count, plain = plain_width(row);
    if (column < fixed)
        add_cell(line, place, &row->cells[column]);
    else if (column < plain)
        dlb_csv_add(line, place, row->extras[column - fixed].text);
    else
        add_counter(line, place, &row->counters[column - plain]);
}

void dlb_row_line(const dlb_row *row, dlb_str *line)
{
    for (size_t i = 0; i < dlb_row_width(row); i++)
        add_value(row, i, line, i);
}

/* The row's column of that name, or its width; `likely` is looked at first. */
static size_t find_name(const dlb_row *row, const char *name, size_t likely)
{
    size_t width = dlb_row_width(row);
    if (likely < width && strcmp(dlb_row_name(row, likely), name) == 0)
        return likely;
    size_t i = 0;
    while (i < width && strcmp(dlb_row_name(row, i), name) != 0)
        i++;
    return i;
}

void dlb_row_line_as(const dlb_row *row, char *const *columns, size_t count, dlb_str *line)
{
    for (size_t i = 0; i < count; i++) {
        size_t own = find_name(row, columns[i], i);
        if (own < dlb_row_width(row))
            add_value(row, own, line, i);
        else
            dlb_csv_add(line, i, "");
    }
}

/* Whether the file's header has the columns of the row, with other counters or none. */
static bool only_counters_differ(const dlb_row *row, const char *path)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    char *first = NULL;
    size_t capacity = 0;
    ssize_t length = getline(&first, &capacity, file);
    fclose(file);

    dlb_str plain = DLB_STR_INIT;
    add_names(row, plain_width(row), &plain);
    bool same = length > (ssize_t)plain.length &&
                strncmp(first, plain.text ? plain.text : "", plain.length) == 0 &&
                strchr(",\r\n", first[plain.length]);
    dlb_str_release(&plain);
    free(first);
    return same;
}

static int explain_refusal(const dlb_row *row, const char *path, int status, dlb_error *err)
{
    if (status == DLB_BAD_INPUT && row->table->has_counters && only_counters_differ(row, path))
        return dlb_fail(err, DLB_BAD_INPUT,
                        "%s: its counter columns (papi_...) are others than those of this row; "
                        "name another file, or count the same events",
                        path);
    return status;
}

int dlb_row_check(const dlb_row *row, const char *path, dlb_error *err)
{
    dlb_str header = DLB_STR_INIT;
    dlb_row_header(row, &header);
    int status = dlb_csv_check(path, header.text, err);
    dlb_str_release(&header);
    return explain_refusal(row, path, status, err);
}

int dlb_row_append(const dlb_row *row, const char *path, dlb_error *err)
{
    dlb_str header = DLB_STR_INIT, line = DLB_STR_INIT;
    dlb_row_header(row, &header);
    dlb_row_line(row, &line);
    int status = dlb_csv_append(path, header.text, line.text, err);
    dlb_str_release(&line);
    dlb_str_release(&header);
    return explain_refusal(row, path, status, err);
}
