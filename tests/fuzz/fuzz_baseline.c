/* Any text is a file of baselines, or refused with a message that names it. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "record/baseline.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    dlb_baselines all;
    dlb_error err = {0};
    int status = dlb_baselines_parse(&all, "input", (const char *)bytes, count, &err);
    if (status < 0 && (status != DLB_BAD_INPUT || status != err.code || all.count != 0 ||
                       strncmp(err.message, "input:", 6) != 0))
        abort();
    dlb_baselines_release(&all);
    return 0;
}
