/* gnuplot as a process of its own, started without a shell. */
#ifndef DLB_REPORT_GNUPLOT_H
#define DLB_REPORT_GNUPLOT_H

#include "base/error.h"
#include "base/str.h"

/*
 * Run `gnuplot -d -e SETTINGS SCRIPT...` in the folder; `scripts` is ended by NULL. What it prints
 * is appended to *printed. DLB_FAIL with its own message if it fails, or with the name of the
 * package if it is not there.
 */
int dlb_gnuplot_run(const char *folder, const char *settings, const char *const *scripts,
                    dlb_str *printed, dlb_error *err);

#endif
