/* Any bytes are a result that is written and read back as the same, or an error with a message. */
#include "fuzz.h"
#include "record/result.h"

static void format(const dlb_result *result, dlb_str *text)
{
    if (dlb_result_format(result, text, NULL) < 0)
        abort();
}

static void check_round_trip(const dlb_result *result)
{
    dlb_str first = DLB_STR_INIT, second = DLB_STR_INIT;
    dlb_result again;
    format(result, &first);
    if (dlb_result_parse(&again, "again", first.text, first.length, NULL) < 0)
        abort();
    format(&again, &second);
    if (strcmp(first.text, second.text) != 0)
        abort();
    dlb_result_release(&again);
    dlb_str_release(&second);
    dlb_str_release(&first);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    dlb_result result;
    dlb_error err = {0};
    int status = dlb_result_parse(&result, "input", (const char *)bytes, count, &err);
    if (status == 0)
        check_round_trip(&result);
    else if (status != DLB_BAD_INPUT || status != err.code ||
             strncmp(err.message, "input:", 6) != 0)
        abort();
    dlb_result_release(&result);
    return 0;
}
