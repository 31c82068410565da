#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "base/str.h"

static const char variable[] = "DLBENCH_TERMINAL";

enum { COLUMNS_MAX = 65535 };

/* Columns that we were told of; -1 if nobody did. */
static int columns_told(void)
{
    const char *text = getenv(variable);
    long long columns;
    bool known = text && dlb_parse_int(text, &columns) && columns >= 0 && columns <= COLUMNS_MAX;
    return known ? (int)columns : -1;
}

/* 0: it is no terminal, or does not tell. */
static int columns_of(FILE *out)
{
    struct winsize size;
    return ioctl(fileno(out), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

bool dlb_terminal_obeys(FILE *out)
{
    const char *kind = getenv("TERM");
    int told = columns_told();
    if (told >= 0)
        return told > 0;
    return kind && *kind && strcmp(kind, "dumb") != 0 && columns_of(out) > 0;
}

bool dlb_terminal_colours(FILE *out)
{
    const char *refused = getenv("NO_COLOR");
    return dlb_terminal_obeys(out) && !(refused && *refused);
}

int dlb_terminal_width(FILE *out)
{
    int told = columns_told(), columns = told >= 0 ? told : columns_of(out);
    return columns > 0 ? columns : DLB_WIDTH_DEFAULT;
}

void dlb_terminal_tell(FILE *out)
{
    char columns[16];
    snprintf(columns, sizeof columns, "%d", dlb_terminal_obeys(out) ? dlb_terminal_width(out) : 0);
    setenv(variable, columns, 1);
}
