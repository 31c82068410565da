/*
 * Any bytes are a checkpoint that is written and read back as the same, or an error with a message.
 * Each input is tried as it is; with a checksum of its own added, to get behind that; and in the
 * place of a line of a valid checkpoint, to get behind the lines that have to come before.
 */
#include "base/mem.h"
#include "data/checksum.h"
#include "fuzz.h"
#include "train/checkpoint.h"

static void format(const dlb_checkpoint *checkpoint, dlb_str *bytes)
{
    if (dlb_checkpoint_format(checkpoint, bytes, NULL) < 0)
        abort();
}

static void check_round_trip(const dlb_checkpoint *checkpoint)
{
    dlb_str first = DLB_STR_INIT, second = DLB_STR_INIT;
    dlb_checkpoint again;
    format(checkpoint, &first);
    if (dlb_checkpoint_parse(&again, "again", first.text, first.length, NULL) < 0)
        abort();
    format(&again, &second);
    if (first.length != second.length || memcmp(first.text, second.text, first.length) != 0)
        abort();
    dlb_checkpoint_release(&again);
    dlb_str_release(&second);
    dlb_str_release(&first);
}

static void parse(const char *bytes, size_t count)
{
    static const dlb_checkpoint nothing;
    dlb_checkpoint checkpoint;
    dlb_error err = {0};
    int status = dlb_checkpoint_parse(&checkpoint, "input", bytes, count, &err);
    if (status == 0)
        check_round_trip(&checkpoint);
    else if (status != DLB_BAD_INPUT || status != err.code ||
             strncmp(err.message, "input: ", 7) != 0 || !strstr(err.message, "--checkpoint") ||
             memcmp(&checkpoint, &nothing, sizeof nothing) != 0)
        abort();
    dlb_checkpoint_release(&checkpoint);
}

/* Adds the checksum. */
static void parse_sealed(dlb_str *bytes)
{
    uint64_t sum = dlb_checksum(0, (const uint8_t *)bytes->text, bytes->length);
    dlb_str_add_bytes(bytes, (const char *)&sum, sizeof sum);
    parse(bytes->text, bytes->length);
}

/* Two epochs and three arrays of four floats. */
static void make_valid(dlb_str *bytes)
{
    dlb_checkpoint checkpoint;
    dlb_checkpoint_init(&checkpoint);
    checkpoint.epoch_count = 2;
    checkpoint.epochs = dlb_alloc(2, sizeof *checkpoint.epochs);
    checkpoint.count = 4;
    checkpoint.array_count = DLB_CHECKPOINT_ARRAYS;
    for (int i = 0; i < DLB_CHECKPOINT_ARRAYS; i++)
        checkpoint.arrays[i] = dlb_alloc(checkpoint.count, sizeof(float));
    format(&checkpoint, bytes);
    dlb_checkpoint_release(&checkpoint);
}

/* The first byte of the input tells the line that the others take the place of. */
static void parse_with_line(const uint8_t *input, size_t count)
{
    dlb_str valid = DLB_STR_INIT, changed = DLB_STR_INIT;
    make_valid(&valid);
    const char *line = valid.text;
    for (int number = input[0]; number > 0 && line[0] != '\n'; number--)
        line += strcspn(line, "\n") + 1;
    size_t before = (size_t)(line - valid.text), after = before + strcspn(line, "\n");
    dlb_str_add_bytes(&changed, valid.text, before);
    dlb_str_add_bytes(&changed, (const char *)input + 1, count - 1);
    dlb_str_add_bytes(&changed, valid.text + after, valid.length - sizeof(uint64_t) - after);
    parse_sealed(&changed);
    dlb_str_release(&changed);
    dlb_str_release(&valid);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    dlb_str copy = DLB_STR_INIT;
    parse((const char *)bytes, count);
    dlb_str_add_bytes(&copy, count ? (const char *)bytes : "", count);
    parse_sealed(&copy);
    if (count)
        parse_with_line(bytes, count);
    dlb_str_release(&copy);
    return 0;
}
