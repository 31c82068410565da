/* What a training was and came to, in the schema of the results. */
#ifndef DLB_CLI_TRAIN_RECORD_H
#define DLB_CLI_TRAIN_RECORD_H

#include "record/result.h"
#include "train/session.h"

typedef struct dlb_ending {
    const char *status; /* ok | failed | diverged */
    const char *reason; /* "" when ok */
    double wall_s;
} dlb_ending;

/*
 * Fill *result, which is empty. A training that is not ok gets no times, rates or counters: they
 * would be those of something else than what was asked for.
 */
void dlb_train_record(dlb_result *result, dlb_session *session, const dlb_ending *ending);

#endif
