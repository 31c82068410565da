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

/* Append the whole name of what `revision` stands for; false if that is no commit here. */
static bool resolve(const char *revision, dlb_str *commit)
{
    dlb_str wanted = DLB_STR_INIT;
    dlb_str_addf(&wanted, "%s^{commit}", revision);
    const char *const parse[] = {
        "git", "rev-parse", "--verify", "--quiet", "--end-of-options", wanted.text, NULL};
    bool found = run(parse, false, commit) && commit->text;
    dlb_str_release(&wanted);
    return found;
}

/* The tree of the current folder, and the whole name of the commit in it. */
static int find_commit(const char *revision, dlb_str *tree, dlb_str *commit, dlb_error *err)
{
    const char *const top[] = {"git", "rev-parse", "--show-toplevel", NULL};
    if (!run(top, false, tree))
        return dlb_fail(err, DLB_BAD_INPUT,
                        "--against %s: there is no such program, and the current folder is in no "
                        "git tree where it could be a commit",
                        revision);
    if (!resolve(revision, commit))
        return dlb_fail(err, DLB_BAD_INPUT,
                        "--against %s: there is no such program, and no such commit in %s",
                        revision, tree->text);
    return 0;
}

/* A clone is renamed when it is whole, so that one which was interrupted is never built. Another
 * check of the same commit may be the first to have one. */
static int check_out(const char *tree, const char *commit, const char *folder, dlb_error *err)
{
    if (dlb_file_exists(folder))
        return 0;
    dlb_str part = DLB_STR_INIT;
    dlb_str_addf(&part, "%s.part-%ld", folder, (long)getpid());
    const char *const clone[] = {"git",           "clone", "--quiet", "--shared",
                                 "--no-checkout", tree,    part.text, NULL};
    const char *const checkout[] = {"git",     "-C",       part.text, "checkout",
                                    "--quiet", "--detach", commit,    NULL};
    bool well = run_loud(clone) && run_loud(checkout) &&
                (rename(part.text, folder) == 0 || dlb_file_exists(folder));
    dlb_file_remove_tree(part.text);
    dlb_str_release(&part);
    return well ? 0
                : dlb_fail(err, DLB_BAD_INPUT, "%s could not be checked out at %s", commit, folder);
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
        return dlb_fail(err, DLB_BAD_INPUT,
                        "%s could not be built, so that there is nothing to compare with", folder);
    return 0;
}

static int build_commit(const char *revision, char program[PATH_MAX], char origin[PATH_MAX],
                        dlb_error *err)
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
    snprintf(origin, PATH_MAX, "%s", commit.text ? commit.text : "");
    dlb_str_release(&folder);
    dlb_str_release(&commit);
    dlb_str_release(&tree);
    return status;
}

int dlb_gate_program_of(const char *against, char program[PATH_MAX], char origin[PATH_MAX],
                        dlb_error *err)
{
    struct stat about;
    bool is_file = stat(against, &about) == 0 && S_ISREG(about.st_mode);
    if (!is_file)
        return build_commit(against, program, origin, err);
    if (access(against, X_OK) < 0 || !realpath(against, program))
        return dlb_fail(err, DLB_BAD_INPUT, "--against %s: cannot be executed: %s", against,
                        strerror(errno));
    snprintf(origin, PATH_MAX, "%s", program);
    return 0;
}

/* ---- The commit that nobody has named ---- */

/* Where the name of a main line may come from: a variable, behind a prefix, or the name itself. */
static const struct line {
    const char *variable, *name;
} lines[] = {
    {"DLBENCH_CHECK_BASE", ""},     {"CI_MERGE_REQUEST_DIFF_BASE_SHA", ""},
    {"GITHUB_BASE_REF", "origin/"}, {NULL, "origin/HEAD"},
    {NULL, "origin/main"},          {NULL, "origin/master"},
};

/* Append the name; false if its variable is not set. */
static bool name_line(const struct line *line, dlb_str *name)
{
    const char *value = line->variable ? getenv(line->variable) : "";
    dlb_str_clear(name);
    dlb_str_addf(name, "%s%s", line->name, value ? value : "");
    return value && name->length > 0 && (!line->variable || *value);
}

/* Append where HEAD left that commit; false if they have no history in common. */
static bool find_merge_base(const char *commit, dlb_str *base)
{
    const char *const merge_base[] = {"git", "merge-base", "HEAD", commit, NULL};
    dlb_str_clear(base);
    return run(merge_base, false, base) && base->text && *base->text;
}

/* The first line that shares history with HEAD; its name is "" if there is none. What a user names
 * must be there, what a CI system names may be lacking in its clone. */
static int find_line(dlb_str *name, dlb_str *base, dlb_error *err)
{
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        dlb_str commit = DLB_STR_INIT;
        bool named = name_line(&lines[i], name);
        bool found = named && resolve(name->text, &commit) && find_merge_base(commit.text, base);
        dlb_str_release(&commit);
        if (found)
            return 0;
        if (named && i == 0)
            return dlb_fail(err, DLB_BAD_INPUT,
                            "DLBENCH_CHECK_BASE=%s: there is no such commit in the history of this "
                            "git tree",
                            name->text);
    }
    dlb_str_clear(name);
    dlb_str_clear(base);
    return 0;
}

static bool is_in_tree(void)
{
    const char *const top[] = {"git", "rev-parse", "--show-toplevel", NULL};
    dlb_str tree = DLB_STR_INIT;
    bool is = run(top, false, &tree);
    dlb_str_release(&tree);
    return is;
}

/* `line`: what HEAD itself is on; "" if that is not known. */
static int take_commit_before(const char *line, dlb_str *commit, dlb_str *why, dlb_error *err)
{
    dlb_str_clear(commit);
    if (!resolve("HEAD~1", commit))
        return dlb_fail(err, DLB_BAD_INPUT,
                        "compare with what? there is no commit before HEAD here (a shallow clone "
                        "has none); --against REV names a commit, --against FILE a program");
    if (*line)
        dlb_str_addf(why, "the commit before HEAD, which is on %s", line);
    else
        dlb_str_add(why, "the commit before HEAD, as there is no other line here");
    return 0;
}

static int choose_base(dlb_str *commit, dlb_str *why, dlb_error *err)
{
    dlb_str line = DLB_STR_INIT, head = DLB_STR_INIT;
    int status = find_line(&line, commit, err);
    if (status == 0 && line.length && resolve("HEAD", &head) &&
        strcmp(head.text, commit->text) != 0)
        dlb_str_addf(why, "where HEAD left %s", line.text);
    else if (status == 0)
        status = take_commit_before(line.text, commit, why, err);
    dlb_str_release(&head);
    dlb_str_release(&line);
    return status;
}

int dlb_gate_base(dlb_str *commit, dlb_str *why, dlb_error *err)
{
    if (!is_in_tree())
        return dlb_fail(
            err, DLB_BAD_INPUT,
            "compare with what? --against REV names a commit, --against FILE a program");
    return choose_base(commit, why, err);
}
