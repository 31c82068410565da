/*
 * Runs that are taken back.
 *
 * The new runs.csv is written beside the old one, then the new superseded.csv likewise. From the
 * moment that runs.csv is replaced the runs are taken back; what remains is to put superseded.csv
 * into its place and to remove the rows of epochs and ranks. So if all is cut short, a new runs.csv
 * beside the old tells that nothing has happened yet, and a new superseded.csv without it that it
 * has. What is undone goes in the reverse order for this reason.
 */
#include <errno.h>
#include <unistd.h>

#include "base/csv.h"
#include "base/file.h"
#include "base/mem.h"
#include "record/store_copy.h"
#include "record/store_state.h"

/* The path of the k-th file of superseded runs, from 1, as it is and while it is written. */
typedef struct shelf {
    dlb_str path, new_path;
} shelf;

static void shelf_init(shelf *s, const dlb_store *store, int k)
{
    char name[40] = "superseded.csv";
    if (k > 1)
        snprintf(name, sizeof name, "superseded.%d.csv", k);
    *s = (shelf){DLB_STR_INIT, DLB_STR_INIT};
    dlb_store_path(store, name, &s->path);
    dlb_store_new_path(s->path.text, &s->new_path);
}

static void shelf_release(shelf *s)
{
    dlb_str_release(&s->new_path);
    dlb_str_release(&s->path);
}

static int put_up(const shelf *s, dlb_error *err)
{
    if (rename(s->new_path.text, s->path.text) < 0)
        return dlb_fail(err, DLB_FAIL, "%s: %s", s->path.text, strerror(errno));
    return 0;
}

/* --- after a crash --- */

/* Every shelf that was being written is put up, or removed. */
static int settle_shelves(const dlb_store *store, bool done, dlb_error *err)
{
    int status = 0;
    bool more = true;
    for (int k = 1; status == 0 && more; k++) {
        shelf s;
        shelf_init(&s, store, k);
        bool begun = dlb_file_exists(s.new_path.text);
        if (begun && done)
            status = put_up(&s, err);
        else if (begun)
            unlink(s.new_path.text);
        more = begun || dlb_file_exists(s.path.text);
        shelf_release(&s);
    }
    return status;
}

int dlb_store_settle(const dlb_store *store, dlb_error *err)
{
    dlb_str path[STORE_FILES] = {DLB_STR_INIT};
    for (int i = 0; i < STORE_FILES; i++)
        dlb_store_new_path(store->files[i].path, &path[i]);
    int status = settle_shelves(store, !dlb_file_exists(path[STORE_RUNS].text), err);
    for (int i = 0; i < STORE_FILES; i++) {
        if (status == 0)
            unlink(path[i].text);
        dlb_str_release(&path[i]);
    }
    return status;
}

/* --- taking back --- */

/* Which runs go, by their index. */
typedef struct choice {
    const bool *gone;
    size_t count;
} choice;

static bool goes(const dlb_store_row *row, void *arg)
{
    const choice *c = arg;
    return row->index < c->count && c->gone[row->index];
}

static bool stays(const dlb_store_row *row, void *arg)
{
    return !goes(row, arg);
}

/* 1 if the file's header has the same columns, 0 if it has others. */
static int has_columns_of(const char *path, const dlb_store_file *runs, dlb_error *err)
{
    dlb_csv_reader *reader;
    dlb_csv_record header;
    int got = dlb_csv_open(&reader, path, err);
    if (got < 0)
        return got;
    got = dlb_csv_next(reader, &header, err);
    int same = got > 0 && !header.cut && header.count == runs->count;
    for (size_t i = 0; same && i < runs->count; i++)
        same = strcmp(header.fields[i].text, runs->columns[i]) == 0;
    dlb_csv_close(reader);
    return got < 0 ? got : same;
}

/* The first shelf that is free or has the columns of runs.csv: 1 and it is there, 0 and it is not.
 */
static int choose_shelf(const dlb_store *store, shelf *s, dlb_error *err)
{
    for (int k = 1;; k++) {
        shelf_init(s, store, k);
        if (!dlb_file_exists(s->path.text))
            return 0;
        int fits = has_columns_of(s->path.text, &store->files[STORE_RUNS], err);
        if (fits == 1)
            return 1;
        shelf_release(s);
        if (fits < 0)
            return fits;
    }
}

static int write_shelf(const dlb_store *store, const shelf *s, bool there, choice *c,
                       dlb_error *err)
{
    const dlb_store_file *runs = &store->files[STORE_RUNS];
    dlb_store_copy copy;
    int status = dlb_store_copy_begin(&copy, s->new_path.text, err);
    if (status < 0)
        return status;
    if (there)
        dlb_store_copy_file(&copy, s->path.text);
    else
        dlb_store_copy_header(&copy, runs);
    dlb_store_copy_rows(&copy, runs, goes, c);
    return dlb_store_copy_end(&copy, err);
}

static int move_rows(dlb_store *store, choice *c, dlb_error *err)
{
    dlb_store_file *runs = &store->files[STORE_RUNS];
    shelf s;
    int there = choose_shelf(store, &s, err);
    if (there < 0)
        return there;
    int status = dlb_store_file_rewrite(runs, stays, c, err);
    if (status == 0)
        status = write_shelf(store, &s, there, c, err);
    if (status == 0)
        status = dlb_store_sync_folder(store->folder, err);
    if (status == 0)
        status = dlb_store_file_replace(runs, err);
    if (status == 0)
        status = put_up(&s, err);
    shelf_release(&s);
    return status < 0 ? status : 0;
}

static void forget(dlb_store *store, const choice *c)
{
    dlb_word_set names = {0};
    size_t count = 0;
    for (size_t i = 0; i < c->count; i++) {
        if (c->gone[i])
            continue;
        dlb_stored_run run = store->runs[i];
        run.run = dlb_word_set_add(&names, run.run, strlen(run.run));
        store->runs[count++] = run;
    }
    dlb_word_set_release(&store->run_names);
    store->run_names = names;
    store->count = count;
}

static int drop_details(dlb_store *store, dlb_error *err)
{
    int status = 0;
    for (int i = 0; status == 0 && i < STORE_RUNS; i++) {
        dlb_store_file *file = &store->files[i];
        dlb_store_member member = {store, file};
        status = dlb_store_file_rewrite(file, dlb_store_is_of_run, &member, err);
        if (status == 0)
            status = dlb_store_file_replace(file, err);
    }
    return status;
}

static int take_back(dlb_store *store, choice *c, dlb_error *err)
{
    int status = move_rows(store, c, err);
    if (status < 0) {
        dlb_store_settle(store, NULL);
        return status;
    }
    forget(store, c);
    return drop_details(store, err);
}

int dlb_store_supersede(dlb_store *store, bool (*is)(const dlb_stored_run *run, void *arg),
                        void *arg, size_t *count, dlb_error *err)
{
    bool *gone = dlb_alloc(store->count ? store->count : 1, sizeof *gone);
    size_t going = 0;
    for (size_t i = 0; i < store->count; i++)
        going += gone[i] = is(&store->runs[i], arg);
    choice c = {gone, store->count};
    int status = going ? take_back(store, &c, err) : 0;
    free(gone);
    if (count)
        *count = status < 0 ? 0 : going;
    return status;
}
