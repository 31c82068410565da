#include "cli/bench_roofline.h"

#include <math.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "report/figure.h"
#include "report/gnuplot.h"

enum { MARKS = 20, CAPTION_COLUMNS = 158 };

/* Where a picture goes: docs/roofline.svg is docs, roofline and svg. */
typedef struct place {
    char *folder, *name;
    const char *format;
} place;

static void release_place(place *picture)
{
    free(picture->folder);
    free(picture->name);
}

static char *copy_part(const char *from, const char *end)
{
    dlb_str text = DLB_STR_INIT;
    dlb_str_add_bytes(&text, from, (size_t)(end - from));
    return text.text;
}

/* A figure's name has letters, digits, "_" and "-" only. */
static bool split(const char *path, place *picture)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t length = strspn(base, plain);
    const char *format = base + length + (base[length] == '.');
    if (length == 0 ||
        (strcmp(format, "svg") != 0 && strcmp(format, "png") != 0 && strcmp(format, "pdf") != 0))
        return false;
    picture->folder = slash ? copy_part(path, slash + 1) : dlb_strdup(".");
    picture->name = copy_part(base, base + length);
    picture->format = format;
    return true;
}

int dlb_roofline_check(const char *path, dlb_error *err)
{
    place picture;
    if (!split(path, &picture))
        return dlb_fail(err, DLB_BAD_INPUT,
                        "--roofline %s: must be a name of letters and digits that ends with .svg, "
                        ".png or .pdf",
                        path);
    release_place(&picture);
    if (dlb_file_writable(path, err) < 0)
        return DLB_BAD_INPUT;
    return 0;
}

/* ---- What is drawn ---- */

static int order(double one, double other)
{
    return (one > other) - (one < other);
}

static int longest_first(const void *a, const void *b)
{
    const dlb_roofline_mark *one = a, *other = b;
    return order(other->seconds, one->seconds);
}

static int left_to_right(const void *a, const void *b)
{
    const dlb_roofline_mark *one = a, *other = b;
    int sign = order(one->intensity, other->intensity);
    return sign ? sign : order(one->gflops, other->gflops);
}

/* Those that take longest, from left to right, then the others; returns how many have a name. */
static size_t sort_marks(dlb_roofline_mark *marks, size_t count)
{
    size_t named = 0;
    qsort(marks, count, sizeof *marks, longest_first);
    while (named < count && named < MARKS && marks[named].seconds > 0)
        named++;
    qsort(marks, named, sizeof *marks, left_to_right);
    return named;
}

/* Number 0: without a name. */
static void add_marks(dlb_figure *figure, const dlb_roofline *r, const dlb_roofline_mark *marks,
                      size_t named)
{
    const char *legend[MARKS];
    double low = r->peak, high = r->peak, left = INFINITY, right = 0;
    for (size_t i = 0; i < r->count; i++) {
        low = fmin(low, marks[i].gflops);
        high = fmax(high, marks[i].gflops);
        left = fmin(left, marks[i].intensity);
        right = fmax(right, marks[i].intensity);
        if (i < named)
            legend[i] = marks[i].name;
        dlb_figure_cell(&figure->data, true, marks[i].intensity);
        dlb_figure_cell(&figure->data, false, marks[i].gflops);
        dlb_figure_cell(&figure->data, false, i < named ? (double)i + 1 : 0);
        dlb_str_add(&figure->data, "\n");
    }
    dlb_figure_texts(figure, "legend", legend, named);
    dlb_figure_number(figure, "others", (double)(r->count - named));
    dlb_figure_number(figure, "xmin", left / 2);
    dlb_figure_number(figure, "xmax", right * 2);
    dlb_figure_number(figure, "ymin", low / 2);
    dlb_figure_number(figure, "ymax", high * 2);
}

static void describe(dlb_figure *figure, const dlb_roofline *r)
{
    dlb_str text = DLB_STR_INIT;
    dlb_figure_text(figure, "title", r->title);
    dlb_str_addf(&text,
                 "Median of %d rounds; FLOPs as if dense, bytes as if every operand is moved once. "
                 "What is above the FMA roof skips zeros or needs fewer multiplications. Roofs are "
                 "measured in the same rounds; what is above the slope works in cache.",
                 r->rounds);
    dlb_figure_caption(figure, text.text);
    dlb_str_release(&text);
    dlb_figure_text(figure, "xlabel", "FLOP / byte");
    dlb_figure_text(figure, "ylabel", "GFLOP/s");
    dlb_figure_number(figure, "peak", r->peak);
    dlb_figure_number(figure, "bandwidth", r->bandwidth);
}

static int draw(const dlb_figure *figure, const place *picture, const char *path, dlb_error *err)
{
    dlb_str script = DLB_STR_INIT, settings = DLB_STR_INIT, printed = DLB_STR_INIT;
    dlb_str_addf(&script, "%s.gp", picture->name);
    dlb_str_addf(&settings, "formats = '%s'", picture->format);
    const char *const scripts[] = {script.text, NULL};
    unlink(path); /* a picture that was not drawn is not to be one of before */
    int status = dlb_figure_write(figure, picture->folder, err);
    if (status == 0)
        status = dlb_gnuplot_run(picture->folder, settings.text, scripts, &printed, err);
    if (status == 0 && !dlb_file_exists(path))
        status = dlb_fail(err, DLB_FAIL, "this gnuplot draws no %s", picture->format);
    dlb_str_release(&printed);
    dlb_str_release(&settings);
    dlb_str_release(&script);
    return status;
}

int dlb_roofline_draw(const dlb_roofline *r, const char *path, dlb_error *err)
{
    place picture;
    if (!split(path, &picture))
        return dlb_fail(err, DLB_BAD_INPUT, "%s is no name of a picture", path);
    dlb_roofline_mark *marks = dlb_alloc(r->count, sizeof *marks);
    memcpy(marks, r->marks, r->count * sizeof *marks);
    size_t named = sort_marks(marks, r->count);
    dlb_figures figures = {.caption_columns = CAPTION_COLUMNS, .study = ""};
    dlb_figure *figure = dlb_figure_add(&figures, "roofline", picture.name, "");
    figure->head = "FLOP/byte\tGFLOP/s\tnumber";
    describe(figure, r);
    add_marks(figure, r, marks, named);
    int status = draw(figure, &picture, path, err);
    dlb_figures_release(&figures);
    free(marks);
    release_place(&picture);
    return status;
}
