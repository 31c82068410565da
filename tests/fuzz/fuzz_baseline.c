/* Any text is a file of baselines, or refused with a message that names it. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "fuzz.h"
#include "record/baseline.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    dlb_baselines all;
    dlb_error err = {0};
    dlb_str text = DLB_STR_INIT;
    dlb_str_add_bytes(&text, (const char *)bytes, count);
    dlb_str_add(&text, "");
    int status = dlb_baselines_parse(&all, "input", text.text, &err);
    if (status < 0 && (status != DLB_BAD_INPUT || status != err.code || all.count != 0 ||
                       strncmp(err.message, "input:", 6) != 0))
        abort();
    dlb_baselines_release(&all);
    dlb_str_release(&text);
    return 0;
}
