#include "config/study_metrics.h"

#include "base/mem.h"
#include "base/pattern.h"
#include "base/str.h"
#include "config/study_words.h"

static int check_name(const dlb_ini_entry *entry, dlb_error *err)
{
    if (!dlb_is_identifier(entry->key))
        return dlb_place_fail(err, &entry->key_place, 0,
                              "'%.80s' is no name of a metric: letters, digits and _", entry->key);
    if (strcmp(entry->key, "wall_s") == 0)
        return dlb_place_fail(err, &entry->key_place, 0,
                              "wall_s is always there; give the metric another name");
    return 0;
}

/* Read "regex", "json" or "csv"; *rest is the offset of what follows it. */
static int read_kind(const dlb_ini_entry *entry, enum dlb_metric_kind *kind, size_t *rest,
                     dlb_error *err)
{
    static const char *const kinds[] = {
        [DLB_METRIC_REGEX] = "regex", [DLB_METRIC_JSON] = "json", [DLB_METRIC_CSV] = "csv"};
    size_t length = strcspn(entry->value, " \t\n");
    *rest = length + strspn(entry->value + length, " \t\n");
    for (*kind = 0; *kind <= DLB_METRIC_CSV; ++*kind)
        if (strlen(kinds[*kind]) == length && strncmp(entry->value, kinds[*kind], length) == 0)
            return 0;
    return dlb_place_fail(
        err, &entry->value_place, 0,
        "a metric is found by: regex PATTERN, json FILE PATH, or csv FILE COLUMN");
}

static int read_regex(dlb_metric *metric, const dlb_ini_entry *entry, size_t offset, dlb_error *err)
{
    dlb_error problem;
    metric->pattern = dlb_words_unquote(entry->value + offset);
    if (dlb_pattern_check(metric->pattern, &problem) < 0)
        return dlb_place_fail(err, &entry->value_place, offset, "%s", problem.message);
    return 0;
}

/* The file is a word; all that follows it is a path or a column, which may have blanks. */
static int read_file(dlb_metric *metric, const dlb_ini_entry *entry, size_t offset, dlb_error *err)
{
    dlb_words words = dlb_words_split(entry, offset, err);
    if (!words)
        return DLB_BAD_INPUT;
    metric->file = dlb_strdup(words[0]);
    dlb_str pattern = DLB_STR_INIT;
    for (size_t i = 1; words[i]; i++)
        dlb_str_addf(&pattern, "%s%s", i > 1 ? " " : "", words[i]);
    dlb_words_free(words);
    metric->pattern = pattern.text;
    if (!pattern.text)
        return dlb_place_fail(err, &entry->value_place, strlen(entry->value), "%s is missing here",
                              metric->kind == DLB_METRIC_JSON ? "the path of a number, a.0.b,"
                                                              : "the name of a column");
    return 0;
}

static int read_metric(dlb_metric *metric, const dlb_ini_entry *entry, dlb_error *err)
{
    size_t offset;
    *metric = (dlb_metric){.name = entry->key, .place = entry->value_place};
    if (check_name(entry, err) < 0 || read_kind(entry, &metric->kind, &offset, err) < 0)
        return DLB_BAD_INPUT;
    return metric->kind == DLB_METRIC_REGEX ? read_regex(metric, entry, offset, err)
                                            : read_file(metric, entry, offset, err);
}

int dlb_metrics_read(dlb_metric **metrics, size_t *count, const dlb_ini_section *section,
                     dlb_error *err)
{
    *metrics = dlb_alloc(section->count, sizeof **metrics);
    for (*count = 0; *count < section->count; ++*count)
        if (read_metric(&(*metrics)[*count], &section->entries[*count], err) < 0) {
            dlb_metrics_free(*metrics, *count + 1);
            *metrics = NULL;
            *count = 0;
            return DLB_BAD_INPUT;
        }
    return 0;
}

void dlb_metrics_free(const dlb_metric *metrics, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free((char *)metrics[i].pattern);
        free((char *)metrics[i].file);
    }
    free((void *)metrics);
}
