#include "record/store_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/csv.h"
#include "base/mem.h"

enum { BUFFER_BYTES = 1 << 18 };

static void fail_copy(dlb_store_copy *copy)
{
    if (copy->status == 0)
        copy->status = dlb_fail(&copy->err, DLB_FAIL, "%s: %s", copy->path, strerror(errno));
}

int dlb_store_copy_begin(dlb_store_copy *copy, const char *path, dlb_error *err)
{
    *copy = (dlb_store_copy){.out = fopen(path, "we")};
    if (!copy->out)
        return dlb_fail(err, DLB_FAIL, "%s: %s", path, strerror(errno));
    setvbuf(copy->out, NULL, _IOFBF, BUFFER_BYTES);
    copy->path = dlb_strdup(path);
    return 0;
}

int dlb_store_copy_end(dlb_store_copy *copy, dlb_error *err)
{
    if (fflush(copy->out) != 0 || fsync(fileno(copy->out)) < 0)
        fail_copy(copy);
    if (fclose(copy->out) != 0)
        fail_copy(copy);
    if (copy->status < 0)
        unlink(copy->path);
    free(copy->path);
    return copy->status < 0 ? dlb_fail(err, copy->status, "%s", copy->err.message) : 0;
}

static void add_line(dlb_store_copy *copy, dlb_str *line)
{
    dlb_str_add(line, "\n");
    if (fwrite(line->text, 1, line->length, copy->out) != line->length)
        fail_copy(copy);
    dlb_str_clear(line);
}

void dlb_store_copy_header(dlb_store_copy *copy, const dlb_store_file *file)
{
    dlb_str line = DLB_STR_INIT;
    for (size_t i = 0; i < file->count; i++)
        dlb_csv_add(&line, i, file->columns[i]);
    add_line(copy, &line);
    dlb_str_release(&line);
}

static void add_rows(dlb_store_copy *copy, dlb_csv_reader *reader, size_t columns,
                     dlb_store_keep *keep, void *arg)
{
    dlb_str line = DLB_STR_INIT;
    dlb_csv_record record;
    int got = 0;
    for (size_t i = 0; copy->status == 0; i++) {
        got = dlb_csv_next(reader, &record, &copy->err);
        if (got <= 0 || record.cut)
            break;
        const dlb_store_row row = {i, record.fields, record.count};
        if (!keep(&row, arg))
            continue;
        for (size_t c = 0; c < columns; c++)
            dlb_csv_add(&line, c, dlb_store_field(&row, (int)c));
        add_line(copy, &line);
    }
    if (got < 0)
        copy->status = got;
    dlb_str_release(&line);
}

void dlb_store_copy_rows(dlb_store_copy *copy, const dlb_store_file *file, dlb_store_keep *keep,
                         void *arg)
{
    dlb_csv_reader *reader;
    dlb_csv_record header;
    int got = dlb_csv_open(&reader, file->path, &copy->err);
    if (got < 0) {
        copy->status = got;
        return;
    }
    got = dlb_csv_next(reader, &header, &copy->err);
    if (got > 0)
        add_rows(copy, reader, file->count, keep, arg);
    else if (got < 0)
        copy->status = got;
    dlb_csv_close(reader);
}

void dlb_store_copy_file(dlb_store_copy *copy, const char *path)
{
    char block[1 << 16];
    FILE *in = fopen(path, "re");
    if (!in) {
        fail_copy(copy);
        return;
    }
    for (size_t got; copy->status == 0 && (got = fread(block, 1, sizeof block, in)) > 0;)
        if (fwrite(block, 1, got, copy->out) != got)
            fail_copy(copy);
    if (ferror(in))
        fail_copy(copy);
    fclose(in);
}

int dlb_store_sync_folder(const char *folder, dlb_error *err)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int status = fd < 0 || (fsync(fd) < 0 && errno != EINVAL)
                     ? dlb_fail(err, DLB_FAIL, "%s: %s", folder, strerror(errno))
                     : 0;
    if (fd >= 0)
        close(fd);
    return status;
}
