/* Any bytes are a history whose checks and kernels agree with each other, or a clear error. */
#include <math.h>

#include "fuzz.h"
#include "report/history.h"

static void check_kernel(const dlb_history_kernel *kernel)
{
    if (!*kernel->model || !*kernel->name || kernel->change <= -1 || isinf(kernel->change) ||
        (int)kernel->verdict < 0 || (int)kernel->verdict >= DLB_JUDGEMENTS)
        abort();
}

static void check_history(const dlb_history *history)
{
    size_t kernels = 0;
    for (size_t i = 0; i < history->count; i++) {
        if (history->checks[i].first != kernels || history->checks[i].count == 0)
            abort();
        kernels += history->checks[i].count;
    }
    if (kernels != history->kernel_count)
        abort();
    for (size_t i = 0; i < kernels; i++)
        check_kernel(&history->kernels[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    dlb_history history;
    dlb_error err = {0};
    int status = dlb_history_parse(&history, "fuzz", (const char *)bytes, count, &err);
    if (status == 0)
        check_history(&history);
    else if (status != DLB_BAD_INPUT || err.code != status || err.message[0] == '\0')
        abort();
    dlb_history_release(&history);
    return 0;
}
