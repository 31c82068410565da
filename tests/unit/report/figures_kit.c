#include "figures_kit.h"

#include "base/file.h"

tempdir dir;
dlb_str text;
size_t count;
dlb_error err;

void figures_kit_init(void)
{
    tempdir_make(&dir);
    text = (dlb_str)DLB_STR_INIT;
}

void figures_kit_release(void)
{
    dlb_str_release(&text);
    tempdir_remove(&dir);
}

void put(const char *name, const char *bytes)
{
    cr_assert_eq(dlb_file_write_atomic(tempdir_file(&dir, name), bytes, strlen(bytes), NULL), 0);
}

int draw(bool terminal, dlb_str *drawn)
{
    dlb_report *report;
    cr_assert_eq(dlb_report_read(&report, dir.path, &err), 0, "%s", err.message);
    dlb_figure_options options = {
        .folder = dir.path, .terminal = terminal, .width = 80, .drawn = drawn};
    int status = dlb_report_figures(report, &options, &count, &err);
    dlb_report_free(report);
    return status;
}

void reduce(const char *runs)
{
    put("runs.csv", runs);
    setenv("PATH", "", 1);
    if (draw(false, NULL) < 0)
        cr_assert(strstr(err.message, "gnuplot-nox"), "%s", err.message);
}

bool made(const char *name)
{
    return dlb_file_exists(tempdir_file(&dir, name));
}

const char *content(const char *name)
{
    dlb_str_clear(&text);
    cr_assert_eq(dlb_file_read(tempdir_file(&dir, name), 1 << 20, &text, &err), 0, "%s",
                 err.message);
    return text.text;
}
