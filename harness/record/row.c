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

/* The columns that every row of the table has, without its counters. */
static void add_fixed_header(const dlb_table *table, dlb_str *line)
{
    for (int column = 0; column < table->count; column++)
        dlb_csv_add(line, (size_t)column, table->columns[column].name);
}

void dlb_row_header(const dlb_row *row, dlb_str *line)
{
    add_fixed_header(row->table, line);
    for (size_t i = 0; i < row->counter_count; i++)
        dlb_csv_add(line, (size_t)row->table->count + i, row->counters[i].column);
}

static void add_cell(dlb_str *line, int column, const dlb_cell *cell)
{
    char number[32] = "";
    if (cell->kind == DLB_CELL_INT)
        snprintf(number, sizeof number, "%lld", cell->integer);
    else if (cell->kind == DLB_CELL_REAL)
        dlb_format_real(cell->real, number, sizeof number);
    dlb_csv_add(line, (size_t)column, cell->kind == DLB_CELL_TEXT ? cell->text : number);
}

void dlb_row_line(const dlb_row *row, dlb_str *line)
{
    for (int column = 0; column < row->table->count; column++)
        add_cell(line, column, &row->cells[column]);
    for (size_t i = 0; i < row->counter_count; i++) {
        const dlb_row_counter *counter = &row->counters[i];
        dlb_str_add(line, ",");
        if (!counter->missing)
            dlb_str_addf(line, "%lld", counter->value);
    }
}

/* Whether the file's header has the fixed columns of the table, with other counters or none. */
static bool only_counters_differ(const dlb_table *table, const char *path)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    char *first = NULL;
    size_t capacity = 0;
    ssize_t length = getline(&first, &capacity, file);
    fclose(file);

    dlb_str fixed = DLB_STR_INIT;
    add_fixed_header(table, &fixed);
    bool same = length > (ssize_t)fixed.length &&
                strncmp(first, fixed.text ? fixed.text : "", fixed.length) == 0 &&
                strchr(",\r\n", first[fixed.length]);
    dlb_str_release(&fixed);
    free(first);
    return same;
}

static int explain_refusal(const dlb_row *row, const char *path, int status, dlb_error *err)
{
    if (status == DLB_BAD_INPUT && row->table->has_counters &&
        only_counters_differ(row->table, path))
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
