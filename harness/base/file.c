#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_all(int fd, const char *path, size_t limit, dlb_str *text, dlb_error *err)
{
    char block[65536];
    for (;;) {
        ssize_t got = read(fd, block, sizeof block);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return dlb_fail(err, DLB_FAIL, "%s: %s", path, strerror(errno));
        if (got == 0)
            break;
        if (text->length + (size_t)got > limit)
            return dlb_fail(err, DLB_BAD_INPUT, "%s: more than %zu bytes", path, limit);
        dlb_str_add_bytes(text, block, (size_t)got);
    }
    dlb_str_add(text, "");
    return 0;
}

int dlb_file_read(const char *path, size_t limit, dlb_str *text, dlb_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return dlb_fail(err, DLB_BAD_INPUT, "%s: %s", path, strerror(errno));
    int status = read_all(fd, path, limit, text, err);
    close(fd);
    return status;
}

static int folder_writable(const char *path)
{
    const char *slash = strrchr(path, '/');
    dlb_str folder = DLB_STR_INIT;
    if (slash)
        dlb_str_add_bytes(&folder, path, (size_t)(slash - path) + 1);
    else
        dlb_str_add(&folder, ".");
    int status = access(folder.text, W_OK | X_OK);
    dlb_str_release(&folder);
    return status;
}

int dlb_file_writable(const char *path, dlb_error *err)
{
    struct stat info;
    bool exists = stat(path, &info) == 0;
    if (exists && S_ISDIR(info.st_mode))
        return dlb_fail(err, DLB_BAD_INPUT, "%s: is a folder, not a file", path);
    if ((exists ? access(path, W_OK) : folder_writable(path)) < 0)
        return dlb_fail(err, DLB_BAD_INPUT, "%s: cannot be written: %s", path, strerror(errno));
    return 0;
}

static int write_all(int fd, const char *bytes, size_t count)
{
    while (count) {
        ssize_t written = write(fd, bytes, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return -1;
        bytes += written;
        count -= (size_t)written;
    }
    return fsync(fd);
}

int dlb_file_write_atomic(const char *path, const char *bytes, size_t count, dlb_error *err)
{
    dlb_str temporary = DLB_STR_INIT;
    dlb_str_addf(&temporary, "%s.tmp.XXXXXX", path);
    int fd = mkostemp(temporary.text, O_CLOEXEC);
    if (fd < 0) {
        int failure = errno;
        dlb_str_release(&temporary);
        return dlb_fail(err, DLB_BAD_INPUT, "%s: cannot write beside it: %s", path,
                        strerror(failure));
    }

    mode_t mask = umask(0);
    umask(mask);
    int failed = fchmod(fd, 0666 & ~mask) < 0 || write_all(fd, bytes, count) < 0;
    failed = close(fd) < 0 || failed;
    failed = failed || rename(temporary.text, path) < 0;
    int failure = errno;
    if (failed)
        unlink(temporary.text);
    dlb_str_release(&temporary);
    return failed ? dlb_fail(err, DLB_FAIL, "%s: %s", path, strerror(failure)) : 0;
}
