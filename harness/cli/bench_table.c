#include "cli/bench_table.h"

#include <math.h>

#include "base/mem.h"
#include "base/str.h"

enum { GAP = 2 }; /* blanks before each column */

static const char MISSING[] = "–";

/* ---- Numbers ---- */

typedef struct time_unit {
    double seconds;
    const char *name;
} time_unit;

static time_unit unit_of(double seconds)
{
    static const time_unit units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {1e-9, "ns"}};
    enum { LAST = sizeof units / sizeof *units - 1 };
    int unit = 0;
    while (unit < LAST && seconds < 0.9995 * units[unit].seconds)
        unit++;
    return units[unit];
}

/* Decimals that leave three digits that count. */
static int decimals_of(double number)
{
    return number < 9.995 ? 2 : number < 99.95 ? 1 : 0;
}

static dlb_text missing(void)
{
    dlb_text text;
    snprintf(text.text, sizeof text.text, "%s", MISSING);
    return text;
}

dlb_text dlb_bench_time(double seconds)
{
    if (isnan(seconds))
        return missing();
    time_unit unit = unit_of(seconds);
    double number = seconds / unit.seconds;
    dlb_text text;
    snprintf(text.text, sizeof text.text, "%.*f %s", decimals_of(number), number, unit.name);
    return text;
}

dlb_text dlb_bench_ratio(double ratio)
{
    if (isnan(ratio))
        return missing();
    dlb_text text;
    snprintf(text.text, sizeof text.text, "%.2f", ratio);
    return text;
}

dlb_text dlb_bench_size(size_t bytes)
{
    dlb_text text;
    if (bytes >= 1 << 20)
        snprintf(text.text, sizeof text.text, "%zu MB", bytes >> 20);
    else
        snprintf(text.text, sizeof text.text, "%zu KB", bytes >> 10);
    return text;
}

/* ---- The table ---- */

void dlb_bench_table_init(dlb_bench_table *table, size_t columns, bool named)
{
    *table = (dlb_bench_table){.columns = columns, .named = named};
}

void dlb_bench_table_release(dlb_bench_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i]);
    free(table->cells);
    *table = (dlb_bench_table){0};
}

void dlb_bench_table_add(dlb_bench_table *table, const char *text)
{
    table->cells = dlb_grow(table->cells, &table->capacity, table->count + 1, sizeof *table->cells);
    table->cells[table->count++] = dlb_strdup(text);
}

static void add_range(dlb_bench_table *table, double low, double high, int decimals)
{
    char text[64];
    snprintf(text, sizeof text, "%.*f…%.*f", decimals, low, decimals, high);
    dlb_bench_table_add(table, isnan(low) ? MISSING : text);
}

static void add_times(dlb_bench_table *table, double seconds, double low, double high)
{
    double unit = unit_of(seconds).seconds;
    dlb_bench_table_add(table, dlb_bench_time(seconds).text);
    add_range(table, low / unit, high / unit, decimals_of(seconds / unit));
}

/* A zeroed spread is of nothing, too. */
static double low_of(const dlb_spread *spread)
{
    return spread->count ? spread->lower : NAN;
}

void dlb_bench_table_add_time(dlb_bench_table *table, const dlb_spread *seconds)
{
    add_times(table, seconds->median, low_of(seconds), seconds->upper);
}

void dlb_bench_table_add_ratio(dlb_bench_table *table, const dlb_spread *ratio)
{
    dlb_bench_table_add(table, dlb_bench_ratio(ratio->median).text);
    add_range(table, low_of(ratio), ratio->upper, 2);
}

void dlb_bench_table_add_time_interval(dlb_bench_table *table, const dlb_interval *seconds)
{
    add_times(table, seconds->value, seconds->low, seconds->high);
}

void dlb_bench_table_add_interval(dlb_bench_table *table, const dlb_interval *number)
{
    add_range(table, number->low, number->high, decimals_of(number->value));
}

static int width_of(const dlb_bench_table *table, size_t column)
{
    int width = 0;
    for (size_t i = column; i < table->count; i += table->columns) {
        int columns = dlb_text_columns(table->cells[i]);
        width = columns > width ? columns : width;
    }
    return width;
}

static void add_cell(const dlb_bench_table *table, size_t index, dlb_str *line)
{
    size_t column = index % table->columns;
    const char *text = table->cells[index];
    int blanks = width_of(table, column) - dlb_text_columns(text);
    if (column == 0 && table->named)
        dlb_str_addf(line, "%*s%s%*s", GAP, "", text, blanks, "");
    else
        dlb_str_addf(line, "%*s%s", GAP + blanks, "", text);
}

static void print_rule(int width, FILE *out)
{
    fprintf(out, "%*s", GAP, "");
    for (int i = GAP; i < width; i++)
        fputs("─", out);
    fputc('\n', out);
}

void dlb_bench_table_print(const dlb_bench_table *table, FILE *out)
{
    dlb_str line = DLB_STR_INIT;
    for (size_t i = 0; i < table->count; i++) {
        add_cell(table, i, &line);
        if ((i + 1) % table->columns)
            continue;
        fprintf(out, "%s\n", line.text);
        if (i + 1 == table->columns)
            print_rule(dlb_text_columns(line.text), out);
        dlb_str_clear(&line);
    }
    dlb_str_release(&line);
}
