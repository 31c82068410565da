/* What a dlb_report holds; for the files that make tables and figures of it. */
#ifndef DLB_REPORT_REPORT_STATE_H
#define DLB_REPORT_REPORT_STATE_H

#include "report/points.h"
#include "report/provenance.h"
#include "report/report.h"

struct dlb_report {
    char *runs;   /* path of the runs.csv */
    char *folder; /* that it is in, where epochs.csv, ranks.csv and host.json may be */
    dlb_points *points;
};

/* What its host.json tells, to be released; false, and nothing, if there is none. */
bool dlb_report_provenance(const dlb_report *report, dlb_provenance *provenance);

/* Append the path of a file beside the runs.csv; false if it is not there. */
bool dlb_report_beside(const dlb_report *report, const char *name, dlb_str *path);

#endif
