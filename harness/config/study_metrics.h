/* The [metrics] section of a sweep file. */
#ifndef DLB_CONFIG_STUDY_METRICS_H
#define DLB_CONFIG_STUDY_METRICS_H

#include "config/study.h"

int dlb_metrics_read(dlb_metric **metrics, size_t *count, const dlb_ini_section *section,
                     dlb_error *err);
void dlb_metrics_free(const dlb_metric *metrics, size_t count);

#endif
