#include "cli/sweep_display.h"

#include <math.h>

#include "cli/sweep_judge.h"
#include "cli/terminal.h"
#include "cli/text.h"

enum { BAR = 20 };

static const double noisy_steal_pct = 2, noisy_load = 1.5; /* beyond the run's own threads */

void dlb_sweep_display_init(dlb_sweep_display *display, FILE *out)
{
    *display = (dlb_sweep_display){
        .out = out, .terminal = dlb_terminal_obeys(out), .colour = dlb_terminal_colours(out)};
}

void dlb_sweep_display_release(dlb_sweep_display *display)
{
    dlb_str_release(&display->running);
}

/* ---- The bar ---- */

static void add_bar(dlb_str *line, double fraction)
{
    int full = (int)(fraction * BAR);
    for (int i = 0; i < BAR; i++)
        dlb_str_add(line, i < full ? "━" : i == full ? "╸" : "─");
}

static void add_left(dlb_str *line, const dlb_sweep_display *d, double elapsed_s)
{
    double left_s = d->left_s - fmin(elapsed_s, isnan(d->expected_s) ? 0 : d->expected_s);
    if (!isnan(left_s))
        dlb_str_addf(line, "  ~%s left", dlb_text_seconds(left_s).text);
}

static void draw(dlb_sweep_display *d, double elapsed_s)
{
    dlb_str line = DLB_STR_INIT;
    add_bar(&line, d->total ? (double)d->done / (double)d->total : 1);
    dlb_str_addf(&line, "  %zu/%zu done", d->done, d->total);
    if (d->bad)
        dlb_str_addf(&line, ", %zu failed", d->bad);
    add_left(&line, d, elapsed_s);
    dlb_str_addf(&line, "  %s  %s", d->running.text ? d->running.text : "",
                 dlb_text_seconds(elapsed_s).text);
    dlb_text_cut(line.text, dlb_terminal_width(d->out) - 1);
    fprintf(d->out, "\r%s\033[K", line.text);
    fflush(d->out);
    d->shown = true;
    dlb_str_release(&line);
}

void dlb_sweep_display_clear(dlb_sweep_display *d)
{
    if (d->shown)
        fputs("\r\033[K", d->out);
    d->shown = false;
}

void dlb_sweep_display_begin(dlb_sweep_display *d, const char *description, double expected_s,
                             double left_s)
{
    dlb_str_clear(&d->running);
    dlb_str_add(&d->running, description);
    d->expected_s = expected_s;
    d->left_s = left_s;
    if (d->terminal)
        draw(d, 0);
}

void dlb_sweep_display_tick(dlb_sweep_display *d, double elapsed_s)
{
    if (d->terminal)
        draw(d, elapsed_s);
}

/* ---- The lines ---- */

static const char *colour_of(const char *status)
{
    if (strcmp(status, "ok") == 0)
        return "\033[32m";
    return strcmp(status, "diverged") == 0 ? "\033[33m" : "\033[31m";
}

static void add_status(dlb_str *line, const dlb_sweep_display *d, const char *status)
{
    dlb_str_addf(line, "%s%-8s%s  ", d->colour ? colour_of(status) : "", status,
                 d->colour ? "\033[0m" : "");
}

/* The load is of the last minute: what the run itself put on the machine is part of it. */
static void add_noise(dlb_str *line, const dlb_row *row)
{
    double steal_pct = dlb_row_real(row, DLB_RUN_steal_pct), load = dlb_row_real(row, DLB_RUN_load);
    double own = dlb_row_real(row, DLB_RUN_ranks) * dlb_row_real(row, DLB_RUN_threads);
    if (steal_pct > noisy_steal_pct)
        dlb_str_addf(line, "  noise: %.1f %% of the CPU time went to other machines", steal_pct);
    if (load > own + noisy_load)
        dlb_str_addf(line, "  noise: a load of %.1f where the run has %.0f thread%s", load, own,
                     own == 1 ? "" : "s");
}

static void add_outcome(dlb_str *line, const dlb_row *row)
{
    double time_s = dlb_row_real(row, DLB_RUN_time_to_solution_s);
    double wall_s = dlb_row_real(row, DLB_RUN_wall_s);
    double accuracy = dlb_row_real(row, DLB_RUN_test_accuracy);
    const char *reason = dlb_row_text(row, DLB_RUN_reason);
    if (!isnan(time_s))
        dlb_str_addf(line, "  %s", dlb_text_seconds(time_s).text);
    else if (!isnan(wall_s))
        dlb_str_addf(line, "  wall %s", dlb_text_seconds(wall_s).text);
    if (!isnan(accuracy))
        dlb_str_addf(line, "  accuracy %.4f", accuracy);
    if (*reason)
        dlb_str_addf(line, "  %s", reason);
    add_noise(line, row);
}

void dlb_sweep_display_end(dlb_sweep_display *d, const dlb_row *row)
{
    const char *status = dlb_row_text(row, DLB_RUN_status);
    dlb_str line = DLB_STR_INIT;
    d->done++;
    d->bad += dlb_sweep_is_bad(status);
    if (d->total < d->done)
        d->total = d->done;
    dlb_str_addf(&line, "%*zu/%zu  ", (int)snprintf(NULL, 0, "%zu", d->total), d->done, d->total);
    add_status(&line, d, status);
    dlb_str_add(&line, d->running.text);
    add_outcome(&line, row);
    if (!d->terminal && d->done < d->total)
        add_left(&line, d, d->expected_s);
    dlb_sweep_display_clear(d);
    fprintf(d->out, "%s\n", line.text);
    fflush(d->out);
    dlb_str_release(&line);
}
