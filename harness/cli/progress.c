#include "cli/progress.h"

#include <stdarg.h>

#include "base/clock.h"
#include "cli/terminal.h"
#include "cli/text.h"

enum { BAR_MAX = 30 };

static const double redraw_s = 0.1, plain_line_s = 10;

void dlb_display_init(dlb_display *display, FILE *out, bool quiet, int epochs)
{
    bool terminal = dlb_terminal_obeys(out);
    *display = (dlb_display){
        .out = out,
        .quiet = quiet,
        .terminal = terminal,
        .epochs = epochs,
        .last_drawn = dlb_clock_s() - (terminal ? redraw_s : 0), /* a bar at once, a line in time */
    };
}

static bool due(dlb_display *display)
{
    double now = dlb_clock_s();
    if (now - display->last_drawn < (display->terminal ? redraw_s : plain_line_s))
        return false;
    display->last_drawn = now;
    return true;
}

/* ---- A line that fits ---- */

/* A part of a line. The higher `yields`, the sooner it is left out; one with 0 never is. */
typedef struct piece {
    int yields;
    char text[64];
} piece;

static piece make_piece(int yields, const char *format, ...) __attribute__((format(printf, 2, 3)));

static piece make_piece(int yields, const char *format, ...)
{
    piece made = {.yields = yields};
    va_list args;
    va_start(args, format);
    vsnprintf(made.text, sizeof made.text, format, args);
    va_end(args);
    return made;
}

enum { GAP = 2 }; /* before each piece */

static int columns_of(const piece *pieces, int count, int most)
{
    int columns = 0;
    for (int i = 0; i < count; i++)
        if (pieces[i].yields <= most)
            columns += GAP + dlb_text_columns(pieces[i].text);
    return columns;
}

/* Append as many of the pieces as fit into `room` columns. */
static void add_pieces(dlb_str *line, const piece *pieces, int count, int room)
{
    int most = count;
    while (most > 0 && columns_of(pieces, count, most) > room)
        most--;
    for (int i = 0; i < count; i++)
        if (pieces[i].yields <= most)
            dlb_str_addf(line, "%*s%s", GAP, "", pieces[i].text);
}

static dlb_text epoch_text(const dlb_display *display, int epoch)
{
    dlb_text text;
    snprintf(text.text, sizeof text.text, "Epoch %d/%d", epoch, display->epochs);
    return text;
}

/* A line of its own, its columns under those of other epochs. */
static void print_line(const dlb_display *display, int epoch, const piece *pieces, int count)
{
    int room = display->terminal ? dlb_terminal_width(display->out) : DLB_WIDTH_DEFAULT;
    dlb_str line = DLB_STR_INIT;
    dlb_text last = epoch_text(display, display->epochs);
    dlb_str_addf(&line, "%-*s", (int)strlen(last.text), epoch_text(display, epoch).text);
    add_pieces(&line, pieces, count, room - (int)line.length);
    dlb_text_cut(line.text, room);
    fprintf(display->out, "%s%s\n", display->terminal ? "\r\033[K" : "", line.text);
    fflush(display->out);
    dlb_str_release(&line);
}

/* ---- The epoch under way ---- */

static void add_bar(dlb_str *line, int width, double fraction)
{
    int filled = (int)(fraction * width);
    dlb_str_add(line, " [");
    for (int i = 0; i < width; i++)
        dlb_str_add(line, i < filled ? "=" : i == filled ? ">" : ".");
    dlb_str_add(line, "]");
}

/*
 * Redraws the current line: epoch, bar, pieces, of which some make room for the bar. The last
 * column stays free, since terminals treat a cursor behind it in different ways.
 */
static void draw(const dlb_display *display, const dlb_progress *p, const piece *pieces, int count)
{
    enum { FRAME = 3 }; /* of the bar: blank and brackets */
    int room = dlb_terminal_width(display->out) - 1;
    int bar_min = room / 6;
    dlb_text epoch = epoch_text(display, p->epoch);
    dlb_str line = DLB_STR_INIT, rest = DLB_STR_INIT;
    dlb_str_add(&line, epoch.text);
    int left = room - dlb_text_columns(epoch.text) - FRAME;
    add_pieces(&rest, pieces, count, left - bar_min);
    left -= dlb_text_columns(rest.text);
    if (left >= bar_min)
        add_bar(&line, left < BAR_MAX ? left : BAR_MAX, (double)p->step / p->steps);
    dlb_str_add(&line, rest.text);
    dlb_text_cut(line.text, room);
    fprintf(display->out, "\r%s\033[K", line.text);
    fflush(display->out);
    dlb_str_release(&rest);
    dlb_str_release(&line);
}

/* Of the whole training, from what has been seen of this and earlier epochs. */
static double time_left_s(const dlb_display *display, const dlb_progress *p)
{
    double epoch_s = p->train_s * p->steps / p->step;
    double mean_s = (display->ended_s + epoch_s) / (display->ended + 1);
    return epoch_s - p->train_s + mean_s * (display->epochs - p->epoch);
}

static double percent(const dlb_progress *p)
{
    return 100.0 * p->step / p->steps;
}

void dlb_display_step(dlb_display *display, const dlb_progress *p)
{
    if (display->quiet || !due(display))
        return;
    const piece pieces[] = {
        make_piece(0, "%2.0f %%", percent(p)),
        make_piece(2, "%s images/s", dlb_text_count((double)p->images / p->train_s).text),
        make_piece(1, "loss %s", dlb_text_metric(p->train.loss).text),
        make_piece(4, "acc %s", dlb_text_metric(p->train.accuracy).text),
        make_piece(3, "ETA %s", dlb_text_seconds(time_left_s(display, p)).text),
    };
    enum { COUNT = sizeof pieces / sizeof *pieces };
    if (display->terminal)
        draw(display, p, pieces, COUNT);
    else
        print_line(display, p->epoch, pieces, COUNT);
}

void dlb_display_evaluation(dlb_display *display, const dlb_progress *p)
{
    if (display->quiet || !display->terminal || !due(display))
        return;
    const piece pieces[] = {make_piece(0, "%2.0f %%", percent(p)), make_piece(1, "evaluating")};
    draw(display, p, pieces, sizeof pieces / sizeof *pieces);
}

/* ---- An epoch that ended ---- */

void dlb_display_epoch(dlb_display *display, const dlb_epoch *e)
{
    display->ended++;
    display->ended_s += e->train_s + e->eval_s;
    if (display->quiet)
        return;
    const piece pieces[] = {
        make_piece(3, "%6s", dlb_text_seconds(e->train_s).text),
        make_piece(2, "%6s images/s", dlb_text_count((double)e->train.images / e->train_s).text),
        make_piece(1, "loss %s acc %s", dlb_text_metric(e->train.loss).text,
                   dlb_text_metric(e->train.accuracy).text),
        make_piece(0, "test %s %s", dlb_text_metric(e->test.loss).text,
                   dlb_text_metric(e->test.accuracy).text),
    };
    print_line(display, e->number, pieces, sizeof pieces / sizeof *pieces);
}

void dlb_display_break(dlb_display *display)
{
    if (display->terminal && !display->quiet)
        fputs("\n", display->out);
}
