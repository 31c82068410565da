#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>

#include "record/store_sync.h"
#include "support/tempdir.h"

static tempdir dir;
static dlb_store_sync *sync_thread;
static int file, unsyncable; /* a sync of the latter fails with EBADF */

static void init(void)
{
    tempdir_make(&dir);
    file = open(tempdir_file(&dir, "rows"), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    unsyncable = open(dir.path, O_PATH | O_CLOEXEC);
    cr_assert(file >= 0 && unsyncable >= 0);
    cr_assert_eq(dlb_store_sync_start(&sync_thread, NULL), 0);
}

static void release(void)
{
    dlb_store_sync_stop(sync_thread);
    close(unsyncable);
    close(file);
    tempdir_remove(&dir);
}

TestSuite(store_sync, .init = init, .fini = release);

static void later(int fd)
{
    dlb_store_sync_later(sync_thread, (const int[DLB_SYNC_FILES]){-1, -1, fd});
}

/* The error that shows within a few seconds. */
static int error_soon(void)
{
    int error = 0;
    for (int i = 0; i < 300 && error == 0; i++) {
        usleep(10000);
        error = dlb_store_sync_error(sync_thread);
    }
    return error;
}

Test(store_sync, what_cannot_be_synced_is_told)
{
    later(unsyncable);
    cr_assert_eq(error_soon(), EBADF);
}

Test(store_sync, a_file_that_took_the_place_of_one_still_waiting_is_synced)
{
    later(file);
    usleep(100000); /* it is synced, and for a second the next one waits */
    later(file);
    later(unsyncable);
    cr_assert_eq(error_soon(), EBADF);
}

static void limit_descriptors(rlim_t most)
{
    struct rlimit limit;
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = most;
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

Test(store_sync, without_a_descriptor_to_spare_rows_are_synced_at_once)
{
    struct rlimit before;
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    limit_descriptors(0);
    later(file);
    int of_file = dlb_store_sync_error(sync_thread);
    later(unsyncable);
    int of_unsyncable = dlb_store_sync_error(sync_thread);
    limit_descriptors(before.rlim_cur);
    cr_assert_eq(of_file, 0);
    cr_assert_eq(of_unsyncable, EBADF);
}
