#include "measure/libraries.h"

#include <link.h>
#include <omp.h>
#include <pthread.h>

#include "base/str.h"
#include "measure/sysfile.h"

/* A kind of runtime, by how its file is called. */
typedef struct runtime_kind {
    const char *file; /* beginning of the file name */
    const char *name;
    bool has_kmp;
} runtime_kind;

static const runtime_kind RUNTIMES[] = {
    {"libomp.so", "LLVM libomp", true},
    {"libomp-", "LLVM libomp", true},
    {"libiomp5", "Intel libiomp5", true},
    {"libgomp", "GNU libgomp", false},
};

static const char *const BLAS_FILES[] = {
    "libopenblas", "libblas", "libcblas", "libmkl", "libblis", "libatlas", "libsatlas", "libtatlas",
};

enum { RUNTIME_KINDS = sizeof RUNTIMES / sizeof *RUNTIMES };

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const runtime_kind *runtime_of(const char *path)
{
    for (int i = 0; i < RUNTIME_KINDS; i++) {
        if (strncmp(file_name(path), RUNTIMES[i].file, strlen(RUNTIMES[i].file)) == 0)
            return &RUNTIMES[i];
    }
    return NULL;
}

static bool is_runtime(const char *path)
{
    return runtime_of(path) != NULL;
}

static bool is_blas(const char *path)
{
    for (size_t i = 0; i < sizeof BLAS_FILES / sizeof *BLAS_FILES; i++) {
        if (strncmp(file_name(path), BLAS_FILES[i], strlen(BLAS_FILES[i])) == 0)
            return true;
    }
    return false;
}

typedef struct search {
    bool (*matches)(const char *path);
    dlb_library_list *list;
} search;

static void consider(const search *s, const char *path)
{
    if (!s->matches(path))
        return;
    if (s->list->count < DLB_LIBRARY_MAX)
        snprintf(s->list->path[s->list->count], DLB_LIBRARY_PATH, "%s", path);
    s->list->count++;
}

void dlb_library_resolve(const char *path, char resolved[DLB_LIBRARY_PATH])
{
    char *target = realpath(path, NULL);
    snprintf(resolved, DLB_LIBRARY_PATH, "%s", target ? target : path);
    free(target);
}

static int consider_loaded(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    char path[DLB_LIBRARY_PATH];
    dlb_library_resolve(info->dlpi_name, path);
    consider(arg, path);
    return 0;
}

static void consider_recorded(const search *s, const char *root)
{
    dlb_str text = DLB_STR_INIT;
    char line[DLB_LIBRARY_PATH];
    if (dlb_sys_read(&text, root, "/libraries.txt")) {
        const char *cursor = text.text;
        while (dlb_next_line(&cursor, line, sizeof line))
            consider(s, line);
    }
    dlb_str_release(&text);
}

static void find(dlb_library_list *list, const char *root, bool (*matches)(const char *))
{
    *list = (dlb_library_list){0};
    search s = {.matches = matches, .list = list};
    if (root[0])
        consider_recorded(&s, root);
    else
        dl_iterate_phdr(consider_loaded, &s);
}

void dlb_blas_find(dlb_library_list *blas, const char *root)
{
    find(blas, root, is_blas);
}

/* LLVM's runtime has no function that tells its version, but its folder is named after it. */
static void name_runtime(dlb_openmp *openmp)
{
    const char *path = openmp->runtimes.path[0];
    const runtime_kind *kind = runtime_of(path);
    const char *folder = strstr(path, "/llvm-");
    int version;
    snprintf(openmp->name, sizeof openmp->name, "%s", kind->name);
    if (folder && sscanf(folder, "/llvm-%d/", &version) == 1)
        snprintf(openmp->name, sizeof openmp->name, "%s %d", kind->name, version);
    openmp->has_kmp = kind->has_kmp;
}

void dlb_openmp_find(dlb_openmp *openmp, const char *root)
{
    *openmp = (dlb_openmp){0};
    find(&openmp->runtimes, root, is_runtime);
    if (openmp->runtimes.count)
        name_runtime(openmp);
    if (!root[0])
        openmp->max_threads = omp_get_max_threads();
}

static dlb_openmp loaded;

static void find_loaded(void)
{
    dlb_openmp_find(&loaded, "");
}

static const dlb_openmp *loaded_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_loaded);
    return &loaded;
}

const char *dlb_openmp_runtime(void)
{
    return loaded_once()->name;
}

bool dlb_openmp_has_kmp(void)
{
    return loaded_once()->has_kmp;
}
