#include "cli/bench_progress.h"

#include <stdarg.h>

#include "base/clock.h"
#include "cli/terminal.h"
#include "cli/text.h"

static const double redraw_s = 0.1, plain_line_s = 10;

void dlb_bench_progress_init(dlb_bench_progress *progress, FILE *out)
{
    *progress = (dlb_bench_progress){.out = out, .terminal = dlb_terminal_obeys(out)};
}

static bool due(dlb_bench_progress *progress)
{
    double now = dlb_clock_s(), since = now - progress->last_shown;
    if (progress->last_shown > 0 && since < (progress->terminal ? redraw_s : plain_line_s))
        return false;
    progress->last_shown = now;
    return true;
}

void dlb_bench_progress_show(dlb_bench_progress *progress, const char *format, ...)
{
    if (!progress->out || !due(progress))
        return;
    char line[256];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (progress->terminal) {
        dlb_text_cut(line, dlb_terminal_width(progress->out) - 1);
        fprintf(progress->out, "\r%s\033[K", line);
    } else {
        fprintf(progress->out, "%s\n", line);
    }
    fflush(progress->out);
}

void dlb_bench_progress_clear(dlb_bench_progress *progress)
{
    if (progress->terminal && progress->last_shown > 0)
        fputs("\r\033[K", progress->out);
}
