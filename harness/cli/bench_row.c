#include "cli/bench_row.h"

#include <math.h>

void dlb_bench_row_text(dlb_bench_row *row, const char *text)
{
    dlb_csv_add(&row->line, row->cells++, text);
}

void dlb_bench_row_number(dlb_bench_row *row, double number)
{
    char text[32] = "";
    if (isfinite(number))
        dlb_format_real(number, text, sizeof text);
    dlb_bench_row_text(row, text);
}

int dlb_bench_row_append(dlb_bench_row *row, const char *path, const char *header, dlb_error *err)
{
    int status = dlb_csv_append(path, header, row->line.text, err);
    dlb_str_release(&row->line);
    *row = (dlb_bench_row){0};
    return status;
}
