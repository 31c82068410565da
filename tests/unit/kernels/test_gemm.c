#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "dlk/gemm.h"
#include "kit.h"

#define CORE_VARIABLE "OPENBLAS_CORETYPE"

static void load(dlk_isa isa)
{
    dlb_error err;
    cr_assert(dlk_gemm_load(isa, &err) == 0, "%s", err.message);
}

typedef struct product {
    bool transpose_a, transpose_b;
    int m, n, k;
} product;

static float element(const float *matrix, bool transposed, int rows, int columns, int i, int j)
{
    return transposed ? matrix[j * rows + i] : matrix[i * columns + j];
}

/* C = A·B + C as the header defines it. */
static void multiply(const product *p, const float *a, const float *b, float *c)
{
    for (int i = 0; i < p->m; i++)
        for (int j = 0; j < p->n; j++)
            for (int l = 0; l < p->k; l++)
                c[i * p->n + j] += element(a, p->transpose_a, p->m, p->k, i, l) *
                                   element(b, p->transpose_b, p->k, p->n, l, j);
}

static void gemm(const product *p, const float *a, const float *b, float beta, float *c)
{
    dlk_gemm(p->transpose_a, p->transpose_b, p->m, p->n, p->k, a, p->transpose_a ? p->m : p->k, b,
             p->transpose_b ? p->k : p->n, beta, c, p->n);
}

static void expect_product(const product *p, uint32_t seed)
{
    size_t count = kit_size(1, 1, p->m, p->n);
    float *a = kit_integers(kit_size(1, 1, p->m, p->k), seed);
    float *b = kit_integers(kit_size(1, 1, p->k, p->n), seed + 1);
    float *got = kit_integers(count, seed + 2), *want = kit_integers(count, seed + 2);
    gemm(p, a, b, 1.0F, got);
    multiply(p, a, b, want);
    kit_expect_equal(count, got, want, "C = A·B + C", seed);
    for (size_t i = 0; i < count; i++)
        got[i] = NAN; /* beta = 0 does not read C */
    memset(want, 0, count * sizeof *want);
    gemm(p, a, b, 0.0F, got);
    multiply(p, a, b, want);
    kit_expect_equal(count, got, want, "C = A·B", seed);
    free(want);
    free(got);
    free(b);
    free(a);
}

/* What a CPU lacks is refused, never tried. */
static void expect_refusal(dlk_isa isa)
{
    dlb_error err;
    dlk_kernels kernels;
    cr_assert(dlk_kernels_select(&kernels, DLK_FAMILY_BLAS, isa, &err) == DLB_BAD_INPUT);
    cr_assert(strstr(err.message, dlk_isa_name(isa)), "%s", err.message);
}

static void expect_products(dlk_isa isa)
{
    if (isa > dlk_isa_best()) {
        expect_refusal(isa);
        return;
    }
    load(isa);
    for (uint32_t seed = 400; seed < 424; seed++) {
        product p = {seed & 1, seed & 2, kit_pick(seed, 0, 1, 50), kit_pick(seed, 1, 1, 50),
                     kit_pick(seed, 2, 1, 50)};
        expect_product(&p, seed);
    }
    expect_product(&(product){false, false, 130, 90, 110}, 1); /* no small matrix any more */
}

Test(gemm, multiplies_with_sse)
{
    expect_products(DLK_ISA_SSE);
}

Test(gemm, multiplies_with_avx2)
{
    expect_products(DLK_ISA_AVX2);
}

Test(gemm, multiplies_with_avx512)
{
    expect_products(DLK_ISA_AVX512);
}

enum { M = 24, N = 24, K = 24, ROUNDS = 100000, THREADS = 4 };

typedef struct worker {
    uint32_t seed;
    pthread_t id;
    int wrong;
} worker;

static void *multiply_repeatedly(void *arg)
{
    worker *w = arg;
    product p = {false, false, M, N, K};
    float *a = kit_integers(M * K, w->seed), *b = kit_integers(K * N, w->seed + 1);
    float *want = kit_zeros(M * N), *got = kit_zeros(M * N);
    multiply(&p, a, b, want);
    for (int round = 0; round < ROUNDS; round++) {
        gemm(&p, a, b, 0.0F, got);
        w->wrong += memcmp(got, want, M * N * sizeof *got) != 0;
    }
    free(got);
    free(want);
    free(b);
    free(a);
    return NULL;
}

/* Debian's serial OpenBLAS, left to itself, gives two threads the same work buffer. */
static void expect_safe_with_threads(dlk_isa isa)
{
    if (isa > dlk_isa_best()) {
        expect_refusal(isa);
        return;
    }
    load(isa);
    worker workers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){.seed = 500 + 10 * (uint32_t)i};
        cr_assert(pthread_create(&workers[i].id, NULL, multiply_repeatedly, &workers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].id, NULL);
    for (int i = 0; i < THREADS; i++)
        cr_assert(workers[i].wrong == 0, "%d of %d products were wrong", workers[i].wrong, ROUNDS);
}

Test(gemm, threads_do_not_disturb_each_other)
{
    expect_safe_with_threads(dlk_isa_best());
}

/* Its AVX2 kernels always copy their operands into the work buffer. */
Test(gemm, threads_do_not_disturb_each_other_with_avx2)
{
    expect_safe_with_threads(DLK_ISA_AVX2);
}

static void *multiply_once(void *arg)
{
    (void)arg;
    expect_product(&(product){false, false, 40, 40, 40}, 600);
    return NULL;
}

enum { MANY = 300 };

static void *multiply_and_stay(void *arg)
{
    multiply_once(NULL);
    pthread_barrier_wait(arg);
    return NULL;
}

/* OpenBLAS's own table has room for 128 work buffers; beyond, it complains and then fails. */
Test(gemm, hundreds_of_threads_may_multiply_and_nothing_is_printed)
{
    cr_redirect_stderr();
    load(DLK_ISA_SSE);
    pthread_t ids[MANY];
    pthread_barrier_t all_have;
    pthread_barrier_init(&all_have, NULL, MANY);
    for (int i = 0; i < MANY; i++)
        cr_assert(pthread_create(&ids[i], NULL, multiply_and_stay, &all_have) == 0);
    for (int i = 0; i < MANY; i++)
        pthread_join(ids[i], NULL);
    pthread_barrier_destroy(&all_have);
    fflush(stderr);
    cr_assert_stderr_eq_str("");
}

/* Each thread keeps a buffer while it lives, and no longer. */
Test(gemm, threads_may_come_and_go)
{
    load(DLK_ISA_SSE);
    for (int i = 0; i < 1000; i++) {
        pthread_t id;
        cr_assert(pthread_create(&id, NULL, multiply_once, NULL) == 0);
        pthread_join(id, NULL);
    }
}

Test(gemm, describes_what_is_loaded)
{
    dlk_gemm_info info;
    cr_assert(!dlk_gemm_describe(&info), "nothing is loaded yet");
    load(dlk_isa_best());
    cr_assert(dlk_gemm_describe(&info));
    cr_assert(strstr(info.path, "openblas"), "%s", info.path);
    cr_assert(strncmp(info.config, "OpenBLAS", 8) == 0, "%s", info.config);
    cr_assert(!info.threaded);
}

#if defined(__x86_64__)

Test(gemm, uses_the_core_that_fits_the_instruction_set)
{
    unsetenv(CORE_VARIABLE);
    dlk_gemm_info info;
    load(dlk_isa_best());
    dlk_gemm_describe(&info);
    if (dlk_isa_best() == DLK_ISA_AVX512)
        cr_assert_str_eq(info.core, "SkylakeX");
    else if (dlk_isa_best() == DLK_ISA_AVX2)
        cr_assert(!strcmp(info.core, "Haswell") || !strcmp(info.core, "Zen"), "%s", info.core);
    cr_assert(getenv(CORE_VARIABLE) == NULL, "the environment is as it was");
}

Test(gemm, respects_a_core_that_the_user_has_set)
{
    setenv(CORE_VARIABLE, "Nehalem", 1);
    dlk_kernels k = kit_kernels(DLK_FAMILY_BLAS);
    dlk_gemm_info info;
    cr_assert(dlk_gemm_describe(&info));
    cr_assert_str_eq(info.core, "Nehalem");
    cr_assert(strstr(k.detail, "Nehalem") && strstr(k.detail, CORE_VARIABLE), "%s", k.detail);
    cr_assert_str_eq(getenv(CORE_VARIABLE), "Nehalem");
}

Test(gemm, an_empty_variable_is_no_choice)
{
    setenv(CORE_VARIABLE, "", 1);
    dlk_kernels k = kit_kernels(DLK_FAMILY_BLAS);
    cr_assert(!strstr(k.detail, CORE_VARIABLE), "%s", k.detail);
    cr_assert_str_eq(getenv(CORE_VARIABLE), "");
}

#endif
