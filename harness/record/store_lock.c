#include "record/store_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"

/*
 * A process that is killed while it starts another leaves the lock to the copy of itself, until
 * that has become the other program. So it is tried for a moment.
 */
enum { TRIES = 10, PAUSE_US = 20000 };

enum { HOLDER_SIZE = 128 };

static int refuse(const char *folder, dlb_error *err)
{
    return dlb_fail(err, DLB_BAD_INPUT, "%s: results cannot be written there: %s", folder,
                    strerror(errno));
}

static int try_lock(int fd)
{
    int status = flock(fd, LOCK_EX | LOCK_NB);
    for (int i = 1; i < TRIES && status < 0 && (errno == EWOULDBLOCK || errno == EINTR); i++) {
        usleep(PAUSE_US);
        status = flock(fd, LOCK_EX | LOCK_NB);
    }
    return status;
}

static int refuse_taken(const char *folder, int fd, dlb_error *err)
{
    char holder[HOLDER_SIZE] = "";
    ssize_t got = pread(fd, holder, sizeof holder - 1, 0);
    holder[got > 0 ? strcspn(holder, "\n") : 0] = '\0';
    return dlb_fail(err, DLB_BAD_INPUT,
                    "%s: process %s is writing results there; wait until it ends, or name another "
                    "folder",
                    folder, *holder ? holder : "of unknown number");
}

/* For the message of whoever comes next. A full disk shows here, before anything else is changed.
 */
static int name_holder(int fd)
{
    char holder[HOLDER_SIZE], host[HOLDER_SIZE / 2] = "";
    gethostname(host, sizeof host - 1);
    int length = snprintf(holder, sizeof holder, "%ld on %s\n", (long)getpid(), host);
    if (ftruncate(fd, 0) < 0)
        return -1;
    ssize_t written = pwrite(fd, holder, (size_t)length, 0);
    if (written >= 0 && written < length)
        errno = ENOSPC;
    return written == length ? 0 : -1;
}

static int lock_file(const char *path, const char *folder, dlb_error *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return refuse(folder, err);
    int status = 0;
    if (try_lock(fd) < 0)
        status = errno == EWOULDBLOCK ? refuse_taken(folder, fd, err) : refuse(folder, err);
    else if (name_holder(fd) < 0)
        status = refuse(folder, err);
    if (status == 0)
        return fd;
    close(fd);
    return status;
}

int dlb_store_lock(const char *folder, dlb_error *err)
{
    int status = dlb_file_make_folder(folder, err);
    if (status < 0)
        return status;
    dlb_str path = DLB_STR_INIT;
    dlb_str_addf(&path, "%s/.lock", folder);
    status = lock_file(path.text, folder, err);
    dlb_str_release(&path);
    return status;
}
