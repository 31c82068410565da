#include "kit.h"

#include <criterion/criterion.h>
#include <math.h>
#include <pthread.h>

#include "base/mem.h"

enum { CANARIES = 16 };
static const float CANARY = 12345.0F;

typedef struct server {
    dlk_team *team;
    int thread;
    pthread_t id;
} server;

struct kit_team {
    dlk_team team;
    dlk_share *shares;
    float *scratch, *shared; /* with canaries behind */
    size_t shared_floats;
    server *servers;
};

dlk_kernels kit_kernels(dlk_family family)
{
    dlk_kernels kernels;
    dlb_error err;
    cr_assert(dlk_kernels_select(&kernels, family, DLK_ISA_AUTO, &err) == 0, "%s", err.message);
    return kernels;
}

/* The table that kit_for_every_table is checking, for messages. */
static char table_name[32] = "";

static void check_table(kit_check_fn *check, dlk_family family, dlk_isa isa)
{
    dlk_kernels kernels;
    dlb_error err;
    cr_assert(dlk_kernels_select(&kernels, family, isa, &err) == 0, "%s", err.message);
    snprintf(table_name, sizeof table_name, "%s with %s: ", dlk_family_name(family),
             dlk_isa_name(kernels.isa));
    check(&kernels);
    table_name[0] = '\0';
}

void kit_for_every_table(kit_check_fn *check)
{
    check_table(check, DLK_FAMILY_REF, DLK_ISA_AUTO);
    check_table(check, DLK_FAMILY_BLAS, DLK_ISA_AUTO);
    for (dlk_isa isa = DLK_ISA_SSE; isa <= dlk_isa_best(); isa++)
        check_table(check, DLK_FAMILY_SIMD, isa);
}

static void *serve(void *arg)
{
    const server *s = arg;
    dlk_team_serve(s->team, s->thread);
    return NULL;
}

static float *guarded(size_t count)
{
    float *floats = dlb_alloc(count + CANARIES, sizeof *floats);
    for (size_t i = count; i < count + CANARIES; i++)
        floats[i] = CANARY;
    return floats;
}

static void expect_guarded(const float *floats, size_t count)
{
    for (size_t i = count; i < count + CANARIES; i++)
        cr_assert(floats[i] == CANARY, "a kernel wrote beyond its scratch");
}

kit_team *kit_team_start(int size, size_t scratch_floats, size_t shared_floats)
{
    kit_team *k = dlb_alloc(1, sizeof *k);
    k->scratch = guarded((size_t)size * scratch_floats);
    k->shared_floats = shared_floats;
    k->shares = dlb_alloc(DLK_TEAM_SHARES((size_t)size), sizeof *k->shares);
    k->shared = guarded(shared_floats);
    dlk_team_init(&k->team, size, k->shares, k->scratch, scratch_floats, 1000000);
    k->team.shared = k->shared;
    k->servers = dlb_alloc((size_t)size, sizeof *k->servers);
    for (int i = 1; i < size; i++) {
        k->servers[i] = (server){.team = &k->team, .thread = i};
        cr_assert(pthread_create(&k->servers[i].id, NULL, serve, &k->servers[i]) == 0);
    }
    return k;
}

dlk_team *kit_team_of(kit_team *k)
{
    return &k->team;
}

void kit_team_stop(kit_team *k)
{
    dlk_team_dismiss(&k->team);
    for (int i = 1; i < k->team.size; i++)
        pthread_join(k->servers[i].id, NULL);
    expect_guarded(k->scratch, (size_t)k->team.size * k->team.scratch_floats);
    expect_guarded(k->shared, k->shared_floats);
    free(k->servers);
    free(k->shared);
    free(k->shares);
    free(k->scratch);
    free(k);
}

static dlk_rng_key key_of(uint32_t seed)
{
    return (dlk_rng_key){.seed = seed, .purpose = DLK_RNG_SYNTHETIC};
}

float *kit_uniform(size_t count, uint32_t seed)
{
    float *numbers = kit_zeros(count);
    dlk_rng_key key = key_of(seed);
    for (size_t i = 0; i < count; i++)
        numbers[i] = 2.0F * dlk_rng_uniform(&key, (uint32_t)i) - 1.0F;
    return numbers;
}

float *kit_integers(size_t count, uint32_t seed)
{
    float *numbers = kit_zeros(count);
    for (size_t i = 0; i < count; i++)
        numbers[i] = (float)kit_pick(seed, (uint32_t)i, -4, 4);
    return numbers;
}

void kit_thin_out(size_t count, float *numbers, int percent, uint32_t seed)
{
    for (size_t i = 0; i < count; i++)
        if (kit_pick(seed, (uint32_t)i, 0, 99) >= percent)
            numbers[i] = 0.0F;
}

float *kit_zeros(size_t count)
{
    return dlb_alloc(count, sizeof(float));
}

size_t kit_size(int a, int b, int c, int d)
{
    return (size_t)a * (size_t)b * (size_t)c * (size_t)d;
}

int kit_pick(uint32_t seed, uint32_t index, int low, int high)
{
    dlk_rng_key key = key_of(seed);
    return low + (int)dlk_rng_below(&key, index, (uint32_t)(high - low + 1));
}

void kit_dawdle(uint32_t seed, uint32_t index)
{
    volatile int turns = kit_pick(seed, index, 0, 3) ? kit_pick(seed, index, 0, 200) : 0;
    while (turns > 0)
        turns = turns - 1;
}

double kit_dot(size_t count, const float *a, const float *b)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

void kit_expect_equal(size_t count, const float *got, const float *want, const char *what,
                      uint32_t seed)
{
    for (size_t i = 0; i < count; i++)
        cr_assert(got[i] == want[i], "%s%s, seed %u: element %zu of %zu is %g instead of %g",
                  table_name, what, seed, i, count, (double)got[i], (double)want[i]);
}

void kit_expect_close(size_t count, const float *got, const float *want, double tolerance,
                      const char *what, uint32_t seed)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs((double)want[i]));
    for (size_t i = 0; i < count; i++)
        cr_assert(fabs((double)got[i] - (double)want[i]) <= tolerance * largest,
                  "%s%s, seed %u: element %zu of %zu is %g instead of %g", table_name, what, seed,
                  i, count, (double)got[i], (double)want[i]);
}

static double central_difference(float *at, float step, kit_value_fn *value, void *context)
{
    float here = *at;
    *at = here + step;
    double above = value(context);
    *at = here - step;
    double below = value(context);
    *at = here;
    return (above - below) / (2.0 * (double)step);
}

void kit_expect_gradient(size_t count, float *at, const float *gradient, float step,
                         double tolerance, kit_value_fn *value, void *context, const char *what)
{
    float *differences = kit_zeros(count);
    for (size_t i = 0; i < count; i++)
        differences[i] = (float)central_difference(at + i, step, value, context);
    kit_expect_close(count, gradient, differences, tolerance, what, 0);
    free(differences);
}
