#include "cli/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/text.h"

enum { BAR_MIN = 10, BAR_MAX = 30, WIDTH_DEFAULT = 80 };

static const double redraw_s = 0.1, plain_line_s = 10;

void dlb_display_init(dlb_display *display, FILE *out, bool quiet, int epochs)
{
    *display = (dlb_display){
        .out = out,
        .quiet = quiet,
        .terminal = isatty(fileno(out)),
        .epochs = epochs,
        .last_drawn = dlb_clock_s(),
    };
}

static int terminal_width(const dlb_display *display)
{
    struct winsize size;
    if (ioctl(fileno(display->out), TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
        return WIDTH_DEFAULT;
    return size.ws_col;
}

static bool due(dlb_display *display)
{
    double now = dlb_clock_s();
    if (now - display->last_drawn < (display->terminal ? redraw_s : plain_line_s))
        return false;
    display->last_drawn = now;
    return true;
}

static void add_bar(dlb_str *line, int width, double fraction)
{
    int filled = (int)(fraction * width);
    dlb_str_add(line, "[");
    for (int i = 0; i < width; i++)
        dlb_str_add(line, i < filled ? "=" : i == filled ? ">" : ".");
    dlb_str_add(line, "]");
}

/* Redraws the current line: "prefix [bar] rest", the bar as wide as the terminal allows. */
static void draw(const dlb_display *display, const char *prefix, double fraction, const char *rest)
{
    int room = terminal_width(display) - (int)strlen(prefix) - (int)strlen(rest) - 5;
    dlb_str line = DLB_STR_INIT;
    dlb_str_addf(&line, "\r%s ", prefix);
    if (room >= BAR_MIN)
        add_bar(&line, room < BAR_MAX ? room : BAR_MAX, fraction);
    fprintf(display->out, "%s %s\033[K", line.text, rest);
    fflush(display->out);
    dlb_str_release(&line);
}

/* Of the whole training, from what has been seen of this and earlier epochs. */
static double time_left_s(const dlb_display *display, const dlb_progress *p)
{
    double epoch_s = p->train_s * p->steps / p->step;
    double mean_s = (display->ended_s + epoch_s) / (display->ended + 1);
    return epoch_s - p->train_s + mean_s * (display->epochs - p->epoch);
}

void dlb_display_step(dlb_display *display, const dlb_progress *p)
{
    if (display->quiet || !due(display))
        return;
    char prefix[64], rest[160];
    snprintf(prefix, sizeof prefix, "Epoch %d/%d", p->epoch, display->epochs);
    snprintf(rest, sizeof rest, "%3.0f %%  %s images/s  loss %.4f  acc %.4f  ETA %s",
             100.0 * p->step / p->steps, dlb_text_count((double)p->images / p->train_s).text,
             p->train.loss, p->train.accuracy, dlb_text_seconds(time_left_s(display, p)).text);
    if (display->terminal)
        draw(display, prefix, (double)p->step / p->steps, rest);
    else
        fprintf(display->out, "%s %s\n", prefix, rest);
}

void dlb_display_evaluation(dlb_display *display, const dlb_progress *p)
{
    if (display->quiet || !display->terminal || !due(display))
        return;
    char prefix[64], rest[64];
    snprintf(prefix, sizeof prefix, "Epoch %d/%d", p->epoch, display->epochs);
    snprintf(rest, sizeof rest, "%3.0f %%  evaluating", 100.0 * p->step / p->steps);
    draw(display, prefix, (double)p->step / p->steps, rest);
}

void dlb_display_epoch(dlb_display *display, const dlb_epoch *e)
{
    display->ended++;
    display->ended_s += e->train_s + e->eval_s;
    if (display->quiet)
        return;
    if (display->terminal)
        fputs("\r\033[K", display->out);
    fprintf(display->out,
            "Epoch %d/%d  %8s  %6s images/s  loss %.4f  acc %.4f  test loss %.4f  test acc %.4f\n",
            e->number, display->epochs, dlb_text_seconds(e->train_s).text,
            dlb_text_count((double)e->train.images / e->train_s).text, e->train.loss,
            e->train.accuracy, e->test.loss, e->test.accuracy);
    fflush(display->out);
}

void dlb_display_break(dlb_display *display)
{
    if (display->terminal && !display->quiet)
        fputs("\n", display->out);
}
