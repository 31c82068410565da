#include "base/csv.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

void dlb_csv_add(dlb_str *line, size_t column, const char *field)
{
    if (column > 0)
        dlb_str_add(line, ",");
    if (!strpbrk(field, ",\"\r\n")) {
        dlb_str_add(line, field);
        return;
    }
    dlb_str_add(line, "\"");
    for (const char *c = field; *c; c++)
        dlb_str_add_bytes(line, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1);
    dlb_str_add(line, "\"");
}

/* 1 if the file begins with `header` and a line break, 0 if it begins otherwise, -1 on error. */
static int has_header(int fd, const char *header)
{
    size_t length = strlen(header);
    char *start = malloc(length + 1);
    if (!start)
        return -1;
    ssize_t got = pread(fd, start, length + 1, 0);
    int same = got == (ssize_t)length + 1 && memcmp(start, header, length) == 0 &&
               (start[length] == '\n' || start[length] == '\r');
    free(start);
    return got < 0 ? -1 : same;
}

static int check_header(int fd, const struct stat *info, const char *path, const char *header,
                        dlb_error *err)
{
    if (!S_ISREG(info->st_mode) || info->st_size == 0 || has_header(fd, header) == 1)
        return 0;
    return dlb_fail(err, DLB_BAD_INPUT,
                    "%s: its header is not that of this program's rows; name another file, or "
                    "move this one away",
                    path);
}

static bool ends_line(int fd, off_t size)
{
    char last;
    return pread(fd, &last, 1, size - 1) == 1 && last == '\n';
}

/* A signal handler of the program may interrupt the wait for the lock. */
static int lock_exclusive(int fd)
{
    int status;
    do
        status = flock(fd, LOCK_EX);
    while (status < 0 && errno == EINTR);
    return status;
}

static int append_locked(int fd, const char *path, const char *header, const char *row,
                         dlb_error *err)
{
    struct stat info;
    if (fstat(fd, &info) < 0)
        return dlb_fail(err, DLB_FAIL, "%s: %s", path, strerror(errno));

    dlb_str text = DLB_STR_INIT;
    if (info.st_size == 0) {
        dlb_str_addf(&text, "%s\n", header);
    } else if (check_header(fd, &info, path, header, err) < 0) {
        return DLB_BAD_INPUT;
    } else if (S_ISREG(info.st_mode) && !ends_line(fd, info.st_size)) {
        dlb_str_add(&text, "\n");
    }
    dlb_str_addf(&text, "%s\n", row);

    ssize_t written = write(fd, text.text, text.length);
    int failure = written < 0 ? errno : ENOSPC;
    bool whole = written == (ssize_t)text.length;
    dlb_str_release(&text);
    if (whole)
        return 0;
    if (written > 0 && ftruncate(fd, info.st_size) < 0)
        failure = errno;
    return dlb_fail(err, DLB_FAIL, "%s: cannot append a row: %s", path, strerror(failure));
}

static int refuse_open(const char *path, dlb_error *err)
{
    return dlb_fail(err, DLB_BAD_INPUT, "%s: cannot open for appending: %s", path, strerror(errno));
}

int dlb_csv_append(const char *path, const char *header, const char *row, dlb_error *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        return refuse_open(path, err);
    int status = 0;
    if (lock_exclusive(fd) < 0)
        status = dlb_fail(err, DLB_FAIL, "%s: cannot lock: %s", path, strerror(errno));
    else
        status = append_locked(fd, path, header, row, err);
    if (close(fd) < 0 && status == 0)
        status = dlb_fail(err, DLB_FAIL, "%s: %s", path, strerror(errno));
    return status;
}

int dlb_csv_check(const char *path, const char *header, dlb_error *err)
{
    struct stat info;
    if (stat(path, &info) < 0 || !S_ISREG(info.st_mode))
        return dlb_file_writable(path, err);
    int fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC);
    if (fd < 0)
        return refuse_open(path, err);
    int status = check_header(fd, &info, path, header, err);
    close(fd);
    return status;
}
