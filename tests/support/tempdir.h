/*
 * A folder for the files of one test, removed with what is in it.
 *
 *     static tempdir dir;
 *     static void setup(void) { tempdir_make(&dir); }
 *     static void teardown(void) { tempdir_remove(&dir); }
 *     ... tempdir_file(&dir, "rows.csv") ...
 */
#ifndef DLB_TESTS_SUPPORT_TEMPDIR_H
#define DLB_TESTS_SUPPORT_TEMPDIR_H

#include <dirent.h>
#include <unistd.h>

#include <criterion/criterion.h>

typedef struct tempdir {
    char path[64];
    char file[128];
} tempdir;

static inline void tempdir_make(tempdir *dir)
{
    snprintf(dir->path, sizeof dir->path, "/tmp/dlbench-test-XXXXXX");
    cr_assert_not_null(mkdtemp(dir->path));
}

/* The path of a file in the folder, good until the next call. */
static inline const char *tempdir_file(tempdir *dir, const char *name)
{
    snprintf(dir->file, sizeof dir->file, "%s/%s", dir->path, name);
    return dir->file;
}

/* How many files are in the folder. */
static inline int tempdir_count(const tempdir *dir)
{
    int count = 0;
    DIR *listing = opendir(dir->path);
    cr_assert_not_null(listing);
    for (struct dirent *entry; (entry = readdir(listing));)
        count += entry->d_name[0] != '.';
    closedir(listing);
    return count;
}

static inline void tempdir_remove(const tempdir *dir)
{
    DIR *listing = opendir(dir->path);
    cr_assert_not_null(listing);
    for (struct dirent *entry; (entry = readdir(listing));) {
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(listing), entry->d_name, 0);
    }
    closedir(listing);
    rmdir(dir->path);
}

#endif
