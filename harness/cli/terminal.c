#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

bool dlb_terminal_obeys(FILE *out)
{
    const char *kind = getenv("TERM");
    return kind && *kind && strcmp(kind, "dumb") != 0 && isatty(fileno(out));
}

int dlb_terminal_width(FILE *out)
{
    struct winsize size;
    if (ioctl(fileno(out), TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
        return DLB_WIDTH_DEFAULT;
    return size.ws_col;
}
