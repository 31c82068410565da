/* What a training was and came to, in the schema of the results. */
#ifndef DLB_CLI_TRAIN_RECORD_H
#define DLB_CLI_TRAIN_RECORD_H

#include "record/result.h"
#include "train/ranks.h"
#include "train/session.h"

typedef struct dlb_ending {
    const char *status; /* ok | failed | diverged */
    const char *reason; /* "" when ok */
    double wall_s;
} dlb_ending;

/*
 * Make *result, which holds nothing yet. A training that is not ok gets no times, rates or
 * counters: they would be those of something else than what was asked for. A value that is
 * missing for another reason gets a note that says why.
 */
void dlb_train_record(dlb_result *result, dlb_session *session, const dlb_rank_reports *reports,
                      const dlb_ending *ending);

/* Give *row, the empty row of a run, the columns that it will have: one a counter. */
void dlb_train_columns(dlb_row *row, dlb_session *session);

#endif
