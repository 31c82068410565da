#include "record/result.h"

#include "base/file.h"
#include "base/mem.h"

void dlb_result_init(dlb_result *result)
{
    *result = (dlb_result){0};
    dlb_row_init(&result->run, &dlb_table_runs);
}

static void release_rows(dlb_row_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        dlb_row_release(&list->rows[i]);
    free(list->rows);
}

static void release_texts(dlb_text_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->texts[i]);
    free(list->texts);
}

static void release_settings(dlb_setting_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->settings[i].value);
        free(list->settings[i].key);
    }
    free(list->settings);
}

void dlb_result_release(dlb_result *result)
{
    release_texts(&result->notes);
    release_texts(&result->placement);
    release_rows(&result->ranks);
    release_rows(&result->epochs);
    dlb_row_release(&result->run);
    release_settings(&result->workload);
    *result = (dlb_result){0};
}

void dlb_result_add_setting(dlb_result *result, const char *key, const char *value)
{
    dlb_setting_list *list = &result->workload;
    list->settings =
        dlb_grow(list->settings, &list->capacity, list->count + 1, sizeof *list->settings);
    list->settings[list->count++] = (dlb_setting){dlb_strdup(key), dlb_strdup(value)};
}

static dlb_row *add_row(dlb_row_list *list, const dlb_table *table)
{
    list->rows = dlb_grow(list->rows, &list->capacity, list->count + 1, sizeof *list->rows);
    dlb_row *row = &list->rows[list->count++];
    dlb_row_init(row, table);
    return row;
}

dlb_row *dlb_result_add_epoch(dlb_result *result)
{
    return add_row(&result->epochs, &dlb_table_epochs);
}

dlb_row *dlb_result_add_rank(dlb_result *result)
{
    return add_row(&result->ranks, &dlb_table_ranks);
}

void dlb_text_list_add(dlb_text_list *list, const char *text)
{
    list->texts = dlb_grow(list->texts, &list->capacity, list->count + 1, sizeof *list->texts);
    list->texts[list->count++] = dlb_strdup(text);
}

void dlb_result_add_placement(dlb_result *result, const char *line)
{
    dlb_text_list_add(&result->placement, line);
}

void dlb_result_add_note(dlb_result *result, const char *sentence)
{
    dlb_text_list_add(&result->notes, sentence);
    dlb_str joined = DLB_STR_INIT;
    for (size_t i = 0; i < result->notes.count; i++)
        dlb_str_addf(&joined, "%s%s", i ? "; " : "", result->notes.texts[i]);
    dlb_row_set_text(&result->run, DLB_RUN_notes, joined.text ? joined.text : "");
    dlb_str_release(&joined);
}

int dlb_result_write(const dlb_result *result, const char *path, dlb_error *err)
{
    dlb_str text = DLB_STR_INIT;
    int status = dlb_result_format(result, &text, err);
    if (status == 0)
        status = dlb_file_write_atomic(path, text.text, text.length, err);
    dlb_str_release(&text);
    return status;
}

int dlb_result_read(dlb_result *result, const char *path, dlb_error *err)
{
    *result = (dlb_result){0};
    dlb_str text = DLB_STR_INIT;
    int status = dlb_file_read(path, DLB_RESULT_MAX_BYTES, &text, err);
    if (status == 0)
        status = dlb_result_parse(result, path, text.text, text.length, err);
    dlb_str_release(&text);
    return status;
}
