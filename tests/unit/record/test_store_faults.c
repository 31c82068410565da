/* What becomes of a store when processes are killed and disks are full. */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/file.h"
#include "store_kit.h"

#ifdef __has_feature
#define HAS_FEATURE(feature) __has_feature(feature)
#else
#define HAS_FEATURE(feature) 0
#endif
#if defined(__SANITIZE_THREAD__) || HAS_FEATURE(thread_sanitizer)
/* Criterion has threads of its own, and stores, with theirs, are opened in children here. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);

const char *__tsan_default_options(void)
{
    return "die_after_fork=0";
}
#endif

TestSuite(store_faults, .init = store_kit_init, .fini = store_kit_release);

/* --- mending --- */

Test(store_faults, a_row_that_was_cut_short_is_removed)
{
    record(3);
    dlb_str before = content("runs.csv");
    const char *const torn[] = {"p9-r1,p9,1,o", "p9-r1,p9,1,failed,\"line\n", "\"",
                                "p9-r1,p9,1,ok"};
    for (size_t i = 0; i < sizeof torn / sizeof *torn; i++) {
        append_bytes("runs.csv", torn[i]);
        dlb_store *store = store_open();
        cr_assert_eq(dlb_store_mended(store), 1, "%s", torn[i]);
        cr_assert_eq(dlb_store_count(store), 3);
        store_close(store);
        dlb_str after = content("runs.csv");
        cr_assert_str_eq(after.text, before.text);
        dlb_str_release(&after);
    }
    dlb_str_release(&before);
}

Test(store_faults, details_of_a_run_that_is_not_there_are_removed)
{
    record(3);
    append_bytes("epochs.csv", "p9-r1,1,,,,,,,,,,,,,,,\np9-r1,2,");
    append_bytes("ranks.csv", "p9-r1,0,,,,,,,,,,,,,,,\n");
    dlb_store *store = store_open();
    cr_assert_eq(dlb_store_mended(store), 3);
    assert_whole(store);
    store_close(store);
}

Test(store_faults, details_in_the_middle_are_removed_as_well)
{
    record(1);
    append_bytes("epochs.csv", "p9-r1,1,,,,,,,,,,,,,,,\np0-r0,4,,,,,,,,,,,,,,,\n");
    dlb_store *store = store_open();
    cr_assert_eq(dlb_store_mended(store), 1);
    cr_assert_eq(rows_of("epochs.csv", "p0-r0"), EPOCHS + 1);
    cr_assert_eq(rows_of("epochs.csv", "p9-r1"), 0);
    store_close(store);
}

Test(store_faults, a_quote_that_is_never_closed_does_not_cost_the_rows_behind_it)
{
    record(1);
    append_bytes("runs.csv", "p9-r1,p9,1,failed,\"never closed\n");
    for (int i = 0; i < 40000; i++)
        append_bytes("runs.csv", "p8-r1,p8,1,ok,and many rows follow it\n");
    dlb_str before = content("runs.csv");
    dlb_store *store;
    cr_assert_eq(dlb_store_open(&store, dir.path, &columns, &err), DLB_BAD_INPUT);
    cr_assert(strstr(err.message, "never closed"), "%s", err.message);
    dlb_str after = content("runs.csv");
    cr_assert_eq(after.length, before.length);
    dlb_str_release(&after);
    dlb_str_release(&before);
}

Test(store_faults, a_file_of_someone_else_is_refused_and_left_alone)
{
    append_bytes("runs.csv", "a,b\n1,2");
    append_bytes("epochs.csv", "run,epoch\np9,1\n");
    dlb_store *store;
    cr_assert_eq(dlb_store_open(&store, dir.path, &columns, &err), DLB_BAD_INPUT);
    cr_assert(strstr(err.message, "runs.csv: has no column run"), "%s", err.message);
    dlb_str runs = content("runs.csv"), epochs = content("epochs.csv");
    cr_assert_str_eq(runs.text, "a,b\n1,2");
    cr_assert_str_eq(epochs.text, "run,epoch\np9,1\n");
    dlb_str_release(&epochs);
    dlb_str_release(&runs);
}

/* --- kill -9 --- */

static bool is_last(const dlb_stored_run *run, void *arg)
{
    return strcmp(run->run, arg) == 0;
}

/* Records and takes back, until it is killed; says so after each run. */
static void write_until_killed(int told)
{
    dlb_store *store;
    for (;;) {
        if (dlb_store_open(&store, dir.path, &columns, &err) < 0)
            _exit(1);
        int next = 10 * (int)dlb_store_count(store);
        for (int i = 0; i < 20; i++, next += 10) {
            if (try_add(store, next, "ok") < 0 || write(told, "", 1) != 1)
                _exit(2);
        }
        char last[32];
        snprintf(last, sizeof last, "p%d-r0", next / 10 - 1);
        if (dlb_store_supersede(store, is_last, last, NULL, &err) < 0 || write(told, "-", 1) != 1)
            _exit(3);
        if (dlb_store_close(store, &err) < 0)
            _exit(4);
    }
}

/* How many more runs the killed writer said it had recorded than taken back. */
static int runs_told(int from)
{
    int sum = 0;
    for (char c; read(from, &c, 1) == 1;)
        sum += c == '-' ? -1 : 1;
    return sum;
}

/* Lets a writer go on for some time and kills it. */
static int kill_a_writer(int pause_us)
{
    int ends[2];
    cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
    pid_t writer = fork();
    if (writer == 0)
        write_until_killed(ends[1]);
    close(ends[1]);
    usleep((useconds_t)pause_us);
    kill(writer, SIGKILL);
    int status;
    waitpid(writer, &status, 0);
    cr_assert(WIFSIGNALED(status), "the writer ended by itself with %d", WEXITSTATUS(status));
    int told = runs_told(ends[0]);
    close(ends[0]);
    return told;
}

/* It may have been killed between a change and telling of it. */
Test(store_faults, a_writer_killed_at_any_moment_leaves_every_run_once_and_whole, .timeout = 120)
{
    unsigned random = 1;
    int recorded = 0;
    for (int i = 0; i < 200; i++) {
        random = random * 1664525 + 1013904223;
        recorded += kill_a_writer((int)(random >> 8) % 12000);
        dlb_store *store = store_open();
        int count = (int)dlb_store_count(store);
        cr_assert(abs(count - recorded) <= 1, "%d runs, and %d were recorded", count, recorded);
        recorded = count;
        assert_whole(store);
        store_close(store);
        cr_assert(tempdir_count(&dir) <= 4, "files are left over");
    }
    cr_assert_gt(recorded, 0);
}

/* --- a disk that does not take it --- */

/* Runs `check` in a process of its own, whose limits and user may be changed. */
static void in_child(void (*check)(void))
{
    pid_t child = fork();
    if (child == 0) {
        check();
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "check %d failed",
              WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
}

static void expect(bool holds, int check)
{
    if (!holds)
        _exit(check);
}

static void limit_files(rlim_t bytes)
{
    signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit = {bytes, bytes};
    expect(setrlimit(RLIMIT_FSIZE, &limit) == 0, 90);
}

static void fill_the_disk(void)
{
    dlb_store *store;
    limit_files(4000);
    expect(dlb_store_open(&store, dir.path, &columns, &err) == 0, 1);
    int recorded = 0;
    while (recorded < 1000 && try_add(store, recorded, "ok") == 0)
        recorded++;
    expect(recorded > 0 && recorded < 1000, 2);
    expect(strstr(err.message, "not recorded: File too large") != NULL, 3);
    expect((int)dlb_store_count(store) == recorded, 4);
    assert_whole(store);
    expect(dlb_store_close(store, &err) == 0, 5);
}

Test(store_faults, a_full_disk_takes_whole_runs_or_nothing)
{
    in_child(fill_the_disk);
    dlb_store *store = store_open();
    cr_assert_eq(dlb_store_mended(store), 0);
    assert_whole(store);
    store_close(store);
}

static void supersede_on_a_full_disk(void)
{
    dlb_store *store;
    limit_files(2000);
    expect(dlb_store_open(&store, dir.path, &columns, &err) == 0, 1);
    expect(dlb_store_supersede(store, has_failed, NULL, NULL, &err) == DLB_FAIL, 2);
    expect(strstr(err.message, "File too large") != NULL, 3);
    dlb_store_close(store, NULL);
}

Test(store_faults, a_full_disk_keeps_runs_from_being_taken_back)
{
    record(30);
    dlb_str before = content("runs.csv");
    in_child(supersede_on_a_full_disk);
    dlb_str after = content("runs.csv");
    cr_assert_str_eq(after.text, before.text);
    cr_assert_eq(tempdir_count(&dir), 3);
    dlb_str_release(&after);
    dlb_str_release(&before);
}

static void open_without_rights(void)
{
    dlb_store *store;
    expect(geteuid() != 0 || seteuid(65534) == 0, 90);
    expect(dlb_store_open(&store, dir.path, &columns, &err) == DLB_BAD_INPUT, 1);
    expect(strstr(err.message, dir.path) && strstr(err.message, "cannot be written"), 2);
}

Test(store_faults, a_folder_that_cannot_be_written_to_is_refused)
{
    cr_assert_eq(chmod(dir.path, 0555), 0);
    in_child(open_without_rights);
    chmod(dir.path, 0755);
}

Test(store_faults, a_file_that_cannot_be_written_to_is_refused)
{
    record(1);
    cr_assert_eq(chmod(dir.path, 0777), 0);
    cr_assert_eq(chmod(tempdir_file(&dir, ".lock"), 0666), 0);
    cr_assert_eq(chmod(tempdir_file(&dir, "runs.csv"), 0444), 0);
    in_child(open_without_rights);
}

Test(store_faults, a_path_through_a_file_is_refused)
{
    append_bytes("file", "x");
    dlb_store *store;
    cr_assert_eq(dlb_store_open(&store, tempdir_file(&dir, "file/study"), &columns, &err),
                 DLB_BAD_INPUT);
    cr_assert(strstr(err.message, "file/study: cannot be created: Not a directory"), "%s",
              err.message);
}
