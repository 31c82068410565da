#include "config/study.h"

#include "base/mem.h"
#include "base/str.h"
#include "config/study_metrics.h"
#include "config/study_words.h"

enum { MAX_REPEATS = 1000000, DEFAULT_MIN_REPEATS = 3 };

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const double default_timeout_s = 3600;

/* ---- Sections and entries ---- */

static const dlb_ini_section *find_section(const dlb_study *study, const char *kind)
{
    for (size_t i = 0; i < dlb_ini_count(study->ini); i++) {
        const dlb_ini_section *section = dlb_ini_section_at(study->ini, i);
        if (strcmp(section->kind, kind) == 0)
            return section;
    }
    return NULL;
}

/* The entry of that key, or NULL; the section may be NULL. */
static const dlb_ini_entry *find(const dlb_ini_section *section, const char *key)
{
    for (size_t i = 0; section && i < section->count; i++)
        if (strcmp(section->entries[i].key, key) == 0)
            return &section->entries[i];
    return NULL;
}

static int refuse_unknown(const dlb_place *place, const char *what, const char *word,
                          const char *const *known, size_t count, dlb_error *err)
{
    const char *closest = dlb_closest(word, known, count);
    return dlb_place_fail(err, place, 0, "unknown %s '%.80s'%s%s%s", what, word,
                          closest ? "; did you mean " : "", closest ? closest : "",
                          closest ? "?" : "");
}

static bool is_among(const char *word, const char *const *known, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, known[i]) == 0)
            return true;
    return false;
}

static int check_keys(const dlb_ini_section *section, const char *const *known, size_t count,
                      dlb_error *err)
{
    for (size_t i = 0; section && i < section->count; i++) {
        const dlb_ini_entry *entry = &section->entries[i];
        if (!is_among(entry->key, known, count))
            return refuse_unknown(&entry->key_place, "key", entry->key, known, count, err);
    }
    return 0;
}

static int check_sections(const dlb_study *study, dlb_error *err)
{
    static const char *const kinds[] = {"study", "workload", "grid", "launch", "metrics"};
    for (size_t i = 0; i < dlb_ini_count(study->ini); i++) {
        const dlb_ini_section *section = dlb_ini_section_at(study->ini, i);
        if (!is_among(section->kind, kinds, COUNT(kinds)))
            return refuse_unknown(&section->place, "section", section->kind, kinds, COUNT(kinds),
                                  err);
        if (*section->name && strcmp(section->kind, "grid") != 0)
            return dlb_place_fail(err, &section->place, 0, "only a grid has a name; write [%s]",
                                  section->kind);
    }
    return 0;
}

/* ---- Values ---- */

static int refuse_value(const dlb_ini_entry *entry, const char *must_be, dlb_error *err)
{
    return dlb_place_fail(err, &entry->value_place, 0, "%s must be %s, not '%.80s'", entry->key,
                          must_be, entry->value);
}

/* Readers of one entry, which may be NULL: *value then stays as it is. */

int dlb_study_read_repeats(const dlb_ini_entry *entry, int *repeats, dlb_error *err)
{
    long long number;
    if (!entry)
        return 0;
    if (!dlb_parse_int(entry->value, &number) || number < 1 || number > MAX_REPEATS)
        return refuse_value(entry, "a number of runs, 1 to 1000000", err);
    *repeats = (int)number;
    return 0;
}

static int read_duration(const dlb_ini_entry *entry, double *seconds, dlb_error *err)
{
    if (entry && (!dlb_duration_parse(entry->value, seconds) || *seconds == 0))
        return refuse_value(entry, "a time such as 90s, 10m or 1.5h", err);
    return 0;
}

static int read_precision(const dlb_ini_entry *entry, double *precision, dlb_error *err)
{
    if (entry &&
        (!dlb_percentage_parse(entry->value, precision) || *precision == 0 || *precision >= 1))
        return refuse_value(entry, "a part of the median such as 2%", err);
    return 0;
}

static int read_choice(const dlb_ini_entry *entry, const char *const *choices, size_t count,
                       size_t *choice, dlb_error *err)
{
    if (!entry)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (strcmp(entry->value, choices[i]) == 0) {
            *choice = i;
            return 0;
        }
    return refuse_unknown(&entry->value_place, entry->key, entry->value, choices, count, err);
}

static int read_words(const dlb_ini_entry *entry, dlb_words *words, dlb_place *place,
                      dlb_error *err)
{
    if (!entry)
        return 0;
    *place = entry->value_place;
    *words = dlb_words_split(entry, 0, err);
    return *words ? 0 : DLB_BAD_INPUT;
}

/* ---- [study] ---- */

static bool is_folder_name(const char *text)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_-.";
    size_t length = strspn(text, allowed);
    return length > 0 && length <= 200 && text[length] == '\0' && text[0] != '.' && text[0] != '-';
}

/* What a study is called that does not say so: sweeps/quick.ini is "quick". */
static char *name_of_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = dlb_strdup(slash ? slash + 1 : path);
    char *dot = strrchr(name, '.');
    if (dot && dot != name)
        *dot = '\0';
    return name;
}

static int read_name(dlb_study *study, const dlb_ini_section *section, const char *path,
                     dlb_error *err)
{
    static const char rule[] = "letters, digits, _, - and ., since results have a folder of it";
    const dlb_ini_entry *name = find(section, "name"), *title = find(section, "title");
    study->name = name ? dlb_words_unquote(name->value) : name_of_file(path);
    study->title = dlb_words_unquote(title ? title->value : "");
    if (is_folder_name(study->name))
        return 0;
    if (name)
        return refuse_value(name, rule, err);
    return dlb_fail(err, DLB_BAD_INPUT,
                    "%.200s: a study is called after its file, and a name has %s; give one as "
                    "name in [study]",
                    path, rule);
}

/* Either a number of repeats, or bounds and what decides between them. */
static int check_repeats(const dlb_ini_section *section, dlb_error *err)
{
    const dlb_ini_entry *plain = find(section, "repeats");
    const dlb_ini_entry *min = find(section, "min_repeats"), *max = find(section, "max_repeats");
    const dlb_ini_entry *precision = find(section, "precision"), *budget = find(section, "budget");
    const dlb_ini_entry *bound = max ? max : min, *decides = precision ? precision : budget;
    if (plain && (bound || decides))
        return dlb_place_fail(
            err, &plain->key_place, 0,
            "repeats is an exact number; give min_repeats and max_repeats instead "
            "where %s is to decide",
            decides ? decides->key : "precision or budget");
    if (bound && !decides)
        return dlb_place_fail(err, &bound->key_place, 0,
                              "what is to decide? Give precision, such as 2%%, or budget, such as "
                              "10m, or repeats alone");
    if (decides && !max)
        return dlb_place_fail(err, &decides->key_place, 0,
                              "%s needs max_repeats, since it may never be reached", decides->key);
    return 0;
}

static int read_repeats(dlb_repeats *repeats, const dlb_ini_section *section, dlb_error *err)
{
    const dlb_ini_entry *max = find(section, "max_repeats");
    *repeats = (dlb_repeats){.min = 1};
    if (check_repeats(section, err) < 0 ||
        dlb_study_read_repeats(find(section, "repeats"), &repeats->min, err) < 0 ||
        read_precision(find(section, "precision"), &repeats->precision, err) < 0 ||
        read_duration(find(section, "budget"), &repeats->budget_s, err) < 0)
        return DLB_BAD_INPUT;
    if (max)
        repeats->min = DEFAULT_MIN_REPEATS;
    if (dlb_study_read_repeats(find(section, "min_repeats"), &repeats->min, err) < 0)
        return DLB_BAD_INPUT;
    repeats->max = repeats->min;
    if (dlb_study_read_repeats(max, &repeats->max, err) < 0)
        return DLB_BAD_INPUT;
    if (repeats->max < repeats->min)
        return dlb_place_fail(err, &max->value_place, 0,
                              "max_repeats = %d is less than min_repeats = %d", repeats->max,
                              repeats->min);
    return 0;
}

static int read_order(dlb_study *study, const dlb_ini_section *section, dlb_error *err)
{
    static const char *const orders[] = {
        [DLB_ORDER_BLOCKS] = "blocks", [DLB_ORDER_SEQUENTIAL] = "sequential"};
    const dlb_ini_entry *seed = find(section, "order_seed");
    size_t order = DLB_ORDER_BLOCKS;
    long long number = 1;
    if (read_choice(find(section, "order"), orders, COUNT(orders), &order, err) < 0)
        return DLB_BAD_INPUT;
    if (seed && (!dlb_parse_int(seed->value, &number) || number < 0))
        return refuse_value(seed, "an integer, 0 or more", err);
    study->order = (enum dlb_order)order;
    study->order_seed = (uint64_t)number;
    return 0;
}

static int read_study(dlb_study *study, const char *path, dlb_error *err)
{
    static const char *const keys[] = {"name",        "title",       "repeats", "precision",
                                       "min_repeats", "max_repeats", "budget",  "timeout",
                                       "order",       "order_seed"};
    const dlb_ini_section *section = find_section(study, "study");
    study->timeout_s = default_timeout_s;
    if (check_keys(section, keys, COUNT(keys), err) < 0 ||
        read_name(study, section, path, err) < 0 ||
        read_repeats(&study->repeats, section, err) < 0 ||
        read_duration(find(section, "timeout"), &study->timeout_s, err) < 0)
        return DLB_BAD_INPUT;
    return read_order(study, section, err);
}

/* ---- The other sections ---- */

static int read_launch(dlb_study *study, dlb_error *err)
{
    static const char *const keys[] = {"launcher", "options", "wrap"};
    static const char *const launchers[] = {"auto", "none", "mpirun", "srun", "aprun"};
    const dlb_ini_section *section = find_section(study, "launch");
    size_t launcher = 0;
    dlb_place unused;
    if (check_keys(section, keys, COUNT(keys), err) < 0 ||
        read_choice(find(section, "launcher"), launchers, COUNT(launchers), &launcher, err) < 0)
        return DLB_BAD_INPUT;
    study->launcher = launchers[launcher];
    if (read_words(find(section, "options"), &study->launch_options, &unused, err) < 0)
        return DLB_BAD_INPUT;
    return read_words(find(section, "wrap"), &study->wrap, &study->wrap_place, err);
}

static int read_metrics(dlb_study *study, dlb_error *err)
{
    const dlb_ini_section *section = find_section(study, "metrics");
    dlb_metric *metrics;
    if (!section)
        return 0;
    if (!study->command)
        return dlb_place_fail(err, &section->place, 0,
                              "metrics are those of a foreign program, and [workload] has no "
                              "command; dlbench's own trainer reports its results itself");
    if (dlb_metrics_read(&metrics, &study->metric_count, section, err) < 0)
        return DLB_BAD_INPUT;
    study->metrics = metrics;
    return 0;
}

static int read_sections(dlb_study *study, const char *path, dlb_error *err)
{
    const dlb_ini_entry *command = find(find_section(study, "workload"), "command");
    if (check_sections(study, err) < 0 || read_study(study, path, err) < 0 ||
        read_words(command, &study->command, &study->command_place, err) < 0 ||
        read_launch(study, err) < 0)
        return DLB_BAD_INPUT;
    return read_metrics(study, err);
}

/* Make a study of the file, which it takes over. */
static int create(dlb_study **study, dlb_ini *ini, const char *path, dlb_error *err)
{
    *study = dlb_alloc(1, sizeof **study);
    (*study)->ini = ini;
    int status = read_sections(*study, path, err);
    if (status < 0) {
        dlb_study_free(*study);
        *study = NULL;
    }
    return status;
}

int dlb_study_read(dlb_study **study, const char *path, dlb_error *err)
{
    dlb_ini *ini;
    int status = dlb_ini_read(&ini, path, err);
    return status < 0 ? status : create(study, ini, path, err);
}

int dlb_study_parse(dlb_study **study, const char *name, const char *bytes, size_t count,
                    dlb_error *err)
{
    dlb_ini *ini;
    int status = dlb_ini_parse(&ini, name, bytes, count, err);
    return status < 0 ? status : create(study, ini, name, err);
}

void dlb_study_free(dlb_study *study)
{
    if (!study)
        return;
    dlb_words_free(study->wrap);
    dlb_words_free(study->launch_options);
    dlb_metrics_free(study->metrics, study->metric_count);
    dlb_words_free(study->command);
    free((char *)study->title);
    free((char *)study->name);
    dlb_ini_free(study->ini);
    free(study);
}
