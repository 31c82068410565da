/*
 * The result file of a run: what the run's process tells the one that started it, as JSON.
 *
 *   {"schema": 1,
 *    "workload": {"model": "keras_cnn", "epochs": "5", ...},  every key, as text
 *    "run": {"run": null, "epochs": 5, ...},          every column; null = missing
 *    "epochs": [{"epoch": 1, ...}, ...],
 *    "ranks": [{"rank": 0, ..., "counters": [...]}, ...],
 *    "extras": {"env.NAME": "1", ...},        columns besides the schema's; left out if none
 *    "counters": [{"name": "PAPI_TOT_INS", "value": null, "why": "..."}, ...],     of the run
 *    "placement": ["..."], "notes": ["..."],
 *    "end": {"status": "ok", "ranks_ended": 1}}
 *
 * The file appears whole or not at all. Times, counts and texts read back as they were written,
 * but for bytes that are no UTF-8, which become "?".
 */
#ifndef DLB_RECORD_RESULT_H
#define DLB_RECORD_RESULT_H

#include <stddef.h>

#include "base/error.h"
#include "base/str.h"
#include "record/row.h"

enum { DLB_RESULT_SCHEMA = 1, DLB_RESULT_MAX_BYTES = 16 << 20 };

typedef struct dlb_row_list {
    dlb_row *rows;
    size_t count, capacity;
} dlb_row_list;

typedef struct dlb_text_list {
    char **texts;
    size_t count, capacity;
} dlb_text_list;

/* A key of the workload and its value. */
typedef struct dlb_setting {
    char *key, *value;
} dlb_setting;

typedef struct dlb_setting_list {
    dlb_setting *settings;
    size_t count, capacity;
} dlb_setting_list;

/* Fill the rows through dlb_row_*; lists grow through the functions below. */
typedef struct dlb_result {
    dlb_setting_list workload; /* what was asked for, through dlb_result_add_setting */
    dlb_row run;
    dlb_row_list epochs, ranks;
    dlb_text_list placement; /* a line a thread: where it ran */
    dlb_text_list notes;     /* sentences, through dlb_result_add_note */
    int ranks_ended;
} dlb_result;

/* An empty result: every column of the run is missing. */
void dlb_result_init(dlb_result *result);
void dlb_result_release(dlb_result *result);

/* Add a key of the workload, which is not there yet, and its value. */
void dlb_result_add_setting(dlb_result *result, const char *key, const char *value);

/* A new, empty row at the end. The pointer is good until the next row is added. */
dlb_row *dlb_result_add_epoch(dlb_result *result);
dlb_row *dlb_result_add_rank(dlb_result *result);

void dlb_result_add_placement(dlb_result *result, const char *line);

/* Add a sentence. The run's notes column becomes all of them, "; " between. */
void dlb_result_add_note(dlb_result *result, const char *sentence);

/* Append a copy of the text to a list. */
void dlb_text_list_add(dlb_text_list *list, const char *text);

/* Append the JSON text. Fails only for want of memory. */
int dlb_result_format(const dlb_result *result, dlb_str *text, dlb_error *err);
int dlb_result_write(const dlb_result *result, const char *path, dlb_error *err);

/*
 * Make *result, which holds nothing yet, from JSON; `name` is for messages. Anything that is not
 * a whole result of this schema is DLB_BAD_INPUT, and *result then holds nothing.
 */
int dlb_result_parse(dlb_result *result, const char *name, const char *bytes, size_t count,
                     dlb_error *err);
int dlb_result_read(dlb_result *result, const char *path, dlb_error *err);

#endif
