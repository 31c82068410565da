#include "cli/gate_revision.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

extern char **environ;

/* ---- Commands ---- */

static void read_all(int from, dlb_str *printed)
{
    char block[4096];
    ssize_t got;
    while ((got = read(from, block, sizeof block)) > 0 || (got < 0 && errno == EINTR))
        if (got > 0)
            dlb_str_add_bytes(printed, block, (size_t)got);
}

static bool ended_well(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Run it; *printed receives its output without the end of the last line. It complains for itself
 * where `loud`. */
static bool run(const char *const *argv, bool loud, dlb_str *printed)
{
    int ends[2];
    pid_t pid;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return false;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    if (!loud)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int failed = posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (!failed)
        read_all(ends[0], printed);
    close(ends[0]);
    if (printed->text)
        printed->text[strcspn(printed->text, "\n")] = '\0';
    return !failed && ended_well(pid);
}

static bool run_loud(const char *const *argv)
{
    dlb_str ignored = DLB_STR_INIT;
    bool well = run(argv, true, &ignored);
    dlb_str_release(&ignored);
    return well;
}

/* ---- A commit ---- */

/* The tree of the current folder, and the whole name of the commit in it. */
static int find_commit(const char *revision, dlb_str *tree, dlb_str *commit, dlb_error *err)
{
    const char *const top[] = {"git", "rev-parse", "--show-toplevel", NULL};
    if (!run(top, false, tree))
        return dlb_fail(err, DLB_BAD_INPUT,
                        "--against %s: there is no such program, and the current folder is in no "
                        "git tree where it could be a commit",
                        revision);
    dlb_str wanted = DLB_STR_INIT;
    dlb_str_addf(&wanted, "%s^{commit}", revision);
    const char *const parse[] = {
        "git", "rev-parse", "--verify", "--quiet", "--end-of-options", wanted.text, NULL};
    bool found = run(parse, false, commit) && commit->text;
    dlb_str_release(&wanted);
    if (!found)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "--against %s: there is no such program, and no such commit in %s",
                        revision, tree->text);
    return 0;
}

/* A clone is renamed when it is whole, so that one which was interrupted is never built. */
static int check_out(const char *tree, const char *commit, const char *folder, dlb_error *err)
{
    if (dlb_file_exists(folder))
        return 0;
    dlb_str part = DLB_STR_INIT;
    dlb_str_addf(&part, "%s.part", folder);
    dlb_file_remove_tree(part.text);
    const char *const clone[] = {"git",           "clone", "--quiet", "--shared",
                                 "--no-checkout", tree,    part.text, NULL};
    const char *const checkout[] = {"git",     "-C",       part.text, "checkout",
                                    "--quiet", "--detach", commit,    NULL};
    bool well = run_loud(clone) && run_loud(checkout) && rename(part.text, folder) == 0;
    dlb_str_release(&part);
    return well ? 0 : dlb_fail(err, DLB_FAIL, "%s could not be checked out at %s", commit, folder);
}

/* The wrapper of a commit knows best how to build it; it shows its own progress. */
static int build(const char *folder, char program[PATH_MAX], dlb_error *err)
{
    dlb_str wrapper = DLB_STR_INIT;
    dlb_str_addf(&wrapper, "%s/dlbench", folder);
    const char *const argv[] = {wrapper.text, "--help", NULL};
    bool well = run_loud(argv);
    dlb_str_release(&wrapper);
    int length = snprintf(program, PATH_MAX, "%s/build/release/bin/dlbench", folder);
    if (!well || length >= PATH_MAX || access(program, X_OK) < 0)
        return dlb_fail(err, DLB_FAIL, "%s could not be built", folder);
    return 0;
}

static int build_commit(const char *revision, char program[PATH_MAX], dlb_error *err)
{
    dlb_str tree = DLB_STR_INIT, commit = DLB_STR_INIT, folder = DLB_STR_INIT;
    int status = find_commit(revision, &tree, &commit, err);
    if (status == 0) {
        dlb_str_addf(&folder, "%s/build/against", tree.text);
        status = dlb_file_make_folder(folder.text, err);
    }
    if (status == 0) {
        dlb_str_addf(&folder, "/%s", commit.text);
        status = check_out(tree.text, commit.text, folder.text, err);
    }
    if (status == 0)
        status = build(folder.text, program, err);
    dlb_str_release(&folder);
    dlb_str_release(&commit);
    dlb_str_release(&tree);
    return status;
}

int dlb_gate_program_of(const char *against, char program[PATH_MAX], dlb_error *err)
{
    struct stat about;
    bool is_file = stat(against, &about) == 0 && S_ISREG(about.st_mode);
    if (!is_file)
        return build_commit(against, program, err);
    if (access(against, X_OK) < 0 || !realpath(against, program))
        return dlb_fail(err, DLB_BAD_INPUT, "--against %s: cannot be executed: %s", against,
                        strerror(errno));
    return 0;
}
