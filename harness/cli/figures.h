/* What is said of figures that were drawn. */
#ifndef DLB_CLI_FIGURES_H
#define DLB_CLI_FIGURES_H

#include "report/report.h"

/* Print how many there are and where, or, on a terminal, the figures themselves. */
void dlb_figures_tell(const dlb_figure_options *options, size_t count);

#endif
