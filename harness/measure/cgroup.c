#include "measure/cgroup.h"

#include <math.h>

#include "base/str.h"
#include "measure/sysfile.h"

enum { PATH_SIZE = 512 };

/* Limits above this are "none" in version 1, which writes the largest multiple of a page. */
static const double NO_MEMORY_LIMIT = 1e18;

/* Reads the limit that one group's folder sets; +infinity if none. */
typedef double limit_fn(const char *root, const char *folder);

/* A hierarchy as mounted: the group `root` of it is seen at `point`. */
typedef struct mount {
    char root[PATH_SIZE], point[PATH_SIZE];
} mount;

/* True if `word` is one of the comma-separated `list`. */
static bool is_listed(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *item = list; item; item = strchr(item, ',')) {
        item += *item == ',';
        if (strncmp(item, word, length) == 0 && (item[length] == ',' || item[length] == '\0'))
            return true;
    }
    return false;
}

/*
 * A line of mountinfo: id parent major:minor root point options … - type source super-options.
 * Version 2 has one hierarchy; one of version 1 names its controllers among the last options.
 */
static bool parse_mount(const char *line, const char *controller, mount *m)
{
    char word[PATH_SIZE], type[32], options[PATH_SIZE];
    for (int i = 0; i < 3; i++)
        dlb_next_word(&line, word, sizeof word);
    dlb_next_word(&line, m->root, sizeof m->root);
    dlb_next_word(&line, m->point, sizeof m->point);
    while (dlb_next_word(&line, word, sizeof word) && strcmp(word, "-") != 0)
        ;
    dlb_next_word(&line, type, sizeof type);
    dlb_next_word(&line, word, sizeof word);
    dlb_next_word(&line, options, sizeof options);
    return controller ? strcmp(type, "cgroup") == 0 && is_listed(options, controller)
                      : strcmp(type, "cgroup2") == 0;
}

/* Where the hierarchy of `controller` (NULL: version 2) is mounted. */
static bool find_mount(const char *root, const char *controller, mount *m)
{
    dlb_str text = DLB_STR_INIT;
    char line[4 * PATH_SIZE];
    bool found = false;
    if (dlb_sys_read(&text, root, "/proc/self/mountinfo")) {
        const char *cursor = text.text;
        while (!found && dlb_next_line(&cursor, line, sizeof line))
            found = parse_mount(line, controller, m);
    }
    dlb_str_release(&text);
    return found;
}

/* A line of /proc/self/cgroup: "4:cpu,cpuacct:/path", or "0::/path" for version 2. */
static bool parse_membership(char *line, const char *controller, char *path, size_t size)
{
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group)
        return false;
    controllers++;
    *group++ = '\0';
    if (controller ? !is_listed(controllers, controller) : controllers[0] != '\0')
        return false;
    snprintf(path, size, "%s", group);
    return true;
}

static bool find_group(const char *root, const char *controller, char *path, size_t size)
{
    dlb_str text = DLB_STR_INIT;
    char line[2 * PATH_SIZE];
    bool found = false;
    if (dlb_sys_read(&text, root, "/proc/self/cgroup")) {
        const char *cursor = text.text;
        while (!found && dlb_next_line(&cursor, line, sizeof line))
            found = parse_membership(line, controller, path, size);
    }
    dlb_str_release(&text);
    return found;
}

/*
 * The folder of the group below the mount point. In a container the path may be the host's, of
 * which only the part below the mount's root is visible, or nothing but the mount point itself.
 */
static const char *below_mount(const char *root, const mount *m, const char *group)
{
    size_t length = strcmp(m->root, "/") == 0 ? 0 : strlen(m->root);
    if (strncmp(group, m->root, length) == 0 &&
        dlb_sys_exists(root, "%s%s", m->point, group + length))
        return group + length;
    return "";
}

/* The tightest limit from the process's group up to the mount point; +infinity if none. */
static double tightest(const char *root, const char *controller, limit_fn *limit)
{
    mount m;
    char group[PATH_SIZE], folder[2 * PATH_SIZE];
    if (!find_mount(root, controller, &m) || !find_group(root, controller, group, sizeof group))
        return INFINITY;
    snprintf(folder, sizeof folder, "%s%s", m.point, below_mount(root, &m, group));

    double least = INFINITY;
    for (;;) {
        least = fmin(least, limit(root, folder));
        char *slash = strrchr(folder, '/');
        if (!slash || strlen(folder) <= strlen(m.point))
            return least;
        *slash = '\0';
    }
}

/* cpu.max: "150000 100000" or "max 100000" */
static double quota_v2(const char *root, const char *folder)
{
    char line[64];
    double quota, period;
    dlb_sys_line(line, sizeof line, root, "%s/cpu.max", folder);
    return sscanf(line, "%lf %lf", &quota, &period) == 2 && period > 0 ? quota / period : INFINITY;
}

static double quota_v1(const char *root, const char *folder)
{
    long long quota, period;
    bool limited = dlb_sys_number(&quota, root, "%s/cpu.cfs_quota_us", folder) && quota > 0 &&
                   dlb_sys_number(&period, root, "%s/cpu.cfs_period_us", folder) && period > 0;
    return limited ? (double)quota / (double)period : INFINITY;
}

static double memory_v2(const char *root, const char *folder)
{
    long long bytes;
    return dlb_sys_number(&bytes, root, "%s/memory.max", folder) ? (double)bytes : INFINITY;
}

static double memory_v1(const char *root, const char *folder)
{
    long long bytes;
    bool limited = dlb_sys_number(&bytes, root, "%s/memory.limit_in_bytes", folder) &&
                   (double)bytes < NO_MEMORY_LIMIT;
    return limited ? (double)bytes : INFINITY;
}

static dlb_value limit_or_missing(double limit, const char *what)
{
    if (isfinite(limit))
        return dlb_value_of(limit);
    return dlb_value_missing("no control group limits the %s", what);
}

dlb_value dlb_cgroup_cpu_quota(const char *root)
{
    double quota = fmin(tightest(root, NULL, quota_v2), tightest(root, "cpu", quota_v1));
    return limit_or_missing(quota, "CPU time");
}

dlb_value dlb_cgroup_memory_limit(const char *root)
{
    double bytes = fmin(tightest(root, NULL, memory_v2), tightest(root, "memory", memory_v1));
    return limit_or_missing(bytes, "memory");
}
