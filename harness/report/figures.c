#include "report/figures.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "report/gnuplot.h"

static const char *const formats[] = {"svg", "png", "pdf"};
enum { FORMATS = sizeof formats / sizeof *formats };

static const char suffix[] = ".new"; /* of a picture that is being drawn: NAME.new.svg */

/* ---- what there is to say ------------------------------------------------------------------ */

static void add_comparisons(const dlb_report *report, dlb_figures *figures)
{
    bool *in_scoreboard = dlb_alloc(dlb_points_count(report->points), sizeof *in_scoreboard);
    dlb_figures_scoreboard(report, in_scoreboard, figures);
    dlb_figures_effects(report, in_scoreboard, figures);
    free(in_scoreboard);
}

static int reduce(const dlb_report *report, dlb_figures *figures, dlb_error *err)
{
    dlb_figures_scaling(report, figures);
    dlb_figures_accuracy(report, figures);
    dlb_figures_heatmaps(report, figures);
    add_comparisons(report, figures);
    int status = dlb_figures_epochs(report, figures, err);
    return status < 0 ? status : dlb_figures_phases(report, figures, err);
}

/* ---- the folder ---------------------------------------------------------------------------- */

static int write_all(const dlb_figures *figures, const char *folder, dlb_error *err)
{
    int status = 0;
    for (size_t i = 0; status == 0 && i < figures->count; i++)
        status = dlb_figure_write(&figures->items[i], folder, err);
    return status;
}

static void path_of(dlb_str *path, const char *folder, const char *name, const char *ending)
{
    dlb_str_clear(path);
    dlb_str_addf(path, "%s/%s%s", folder, name, ending);
}

/* ---- figures of before --------------------------------------------------------------------- */

static const char first_words[] = "# Made by dlbench;";

/* Whether a script of that name in the folder is ours. */
static bool is_ours(const char *folder, const char *script)
{
    dlb_str path = DLB_STR_INIT;
    path_of(&path, folder, script, "");
    char begin[sizeof first_words] = "";
    FILE *file = fopen(path.text, "r");
    bool ours = file && fread(begin, 1, sizeof begin - 1, file) == sizeof begin - 1 &&
                strcmp(begin, first_words) == 0;
    if (file)
        fclose(file);
    dlb_str_release(&path);
    return ours;
}

static bool is_current(const dlb_figures *figures, const char *name, size_t length)
{
    for (size_t i = 0; i < figures->count; i++)
        if (strlen(figures->items[i].name) == length &&
            memcmp(figures->items[i].name, name, length) == 0)
            return true;
    return false;
}

static void remove_files(const char *folder, const char *name, size_t length)
{
    static const char *const endings[] = {"svg", "png", "pdf", "dat", "repeats.dat", "gp"};
    dlb_str path = DLB_STR_INIT;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        dlb_str_clear(&path);
        dlb_str_addf(&path, "%s/%.*s.%s", folder, (int)length, name, endings[i]);
        unlink(path.text);
    }
    dlb_str_release(&path);
}

/* Figures that no longer apply go, with all their files, if their script says that it is ours. */
static void remove_stale(const dlb_figures *figures, const char *folder)
{
    DIR *listing = opendir(folder);
    for (struct dirent *entry; listing && (entry = readdir(listing));) {
        size_t length = strlen(entry->d_name);
        if (length <= 3 || strcmp(entry->d_name + length - 3, ".gp") != 0)
            continue;
        if (!is_current(figures, entry->d_name, length - 3) && is_ours(folder, entry->d_name))
            remove_files(folder, entry->d_name, length - 3);
    }
    if (listing)
        closedir(listing);
}

/* ---- pictures ------------------------------------------------------------------------------ */

/*
 * Put the pictures of a figure in place or, if it is not whole, remove what there is of them. A
 * format that was not drawn is not in *drawn any more, and its old picture goes: it is of other
 * data.
 */
static void take_pictures(const dlb_figure *figure, const char *folder, bool whole, unsigned *drawn)
{
    dlb_str from = DLB_STR_INIT, to = DLB_STR_INIT;
    for (int i = 0; i < FORMATS; i++) {
        path_of(&from, folder, figure->name, suffix);
        dlb_str_addf(&from, ".%s", formats[i]);
        path_of(&to, folder, figure->name, ".");
        dlb_str_add(&to, formats[i]);
        if (!whole) {
            unlink(from.text);
        } else if (rename(from.text, to.text) < 0) {
            unlink(to.text);
            *drawn &= ~(1U << i);
        }
    }
    dlb_str_release(&to);
    dlb_str_release(&from);
}

static char **script_names(const dlb_figures *figures)
{
    char **names = dlb_alloc(figures->count + 1, sizeof *names);
    for (size_t i = 0; i < figures->count; i++) {
        dlb_str name = DLB_STR_INIT;
        dlb_str_addf(&name, "%s.gp", figures->items[i].name);
        names[i] = name.text;
    }
    return names;
}

static void free_names(char **names)
{
    for (char **name = names; *name; name++)
        free(*name);
    free(names);
}

static size_t count_lines(const dlb_str *text)
{
    size_t lines = 0;
    for (size_t i = 0; i < text->length; i++)
        lines += text->text[i] == '\n';
    return lines;
}

/*
 * All in one process, which prints a line for each that is done; after one that fails, another.
 * *drawn_formats: bit i stays set if format i was drawn of all that are whole.
 */
static int draw_files(const dlb_figures *figures, const char *folder, unsigned *drawn_formats,
                      dlb_error *err)
{
    char **scripts = script_names(figures);
    dlb_str settings = DLB_STR_INIT;
    dlb_str_addf(&settings, "formats = 'svg png pdf'; suffix = '%s'", suffix);
    int status = 0;
    for (size_t next = 0; next < figures->count;) {
        dlb_error failure;
        dlb_str done = DLB_STR_INIT;
        int drawn = dlb_gnuplot_run(folder, settings.text, (const char *const *)scripts + next,
                                    &done, &failure);
        size_t end = drawn == 0 ? figures->count : next + count_lines(&done);
        for (; next < end && next < figures->count; next++)
            take_pictures(&figures->items[next], folder, true, drawn_formats);
        if (drawn < 0 && next < figures->count)
            take_pictures(&figures->items[next++], folder, false, drawn_formats);
        if (drawn < 0 && status == 0) {
            status = drawn;
            *err = failure;
        }
        dlb_str_release(&done);
    }
    dlb_str_release(&settings);
    free_names(scripts);
    return status;
}

/* gnuplot fills lines up with blanks. */
static void trim_lines(dlb_str *text)
{
    size_t length = 0;
    for (size_t i = 0; i < text->length; i++) {
        char c = text->text[i];
        while (c == '\n' && length && text->text[length - 1] == ' ')
            length--;
        if (c != '\f')
            text->text[length++] = c;
    }
    text->length = length;
    dlb_str_add(text, "");
}

static int terminal_columns(const dlb_figure_options *options)
{
    return options->width < 60 ? 60 : options->width > 200 ? 200 : options->width;
}

static int draw_terminal(const dlb_figures *figures, const char *folder,
                         const dlb_figure_options *options, dlb_error *err)
{
    char **scripts = script_names(figures);
    dlb_str settings = DLB_STR_INIT;
    int columns = terminal_columns(options);
    dlb_str_addf(&settings, "formats = 'dumb'; columns = %d; rows = %d; colours = '%s'", columns,
                 columns * 3 / 10 < 24 ? 24 : columns * 3 / 10, options->colour ? "ansi" : "mono");
    int status =
        dlb_gnuplot_run(folder, settings.text, (const char *const *)scripts, options->drawn, err);
    trim_lines(options->drawn);
    dlb_str_release(&settings);
    free_names(scripts);
    return status;
}

/* Append "SVG, PNG and PDF". */
static void name_formats(unsigned drawn, dlb_str *names)
{
    static const char *const words[FORMATS] = {"SVG", "PNG", "PDF"};
    for (int i = 0; i < FORMATS; i++) {
        bool last = drawn >> (i + 1) == 0;
        if (drawn & 1U << i)
            dlb_str_addf(names, "%s%s", names->length == 0 ? "" : last ? " and " : ", ", words[i]);
    }
}

static int draw_pictures(const dlb_figures *figures, const dlb_figure_options *options,
                         dlb_error *err)
{
    unsigned drawn = (1U << FORMATS) - 1;
    int status = draw_files(figures, options->folder, &drawn, err);
    if (status == 0 && drawn == 0)
        return dlb_fail(err, DLB_FAIL,
                        "this gnuplot draws none of SVG, PNG and PDF, so there is no picture; "
                        "install the package gnuplot-nox");
    if (options->drawn)
        name_formats(drawn, options->drawn);
    return status;
}

static int make_files(const dlb_figures *figures, const dlb_figure_options *options, dlb_error *err)
{
    int status = dlb_file_make_folder(options->folder, err);
    if (status == 0)
        status = write_all(figures, options->folder, err);
    if (status < 0)
        return status;
    if (!options->among_others)
        remove_stale(figures, options->folder);
    return figures->count ? draw_pictures(figures, options, err) : 0;
}

/* For a terminal nothing is left behind. */
static int make_drawing(const dlb_figures *figures, const dlb_figure_options *options,
                        dlb_error *err)
{
    char folder[] = "/tmp/dlbench-plot-XXXXXX";
    if (figures->count == 0)
        return 0;
    if (!mkdtemp(folder))
        return dlb_fail(err, DLB_FAIL, "%s: %s", folder, strerror(errno));
    int status = write_all(figures, folder, err);
    if (status == 0)
        status = draw_terminal(figures, folder, options, err);
    for (size_t i = 0; i < figures->count; i++)
        remove_files(folder, figures->items[i].name, strlen(figures->items[i].name));
    rmdir(folder);
    return status;
}

/* Of text as small as captions are, in a picture; in a terminal all text is alike. */
int dlb_figures_columns(const dlb_figure_options *options)
{
    return options->terminal ? terminal_columns(options) - 4 : 158;
}

int dlb_figures_draw(const dlb_figures *figures, const dlb_figure_options *options, dlb_error *err)
{
    return options->terminal ? make_drawing(figures, options, err)
                             : make_files(figures, options, err);
}

int dlb_report_figures(const dlb_report *report, const dlb_figure_options *options, size_t *count,
                       dlb_error *err)
{
    dlb_provenance provenance;
    dlb_report_provenance(report, &provenance);
    const char *study = dlb_provenance_find(&provenance, "study.title");
    dlb_figures figures = {.caption_columns = dlb_figures_columns(options),
                           .study = study ? study : ""};
    int status = reduce(report, &figures, err);
    *count = figures.count;
    if (status == 0)
        status = dlb_figures_draw(&figures, options, err);
    dlb_figures_release(&figures);
    dlb_provenance_release(&provenance);
    return status;
}
