/* What came of a check: for people, for pull requests, for CI systems, and the raw slices. */
#ifndef DLB_CLI_GATE_REPORT_H
#define DLB_CLI_GATE_REPORT_H

#include "cli/gate.h"

/* What was compared with what, for people, and how much of it may be slower (dlb_gate_alarms). */
typedef struct dlb_gate_report {
    const dlb_gate *gate;
    const char *before, *after;
    size_t allowed;
} dlb_gate_report;

void dlb_gate_print(const dlb_gate_report *report);

/* The same as Markdown, and as JUnit XML: slower is a failure; where it is allowed it is skipped,
 * as inconclusive is. */
int dlb_gate_save_markdown(const dlb_gate_report *report, const char *path, dlb_error *err);
int dlb_gate_save_junit(const dlb_gate_report *report, const char *path, dlb_error *err);

/* Whether slices could be appended to the file; and all of them. */
int dlb_gate_csv_check(const char *path, dlb_error *err);
int dlb_gate_csv_save(const dlb_gate *gate, const char *path, dlb_error *err);

#endif
