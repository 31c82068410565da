#include "record/metrics.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>

#include "base/file.h"
#include "base/pattern.h"
#include "record/frame.h"

/* What is longer is no line that a metric stands in, and no file that is written for one. */
enum { MAX_LINE = 1 << 16, MAX_JSON = 1 << 28 };

/* A message takes so much of what was found instead of a number. */
#define FOUND "%.60s"

static int not_there(const char *path, const char *why, dlb_error *err)
{
    return dlb_fail(err, DLB_FAIL, "%s: %s", path, why);
}

/* --- in the output --- */

/* The next line, without its end; a progress bar ends its lines with a carriage return. */
static bool next_line(FILE *file, dlb_str *line)
{
    dlb_str_clear(line);
    dlb_str_add(line, "");
    int c;
    while ((c = getc_unlocked(file)) != EOF && c != '\n' && c != '\r') {
        char byte = c ? (char)c : ' '; /* a regular expression ends at a null byte */
        if (line->length < MAX_LINE)
            dlb_str_add_bytes(line, &byte, 1);
    }
    return c != EOF || line->length > 0;
}

/* The value in the last line that matches into *found, whose text is NULL if none does. */
static void find_last(FILE *file, const regex_t *regex, dlb_str *found)
{
    dlb_str line = DLB_STR_INIT;
    while (next_line(file, &line))
        dlb_pattern_find(regex, line.text, found);
    dlb_str_release(&line);
}

static int number_of(const char *text, double *value)
{
    double number;
    if (!dlb_parse_real(text, &number) || !isfinite(number))
        return -1;
    *value = number;
    return 0;
}

int dlb_metric_regex(const char *path, const char *pattern, double *value, dlb_error *err)
{
    regex_t regex;
    int status = dlb_pattern_compile(&regex, pattern, err);
    if (status < 0) {
        dlb_error_prefix(err, "regex %.200s", pattern);
        return status;
    }
    FILE *file = fopen(path, "re");
    if (!file) {
        regfree(&regex);
        return not_there(path, strerror(errno), err);
    }
    dlb_str found = DLB_STR_INIT;
    find_last(file, &regex, &found);
    if (!found.text)
        status = dlb_fail(err, DLB_FAIL, "%s: no line matches %.200s", path, pattern);
    else if (number_of(found.text, value) < 0)
        status = dlb_fail(err, DLB_FAIL, "%s: the last match of %.200s is '" FOUND "', no number",
                          path, pattern, found.text);
    dlb_str_release(&found);
    fclose(file);
    regfree(&regex);
    return status;
}

/* --- in JSON --- */

/* The element at a place from 0, or from -1 backwards; NULL if there is none. */
static json_t *element(const json_t *array, const char *name)
{
    long long place;
    if (!dlb_parse_int(name, &place))
        return NULL;
    long long size = (long long)json_array_size(array);
    if (place < -size || place >= size)
        return NULL;
    return json_array_get(array, (size_t)(place < 0 ? size + place : place));
}

static json_t *member(json_t *json, const char *name)
{
    return json_is_array(json) ? element(json, name) : json_object_get(json, name);
}

/* What stands at the path, or NULL with *missing the first name that leads nowhere. */
static json_t *follow(json_t *json, const char *at, dlb_str *missing)
{
    while (json) {
        size_t length = strcspn(at, ".");
        dlb_str_clear(missing);
        dlb_str_add_bytes(missing, at, length);
        json = member(json, missing->text);
        if (at[length] == '\0')
            break;
        at += length + 1;
    }
    return json;
}

static int read_at(json_t *root, const char *path, const char *at, double *value, dlb_error *err)
{
    dlb_str missing = DLB_STR_INIT;
    const json_t *json = follow(root, at, &missing);
    int status = 0;
    if (!json)
        status = dlb_fail(err, DLB_FAIL, "%s: has no %.200s: '" FOUND "' is not there", path, at,
                          missing.text);
    else if (!json_is_number(json) && !json_is_null(json))
        status = dlb_fail(err, DLB_FAIL, "%s: %.200s is not a number", path, at);
    else
        *value = json_is_null(json) ? NAN : json_number_value(json);
    dlb_str_release(&missing);
    return status;
}

static bool names_all_steps(const char *at)
{
    return *at && *at != '.' && at[strlen(at) - 1] != '.' && !strstr(at, "..");
}

static int parse_json(const dlb_str *text, const char *path, const char *at, double *value,
                      dlb_error *err)
{
    json_error_t problem;
    json_t *root = json_loadb(text->text, text->length, JSON_DECODE_INT_AS_REAL, &problem);
    if (!root)
        return dlb_fail(err, DLB_FAIL, "%s:%d: %s", path, problem.line, problem.text);
    int status = read_at(root, path, at, value, err);
    json_decref(root);
    return status;
}

int dlb_metric_json(const char *path, const char *at, double *value, dlb_error *err)
{
    if (!names_all_steps(at))
        return dlb_fail(err, DLB_BAD_INPUT,
                        "json path '%.200s': must be names separated by dots, such as "
                        "results.0.loss",
                        at);
    dlb_str text = DLB_STR_INIT;
    dlb_error problem;
    int status = 0;
    if (dlb_file_read(path, MAX_JSON, &text, &problem) < 0)
        status = dlb_fail(err, DLB_FAIL, "%s", problem.message);
    else
        status = parse_json(&text, path, at, value, err);
    dlb_str_release(&text);
    return status;
}

/* --- in CSV --- */

static int last_value(const dlb_frame *frame, const char *path, const char *column, double *value,
                      dlb_error *err)
{
    int index = dlb_frame_column(frame, column);
    size_t rows = dlb_frame_rows(frame);
    if (index < 0)
        return dlb_fail(err, DLB_FAIL, "%s: has no column %.200s", path, column);
    if (rows == 0)
        return not_there(path, "has no rows", err);
    const char *cell = dlb_frame_word(frame, index, rows - 1);
    if (number_of(cell, value) < 0)
        return dlb_fail(err, DLB_FAIL, "%s: %.200s is '" FOUND "' in the last row, no number", path,
                        column, cell);
    return 0;
}

int dlb_metric_csv(const char *path, const char *column, double *value, dlb_error *err)
{
    dlb_frame *frame = NULL;
    dlb_error problem;
    const dlb_frame_want want = {column, DLB_FRAME_WORD};
    if (dlb_frame_read(&frame, path, &want, 1, &problem) < 0)
        return dlb_fail(err, DLB_FAIL, "%s", problem.message);
    int status = last_value(frame, path, column, value, err);
    dlb_frame_free(frame);
    return status;
}
