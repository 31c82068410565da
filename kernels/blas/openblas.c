/*
 * The serial OpenBLAS, loaded at run time by its own path instead of being linked, because
 * - Debian's alternatives decide what the name libopenblas.so.0 stands for, and may put the OpenMP
 *   build there, which brings a second OpenMP runtime into the process;
 * - OpenBLAS chooses its kernels in its constructor, and knows no CPU that is newer than itself:
 *   0.3.21 takes an Emerald Rapids for a Prescott of 2004, at a quarter of the speed. Only the
 *   environment variable OPENBLAS_CORETYPE, read at that moment, can tell it better.
 */
#include "dlk/gemm.h"

#include <cblas.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "blas/blas.h"

#define CORE_VARIABLE "OPENBLAS_CORETYPE"

typedef char *text_fn(void);

static struct {
    pthread_mutex_t lock; /* of loading */
    void *library;        /* NULL until all of the rest is valid */
    __typeof__(cblas_sgemm) *sgemm;
    dlk_isa isa;
    dlk_gemm_info info;
    char detail[160];
} blas = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *core_for(dlk_isa isa)
{
#if defined(__x86_64__)
    if (isa == DLK_ISA_AVX512)
        return "SkylakeX";
    if (isa == DLK_ISA_AVX2)
        return __builtin_cpu_is("amd") ? "Zen" : "Haswell";
    return __builtin_cpu_supports("sse4.2") ? "Nehalem" : "Prescott";
#else
    (void)isa;
    return NULL;
#endif
}

/* The user's choice of a core, or NULL. */
static const char *users_core(void)
{
    const char *core = getenv(CORE_VARIABLE);
    return core && *core ? core : NULL;
}

/* dlopen with the environment as it should be for the constructor, and as it was thereafter. */
static void *open_as(const char *core)
{
    const char *before = getenv(CORE_VARIABLE);
    if (!core || users_core())
        return dlopen(DLK_OPENBLAS_PATH, RTLD_NOW | RTLD_LOCAL);
    setenv(CORE_VARIABLE, core, 1);
    void *library = dlopen(DLK_OPENBLAS_PATH, RTLD_NOW | RTLD_LOCAL);
    if (before)
        setenv(CORE_VARIABLE, "", 1); /* it was there, but empty */
    else
        unsetenv(CORE_VARIABLE);
    return library;
}

/* Store the address of a function in *pointer, whatever its type; NULL if there is none. */
static void find(void *library, const char *name, void *pointer)
{
    void *address = dlsym(library, name);
    memcpy(pointer, &address, sizeof address);
}

static int inspect(void *library, dlb_error *err)
{
    text_fn *config, *core;
    int (*parallel)(void);
    find(library, "cblas_sgemm", &blas.sgemm);
    find(library, "openblas_get_config", &config);
    find(library, "openblas_get_corename", &core);
    find(library, "openblas_get_parallel", &parallel);
    if (!blas.sgemm || !config || !core || !parallel)
        return dlb_fail(err, DLB_FAIL, "%s is not an OpenBLAS with CBLAS", DLK_OPENBLAS_PATH);
    if (parallel() != OPENBLAS_SEQUENTIAL)
        return dlb_fail(err, DLB_FAIL,
                        "%s would start threads of its own (%s); the serial build is needed "
                        "(Debian: libopenblas0-serial)",
                        DLK_OPENBLAS_PATH, config());
    if (!dlk_openblas_private_buffers(library))
        return dlb_fail(err, DLB_FAIL, "%s cannot be called from several threads (%s)",
                        DLK_OPENBLAS_PATH, config());
    blas.info = (dlk_gemm_info){DLK_OPENBLAS_PATH, config(), core(), false};
    return 0;
}

/* The first two words of the description are name and version. */
static int length_of_version(const char *config)
{
    size_t name = strcspn(config, " ");
    return (int)(config[name] ? name + 1 + strcspn(config + name + 1, " ") : name);
}

static void write_detail(const char *wanted)
{
    const char *core = blas.info.core;
    int used = snprintf(blas.detail, sizeof blas.detail, "%.*s as %s",
                        length_of_version(blas.info.config), blas.info.config, core);
    char *rest = blas.detail + used;
    size_t room = sizeof blas.detail - (size_t)used;
    if (users_core())
        snprintf(rest, room, ", by %s = %.40s", CORE_VARIABLE, users_core());
    else if (wanted && strcmp(core, wanted) != 0)
        snprintf(rest, room, ", which it chose instead of %s", wanted);
}

static int load(dlk_isa isa, dlb_error *err)
{
    void *library = open_as(core_for(isa));
    if (!library)
        return dlb_fail(err, DLB_FAIL,
                        "cannot load OpenBLAS: %s; install it (Debian: libopenblas0-serial) or "
                        "use kernels = ref",
                        dlerror());
    int failure = inspect(library, err);
    if (failure) {
        dlclose(library);
        return failure;
    }
    write_detail(core_for(isa));
    blas.isa = isa;
    blas.library = library;
    return 0;
}

int dlk_gemm_load(dlk_isa isa, dlb_error *err)
{
    int failure = 0;
    pthread_mutex_lock(&blas.lock);
    if (!blas.library)
        failure = load(isa, err);
    else if (blas.isa != isa)
        failure = dlb_fail(err, DLB_BAD_INPUT,
                           "OpenBLAS runs with isa = %s in this process already and cannot change "
                           "to %s",
                           dlk_isa_name(blas.isa), dlk_isa_name(isa));
    pthread_mutex_unlock(&blas.lock);
    return failure;
}

bool dlk_gemm_describe(dlk_gemm_info *info)
{
    pthread_mutex_lock(&blas.lock);
    bool loaded = blas.library;
    if (loaded)
        *info = blas.info;
    pthread_mutex_unlock(&blas.lock);
    return loaded;
}

const char *dlk_gemm_detail(void)
{
    return blas.detail;
}

void dlk_gemm(bool transpose_a, bool transpose_b, int m, int n, int k, const float *a, int lda,
              const float *b, int ldb, float beta, float *c, int ldc)
{
    blas.sgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans,
               transpose_b ? CblasTrans : CblasNoTrans, m, n, k, 1.0F, a, lda, b, ldb, beta, c,
               ldc);
}
