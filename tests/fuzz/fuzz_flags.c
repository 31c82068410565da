/* Any command line is a valid workload that survives the way through text, or a clear error. */
#include "base/mem.h"
#include "config/flags.h"
#include "fuzz.h"

enum { MAX_WORDS = 64 };

/* Splits the terminated text in place, at NUL bytes and newlines; returns the number of words. */
static int split(char *text, size_t count, char **words)
{
    int found = 0;
    for (char *start = text, *end = text + count; start <= end && found < MAX_WORDS; found++) {
        words[found] = start;
        char *newline = strchr(start, '\n');
        if (newline)
            *newline = '\0';
        start += strlen(start) + 1;
    }
    return found;
}

static void check_round_trip(dlb_workload *workload)
{
    for (int key = 0; key < DLB_KEY_COUNT; key++) {
        dlb_str before = DLB_STR_INIT, after = DLB_STR_INIT;
        dlb_workload_get(workload, key, &before);
        if (dlb_workload_set(workload, key, before.text, NULL) < 0)
            abort();
        dlb_workload_get(workload, key, &after);
        if (strcmp(before.text, after.text) != 0)
            abort();
        dlb_str_release(&after);
        dlb_str_release(&before);
    }
}

static void check_error(int status, const dlb_error *err)
{
    if (status != DLB_BAD_INPUT || err->code != status || err->message[0] == '\0')
        abort();
}

static void parse(int argc, char **argv)
{
    const char *csv = NULL;
    bool quiet = false;
    const dlb_flag flags[] = {
        {"csv", "append one row to this file", .value = "FILE", .text = &csv},
        {"quiet", "print nothing but errors", .on = &quiet},
    };
    dlb_workload workload;
    dlb_workload_init(&workload);
    const dlb_command command = {"dlbench train", "", "A [B] [C]", flags, 2, &workload};
    dlb_arguments arguments;
    dlb_error err = {0};
    int status = dlb_flags_parse(&command, argc, argv, &arguments, &err);
    if (status != 0)
        check_error(status, &err);
    else if (!arguments.help && (arguments.operand_count < 1 || arguments.operand_count > 3))
        abort();
    if ((status = dlb_workload_check(&workload, &err)) != 0)
        check_error(status, &err);
    check_round_trip(&workload); /* marks every key as given */
    dlb_workload_release(&workload);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    char *text = dlb_alloc(count + 1, 1), *words[MAX_WORDS];
    if (count)
        memcpy(text, bytes, count);
    parse(split(text, count, words), words);
    free(text);
    return 0;
}
