#include "data/files.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

/* A set with a name of its own: where its folder may be, and what to do when it is not there. */
typedef struct known_set {
    const char *name;
    const char *beside;   /* folders relative to our own program or library, looked at first */
    const char *folders;  /* separated by ":", as all are; each may hold the set's folder */
    const char *override; /* environment variable that replaces both, or NULL */
    const char *advice;
    int classes;
} known_set;

static const known_set known_sets[] = {
    {"mnist", DLB_DATA_BESIDE, DLB_DATA_DIRS, "DLBENCH_DATA",
     "set DLBENCH_DATA to the folder that holds it", 10},
    {"fashion-mnist", "", "/usr/share/datasets", NULL,
     "install it with: apt-get install dataset-fashion-mnist", 10},
};

/* The first part of a file's name, and the number of dimensions that its name may state. */
static const struct {
    const char *stem;
    int min_rank, max_rank;
} file_names[DLB_FILE_COUNT] = {
    [DLB_TRAIN_IMAGES] = {"train-images", 3, 4},
    [DLB_TRAIN_LABELS] = {"train-labels", 1, 1},
    [DLB_TEST_IMAGES] = {"t10k-images", 3, 4},
    [DLB_TEST_LABELS] = {"t10k-labels", 1, 1},
};

static const known_set *find_known(const char *name)
{
    for (size_t i = 0; i < sizeof known_sets / sizeof *known_sets; i++)
        if (strcmp(name, known_sets[i].name) == 0)
            return &known_sets[i];
    return NULL;
}

/* The absolute path of a folder; false with errno set when there is none. */
static bool resolve(const char *path, char folder[PATH_MAX])
{
    struct stat info;
    if (!realpath(path, folder) || stat(folder, &info) < 0)
        return false;
    errno = ENOTDIR;
    return S_ISDIR(info.st_mode);
}

/* The folder of the program or shared library that this code is in; false if it is gone. */
static bool own_folder(char folder[PATH_MAX])
{
    Dl_info info;
    void *extra;
    if (!dladdr1(known_sets, &info, &extra, RTLD_DL_LINKMAP))
        return false;
    const struct link_map *map = extra;
    if (!realpath(map->l_name[0] ? map->l_name : "/proc/self/exe", folder))
        return false;
    *strrchr(folder, '/') = '\0';
    return true;
}

/* Append the folders of `list`, each below `base` if there is one, to *folders. */
static void add_folders(dlb_str *folders, const char *base, const char *list)
{
    while (*list) {
        size_t length = strcspn(list, ":");
        dlb_str_addf(folders, "%s%s%s%.*s", folders->length ? ":" : "", base ? base : "",
                     base ? "/" : "", (int)length, list);
        list += length + (list[length] == ':');
    }
}

/* All folders in which a set may be, in their order. */
static void list_folders(dlb_str *folders, const known_set *set)
{
    char home[PATH_MAX];
    const char *override = set->override ? getenv(set->override) : NULL;
    if (override && *override) {
        dlb_str_add(folders, override);
        return;
    }
    if (own_folder(home))
        add_folders(folders, home, set->beside);
    add_folders(folders, NULL, set->folders);
}

static bool search(const char *folders, const char *name, char folder[PATH_MAX])
{
    bool found = false;
    while (!found && *folders) {
        size_t length = strcspn(folders, ":");
        dlb_str path = DLB_STR_INIT;
        dlb_str_addf(&path, "%.*s/%s", (int)length, folders, name);
        found = resolve(path.text, folder);
        dlb_str_release(&path);
        folders += length + (folders[length] == ':');
    }
    return found;
}

static int locate_known(dlb_files *files, const known_set *set, dlb_error *err)
{
    dlb_str folders = DLB_STR_INIT;
    int status = 0;
    list_folders(&folders, set);
    const char *list = folders.text ? folders.text : "";
    files->classes = set->classes;
    if (!search(list, set->name, files->folder))
        status = dlb_fail(err, DLB_BAD_INPUT, "data %s: no folder of this name in %s; %s",
                          set->name, list, set->advice);
    dlb_str_release(&folders);
    return status;
}

static int locate_folder(dlb_files *files, const char *name, dlb_error *err)
{
    if (resolve(name, files->folder))
        return 0;
    return dlb_fail(err, DLB_BAD_INPUT,
                    "data %s: %s; give mnist, fashion-mnist, synthetic, or a folder with the four "
                    "IDX files",
                    name, strerror(errno));
}

static bool find_file(const char *folder, dlb_file file, dlb_str *path)
{
    static const struct {
        char separator;
        const char *ending;
    } spellings[] = {{'-', ""}, {'-', ".gz"}, {'.', ""}, {'.', ".gz"}};

    for (int rank = file_names[file].min_rank; rank <= file_names[file].max_rank; rank++) {
        for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
            dlb_str_clear(path);
            dlb_str_addf(path, "%s/%s%cidx%d-ubyte%s", folder, file_names[file].stem,
                         spellings[i].separator, rank, spellings[i].ending);
            if (access(path->text, F_OK) == 0)
                return true;
        }
    }
    return false;
}

static int find_all(dlb_files *files, dlb_error *err)
{
    dlb_str missing = DLB_STR_INIT;
    for (int file = 0; file < DLB_FILE_COUNT; file++)
        if (!find_file(files->folder, file, &files->path[file]))
            dlb_str_addf(&missing, "%s%s-idx%d-ubyte", missing.length ? ", " : "",
                         file_names[file].stem, file_names[file].min_rank);
    int status = 0;
    if (missing.length)
        status = dlb_fail(err, DLB_BAD_INPUT,
                          "%s: missing %s; a data folder holds four IDX files, plain or .gz",
                          files->folder, missing.text);
    dlb_str_release(&missing);
    return status;
}

int dlb_files_find(dlb_files *files, const char *name, dlb_error *err)
{
    const known_set *set = find_known(name);
    int status = set ? locate_known(files, set, err) : locate_folder(files, name, err);
    return status < 0 ? status : find_all(files, err);
}

void dlb_files_release(dlb_files *files)
{
    for (int file = 0; file < DLB_FILE_COUNT; file++)
        dlb_str_release(&files->path[file]);
}
