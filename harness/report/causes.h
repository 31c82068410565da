/*
 * Why numbers are as they are, where the data tells: rules from points to sentences. A rule that
 * finds nothing says nothing.
 */
#ifndef DLB_REPORT_CAUSES_H
#define DLB_REPORT_CAUSES_H

#include "base/str.h"
#include "report/points.h"

/*
 * Append a line a sentence. `cores` is how many the host gave to runs; NaN if that is not known,
 * when only what runs say of themselves counts.
 */
void dlb_causes_add(const dlb_points *points, double cores, dlb_str *lines);

#endif
