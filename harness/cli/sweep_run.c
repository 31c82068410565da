#include "cli/sweep_run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "cli/sweep_judge.h"

enum { TICK_MS = 200 };
enum { AGAIN = 1 }; /* the run stood still for a while (Ctrl-Z): its times are not those of a run */

/* Names of one attempt at a run; valid when zeroed. */
typedef struct attempt {
    char name[DLB_POINT_ID_SIZE + 16];
    char started[32];
    dlb_str command, log, result, run_dir;
} attempt;

static void release(attempt *a)
{
    dlb_str_release(&a->run_dir);
    dlb_str_release(&a->result);
    dlb_str_release(&a->log);
    dlb_str_release(&a->command);
}

/* ---- Folders ---- */

static int make_folder_in(const dlb_store *store, const char *name, dlb_error *err)
{
    dlb_str path = DLB_STR_INIT;
    dlb_store_path(store, name, &path);
    int status = dlb_file_make_folder(path.text, err);
    dlb_str_release(&path);
    return status;
}

static void remove_files_in(const dlb_store *store, const char *name)
{
    dlb_str path = DLB_STR_INIT;
    dlb_store_path(store, name, &path);
    DIR *listing = opendir(path.text);
    for (struct dirent *entry; listing && (entry = readdir(listing));)
        unlinkat(dirfd(listing), entry->d_name, 0);
    if (listing)
        closedir(listing);
    dlb_str_release(&path);
}

/* What is not ours, a program or a tool before it, may leave files behind. */
static bool has_run_dir(const dlb_study *study)
{
    return study->command || study->wrap;
}

/* ---- The run of a sweep that was killed ---- */

/*
 * While a run lasts, tmp/running leads to its log, on which there is a lock that all who write to
 * it hold: whoever comes after a sweep that was killed can wait until nothing of its run is left
 * that would disturb the next.
 */
static const char running[] = "tmp/running";

/* Where that fails nobody will wait; this run is none the worse for it. */
static void mark_running(const dlb_store *store, const char *log_name, int log)
{
    dlb_str link = DLB_STR_INIT, target = DLB_STR_INIT;
    dlb_store_path(store, running, &link);
    dlb_str_addf(&target, "../logs/%s.log", log_name);
    (void)(flock(log, LOCK_SH) == 0 && symlink(target.text, link.text) == 0);
    dlb_str_release(&target);
    dlb_str_release(&link);
}

static void unmark_running(const dlb_store *store)
{
    dlb_str link = DLB_STR_INIT;
    dlb_store_path(store, running, &link);
    unlink(link.text);
    dlb_str_release(&link);
}

static void await_earlier_run(const dlb_store *store)
{
    enum { TRIES = 100, PAUSE_US = 100000 };
    dlb_str link = DLB_STR_INIT;
    dlb_store_path(store, running, &link);
    int log = open(link.text, O_RDONLY | O_CLOEXEC);
    for (int i = 0; log >= 0 && i < TRIES && flock(log, LOCK_EX | LOCK_NB) < 0; i++)
        usleep(PAUSE_US);
    if (log >= 0)
        close(log);
    dlb_str_release(&link);
}

int dlb_sweep_runner_prepare(const dlb_sweep_runner *runner, dlb_error *err)
{
    static const char *const folders[] = {"logs", "tmp", "runs"};
    int count = sizeof folders / sizeof *folders - (has_run_dir(runner->scene->study) ? 0 : 1);
    for (int i = 0; i < count; i++)
        if (make_folder_in(runner->store, folders[i], err) < 0)
            return DLB_FAIL;
    await_earlier_run(runner->store);
    remove_files_in(runner->store, "tmp");
    return 0;
}

/* ---- The names of an attempt ---- */

/* A name below the folder that nothing has yet: NAME, NAME.2, NAME.3, ... */
static void find_free_name(const dlb_store *store, const char *folder, const char *name,
                           dlb_str *path)
{
    dlb_str wanted = DLB_STR_INIT;
    for (int number = 1; number == 1 || dlb_file_exists(path->text); number++) {
        dlb_str_clear(&wanted);
        dlb_str_clear(path);
        dlb_str_addf(&wanted, "%s/%s", folder, name);
        if (number > 1)
            dlb_str_addf(&wanted, ".%d", number);
        dlb_store_path(store, wanted.text, path);
    }
    dlb_str_release(&wanted);
}

/* The log of an earlier attempt is kept under another name; its processes may still write to it. */
static void put_aside(const dlb_store *store, const char *log_name, const char *log)
{
    if (!dlb_file_exists(log))
        return;
    dlb_str kept = DLB_STR_INIT;
    find_free_name(store, "logs", log_name, &kept);
    rename(log, kept.text);
    dlb_str_release(&kept);
}

static void name_logs(const dlb_store *store, attempt *a)
{
    char file[sizeof a->name + 16], path[sizeof file + 16];
    snprintf(file, sizeof file, "%s.log", a->name);
    snprintf(path, sizeof path, "logs/%s", file);
    dlb_store_path(store, path, &a->log);
    snprintf(path, sizeof path, "logs/%s.sh", a->name);
    dlb_store_path(store, path, &a->command);
    put_aside(store, file, a->log.text);
}

static void name_result(const dlb_store *store, attempt *a)
{
    char path[sizeof a->name + 64];
    snprintf(path, sizeof path, "tmp/%s.%ld.%lld.json", a->name, (long)getpid(),
             (long long)dlb_clock_ns());
    dlb_store_path(store, path, &a->result);
}

static int name_attempt(const dlb_sweep_runner *runner, size_t point, int repeat, attempt *a,
                        dlb_error *err)
{
    char id[DLB_POINT_ID_SIZE];
    dlb_plan_id(runner->scene->plan, point, id);
    snprintf(a->name, sizeof a->name, "%s-%d", id, repeat);
    dlb_date_now(a->started);
    name_logs(runner->store, a);
    name_result(runner->store, a);
    if (!has_run_dir(runner->scene->study))
        return 0;
    find_free_name(runner->store, "runs", a->name, &a->run_dir);
    return dlb_file_make_folder(a->run_dir.text, err);
}

/* ---- Its files ---- */

static int refuse_file(const char *path, dlb_error *err)
{
    return dlb_fail(err, DLB_FAIL, "%s cannot be written: %s", path, strerror(errno));
}

/* What is run, so that it can be run again by hand: sh FILE. */
static int write_command(const attempt *a, const char *description, const dlb_command_line *line,
                         dlb_error *err)
{
    dlb_str text = DLB_STR_INIT;
    int fd = open(a->command.text, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return refuse_file(a->command.text, err);
    dlb_str_addf(&text, "# %s: %s\n# started %s\n", a->name, description, a->started);
    dlb_command_line_describe(line, &text);
    dlb_str_add(&text, "\n");
    int status = dlb_file_write_all(fd, text.text, text.length);
    if (status < 0)
        status = refuse_file(a->command.text, err);
    dlb_str_release(&text);
    close(fd);
    return status;
}

/* What it prints, and nothing else: metrics are found in it. */
static int open_log(const attempt *a, dlb_error *err)
{
    int fd = open(a->log.text, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    return fd < 0 ? refuse_file(a->log.text, err) : fd;
}

/* ---- Running ---- */

static void on_tick(void *display, double elapsed_s)
{
    dlb_sweep_display_tick(display, elapsed_s);
}

/* A run that could not write has not failed by itself, and the next would do no better. */
static bool is_disk_full(const char *path)
{
    enum { NEEDED_BYTES = 1 << 16 };
    struct statvfs disk;
    return statvfs(path, &disk) == 0 && disk.f_bavail * disk.f_frsize < NEEDED_BYTES;
}

/* Run the command; 0 with *result made, AGAIN, or as dlb_sweep_perform. */
static int execute(const dlb_sweep_runner *runner, const dlb_sweep_run *run, const attempt *a,
                   const dlb_command_line *line, const dlb_sweep_shape *shape, int log,
                   dlb_result *result, dlb_error *err)
{
    dlb_launch_care care = {.output = log,
                            .timeout_s = runner->scene->study->timeout_s,
                            .on_tick = on_tick,
                            .tick_ms = TICK_MS,
                            .arg = runner->display};
    dlb_launch_end end;
    dlb_noise start = dlb_noise_now();
    dlb_error why;
    if (dlb_launch_run(line, &care, &end, &why) < 0) {
        dlb_sweep_judge_unstarted(runner->scene, run, &why, result);
        return 0;
    }
    if (end.stopped)
        return dlb_fail(err, DLB_STOPPED, "stopped");
    if (end.suspended)
        return AGAIN;
    if (end.status != 0 && is_disk_full(a->log.text))
        return dlb_fail(err, DLB_FAIL,
                        "%s: the disk is full; what ran last is not recorded, and the same command "
                        "goes on once there is room",
                        a->log.text);
    dlb_noise_report noise = dlb_noise_since(&start);
    dlb_sweep_evidence evidence = {.run = run,
                                   .shape = shape,
                                   .end = &end,
                                   .noise = &noise,
                                   .log = a->log.text,
                                   .chatter = line->chatter,
                                   .timeout_s = care.timeout_s};
    dlb_sweep_judge(runner->scene, &evidence, result);
    return 0;
}

static int start(const dlb_sweep_runner *runner, const dlb_sweep_run *run, const attempt *a,
                 dlb_result *result, dlb_error *err)
{
    dlb_command_line line;
    dlb_sweep_shape shape;
    dlb_error why;
    if (dlb_sweep_command(runner->scene, run, &line, &shape, &why) < 0) {
        dlb_sweep_judge_unstarted(runner->scene, run, &why, result);
        return 0;
    }
    int status = write_command(a, runner->display->running.text, &line, err);
    int log = status < 0 ? status : open_log(a, err);
    if (log < 0) {
        status = log;
    } else {
        mark_running(runner->store, a->name, log);
        status = execute(runner, run, a, &line, &shape, log, result, err);
        close(log);
        unlink(a->result.text);
        unmark_running(runner->store);
    }
    dlb_command_line_release(&line);
    return status;
}

static int try_once(const dlb_sweep_runner *runner, size_t point, int repeat, dlb_result *result,
                    dlb_error *err)
{
    attempt a = {0};
    int status = name_attempt(runner, point, repeat, &a, err);
    if (status == 0) {
        dlb_sweep_run run = {
            .point = point, .repeat = repeat, .result = a.result.text, .run_dir = a.run_dir.text};
        status = start(runner, &run, &a, result, err);
    }
    if (status == 0)
        dlb_row_set_text(&result->run, DLB_RUN_started, a.started);
    release(&a);
    return status;
}

int dlb_sweep_perform(const dlb_sweep_runner *runner, size_t point, int repeat, dlb_result *result,
                      dlb_error *err)
{
    int status;
    do
        status = try_once(runner, point, repeat, result, err);
    while (status == AGAIN);
    return status;
}
