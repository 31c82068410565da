#include <math.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "cli/bench_kernels.h"
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

int dlb_kernel_roofline_check(const char *path, dlb_error *err)
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

typedef struct mark {
    const char *name;
    double seconds, intensity, gflops;
} mark;

static int order(double one, double other)
{
    return (one > other) - (one < other);
}

static int longest_first(const void *a, const void *b)
{
    const mark *one = a, *other = b;
    return order(other->seconds, one->seconds);
}

static int left_to_right(const void *a, const void *b)
{
    const mark *one = a, *other = b;
    int sign = order(one->intensity, other->intensity);
    return sign ? sign : order(one->gflops, other->gflops);
}

/* What the plan uses in a step; returns how many. */
static size_t make_marks(const dlb_kernel_result *r, mark *marks)
{
    size_t count = 0;
    for (size_t i = 0; i < r->plan->row_count; i++) {
        const dlb_kernel_row *row = &r->plan->rows[i];
        if (row->alternative || row->evaluation)
            continue;
        double gflops = dlb_kernel_row_gflops(r, row);
        marks[count++] =
            (mark){row->name, row->cost.flops / gflops, row->cost.flops / row->cost.bytes, gflops};
    }
    return count;
}

/* Those of `all` that take longest, from left to right; returns how many. */
static size_t choose_marks(mark *marks, size_t all)
{
    size_t count = all < MARKS ? all : MARKS;
    qsort(marks, all, sizeof *marks, longest_first);
    qsort(marks, count, sizeof *marks, left_to_right);
    return count;
}

static void add_marks(dlb_figure *figure, double peak, const mark *marks, size_t count)
{
    const char *legend[MARKS];
    double low = peak, high = peak;
    for (size_t i = 0; i < count; i++) {
        low = fmin(low, marks[i].gflops);
        high = fmax(high, marks[i].gflops);
        legend[i] = marks[i].name;
        dlb_figure_cell(&figure->data, true, marks[i].intensity);
        dlb_figure_cell(&figure->data, false, marks[i].gflops);
        dlb_figure_cell(&figure->data, false, (double)i + 1);
        dlb_str_add(&figure->data, "\n");
    }
    dlb_figure_texts(figure, "legend", legend, count);
    dlb_figure_number(figure, "xmin", marks[0].intensity / 2);
    dlb_figure_number(figure, "xmax", marks[count - 1].intensity * 2);
    dlb_figure_number(figure, "ymin", low / 2);
    dlb_figure_number(figure, "ymax", high * 2);
}

static void describe(dlb_figure *figure, const dlb_kernel_result *r, size_t left_out)
{
    const dlb_kernel_plan *p = r->plan;
    dlb_str text = DLB_STR_INIT;
    dlb_str_addf(&text, "Kernels of %s on one core, %s, %s", p->model->name,
                 dlk_family_name(p->kernels.family), dlk_isa_name(p->kernels.isa));
    dlb_figure_text(figure, "title", text.text);
    dlb_str_clear(&text);
    dlb_str_addf(&text,
                 "Median of %d rounds; FLOPs as if dense, bytes as if every operand is moved once, "
                 "batch %d. What is above the FMA roof skips zeros or needs fewer multiplications. "
                 "Roofs are measured in the same rounds; what is above the slope works in cache.",
                 r->rounds, p->batch);
    if (left_out)
        dlb_str_addf(&text, " The %zu shortest operations are not shown.", left_out);
    dlb_figure_caption(figure, text.text);
    dlb_str_release(&text);
    dlb_figure_text(figure, "xlabel", "FLOP / byte");
    dlb_figure_text(figure, "ylabel", "GFLOP/s");
    dlb_figure_number(figure, "peak", dlb_kernel_peak_gflops(r));
    dlb_figure_number(figure, "bandwidth", dlb_kernel_triad_gbs(r));
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

int dlb_kernel_roofline_draw(const dlb_kernel_result *r, const char *path, dlb_error *err)
{
    place picture;
    if (!split(path, &picture))
        return dlb_fail(err, DLB_BAD_INPUT, "%s is no name of a picture", path);
    mark *marks = dlb_alloc(r->plan->row_count, sizeof *marks);
    size_t all = make_marks(r, marks), shown = choose_marks(marks, all);
    dlb_figures figures = {.caption_columns = CAPTION_COLUMNS, .study = ""};
    dlb_figure *figure = dlb_figure_add(&figures, "roofline", picture.name, "");
    figure->head = "FLOP/byte\tGFLOP/s\tnumber";
    describe(figure, r, all - shown);
    add_marks(figure, dlb_kernel_peak_gflops(r), marks, shown);
    int status = draw(figure, &picture, path, err);
    dlb_figures_release(&figures);
    free(marks);
    release_place(&picture);
    return status;
}
