#include "cli/bench_progress.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

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

void dlb_bench_progress_count(dlb_bench_progress *progress, size_t done, size_t all)
{
    if (done == 0)
        progress->began = dlb_clock_s();
    progress->share = all ? (double)done / (double)all : 0;
}

/* ", 2 min 5 s to go" */
static void add_rest(const dlb_bench_progress *progress, char *line, size_t size)
{
    static const double known_after_s = 3;
    double elapsed = dlb_clock_s() - progress->began;
    if (progress->began <= 0 || progress->share <= 0 || elapsed < known_after_s)
        return;
    long rest = lround(elapsed * (1 / progress->share - 1));
    size_t length = strlen(line);
    if (rest >= 60)
        snprintf(line + length, size - length, ", %ld min %ld s to go", rest / 60, rest % 60);
    else
        snprintf(line + length, size - length, ", %ld s to go", rest);
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
    add_rest(progress, line, sizeof line);
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
