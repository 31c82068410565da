#include "record/frame.h"

#include <math.h>

#include "base/csv_number.h"
#include "base/csv_reader.h"
#include "base/mem.h"
#include "record/frame_cells.h"
#include "record/frame_words.h"

typedef struct frame_column {
    char *name;
    enum dlb_frame_kind kind;
    size_t field; /* its place in a record of the file */
    dlb_cells cells;
    dlb_word_codes words; /* of a WORD column */
} frame_column;

struct dlb_frame {
    frame_column *columns;             /* those wanted that the file has */
    size_t number_count, column_count; /* the numbers first, then the words */
    size_t field_count;                /* of the file's header */
    size_t rows;
};

void dlb_frame_free(dlb_frame *frame)
{
    if (!frame)
        return;
    for (size_t i = 0; i < frame->column_count; i++) {
        dlb_word_codes_release(&frame->columns[i].words);
        dlb_cells_release(&frame->columns[i].cells);
        free(frame->columns[i].name);
    }
    free(frame->columns);
    free(frame);
}

/* Headers of other programs may leave columns without a name. */
static int check_names(const char *file, const dlb_csv_record *header, dlb_error *err)
{
    dlb_word_codes names = {0};
    const char *twice = NULL;
    for (size_t i = 0; i < header->count && !twice; i++) {
        const dlb_csv_field *name = &header->fields[i];
        uint32_t known = names.count;
        if (name->length > 0 && dlb_word_codes_of(&names, name->text, name->length) <= known)
            twice = name->text;
    }
    dlb_word_codes_release(&names);
    if (twice)
        return dlb_fail(err, DLB_BAD_INPUT, "%s: line %zu: column \"%.100s\" is there twice", file,
                        header->line, twice);
    return 0;
}

static bool has_names(const dlb_csv_record *header)
{
    double number;
    for (size_t i = 0; i < header->count; i++)
        if (!dlb_csv_number(header->fields[i].text, header->fields[i].length, &number))
            return !header->open;
    return false;
}

static int read_header(dlb_csv_reader *reader, const char *file, dlb_csv_record *header,
                       dlb_error *err)
{
    int got = dlb_csv_next(reader, header, err);
    if (got < 0)
        return got;
    if (got == 0)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "%s: empty; a header line with the names of the "
                        "columns is expected",
                        file);
    if (!has_names(header))
        return dlb_fail(err, DLB_BAD_INPUT,
                        "%s: line %zu: a header line with the names of the columns is expected",
                        file, header->line);
    return check_names(file, header, err);
}

/* The place of a column in the header; header->count if it is not there. */
static size_t place_of(const dlb_csv_record *header, const char *name)
{
    size_t place = 0;
    while (place < header->count && strcmp(header->fields[place].text, name) != 0)
        place++;
    return place;
}

static void add_columns(dlb_frame *frame, const dlb_csv_record *header, enum dlb_frame_kind kind,
                        const dlb_frame_want *wants, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t place = place_of(header, wants[i].column);
        if (place < header->count && wants[i].kind == kind)
            frame->columns[frame->column_count++] =
                (frame_column){.name = dlb_strdup(wants[i].column), .kind = kind, .field = place};
    }
}

/* Numbers first: while they are parsed, the memory to look words up with is fetched. */
static void choose_columns(dlb_frame *frame, const dlb_csv_record *header,
                           const dlb_frame_want *wants, size_t count)
{
    frame->columns = dlb_alloc(count, sizeof *frame->columns);
    frame->field_count = header->count;
    add_columns(frame, header, DLB_FRAME_NUMBER, wants, count);
    frame->number_count = frame->column_count;
    add_columns(frame, header, DLB_FRAME_WORD, wants, count);
}

static const dlb_csv_field *field_of(const dlb_csv_record *record, const frame_column *column)
{
    static char nothing[] = "";
    static const dlb_csv_field missing = {nothing, 0};
    return column->field < record->count ? &record->fields[column->field] : &missing;
}

static int add_cell(frame_column *column, const dlb_csv_field *field, dlb_error *err)
{
    if (column->kind == DLB_FRAME_NUMBER) {
        double number;
        if (!dlb_csv_number(field->text, field->length, &number))
            return dlb_fail(err, DLB_BAD_INPUT, "\"%.100s\" is not a number", field->text);
        dlb_cells_add_number(&column->cells, number);
        return 0;
    }
    if (field->length > DLB_WORD_MAX)
        return dlb_fail(err, DLB_BAD_INPUT, "a text of more than %d bytes", DLB_WORD_MAX);
    uint32_t code = dlb_word_codes_of(&column->words, field->text, field->length);
    dlb_cells_add_code(&column->cells, code);
    return 0;
}

/* Cells that a row does not reach are missing. */
static int add_row(dlb_frame *frame, const char *file, const dlb_csv_record *record, dlb_error *err)
{
    if (record->count > frame->field_count)
        return dlb_fail(err, DLB_BAD_INPUT, "%s: line %zu: %zu fields, but the header has %zu",
                        file, record->line, record->count, frame->field_count);
    frame_column *columns = frame->columns;
    for (size_t i = frame->number_count; i < frame->column_count; i++) {
        const dlb_csv_field *field = field_of(record, &columns[i]);
        dlb_word_codes_expect(&columns[i].words, field->text, field->length);
    }
    for (size_t i = 0; i < frame->column_count; i++)
        if (add_cell(&columns[i], field_of(record, &columns[i]), err) < 0)
            return dlb_error_prefix(err, "%s: line %zu: column \"%s\"", file, record->line,
                                    columns[i].name);
    frame->rows++;
    return 0;
}

/* A last line without its end is complete if all its fields are there: spreadsheets leave it so. */
static bool is_cut_short(const dlb_frame *frame, const dlb_csv_record *record)
{
    return record->open || (record->cut && record->count < frame->field_count);
}

static int read_rows(dlb_frame *frame, dlb_csv_reader *reader, const char *file, dlb_error *err)
{
    dlb_csv_record record;
    int status;
    while ((status = dlb_csv_next(reader, &record, err)) > 0) {
        if (is_cut_short(frame, &record))
            break;
        status = add_row(frame, file, &record, err);
        if (status < 0)
            return status;
    }
    return status < 0 ? status : 0;
}

static void seal(dlb_frame *frame)
{
    for (size_t i = 0; i < frame->column_count; i++) {
        dlb_cells_seal(&frame->columns[i].cells);
        dlb_word_codes_seal(&frame->columns[i].words);
    }
}

static int read_all(dlb_frame **frame, dlb_csv_reader *reader, const char *file,
                    const dlb_frame_want *wants, size_t count, dlb_error *err)
{
    dlb_csv_record header;
    int status = read_header(reader, file, &header, err);
    if (status < 0)
        return status;
    dlb_frame *read = dlb_alloc(1, sizeof *read);
    choose_columns(read, &header, wants, count);
    status = read_rows(read, reader, file, err);
    if (status < 0) {
        dlb_frame_free(read);
        return status;
    }
    seal(read);
    *frame = read;
    return 0;
}

int dlb_frame_read(dlb_frame **frame, const char *path, const dlb_frame_want *wants, size_t count,
                   dlb_error *err)
{
    dlb_csv_reader *reader;
    int status = dlb_csv_open(&reader, path, err);
    if (status < 0)
        return status;
    status = read_all(frame, reader, path, wants, count, err);
    dlb_csv_close(reader);
    return status;
}

int dlb_frame_parse(dlb_frame **frame, const char *name, const char *bytes, size_t length,
                    const dlb_frame_want *wants, size_t count, dlb_error *err)
{
    dlb_csv_reader *reader;
    dlb_csv_open_bytes(&reader, name, bytes, length);
    int status = read_all(frame, reader, name, wants, count, err);
    dlb_csv_close(reader);
    return status;
}

int dlb_frame_header(char ***names, const char *path, dlb_error *err)
{
    dlb_csv_reader *reader;
    int status = dlb_csv_open(&reader, path, err);
    if (status < 0)
        return status;
    dlb_csv_record header;
    status = read_header(reader, path, &header, err);
    if (status == 0) {
        *names = dlb_alloc(header.count + 1, sizeof **names);
        for (size_t i = 0; i < header.count; i++)
            (*names)[i] = dlb_strdup(header.fields[i].text);
    }
    dlb_csv_close(reader);
    return status;
}

void dlb_frame_header_free(char **names)
{
    for (char **name = names; name && *name; name++)
        free(*name);
    free(names);
}

size_t dlb_frame_rows(const dlb_frame *frame)
{
    return frame->rows;
}

int dlb_frame_column(const dlb_frame *frame, const char *name)
{
    for (size_t i = 0; i < frame->column_count; i++)
        if (strcmp(frame->columns[i].name, name) == 0)
            return (int)i;
    return -1;
}

static const frame_column *column_of(const dlb_frame *frame, int index, enum dlb_frame_kind kind)
{
    return index >= 0 && frame->columns[index].kind == kind ? &frame->columns[index] : NULL;
}

double dlb_frame_number(const dlb_frame *frame, int column, size_t row)
{
    const frame_column *found = column_of(frame, column, DLB_FRAME_NUMBER);
    return found ? dlb_cells_number(&found->cells, row) : NAN;
}

uint32_t dlb_frame_code(const dlb_frame *frame, int column, size_t row)
{
    const frame_column *found = column_of(frame, column, DLB_FRAME_WORD);
    return found ? dlb_cells_code(&found->cells, row) : 0;
}

uint32_t dlb_frame_codes(const dlb_frame *frame, int column)
{
    const frame_column *found = column_of(frame, column, DLB_FRAME_WORD);
    return found ? found->words.count + 1 : 1;
}

const char *dlb_frame_text(const dlb_frame *frame, int column, uint32_t code)
{
    const frame_column *found = column_of(frame, column, DLB_FRAME_WORD);
    return found ? dlb_word_codes_text(&found->words, code) : "";
}

const char *dlb_frame_word(const dlb_frame *frame, int column, size_t row)
{
    return dlb_frame_text(frame, column, dlb_frame_code(frame, column, row));
}

void dlb_frame_drop(dlb_frame *frame, int column)
{
    dlb_cells_release(&frame->columns[column].cells);
}
