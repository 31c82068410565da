#include "report/summary_sheet.h"

#include <stdarg.h>

#include "base/mem.h"
#include "report/wrap.h"

enum { GAP = 2, MARGIN = 1 }; /* blanks between columns, and before the first */

void dlb_sheet_release(dlb_sheet *sheet)
{
    for (size_t r = 0; r < sheet->row_count; r++) {
        for (size_t c = 0; c < DLB_SHEET_COLUMNS; c++)
            free(sheet->rows[r].cells[c]);
        free(sheet->rows[r].note);
    }
    free(sheet->rows);
    for (size_t c = 0; c < sheet->column_count; c++)
        free(sheet->columns[c].title);
    *sheet = (dlb_sheet){0};
}

size_t dlb_sheet_column_add(dlb_sheet *sheet, const char *title, bool left, int importance)
{
    if (sheet->column_count == DLB_SHEET_COLUMNS)
        return DLB_SHEET_COLUMNS - 1;
    sheet->columns[sheet->column_count] = (dlb_sheet_column){dlb_strdup(title), left, importance};
    return sheet->column_count++;
}

void dlb_sheet_row_add(dlb_sheet *sheet)
{
    sheet->rows =
        dlb_grow(sheet->rows, &sheet->row_capacity, sheet->row_count + 1, sizeof *sheet->rows);
    sheet->row_count++;
}

void dlb_sheet_note_add(dlb_sheet *sheet, const char *text)
{
    dlb_sheet_row_add(sheet);
    sheet->rows[sheet->row_count - 1].note = dlb_strdup(text);
}

void dlb_sheet_set(dlb_sheet *sheet, size_t column, const char *text)
{
    char **cell = &sheet->rows[sheet->row_count - 1].cells[column];
    free(*cell);
    *cell = *text ? dlb_strdup(text) : NULL;
}

void dlb_sheet_setf(dlb_sheet *sheet, size_t column, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it does not see va_start here
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    dlb_sheet_set(sheet, column, text);
}

/* --- widths --- */

/* 0 for a column whose cells are all empty. */
static int width_of(const dlb_sheet *sheet, size_t column)
{
    int width = 0;
    for (size_t r = 0; r < sheet->row_count; r++) {
        const char *cell = sheet->rows[r].cells[column];
        int columns = cell ? dlb_wrap_columns(cell) : 0;
        width = columns > width ? columns : width;
    }
    int title = dlb_wrap_columns(sheet->columns[column].title);
    return width == 0 || width > title ? width : title;
}

static int total_of(const int *widths, size_t count)
{
    int total = MARGIN - GAP;
    for (size_t c = 0; c < count; c++)
        total += widths[c] ? widths[c] + GAP : 0;
    return total > 0 ? total : 0;
}

/* The column to leave out first, or -1. Of equals it is the last. */
static int least_important(const dlb_sheet *sheet, const int *widths)
{
    int least = -1;
    for (size_t c = 0; c < sheet->column_count; c++) {
        int importance = sheet->columns[c].importance;
        if (widths[c] && importance < DLB_SHEET_NEEDED &&
            (least < 0 || importance <= sheet->columns[least].importance))
            least = (int)c;
    }
    return least;
}

static void fit(const dlb_sheet *sheet, int width, int *widths)
{
    for (size_t c = 0; c < sheet->column_count; c++)
        widths[c] = width_of(sheet, c);
    int least;
    while (total_of(widths, sheet->column_count) > width &&
           (least = least_important(sheet, widths)) >= 0)
        widths[least] = 0;
}

/* --- printing --- */

static void add_padded(dlb_str *out, const char *text, int width, bool left)
{
    int blanks = width - dlb_wrap_columns(text);
    dlb_str_addf(out, "%*s%s%*s", left ? 0 : blanks, "", text, left ? blanks : 0, "");
}

static void trim_end(dlb_str *out)
{
    while (out->length && out->text[out->length - 1] == ' ')
        out->text[--out->length] = '\0';
}

static void add_rule(dlb_str *out, int width, bool colour)
{
    dlb_str_addf(out, "%s%*s", colour ? "\033[2m" : "", MARGIN, "");
    for (int i = MARGIN; i < width; i++)
        dlb_str_add(out, "─");
    dlb_str_addf(out, "%s\n", colour ? "\033[0m" : "");
}

static void add_titles(const dlb_sheet *sheet, const int *widths, bool colour, dlb_str *out)
{
    dlb_str_add(out, colour ? "\033[1m" : "");
    for (size_t c = 0, shown = 0; c < sheet->column_count; c++) {
        if (!widths[c])
            continue;
        dlb_str_addf(out, "%*s", shown++ ? GAP : MARGIN, "");
        add_padded(out, sheet->columns[c].title, widths[c], sheet->columns[c].left);
    }
    trim_end(out);
    dlb_str_add(out, colour ? "\033[0m\n" : "\n");
}

static void add_cells(const dlb_sheet *sheet, const dlb_sheet_row *row, const int *widths,
                      dlb_str *out)
{
    for (size_t c = 0, shown = 0; c < sheet->column_count; c++) {
        if (!widths[c])
            continue;
        dlb_str_addf(out, "%*s", shown++ ? GAP : MARGIN, "");
        add_padded(out, row->cells[c] ? row->cells[c] : "", widths[c], sheet->columns[c].left);
    }
    trim_end(out);
}

void dlb_sheet_print(const dlb_sheet *sheet, int width, bool colour, dlb_str *out)
{
    int widths[DLB_SHEET_COLUMNS];
    fit(sheet, width, widths);
    int total = total_of(widths, sheet->column_count);
    if (total == 0)
        return;
    add_titles(sheet, widths, colour, out);
    add_rule(out, total, colour);
    for (size_t r = 0; r < sheet->row_count; r++) {
        const dlb_sheet_row *row = &sheet->rows[r];
        bool marked = colour && row->marked;
        dlb_str_add(out, marked ? "\033[32m" : "");
        if (row->note)
            dlb_str_addf(out, "%*s%s", MARGIN, "", row->note);
        else
            add_cells(sheet, row, widths, out);
        dlb_str_add(out, marked ? "\033[0m\n" : "\n");
    }
}

void dlb_sheet_wrap(const char *text, int width, const char *first, const char *indent,
                    dlb_str *out)
{
    const char *before = first;
    do {
        text += strspn(text, " ");
        size_t length = dlb_wrap_line(text, width - dlb_wrap_columns(before));
        dlb_str_add(out, before);
        dlb_str_add_bytes(out, text, length);
        dlb_str_add(out, "\n");
        text += length;
        before = indent;
    } while (*text);
}
