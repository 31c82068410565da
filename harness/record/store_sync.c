#include "record/store_sync.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/mem.h"

/* From one sync to the next. */
enum { PAUSE_S = 1 };

struct dlb_store_sync {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pthread_t thread;
    int pending[DLB_SYNC_FILES]; /* duplicates that the thread closes; -1 for none */
    bool stopping;
    int error;
};

static bool is_pending(const dlb_store_sync *sync)
{
    for (int i = 0; i < DLB_SYNC_FILES; i++)
        if (sync->pending[i] >= 0)
            return true;
    return false;
}

int dlb_store_sync_now(int fd)
{
    return fdatasync(fd) == 0 || errno == EINVAL || errno == EROFS ? 0 : errno;
}

static void remember(dlb_store_sync *sync, int error)
{
    sync->error = sync->error ? sync->error : error;
}

static int sync_and_close(int fd)
{
    int error = dlb_store_sync_now(fd);
    close(fd);
    return error;
}

/* Called and left with the mutex held. */
static void sync_pending(dlb_store_sync *sync)
{
    int files[DLB_SYNC_FILES];
    for (int i = 0; i < DLB_SYNC_FILES; i++) {
        files[i] = sync->pending[i];
        sync->pending[i] = -1;
    }
    pthread_mutex_unlock(&sync->mutex);
    int failure = 0;
    for (int i = 0; i < DLB_SYNC_FILES; i++) {
        int error = files[i] >= 0 ? sync_and_close(files[i]) : 0;
        failure = failure ? failure : error;
    }
    pthread_mutex_lock(&sync->mutex);
    remember(sync, failure);
}

static void pause_unless_stopping(dlb_store_sync *sync)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += PAUSE_S;
    int status = 0;
    while (!sync->stopping && status != ETIMEDOUT)
        status = pthread_cond_timedwait(&sync->changed, &sync->mutex, &until);
}

static void *run(void *arg)
{
    dlb_store_sync *sync = arg;
    pthread_mutex_lock(&sync->mutex);
    for (;;) {
        while (!is_pending(sync) && !sync->stopping)
            pthread_cond_wait(&sync->changed, &sync->mutex);
        if (!is_pending(sync))
            break;
        sync_pending(sync);
        pause_unless_stopping(sync);
    }
    pthread_mutex_unlock(&sync->mutex);
    return NULL;
}

/* Signals are for the threads of the program, not for this one. */
static int create_thread(dlb_store_sync *sync)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = pthread_create(&sync->thread, NULL, run, sync);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failure;
}

int dlb_store_sync_start(dlb_store_sync **out, dlb_error *err)
{
    dlb_store_sync *sync = dlb_alloc(1, sizeof *sync);
    for (int i = 0; i < DLB_SYNC_FILES; i++)
        sync->pending[i] = -1;
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&sync->changed, &clock);
    pthread_condattr_destroy(&clock);
    pthread_mutex_init(&sync->mutex, NULL);
    int failure = create_thread(sync);
    if (failure == 0) {
        *out = sync;
        return 0;
    }
    pthread_mutex_destroy(&sync->mutex);
    pthread_cond_destroy(&sync->changed);
    free(sync);
    return dlb_fail(err, DLB_FAIL, "no thread to sync results with: %s", strerror(failure));
}

void dlb_store_sync_stop(dlb_store_sync *sync)
{
    if (!sync)
        return;
    pthread_mutex_lock(&sync->mutex);
    sync->stopping = true;
    pthread_cond_signal(&sync->changed);
    pthread_mutex_unlock(&sync->mutex);
    pthread_join(sync->thread, NULL);
    pthread_mutex_destroy(&sync->mutex);
    pthread_cond_destroy(&sync->changed);
    free(sync);
}

/* Where no descriptor can be had the caller has to wait. */
static void queue(dlb_store_sync *sync, int place, int fd)
{
    int *pending = &sync->pending[place];
    int copy = *pending < 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : dup3(fd, *pending, O_CLOEXEC);
    if (copy >= 0)
        *pending = copy;
    else
        remember(sync, dlb_store_sync_now(fd));
}

void dlb_store_sync_later(dlb_store_sync *sync, const int files[DLB_SYNC_FILES])
{
    pthread_mutex_lock(&sync->mutex);
    if (!is_pending(sync))
        pthread_cond_signal(&sync->changed);
    for (int i = 0; i < DLB_SYNC_FILES; i++)
        if (files[i] >= 0)
            queue(sync, i, files[i]);
    pthread_mutex_unlock(&sync->mutex);
}

int dlb_store_sync_error(dlb_store_sync *sync)
{
    pthread_mutex_lock(&sync->mutex);
    int error = sync->error;
    pthread_mutex_unlock(&sync->mutex);
    return error;
}
