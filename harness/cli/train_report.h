/* What `train` prints before and after the training. */
#ifndef DLB_CLI_TRAIN_REPORT_H
#define DLB_CLI_TRAIN_REPORT_H

#include "cli/train_record.h"

void dlb_report_start(FILE *out, dlb_session *session);
void dlb_report_end(FILE *out, dlb_session *session, const dlb_rank_reports *reports,
                    const dlb_ending *ending, const dlb_result *result);

#endif
