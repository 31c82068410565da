#include "record/store_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "record/store_copy.h"

void dlb_store_file_init(dlb_store_file *file, const char *folder, const dlb_table *table)
{
    dlb_str path = DLB_STR_INIT;
    dlb_str_addf(&path, "%s/%s", folder, table->file);
    *file =
        (dlb_store_file){.table = table, .folder = dlb_strdup(folder), .path = path.text, .fd = -1};
}

void dlb_store_file_release(dlb_store_file *file)
{
    if (file->path && file->fd >= 0)
        close(file->fd);
    for (size_t i = 0; i < file->count; i++)
        free(file->columns[i]);
    free(file->columns);
    free(file->path);
    free(file->folder);
    *file = (dlb_store_file){.fd = -1};
}

static int fail_on(const dlb_store_file *file, dlb_error *err)
{
    return dlb_fail(err, DLB_FAIL, "%s: %s", file->path, strerror(errno));
}

int dlb_store_file_find(const dlb_store_file *file, const char *name)
{
    for (size_t i = 0; i < file->count; i++)
        if (strcmp(file->columns[i], name) == 0)
            return (int)i;
    return -1;
}

const char *dlb_store_field(const dlb_store_row *row, int place)
{
    return place >= 0 && (size_t)place < row->count ? row->fields[place].text : "";
}

static void add_column(dlb_store_file *file, const char *name)
{
    file->columns =
        dlb_grow(file->columns, &file->capacity, file->count + 1, sizeof *file->columns);
    file->columns[file->count++] = dlb_strdup(name);
}

/* The first columns of a table are those by which its rows are told apart. */
static int read_header(dlb_store_file *file, const dlb_csv_record *record, dlb_error *err)
{
    enum { KEYS = 2 };
    if (record->cut)
        return dlb_fail(err, DLB_BAD_INPUT, "%s: its header has no end; move it away", file->path);
    for (size_t i = 0; i < record->count; i++)
        add_column(file, record->fields[i].text);
    for (int i = 0; i < KEYS; i++) {
        const char *key = file->table->columns[i].name;
        if (dlb_store_file_find(file, key) < 0)
            return dlb_fail(err, DLB_BAD_INPUT,
                            "%s: has no column %s, so it is none of this program's; name another "
                            "folder, or move it away",
                            file->path, key);
    }
    return 0;
}

/* A row that is cut short is the last; more than this is no row but a quote that was never closed.
 */
enum { MAX_CUT = 1 << 20 };

static int check_cut(const dlb_store_file *file, const dlb_csv_record *record, dlb_error *err)
{
    if (file->size - (off_t)record->offset <= MAX_CUT)
        return 0;
    return dlb_fail(err, DLB_BAD_INPUT, "%s: line %zu: a quote is never closed", file->path,
                    record->line);
}

/* Where a record begins, those before it end. */
static int load_rows(dlb_store_file *file, dlb_csv_reader *reader, dlb_store_keep *keep, void *arg,
                     dlb_error *err)
{
    dlb_csv_record record;
    int got;
    bool kept = true;
    for (size_t i = 0; (got = dlb_csv_next(reader, &record, err)) > 0; i++) {
        if (kept)
            file->kept_end = (off_t)record.offset;
        if (record.cut && check_cut(file, &record, err) < 0)
            return DLB_BAD_INPUT;
        kept = !record.cut && keep(&(dlb_store_row){i, record.fields, record.count}, arg);
        file->holes = file->holes || (kept && file->dropped > 0);
        file->dropped += !kept;
    }
    if (kept)
        file->kept_end = file->size;
    return got;
}

static int load_file(dlb_store_file *file, dlb_store_keep *keep, void *arg, dlb_error *err)
{
    dlb_csv_reader *reader;
    dlb_csv_record header;
    int got = dlb_csv_open(&reader, file->path, err);
    if (got < 0)
        return got;
    got = dlb_csv_next(reader, &header, err);
    if (got > 0)
        got = read_header(file, &header, err);
    if (got == 0 && file->count > 0)
        got = load_rows(file, reader, keep, arg, err);
    dlb_csv_close(reader);
    return got;
}

int dlb_store_file_load(dlb_store_file *file, dlb_store_keep *keep, void *arg, dlb_error *err)
{
    struct stat info;
    if (stat(file->path, &info) < 0)
        return errno == ENOENT ? 0 : fail_on(file, err);
    if (!S_ISREG(info.st_mode))
        return dlb_fail(err, DLB_BAD_INPUT, "%s: is no file", file->path);
    if (faccessat(AT_FDCWD, file->path, W_OK, AT_EACCESS) < 0)
        return dlb_fail(err, DLB_BAD_INPUT, "%s: cannot be written: %s", file->path,
                        strerror(errno));
    file->size = info.st_size;
    return load_file(file, keep, arg, err);
}

/* A file that cannot be opened takes no rows: better none than rows in a file that was replaced. */
static int open_for_appending(dlb_store_file *file, dlb_error *err)
{
    struct stat info;
    if (file->fd >= 0)
        close(file->fd);
    file->fd = open(file->path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (file->fd < 0 || fstat(file->fd, &info) < 0)
        return fail_on(file, err);
    file->size = info.st_size;
    return 0;
}

int dlb_store_file_mend(dlb_store_file *file, dlb_store_keep *keep, void *arg, dlb_error *err)
{
    if (file->dropped == 0)
        return 0;
    if (file->holes) {
        int status = dlb_store_file_rewrite(file, keep, arg, err);
        return status < 0 ? status : dlb_store_file_replace(file, err);
    }
    return truncate(file->path, file->kept_end) < 0 ? fail_on(file, err) : 0;
}

bool dlb_store_keep_all(const dlb_store_row *row, void *arg)
{
    (void)row, (void)arg;
    return true;
}

/* How many columns of the row the file lacked. */
static size_t add_missing_columns(dlb_store_file *file, const dlb_row *row)
{
    size_t before = file->count;
    for (size_t i = 0; i < dlb_row_width(row); i++) {
        const char *name = dlb_row_name(row, i);
        bool there = i < file->count && strcmp(file->columns[i], name) == 0;
        if (!there && dlb_store_file_find(file, name) < 0)
            add_column(file, name);
    }
    return file->count - before;
}

static void forget_columns(dlb_store_file *file, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(file->columns[--file->count]);
}

int dlb_store_file_prepare(dlb_store_file *file, const dlb_row *row, dlb_error *err)
{
    bool is_new = file->count == 0;
    size_t added = add_missing_columns(file, row);
    int status = 0;
    if (added) {
        status = dlb_store_file_rewrite(file, is_new ? NULL : dlb_store_keep_all, NULL, err);
        if (status == 0)
            status = dlb_store_file_replace(file, err);
    }
    if (status == 0 && file->fd < 0)
        status = open_for_appending(file, err);
    if (status < 0)
        forget_columns(file, added);
    return status;
}

int dlb_store_file_append(dlb_store_file *file, const dlb_str *rows, dlb_error *err)
{
    if (file->overhangs)
        dlb_store_file_cut(file, file->size);
    if (!file->overhangs && dlb_file_write_all(file->fd, rows->text, rows->length) == 0) {
        file->size += (off_t)rows->length;
        return 0;
    }
    int failure = errno;
    dlb_store_file_cut(file, file->size);
    return dlb_fail(err, DLB_FAIL, "%s: the run is not recorded: %s", file->path,
                    strerror(failure));
}

void dlb_store_file_cut(dlb_store_file *file, off_t size)
{
    file->overhangs = ftruncate(file->fd, size) < 0;
    file->size = size;
}

void dlb_store_new_path(const char *path, dlb_str *out)
{
    dlb_str_addf(out, "%s.new", path);
}

int dlb_store_file_rewrite(dlb_store_file *file, dlb_store_keep *keep, void *arg, dlb_error *err)
{
    dlb_str path = DLB_STR_INIT;
    dlb_store_new_path(file->path, &path);
    dlb_store_copy copy;
    int status = dlb_store_copy_begin(&copy, path.text, err);
    if (status == 0) {
        dlb_store_copy_header(&copy, file);
        if (keep)
            dlb_store_copy_rows(&copy, file, keep, arg);
        status = dlb_store_copy_end(&copy, err);
    }
    dlb_str_release(&path);
    return status;
}

int dlb_store_file_replace(dlb_store_file *file, dlb_error *err)
{
    dlb_str path = DLB_STR_INIT;
    dlb_store_new_path(file->path, &path);
    int status = rename(path.text, file->path) < 0 ? fail_on(file, err) : 0;
    dlb_str_release(&path);
    if (status == 0)
        status = open_for_appending(file, err);
    return status < 0 ? status : dlb_store_sync_folder(file->folder, err);
}
