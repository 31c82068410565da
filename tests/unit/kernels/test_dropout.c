#include <criterion/criterion.h>
#include <math.h>

#include "kit.h"

static const dlk_rng_key KEY = {.seed = 7, .purpose = DLK_RNG_DROPOUT, .stream = 2, .step = 11};

typedef struct dropout {
    dlk_dropout s;
    size_t count;
    float *x, *y;
    dlk_kernels kernels;
    kit_team *team;
} dropout;

static dropout dropout_make(const dlk_kernels *k, dlk_dropout s)
{
    dropout d = {.s = s, .kernels = *k, .team = kit_team_start(1, 0, 0)};
    d.count = kit_size(1, s.n, s.pixels, s.c);
    d.x = kit_zeros(d.count);
    d.y = kit_uniform(d.count, 1); /* to be overwritten */
    for (size_t i = 0; i < d.count; i++)
        d.x[i] = 1.0F + (float)(i % 3);
    return d;
}

static void dropout_free(dropout *d)
{
    free(d->y);
    free(d->x);
    kit_team_stop(d->team);
}

static void drop(dropout *d, const dlk_rng_key *key)
{
    d->kernels.dropout_forward(kit_team_of(d->team), &d->s, key, d->x, d->y);
}

/* The decision as the header defines it. */
static bool kept(const dlk_rng_key *key, size_t decision, float rate)
{
    uint32_t words[4];
    dlk_rng_block(key, (uint32_t)(decision / 8), words);
    uint32_t word = words[decision % 8 / 2] >> (decision % 2 * 16) & 0xffff;
    return (double)word >= (double)rate * 65536.0;
}

static void expect_decisions(const dlk_kernels *k, dlk_dropout s)
{
    dropout d = dropout_make(k, s);
    drop(&d, &KEY);
    for (size_t i = 0; i < d.count; i++) {
        size_t c = (size_t)s.c, channel = i % c, image = i / c / (size_t)s.pixels;
        size_t decision = s.planes ? image * c + channel : i;
        float want = kept(&KEY, decision, s.rate) ? d.x[i] / (1.0F - s.rate) : 0.0F;
        cr_assert(fabsf(d.y[i] - want) <= 1e-6F * want, "element %zu", i);
    }
    dropout_free(&d);
}

static void an_element_is_kept_as_its_number_says(const dlk_kernels *k)
{
    expect_decisions(k, (dlk_dropout){.n = 3, .pixels = 1, .c = 9216, .rate = 0.25F});
    expect_decisions(k, (dlk_dropout){.n = 5, .pixels = 3, .c = 7, .rate = 0.3F});
    expect_decisions(k, (dlk_dropout){.n = 1, .pixels = 1, .c = 1, .rate = 0.999F});
}

Test(dropout, an_element_is_kept_as_its_number_says)
{
    kit_for_every_table(an_element_is_kept_as_its_number_says);
}

static void a_plane_is_kept_or_dropped_as_a_whole(const dlk_kernels *k)
{
    expect_decisions(k, (dlk_dropout){.n = 6, .pixels = 64, .c = 20, .rate = 0.5F, .planes = 1});
    expect_decisions(k, (dlk_dropout){.n = 2, .pixels = 5, .c = 131, .rate = 0.1F, .planes = 1});
}

Test(dropout, a_plane_is_kept_or_dropped_as_a_whole)
{
    kit_for_every_table(a_plane_is_kept_or_dropped_as_a_whole);
}

static void expect_kept_bytes(const dlk_kernels *k, float rate, size_t first, size_t count)
{
    dlk_dropout s = {.rate = rate};
    uint8_t keep[1000];
    memset(keep, 7, sizeof keep);
    k->dropout_keep(&s, &KEY, first, count, keep);
    for (size_t i = 0; i < count; i++)
        cr_assert(keep[i] == kept(&KEY, first + i, rate), "%zu of %zu + %zu", i, first, count);
    for (size_t i = count; i < sizeof keep; i++)
        cr_assert(keep[i] == 7, "wrote beyond %zu decisions", count);
}

/* 0.9999999 drops all: it rounds to 65536 of 65536. */
static void decisions_may_be_asked_for_as_bytes(const dlk_kernels *k)
{
    const float rates[] = {0.0F, 1e-6F, 0.25F, 0.3F, 0.5F, 0.99999F, 0.9999999F};
    for (uint32_t i = 0; i < 7; i++)
        for (uint32_t j = 0; j < 30; j++) {
            size_t first = (size_t)kit_pick(i, j, 0, 100), count = (size_t)kit_pick(j, i, 0, 999);
            expect_kept_bytes(k, rates[i], first, count);
        }
    expect_kept_bytes(k, 0.5F, ((size_t)1 << 35) - 77, 500); /* the number of a block wraps */
}

Test(dropout, decisions_may_be_asked_for_as_bytes)
{
    kit_for_every_table(decisions_may_be_asked_for_as_bytes);
}

static double kept_fraction(const dropout *d)
{
    double kept_count = 0;
    for (size_t i = 0; i < d->count; i++)
        kept_count += d->y[i] != 0.0F;
    return kept_count / (double)d->count;
}

static void drops_the_share_it_was_told(const dlk_kernels *k)
{
    float rates[] = {0.0F, 0.1F, 0.25F, 0.5F, 0.9F};
    for (int i = 0; i < 5; i++) {
        dropout d =
            dropout_make(k, (dlk_dropout){.n = 1, .pixels = 1, .c = 100000, .rate = rates[i]});
        drop(&d, &KEY);
        double keep = 1.0 - (double)rates[i], sigma = sqrt(keep * (1 - keep) / 100000);
        cr_assert(fabs(kept_fraction(&d) - keep) <= 4 * sigma, "rate %g", (double)rates[i]);
        dropout_free(&d);
    }
}

Test(dropout, drops_the_share_it_was_told)
{
    kit_for_every_table(drops_the_share_it_was_told);
}

static void a_rate_of_zero_changes_nothing(const dlk_kernels *k)
{
    dropout d = dropout_make(k, (dlk_dropout){.n = 2, .pixels = 4, .c = 33, .rate = 0.0F});
    drop(&d, &KEY);
    kit_expect_equal(d.count, d.y, d.x, "y", 0);
    dropout_free(&d);
}

Test(dropout, a_rate_of_zero_changes_nothing)
{
    kit_for_every_table(a_rate_of_zero_changes_nothing);
}

static void backward_drops_what_forward_dropped(const dlk_kernels *k)
{
    for (int planes = 0; planes < 2; planes++) {
        dlk_dropout s = {.n = 4, .pixels = 9, .c = 19, .rate = 0.4F, .planes = planes};
        dropout d = dropout_make(k, s);
        float *dx = kit_zeros(d.count);
        drop(&d, &KEY);
        d.kernels.dropout_backward(kit_team_of(d.team), &s, &KEY, d.x, dx);
        kit_expect_equal(d.count, dx, d.y, "dx", 0);
        free(dx);
        dropout_free(&d);
    }
}

Test(dropout, backward_drops_what_forward_dropped)
{
    kit_for_every_table(backward_drops_what_forward_dropped);
}

static void a_batch_may_be_taken_in_parts(const dlk_kernels *k)
{
    enum { PART = 8 };
    for (int planes = 0; planes < 2; planes++) {
        dlk_dropout s = {.n = 3 * PART - 1, .pixels = 3, .c = 19, .rate = 0.4F, .planes = planes};
        dropout d = dropout_make(k, s);
        size_t image = d.count / (size_t)s.n;
        float *y = kit_zeros(d.count);
        drop(&d, &KEY);
        for (int first = 0; first < s.n; first += PART) {
            dlk_dropout part = s;
            part.first = first;
            part.n = first + PART < s.n ? PART : s.n - first;
            d.kernels.dropout_forward(kit_team_of(d.team), &part, &KEY, d.x + image * (size_t)first,
                                      y + image * (size_t)first);
        }
        kit_expect_equal(d.count, y, d.y, "y", 0);
        free(y);
        dropout_free(&d);
    }
}

Test(dropout, a_batch_may_be_taken_in_parts)
{
    kit_for_every_table(a_batch_may_be_taken_in_parts);
}

static void works_in_place(const dlk_kernels *k)
{
    for (int planes = 0; planes < 2; planes++) {
        dlk_dropout s = {.n = 3, .pixels = 50, .c = 131, .rate = 0.5F, .planes = planes};
        dropout d = dropout_make(k, s);
        drop(&d, &KEY);
        d.kernels.dropout_forward(kit_team_of(d.team), &s, &KEY, d.x, d.x);
        kit_expect_equal(d.count, d.x, d.y, "in place", 0);
        dropout_free(&d);
    }
}

Test(dropout, works_in_place)
{
    kit_for_every_table(works_in_place);
}

static void what_is_dropped_is_zero_whatever_it_was(const dlk_kernels *k)
{
    dropout d = dropout_make(k, (dlk_dropout){.n = 1, .pixels = 10, .c = 10, .rate = 0.5F});
    for (d.s.planes = 0; d.s.planes < 2; d.s.planes++) {
        for (size_t i = 0; i < d.count; i++)
            d.x[i] = i % 2 ? INFINITY : NAN;
        drop(&d, &KEY);
        for (size_t i = 0; i < d.count; i++)
            cr_assert(!isfinite(d.y[i]) || d.y[i] == 0.0F);
        cr_assert(kept_fraction(&d) > 0.2 && kept_fraction(&d) < 0.8);
    }
    dropout_free(&d);
}

Test(dropout, what_is_dropped_is_zero_whatever_it_was)
{
    kit_for_every_table(what_is_dropped_is_zero_whatever_it_was);
}

static void every_step_and_worker_has_masks_of_its_own(const dlk_kernels *k)
{
    dropout d = dropout_make(k, (dlk_dropout){.n = 1, .pixels = 1, .c = 1000, .rate = 0.5F});
    float *first = kit_zeros(d.count);
    drop(&d, &KEY);
    memcpy(first, d.y, d.count * sizeof *first);
    dlk_rng_key keys[] = {KEY, KEY, KEY, KEY, KEY};
    keys[0].step++, keys[1].worker++, keys[2].epoch++, keys[3].stream++, keys[4].seed++;
    for (int changed = 0; changed < 5; changed++) {
        drop(&d, &keys[changed]);
        int equal = 0;
        for (size_t i = 0; i < d.count; i++)
            equal += (d.y[i] != 0) == (first[i] != 0);
        cr_assert(equal > 400 && equal < 600, "key %d: %d of 1000 decisions equal", changed, equal);
    }
    free(first);
    dropout_free(&d);
}

Test(dropout, every_step_and_worker_has_masks_of_its_own)
{
    kit_for_every_table(every_step_and_worker_has_masks_of_its_own);
}
