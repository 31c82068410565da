/* What came of a suite: for people, as raw slices, and as JSON. */
#ifndef DLB_CLI_BENCH_SUITE_REPORT_H
#define DLB_CLI_BENCH_SUITE_REPORT_H

#include "cli/bench_suite.h"

/* What there is, without times; with `verify`, how far results are from those of `ref`. */
void dlb_suite_list(const dlb_suite *suite);

void dlb_suite_print(const dlb_suite *suite);

/* Cases whose results are wrong, each with the command that shows it again; returns how many. */
size_t dlb_suite_print_wrong(const dlb_suite *suite);

/* Whether slices could be appended to the file; and all of them. */
int dlb_suite_csv_check(const char *path, dlb_error *err);
int dlb_suite_csv_save(const dlb_suite *suite, const char *path, dlb_error *err);

/* Every case that has FLOPs, below the roofs of the first kind: the best kernels. */
int dlb_suite_draw_roofline(const dlb_suite *suite, const char *path, dlb_error *err);

int dlb_suite_save_json(const dlb_suite *suite, const char *path, dlb_error *err);

#endif
