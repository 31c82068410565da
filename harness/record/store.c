#include "record/store.h"

#include <limits.h>
#include <math.h>
#include <unistd.h>

#include "base/mem.h"
#include "record/store_lock.h"
#include "record/store_state.h"

static const dlb_table *const tables[STORE_FILES] = {
    [STORE_EPOCHS] = &dlb_table_epochs,
    [STORE_RANKS] = &dlb_table_ranks,
    [STORE_RUNS] = &dlb_table_runs,
};

/* --- what is recorded --- */

static const char *word(dlb_store *store, const char *text)
{
    return dlb_word_set_add(&store->words, text, strlen(text));
}

static void remember(dlb_store *store, const dlb_stored_run *run)
{
    store->runs = dlb_grow(store->runs, &store->capacity, store->count + 1, sizeof *store->runs);
    store->runs[store->count++] = (dlb_stored_run){
        .run = dlb_word_set_add(&store->run_names, run->run, strlen(run->run)),
        .point = word(store, run->point),
        .status = word(store, run->status),
        .commit = word(store, run->commit),
        .host = word(store, run->host),
        .repeat = run->repeat,
        .sequence = run->sequence,
        .time_to_solution_s = run->time_to_solution_s,
        .wall_s = run->wall_s,
    };
}

/* Where the cells of a dlb_stored_run stand in runs.csv. */
typedef struct run_reader {
    dlb_store *store;
    bool placed;
    int run, point, status, commit, host, repeat, sequence, time_to_solution_s, wall_s;
} run_reader;

static void place_columns(run_reader *r)
{
    const dlb_store_file *file = &r->store->files[STORE_RUNS];
#define PLACE(column) r->column = dlb_store_file_find(file, #column)
    PLACE(run);
    PLACE(point);
    PLACE(status);
    PLACE(commit);
    PLACE(host);
    PLACE(repeat);
    PLACE(sequence);
    PLACE(time_to_solution_s);
    PLACE(wall_s);
#undef PLACE
    r->placed = true;
}

static double real_at(const dlb_store_row *row, int place)
{
    double value;
    return dlb_parse_real(dlb_store_field(row, place), &value) ? value : NAN;
}

/* What counts from 1. A sequence that is read can be gone on with for ever. */
enum { MOST_REPEATS = INT_MAX };
static const long long most_runs = LLONG_MAX / 2;

static long long count_at(const dlb_store_row *row, int place, long long most)
{
    long long count;
    bool valid = dlb_parse_int(dlb_store_field(row, place), &count) && count > 0 && count <= most;
    return valid ? count : 0;
}

static bool read_run(const dlb_store_row *row, void *arg)
{
    run_reader *r = arg;
    if (!r->placed)
        place_columns(r);
    remember(r->store, &(dlb_stored_run){
                           .run = dlb_store_field(row, r->run),
                           .point = dlb_store_field(row, r->point),
                           .status = dlb_store_field(row, r->status),
                           .commit = dlb_store_field(row, r->commit),
                           .host = dlb_store_field(row, r->host),
                           .repeat = (int)count_at(row, r->repeat, MOST_REPEATS),
                           .sequence = count_at(row, r->sequence, most_runs),
                           .time_to_solution_s = real_at(row, r->time_to_solution_s),
                           .wall_s = real_at(row, r->wall_s),
                       });
    return true;
}

bool dlb_store_is_of_run(const dlb_store_row *row, void *arg)
{
    const dlb_store_member *m = arg;
    const char *run = dlb_store_field(row, dlb_store_file_find(m->file, "run"));
    return dlb_word_set_find(&m->store->run_names, run, strlen(run)) != NULL;
}

/* --- open and close --- */

static int mend(dlb_store *store, dlb_error *err)
{
    int status = 0;
    for (int i = 0; status == 0 && i < STORE_FILES; i++) {
        dlb_store_file *file = &store->files[i];
        dlb_store_member member = {store, file};
        status = dlb_store_file_mend(
            file, i == STORE_RUNS ? dlb_store_keep_all : dlb_store_is_of_run, &member, err);
        store->mended += file->dropped;
    }
    return status;
}

/* The runs first: what else is kept depends on them. Nothing is changed before all was read. */
static int load(dlb_store *store, dlb_error *err)
{
    run_reader reader = {.store = store};
    int status = dlb_store_file_load(&store->files[STORE_RUNS], read_run, &reader, err);
    for (int i = 0; status == 0 && i < STORE_RUNS; i++) {
        dlb_store_member member = {store, &store->files[i]};
        status = dlb_store_file_load(&store->files[i], dlb_store_is_of_run, &member, err);
    }
    return status < 0 ? status : mend(store, err);
}

/* Epochs have no counters, and ranks those of their run. */
static int prepare_all(dlb_store *store, const dlb_row *columns, dlb_error *err)
{
    int status = 0;
    for (int i = 0; status == 0 && i < STORE_FILES; i++) {
        dlb_row row;
        dlb_row_init(&row, tables[i]);
        for (size_t c = 0; tables[i]->has_counters && c < columns->counter_count; c++)
            dlb_row_set_counter(&row, columns->counters[c].name, 0);
        status = dlb_store_file_prepare(&store->files[i], i == STORE_RUNS ? columns : &row, err);
        dlb_row_release(&row);
    }
    return status;
}

static int open_locked(dlb_store *store, const dlb_row *columns, dlb_error *err)
{
    int status = dlb_store_settle(store, err);
    if (status == 0)
        status = load(store, err);
    if (status == 0)
        status = prepare_all(store, columns, err);
    if (status == 0)
        status = dlb_store_sync_start(&store->sync, err);
    return status;
}

static void store_free(dlb_store *store)
{
    dlb_store_sync_stop(store->sync);
    dlb_word_set_release(&store->words);
    dlb_word_set_release(&store->run_names);
    free(store->runs);
    for (int i = STORE_FILES; i-- > 0;)
        dlb_store_file_release(&store->files[i]);
    close(store->lock);
    free(store->folder);
    free(store);
}

int dlb_store_open(dlb_store **out, const char *folder, const dlb_row *columns, dlb_error *err)
{
    int lock = dlb_store_lock(folder, err);
    if (lock < 0)
        return lock;
    dlb_store *store = dlb_alloc(1, sizeof *store);
    store->folder = dlb_strdup(folder);
    store->lock = lock;
    for (int i = 0; i < STORE_FILES; i++)
        dlb_store_file_init(&store->files[i], folder, tables[i]);
    int status = open_locked(store, columns, err);
    if (status == 0)
        *out = store;
    else
        store_free(store);
    return status;
}

static int fail_unsynced(const dlb_store *store, int failure, dlb_error *err)
{
    return dlb_fail(err, DLB_FAIL, "%s: the last runs may not be on the disk: %s", store->folder,
                    strerror(failure));
}

int dlb_store_close(dlb_store *store, dlb_error *err)
{
    int failure = dlb_store_sync_error(store->sync);
    for (int i = 0; i < STORE_FILES; i++) {
        int error = dlb_store_sync_now(store->files[i].fd);
        failure = failure ? failure : error;
    }
    int status = failure ? fail_unsynced(store, failure, err) : 0;
    store_free(store);
    return status;
}

size_t dlb_store_count(const dlb_store *store)
{
    return store->count;
}

const dlb_stored_run *dlb_store_run(const dlb_store *store, size_t index)
{
    return &store->runs[index];
}

size_t dlb_store_mended(const dlb_store *store)
{
    return store->mended;
}

void dlb_store_path(const dlb_store *store, const char *name, dlb_str *path)
{
    dlb_str_addf(path, "%s/%s", store->folder, name);
}

/* --- add --- */

static dlb_stored_run stored_run(const dlb_row *row)
{
    return (dlb_stored_run){
        .run = dlb_row_text(row, DLB_RUN_run),
        .point = dlb_row_text(row, DLB_RUN_point),
        .status = dlb_row_text(row, DLB_RUN_status),
        .commit = dlb_row_text(row, DLB_RUN_commit),
        .host = dlb_row_text(row, DLB_RUN_host),
        .repeat = (int)dlb_row_int(row, DLB_RUN_repeat, 0),
        .sequence = dlb_row_int(row, DLB_RUN_sequence, 0),
        .time_to_solution_s = dlb_row_real(row, DLB_RUN_time_to_solution_s),
        .wall_s = dlb_row_real(row, DLB_RUN_wall_s),
    };
}

static int check_run(const dlb_store *store, const dlb_row *row, dlb_error *err)
{
    static const int needed[] = {DLB_RUN_run, DLB_RUN_point, DLB_RUN_repeat, DLB_RUN_status};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (row->cells[needed[i]].kind == DLB_CELL_MISSING)
            return dlb_fail(err, DLB_BAD_INPUT, "a run without its %s cannot be recorded",
                            row->table->columns[needed[i]].name);
    long long repeat = dlb_row_int(row, DLB_RUN_repeat, 0);
    if (repeat < 1 || repeat > MOST_REPEATS)
        return dlb_fail(err, DLB_BAD_INPUT, "repeat %lld of a run: it counts from 1 to %d", repeat,
                        MOST_REPEATS);
    const char *run = dlb_row_text(row, DLB_RUN_run);
    if (dlb_word_set_find(&store->run_names, run, strlen(run)))
        return dlb_fail(err, DLB_BAD_INPUT, "%s: run %s is recorded already", store->folder, run);
    return 0;
}

/* The row in the columns of the file, under the name of its run. */
static void add_line(const dlb_store_file *file, const dlb_row *row, char *run, dlb_str *text)
{
    size_t count = (size_t)row->table->count;
    dlb_row named = *row;
    named.cells = dlb_alloc(count, sizeof *named.cells);
    memcpy(named.cells, row->cells, count * sizeof *named.cells);
    named.cells[dlb_table_find(row->table, "run")] = (dlb_cell){.kind = DLB_CELL_TEXT, .text = run};
    dlb_row_line_as(&named, file->columns, file->count, text);
    dlb_str_add(text, "\n");
    free(named.cells);
}

static int add_list(dlb_store_file *file, const dlb_row_list *list, char *run, dlb_str *text,
                    dlb_error *err)
{
    int status = 0;
    for (size_t i = 0; status == 0 && i < list->count; i++) {
        status = dlb_store_file_prepare(file, &list->rows[i], err);
        if (status == 0)
            add_line(file, &list->rows[i], run, text);
    }
    return status;
}

static int write_all(dlb_store *store, const dlb_str texts[STORE_FILES], dlb_error *err)
{
    off_t before[STORE_FILES];
    int status = 0, i;
    for (i = 0; status == 0 && i < STORE_FILES; i++) {
        before[i] = store->files[i].size;
        status = dlb_store_file_append(&store->files[i], &texts[i], err);
    }
    while (status < 0 && i-- > 0)
        dlb_store_file_cut(&store->files[i], before[i]);
    return status;
}

static int add_run(dlb_store *store, const dlb_result *result, dlb_error *err)
{
    dlb_str texts[STORE_FILES] = {DLB_STR_INIT};
    dlb_store_file *files = store->files;
    char *run = result->run.cells[DLB_RUN_run].text;
    dlb_row_list runs = {.rows = (dlb_row *)&result->run, .count = 1};
    int status = 0;
    if ((status = add_list(&files[STORE_EPOCHS], &result->epochs, run, &texts[0], err)) == 0 &&
        (status = add_list(&files[STORE_RANKS], &result->ranks, run, &texts[1], err)) == 0 &&
        (status = add_list(&files[STORE_RUNS], &runs, run, &texts[2], err)) == 0)
        status = write_all(store, texts, err);
    for (int i = 0; i < STORE_FILES; i++)
        dlb_str_release(&texts[i]);
    return status;
}

int dlb_store_add(dlb_store *store, const dlb_result *result, dlb_error *err)
{
    int failure = dlb_store_sync_error(store->sync);
    if (failure)
        return fail_unsynced(store, failure, err);
    int status = check_run(store, &result->run, err);
    if (status == 0)
        status = add_run(store, result, err);
    if (status < 0)
        return status;
    const dlb_stored_run run = stored_run(&result->run);
    remember(store, &run);
    const int files[STORE_FILES] = {store->files[0].fd, store->files[1].fd, store->files[2].fd};
    dlb_store_sync_later(store->sync, files);
    return 0;
}
