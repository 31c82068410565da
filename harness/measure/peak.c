#include "measure/peak.h"

#include <immintrin.h>
#include <omp.h>

#include "base/clock.h"

/*
 * Independent sums. A multiply-add takes 4 or 5 cycles and two start in each, so 8 to 10 must be
 * under way; 12 and the two factors still fit into 16 registers.
 */
enum { SUMS = 12 };

enum { BURSTS = 12 };

static const double BURST_S = 0.006;
static const double MOST_GHZ = 6.5;

/* Factors for which the sums neither overflow nor become denormal, however long it takes. */
static volatile float factor = 0.999f, increment = 0.001f;

/* Runs SUMS × rounds vector multiply-adds and returns a value that depends on all of them. */
typedef float burst_fn(long rounds);

static float burst_sse(long rounds)
{
    __m128 x = _mm_set1_ps(factor), y = _mm_set1_ps(increment), sum[SUMS];
    for (int i = 0; i < SUMS; i++)
        sum[i] = _mm_set1_ps((float)i);
    for (long r = 0; r < rounds; r++) {
        for (int i = 0; i < SUMS; i++)
            sum[i] = _mm_add_ps(_mm_mul_ps(sum[i], x), y);
    }
    for (int i = 1; i < SUMS; i++)
        sum[0] = _mm_add_ps(sum[0], sum[i]);
    return _mm_cvtss_f32(sum[0]);
}

__attribute__((target("avx2,fma"))) static float burst_avx2(long rounds)
{
    __m256 x = _mm256_set1_ps(factor), y = _mm256_set1_ps(increment), sum[SUMS];
    for (int i = 0; i < SUMS; i++)
        sum[i] = _mm256_set1_ps((float)i);
    for (long r = 0; r < rounds; r++) {
        for (int i = 0; i < SUMS; i++)
            sum[i] = _mm256_fmadd_ps(sum[i], x, y);
    }
    for (int i = 1; i < SUMS; i++)
        sum[0] = _mm256_add_ps(sum[0], sum[i]);
    return _mm256_cvtss_f32(sum[0]);
}

__attribute__((target("avx512f"))) static float burst_avx512(long rounds)
{
    __m512 x = _mm512_set1_ps(factor), y = _mm512_set1_ps(increment), sum[SUMS];
    for (int i = 0; i < SUMS; i++)
        sum[i] = _mm512_set1_ps((float)i);
    for (long r = 0; r < rounds; r++) {
        for (int i = 0; i < SUMS; i++)
            sum[i] = _mm512_fmadd_ps(sum[i], x, y);
    }
    for (int i = 1; i < SUMS; i++)
        sum[0] = _mm512_add_ps(sum[0], sum[i]);
    return _mm512_cvtss_f32(sum[0]);
}

static const struct {
    burst_fn *burst;
    int lanes;
} KERNELS[] = {
    [DLK_ISA_SSE] = {burst_sse, 4},
    [DLK_ISA_AVX2] = {burst_avx2, 8},
    [DLK_ISA_AVX512] = {burst_avx512, 16},
};

float dlb_peak_burst(dlk_isa isa, long rounds)
{
    return KERNELS[isa].burst(rounds);
}

double dlb_peak_burst_flops(dlk_isa isa, long rounds)
{
    return 2.0 * SUMS * KERNELS[isa].lanes * (double)rounds;
}

static volatile float sink; /* keeps the results, so that nothing is optimised away */

/* Seconds from the first thread's beginning to the last one's end; *team is how many there were. */
static double time_burst(burst_fn *burst, long rounds, int threads, int *team)
{
    int64_t begin = INT64_MAX, end = 0;
    float result = 0;
#pragma omp parallel num_threads(threads) reduction(min : begin) reduction(max : end)              \
    reduction(+ : result)
    {
#pragma omp single /* all wait at its end, and so begin together */
        *team = omp_get_num_threads();
        begin = dlb_clock_ns();
        result = burst(rounds);
        end = dlb_clock_ns();
    }
    sink = result;
    return 1e-9 * (double)(end - begin);
}

/* Rounds that last about BURST_S on one thread. */
static long calibrate(burst_fn *burst)
{
    int team;
    for (long rounds = 1000;; rounds *= 2) {
        double seconds = time_burst(burst, rounds, 1, &team);
        if (seconds >= BURST_S / 4)
            return (long)((double)rounds * BURST_S / seconds) + 1;
    }
}

double dlb_peak_limit_gflops(int threads, dlk_isa isa)
{
    return threads * KERNELS[isa].lanes * 2.0 * 2.0 * MOST_GHZ;
}

dlb_value dlb_peak_gflops(int threads, dlk_isa isa)
{
    burst_fn *burst = KERNELS[isa].burst;
    long rounds = calibrate(burst);
    int team = 0;
    double best_s = time_burst(burst, rounds, threads, &team); /* the first also starts threads */
    for (int i = 1; i < BURSTS; i++) {
        double seconds = time_burst(burst, rounds, threads, &team);
        best_s = seconds < best_s ? seconds : best_s;
    }
    if (team != threads)
        return dlb_value_missing("the OpenMP runtime gave %d of %d threads", team, threads);

    double gflops = 1e-9 * dlb_peak_burst_flops(isa, rounds) * threads / best_s;
    if (gflops > dlb_peak_limit_gflops(threads, isa))
        return dlb_value_missing("%.0f GFLOP/s is not possible: the clock is wrong", gflops);
    return dlb_value_of(gflops);
}
