/*
 * Any bytes are records that survive being written and read again, wherever a block of the reader
 * ends, and make a frame or a clear error.
 */
#include <math.h>

#include "base/csv.h"
#include "base/csv_reader.h"
#include "base/mem.h"
#include "fuzz.h"
#include "record/frame.h"

static void check_error(int status, const dlb_error *err)
{
    if (status != DLB_BAD_INPUT || err->code != status || err->message[0] == '\0')
        abort();
}

/* A line that is empty is no record, and a leading byte order mark no text; fields end at a NUL. */
static void write_record(dlb_str *text, const dlb_csv_record *record)
{
    if (text->length == 0)
        dlb_str_add(text, "\n");
    for (size_t i = 0; i < record->count; i++)
        dlb_csv_add(text, i, record->fields[i].text);
    dlb_str_add(text, record->count == 1 && record->fields[0].text[0] == '\0' ? "\"\"\n" : "\n");
}

/* All records of the bytes, written anew; `skipped` of them are left out. */
static void rewrite(const char *bytes, size_t count, int skipped, dlb_str *text)
{
    dlb_csv_reader *reader;
    dlb_csv_record record;
    dlb_error err = {0};
    dlb_csv_open_bytes(&reader, "fuzz", bytes, count);
    uint64_t offset = 0;
    int got;
    while ((got = dlb_csv_next(reader, &record, &err)) > 0) {
        if (record.count == 0 || record.offset < offset || record.offset >= count)
            abort();
        offset = record.offset + 1;
        if (skipped-- <= 0)
            write_record(text, &record);
    }
    if (got < 0)
        check_error(got, &err);
    dlb_csv_close(reader);
}

static void check_same(const dlb_str *text, const dlb_str *other)
{
    if (text->length != other->length ||
        (text->length > 0 && memcmp(text->text, other->text, text->length) != 0))
        abort();
}

/* Behind a record that nearly fills a block; a mark at the start of the bytes is then text. */
static void check_across_blocks(const char *bytes, size_t count, const dlb_str *expected)
{
    enum { BLOCK = 256 * 1024 };
    size_t before = BLOCK - count / 2;
    if (count > 0 && bytes[0] == '\xEF')
        return;
    char *padded = dlb_alloc(before + count, 1);
    memset(padded, 'x', before - 1);
    padded[before - 1] = '\n';
    memcpy(padded + before, bytes, count);
    dlb_str found = DLB_STR_INIT;
    rewrite(padded, before + count, 1, &found);
    check_same(&found, expected);
    dlb_str_release(&found);
    free(padded);
}

static void check_reader(const char *bytes, size_t count)
{
    dlb_str text = DLB_STR_INIT, again = DLB_STR_INIT;
    rewrite(bytes, count, 0, &text);
    rewrite(text.text, text.length, 0, &again);
    check_same(&text, &again);
    if (count % 16 == 0)
        check_across_blocks(bytes, count, &text);
    dlb_str_release(&again);
    dlb_str_release(&text);
}

static void check_words(const dlb_frame *frame, int column)
{
    for (size_t row = 0; row < dlb_frame_rows(frame); row++) {
        uint32_t code = dlb_frame_code(frame, column, row);
        if (code >= dlb_frame_codes(frame, column) ||
            dlb_frame_word(frame, column, row) != dlb_frame_text(frame, column, code))
            abort();
    }
}

static void check_frame(const char *bytes, size_t count)
{
    const dlb_frame_want wants[] = {
        {"a", DLB_FRAME_NUMBER}, {"b", DLB_FRAME_WORD}, {"c", DLB_FRAME_WORD}};
    dlb_frame *frame;
    dlb_error err = {0};
    int status = dlb_frame_parse(&frame, "fuzz", bytes, count, wants, 3, &err);
    if (status < 0) {
        check_error(status, &err);
        return;
    }
    for (size_t row = 0; row < dlb_frame_rows(frame); row++)
        if (isinf(dlb_frame_number(frame, dlb_frame_column(frame, "a"), row)))
            abort();
    check_words(frame, dlb_frame_column(frame, "b"));
    check_words(frame, dlb_frame_column(frame, "c"));
    dlb_frame_free(frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    check_reader((const char *)bytes, count);
    check_frame((const char *)bytes, count);
    return 0;
}
