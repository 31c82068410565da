#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

static int read_all(int fd, const char *path, size_t limit, dlb_str *text, dlb_error *err)
{
    char block[65536];
    for (;;) {
        ssize_t got = read(fd, block, sizeof block);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return dlb_fail(err, errno == EISDIR ? DLB_BAD_INPUT : DLB_FAIL, "%s: %s", path,
                            errno == EISDIR ? "is a folder, not a file" : strerror(errno));
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

bool dlb_file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

bool dlb_file_on_path(const char *program, char *found, size_t size)
{
    const char *folders = getenv("PATH");
    for (const char *f = folders; f && *f; f += strcspn(f, ":"), f += *f == ':') {
        snprintf(found, size, "%.*s/%s", (int)strcspn(f, ":"), f, program);
        if (access(found, X_OK) == 0)
            return true;
    }
    found[0] = '\0';
    return false;
}

static int refuse_write(const char *path, dlb_error *err)
{
    return dlb_fail(err, DLB_BAD_INPUT, "%s: cannot be written: %s", path, strerror(errno));
}

/* The path without symbolic links of a file that need not exist, in a folder that must. */
static char *real_path(const char *path)
{
    char *whole = realpath(path, NULL);
    if (whole)
        return whole;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    dlb_str folder = DLB_STR_INIT, joined = DLB_STR_INIT;
    dlb_str_add_bytes(&folder, slash ? path : "./", slash ? (size_t)(name - path) : 2);
    char *real = realpath(folder.text, NULL);
    if (real)
        dlb_str_addf(&joined, "%s/%s", real, name);
    free(real);
    dlb_str_release(&folder);
    return joined.text;
}

/* Where bytes go. */
typedef struct target {
    const char *name; /* as the caller calls it */
    char *path;       /* without symbolic links; free() it */
    bool in_place;    /* a device or a pipe: written to, never replaced */
} target;

static int find_target(target *t, const char *name, dlb_error *err)
{
    struct stat info;
    if (*name == '\0')
        return dlb_fail(err, DLB_BAD_INPUT, "a file cannot have an empty name");
    bool exists = stat(name, &info) == 0;
    if (exists && S_ISDIR(info.st_mode))
        return dlb_fail(err, DLB_BAD_INPUT, "%s: is a folder, not a file", name);
    if (exists && access(name, W_OK) < 0)
        return refuse_write(name, err);
    bool in_place = exists && !S_ISREG(info.st_mode);
    if (!exists && lstat(name, &info) == 0)
        return dlb_fail(err, DLB_BAD_INPUT, "%s: is a link to a file that is not there", name);
    *t = (target){name, in_place ? dlb_strdup(name) : real_path(name), in_place};
    return t->path ? 0 : refuse_write(name, err);
}

/* A new file beside the target, with its name in *temporary; its descriptor, or -1. */
static int create_beside(const target *t, dlb_str *temporary)
{
    dlb_str_addf(temporary, "%s.tmp.XXXXXX", t->path);
    return mkostemp(temporary->text, O_CLOEXEC);
}

static int try_beside(const target *t, dlb_error *err)
{
    dlb_str temporary = DLB_STR_INIT;
    int fd = create_beside(t, &temporary);
    int status = fd < 0 ? refuse_write(t->name, err) : 0;
    if (fd >= 0) {
        unlink(temporary.text);
        close(fd);
    }
    dlb_str_release(&temporary);
    return status;
}

int dlb_file_writable(const char *path, dlb_error *err)
{
    target t = {0};
    int status = find_target(&t, path, err);
    if (status < 0)
        return status;
    if (!t.in_place)
        status = try_beside(&t, err);
    free(t.path);
    return status;
}

bool dlb_file_same(const char *path, const char *other)
{
    char *a = real_path(path), *b = real_path(other);
    bool same = strcmp(a ? a : path, b ? b : other) == 0;
    free(b);
    free(a);
    return same;
}

int dlb_file_write_all(int fd, const char *bytes, size_t count)
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
    return 0;
}

/* Closes after work that came to `status`; errno is of what failed first. */
static int close_after(int fd, int status)
{
    int failure = errno;
    if (close(fd) < 0 && status == 0)
        return -1;
    errno = failure;
    return status;
}

static int write_in_place(const target *t, const char *bytes, size_t count, dlb_error *err)
{
    int fd = open(t->path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || close_after(fd, dlb_file_write_all(fd, bytes, count)) < 0)
        return dlb_fail(err, DLB_FAIL, "%s: %s", t->name, strerror(errno));
    return 0;
}

/* The mode is the one that open would have given to a new file. */
static int fill(int fd, const char *bytes, size_t count)
{
    mode_t mask = umask(0);
    umask(mask);
    if (fchmod(fd, 0666 & ~mask) < 0 || dlb_file_write_all(fd, bytes, count) < 0)
        return -1;
    return fsync(fd);
}

static int replace(const target *t, const char *bytes, size_t count, dlb_error *err)
{
    dlb_str temporary = DLB_STR_INIT;
    int fd = create_beside(t, &temporary);
    int status = 0;
    if (fd < 0) {
        status = refuse_write(t->name, err);
    } else if (close_after(fd, fill(fd, bytes, count)) < 0 || rename(temporary.text, t->path) < 0) {
        status = dlb_fail(err, DLB_FAIL, "%s: %s", t->name, strerror(errno));
        unlink(temporary.text);
    }
    dlb_str_release(&temporary);
    return status;
}

int dlb_file_write_atomic(const char *path, const char *bytes, size_t count, dlb_error *err)
{
    target t = {0};
    int status = find_target(&t, path, err);
    if (status < 0)
        return status;
    status = (t.in_place ? write_in_place : replace)(&t, bytes, count, err);
    free(t.path);
    return status;
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* Each folder on the way is made in turn, the path being cut behind it meanwhile. */
static int make_folders(char *path)
{
    for (char *end = path; *end;) {
        end += strspn(end, "/");
        end += strcspn(end, "/");
        char behind = *end;
        *end = '\0';
        int failure = mkdir(path, 0777) < 0 ? errno : 0;
        if (failure && !is_folder(path)) {
            errno = failure == EEXIST ? ENOTDIR : failure;
            return -1;
        }
        *end = behind;
    }
    return 0;
}

int dlb_file_make_folder(const char *path, dlb_error *err)
{
    if (*path == '\0')
        return dlb_fail(err, DLB_BAD_INPUT, "a folder cannot have an empty name");
    char *own = dlb_strdup(path);
    int status = make_folders(own);
    if (status < 0)
        status = dlb_fail(err, DLB_BAD_INPUT, "%s: cannot be created: %s", path, strerror(errno));
    free(own);
    return status;
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info, (void)kind, (void)walk;
    remove(path);
    return 0;
}

void dlb_file_remove_tree(const char *path)
{
    enum { OPEN_FOLDERS = 16 };
    nftw(path, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}
