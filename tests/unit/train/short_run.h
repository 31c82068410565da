/* Short trainings for tests. */
#ifndef DLB_TESTS_TRAIN_SHORT_RUN_H
#define DLB_TESTS_TRAIN_SHORT_RUN_H

#include <criterion/criterion.h>

#include "train/session.h"

/* A workload from "key value key value …", ended by NULL. */
static inline void make_workload(dlb_workload *workload, const char *const *pairs)
{
    dlb_error err;
    dlb_workload_init(workload);
    for (; pairs[0]; pairs += 2) {
        int key = dlb_key_find(pairs[0]);
        cr_assert_geq(key, 0, "no key %s", pairs[0]);
        cr_assert_eq(dlb_workload_set(workload, (enum dlb_key)key, pairs[1], &err), 0, "%s",
                     err.message);
    }
}

static inline dlb_session *make_session(const char *const *pairs, const dlb_session_hooks *hooks)
{
    dlb_error err;
    dlb_workload workload;
    dlb_session *session = NULL;
    make_workload(&workload, pairs);
    int status = dlb_session_create(&session, &workload, hooks, &err);
    cr_assert_eq(status, 0, "%s", err.message);
    dlb_workload_release(&workload);
    return session;
}

#define SESSION(...) make_session((const char *const[]){__VA_ARGS__, NULL}, NULL)

#endif
