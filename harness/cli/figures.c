#include "cli/figures.h"

#include <stdio.h>

void dlb_figures_tell(const dlb_figure_options *options, size_t count)
{
    if (count == 0)
        puts("No figure: nothing varies in this study, or no run has ended ok yet.");
    else if (options->terminal)
        fputs(options->drawn->text, stdout);
    else
        printf("%zu figure%s in %s%s%s; NAME.gp draws one again.\n", count, count == 1 ? "" : "s",
               options->folder, options->drawn ? ", each as " : "",
               options->drawn ? options->drawn->text : "");
}
