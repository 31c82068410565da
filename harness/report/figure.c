#include "report/figure.h"

#include <ctype.h>
#include <math.h>

#include "base/file.h"
#include "base/mem.h"
#include "report/scripts.h"
#include "report/wrap.h"

static void release(dlb_figure *figure)
{
    free(figure->name);
    dlb_str_release(&figure->values);
    dlb_str_release(&figure->data);
    dlb_str_release(&figure->repeats);
}

void dlb_figures_release(dlb_figures *figures)
{
    for (size_t i = 0; i < figures->count; i++)
        release(&figures->items[i]);
    free(figures->items);
    *figures = (dlb_figures){0};
}

/* ---- names --------------------------------------------------------------------------------- */

static void add_plain(dlb_str *name, const char *text)
{
    dlb_str_add(name, "");
    for (; *text; text++) {
        bool plain = isalnum((unsigned char)*text) || *text == '_' || *text == '-';
        dlb_str_add_bytes(name, plain ? text : "_", 1);
    }
}

static bool is_taken(const dlb_figures *figures, const char *name)
{
    for (size_t i = 0; i < figures->count; i++)
        if (strcmp(figures->items[i].name, name) == 0)
            return true;
    return false;
}

/* Parts that differ only in what file names lack get numbers. */
static char *free_name(const dlb_figures *figures, const char *name, const char *part)
{
    dlb_str plain = DLB_STR_INIT;
    add_plain(&plain, name);
    if (*part) {
        dlb_str_add(&plain, "_");
        add_plain(&plain, part);
    }
    size_t length = plain.length;
    for (int number = 2; is_taken(figures, plain.text); number++) {
        plain.length = length;
        dlb_str_addf(&plain, "_%d", number);
    }
    return plain.text;
}

dlb_figure *dlb_figure_add(dlb_figures *figures, const char *script, const char *name,
                           const char *part)
{
    char *whole = free_name(figures, name, part);
    figures->items =
        dlb_grow(figures->items, &figures->capacity, figures->count + 1, sizeof *figures->items);
    dlb_figure *figure = &figures->items[figures->count++];
    *figure = (dlb_figure){.name = whole,
                           .script = script,
                           .caption_columns = figures->caption_columns,
                           .study = figures->study};
    dlb_figure_text(figure, "name", whole);
    return figure;
}

/* ---- values -------------------------------------------------------------------------------- */

/* The bytes of the UTF-8 character that text begins with; 0 if it is none. */
static size_t character(const char *text)
{
    unsigned char c = (unsigned char)*text;
    size_t bytes = c < 0x80 ? 1 : c >= 0xC2 && c < 0xE0 ? 2 : c >= 0xE0 && c < 0xF0 ? 3 : 4;
    if (c >= 0xF5 || (c >= 0x80 && c < 0xC2))
        return 0;
    for (size_t i = 1; i < bytes; i++)
        if (((unsigned char)text[i] & 0xC0) != 0x80)
            return 0;
    return bytes;
}

/* Within single quotes only the quote itself means something to gnuplot, and is doubled. */
void dlb_gnuplot_quote(dlb_str *out, const char *text)
{
    dlb_str_add(out, "'");
    while (*text) {
        size_t bytes = character(text);
        bool shown = bytes > 0 && (unsigned char)*text >= ' ' && *text != 0x7F;
        if (*text == '\'')
            dlb_str_add(out, "''");
        else
            dlb_str_add_bytes(out, shown ? text : " ", shown ? bytes : 1);
        text += bytes ? bytes : 1;
    }
    dlb_str_add(out, "'");
}

static void add_number(dlb_str *out, double number)
{
    char text[32];
    dlb_format_real(number, text, sizeof text);
    dlb_str_add(out, isfinite(number) ? text : "NaN");
}

void dlb_figure_text(dlb_figure *figure, const char *variable, const char *text)
{
    dlb_str_addf(&figure->values, "%s = ", variable);
    dlb_gnuplot_quote(&figure->values, text);
    dlb_str_add(&figure->values, "\n");
}

void dlb_figure_number(dlb_figure *figure, const char *variable, double number)
{
    dlb_str_addf(&figure->values, "%s = ", variable);
    add_number(&figure->values, number);
    dlb_str_add(&figure->values, "\n");
}

void dlb_figure_texts(dlb_figure *figure, const char *variable, const char *const *texts,
                      size_t count)
{
    dlb_str_addf(&figure->values, "array %s[%zu] = [", variable, count);
    for (size_t i = 0; i < count; i++) {
        dlb_str_add(&figure->values, i ? ", " : "");
        dlb_gnuplot_quote(&figure->values, texts[i]);
    }
    dlb_str_add(&figure->values, "]\n");
}

void dlb_figure_numbers(dlb_figure *figure, const char *variable, const double *numbers,
                        size_t count)
{
    dlb_str_addf(&figure->values, "array %s[%zu] = [", variable, count);
    for (size_t i = 0; i < count; i++) {
        dlb_str_add(&figure->values, i ? ", " : "");
        add_number(&figure->values, numbers[i]);
    }
    dlb_str_add(&figure->values, "]\n");
}

void dlb_figure_caption(dlb_figure *figure, const char *text)
{
    enum { MOST = 6 };
    char *lines[MOST];
    size_t count = 0;
    while (*text && count < MOST) {
        size_t length = dlb_wrap_line(text, figure->caption_columns);
        dlb_str line = DLB_STR_INIT;
        dlb_str_add_bytes(&line, text, length);
        text += length;
        text += *text == ' ';
        dlb_str_add(&line, *text && count + 1 == MOST ? " …" : "");
        lines[count++] = line.text;
    }
    dlb_figure_texts(figure, "caption", (const char *const *)lines, count);
    for (size_t i = 0; i < count; i++)
        free(lines[i]);
}

void dlb_figure_tics(dlb_figure *figure, const char *axis, const double *at,
                     const char *const *labels, size_t count)
{
    dlb_str_addf(&figure->values, "set %stics (", axis);
    for (size_t i = 0; i < count; i++) {
        char number[32];
        snprintf(number, sizeof number, "%.6g", at[i]);
        dlb_str_add(&figure->values, i ? ", " : "");
        dlb_gnuplot_quote(&figure->values, labels ? labels[i] : number);
        dlb_str_add(&figure->values, " ");
        add_number(&figure->values, at[i]);
    }
    dlb_str_add(&figure->values, ")\n");
}

/* ---- files --------------------------------------------------------------------------------- */

void dlb_figure_cell(dlb_str *data, bool first, double number)
{
    dlb_str_add(data, first ? "" : "\t");
    if (isfinite(number))
        dlb_str_addf(data, "%.6g", number);
    else
        dlb_str_add(data, "?");
}

static const char *script_text(const char *name)
{
    const dlb_plot_script *script = dlb_plot_scripts;
    while (script->name && strcmp(script->name, name) != 0)
        script++;
    return script->name ? script->text : "";
}

static int write_file(const dlb_figure *figure, const char *folder, const char *ending,
                      const dlb_str *text, dlb_error *err)
{
    dlb_str path = DLB_STR_INIT;
    dlb_str_addf(&path, "%s/%s%s", folder, figure->name, ending);
    int status = dlb_file_write_atomic(path.text, text->text, text->length, err);
    dlb_str_release(&path);
    return status;
}

static int write_data(const dlb_figure *figure, const char *folder, dlb_error *err)
{
    dlb_str text = DLB_STR_INIT;
    dlb_str_addf(&text, "# %s\n%s", figure->head, figure->data.text ? figure->data.text : "");
    int status = write_file(figure, folder, ".dat", &text, err);
    dlb_str_release(&text);
    return status;
}

static int write_repeats(const dlb_figure *figure, const char *folder, dlb_error *err)
{
    dlb_str text = DLB_STR_INIT;
    dlb_str_addf(&text, "# panel\tline\tx\tvalue, of single runs\n%s", figure->repeats.text);
    int status = write_file(figure, folder, ".repeats.dat", &text, err);
    dlb_str_release(&text);
    return status;
}

static int write_script(const dlb_figure *figure, const char *folder, dlb_error *err)
{
    dlb_str text = DLB_STR_INIT;
    dlb_str_addf(&text, "# Made by dlbench; gnuplot %s.gp draws it.\nreset\n%s\n", figure->name,
                 figure->values.text);
    dlb_str_addf(&text, "%s\n%s\n", script_text("style"), script_text(figure->script));
    dlb_str_add(&text, "if (suffix ne '') { set print '-'; print name; unset print }\n");
    int status = write_file(figure, folder, ".gp", &text, err);
    dlb_str_release(&text);
    return status;
}

int dlb_figure_write(const dlb_figure *figure, const char *folder, dlb_error *err)
{
    int status = write_data(figure, folder, err);
    if (status == 0 && figure->repeats.length)
        status = write_repeats(figure, folder, err);
    if (status == 0)
        status = write_script(figure, folder, err);
    return status;
}
