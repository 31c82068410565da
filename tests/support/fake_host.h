/*
 * A machine for tests of plans: 8 cores with 2 hardware threads each on 2 sockets, and with it a
 * model that has values of its own, and data of 60,000 images.
 */
#ifndef DLB_TESTS_SUPPORT_FAKE_HOST_H
#define DLB_TESTS_SUPPORT_FAKE_HOST_H

#include <limits.h>

#include "plan/plan.h"

/* How often something was asked for, where `arg` of the host is not NULL. */
typedef struct fake_calls {
    int defaults, data;
} fake_calls;

/* horovod_cnn has batch = 100 and lr = 0.01 of its own, keras_cnn nothing, and no other is there.
 */
static inline int fake_defaults(void *arg, dlb_workload *workload, dlb_error *err)
{
    fake_calls *calls = arg;
    if (calls)
        calls->defaults++;
    if (strcmp(workload->model, "keras_cnn") == 0)
        return 0;
    if (strcmp(workload->model, "horovod_cnn") != 0)
        return dlb_fail(err, DLB_BAD_INPUT, "model = %.80s: there is no such model",
                        workload->model);
    dlb_workload_set_default(workload, DLB_KEY_batch, "100", err);
    return dlb_workload_set_default(workload, DLB_KEY_lr, "0.01", err);
}

static inline int fake_data(void *arg, const dlb_workload *workload, long long *images,
                            uint64_t *hash, dlb_error *err)
{
    fake_calls *calls = arg;
    if (calls)
        calls->data++;
    if (strcmp(workload->data, "nowhere") == 0)
        return dlb_fail(err, DLB_BAD_INPUT, "data = nowhere: there is no such folder");
    *images = strcmp(workload->data, "synthetic") == 0 ? LLONG_MAX : 60000;
    *hash = strlen(workload->data);
    return 0;
}

static inline dlb_plan_host fake_host(fake_calls *calls)
{
    return (dlb_plan_host){.cores = 8,
                           .hwthreads = 16,
                           .sockets = 2,
                           .numa_nodes = 2,
                           .nodes = 1,
                           .hostname = "box",
                           .defaults = fake_defaults,
                           .data = fake_data,
                           .arg = calls};
}

#endif
