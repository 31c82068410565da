#include <criterion/criterion.h>

#include "comm/stages.h"

enum { MOST_MEMBERS = 64, GRAIN = DLB_EXCHANGE_GRAIN };

static const int radices[] = {2, 3, 4, 7, 8, 1024};
enum { RADICES = sizeof radices / sizeof *radices };

static void expect_factors(int members, int radix, int count, const int *factors)
{
    dlb_stages stages;
    dlb_stages_init(&stages, members, 0, radix);
    cr_assert_eq(stages.count, count, "%d members, radix %d", members, radix);
    for (int s = 0; s < count; s++)
        cr_assert_eq(stages.stage[s].size, factors[s], "%d members, radix %d, stage %d: %d",
                     members, radix, s, stages.stage[s].size);
}

Test(stages, twos_are_grouped_up_to_the_radix_and_other_primes_stand_alone)
{
    expect_factors(1, 4, 0, NULL);
    expect_factors(2, 4, 1, (int[]){2});
    expect_factors(8, 4, 2, (int[]){4, 2});
    expect_factors(8, 2, 3, (int[]){2, 2, 2});
    expect_factors(8, 7, 2, (int[]){4, 2});
    expect_factors(8, 8, 1, (int[]){8});
    expect_factors(3, 2, 1, (int[]){3});
    expect_factors(6, 4, 2, (int[]){2, 3});
    expect_factors(36, 4, 3, (int[]){4, 3, 3});
    expect_factors(22, 4, 2, (int[]){2, 11});
    expect_factors(1 << 20, 1024, 2, (int[]){1024, 1024});
    expect_factors(65521, 4, 1, (int[]){65521}); /* a prime */
}

Test(stages, every_member_is_in_the_place_that_its_group_thinks)
{
    for (int members = 1; members <= MOST_MEMBERS; members++)
        for (int self = 0; self < members; self++) {
            dlb_stages own, other;
            dlb_stages_init(&own, members, self, 4);
            for (int s = 0; s < own.count; s++)
                for (int place = 0; place < own.stage[s].size; place++) {
                    int member = dlb_stages_member(&own, s, place);
                    cr_assert(member >= 0 && member < members);
                    dlb_stages_init(&other, members, member, 4);
                    cr_assert_eq(other.stage[s].place, place);
                    cr_assert_eq(dlb_stages_member(&other, s, own.stage[s].place), self);
                }
        }
}

/* Then the sums of the first groups are subtrees. */
Test(stages, the_first_groups_are_of_consecutive_members)
{
    dlb_stages stages;
    dlb_stages_init(&stages, 16, 6, 4);
    for (int place = 0; place < 4; place++) {
        cr_assert_eq(dlb_stages_member(&stages, 0, place), 4 + place);
        cr_assert_eq(dlb_stages_member(&stages, 1, place), 2 + 4 * place);
    }
}

Test(range, parts_are_in_order_and_cover_the_whole_in_grains)
{
    static const size_t lengths[] = {0,         1,          GRAIN - 1,      GRAIN,
                                     GRAIN + 1, 10 * GRAIN, 100 * GRAIN + 7};
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (int parts = 1; parts <= 20; parts++) {
            dlb_range whole = {3 * GRAIN, 3 * GRAIN + lengths[l]};
            size_t at = whole.first;
            for (int p = 0; p < parts; p++) {
                dlb_range part = dlb_range_part(whole, parts, p);
                cr_assert_eq(part.first, at);
                cr_assert_leq(part.first, part.end);
                cr_assert(part.end % GRAIN == 0 || part.end == whole.end);
                cr_assert_leq(dlb_range_length(part), lengths[l] / (size_t)parts + 2 * GRAIN);
                at = part.end;
            }
            cr_assert_eq(at, whole.end);
        }
}

static void expect_cover(const dlb_division *division, dlb_range bucket)
{
    unsigned char owners[200] = {0};
    int ranks = division->local * division->nodes;
    for (int r = 0; r < ranks; r++) {
        dlb_range slice = dlb_division_slice(division, bucket, r);
        dlb_range node = dlb_division_node_part(division, bucket, r);
        cr_assert(slice.first >= node.first && slice.end <= node.end);
        for (size_t grain = slice.first; grain < slice.end; grain += GRAIN)
            owners[grain / GRAIN]++;
    }
    for (size_t grain = bucket.first; grain < bucket.end; grain += GRAIN)
        cr_assert_eq(owners[grain / GRAIN], 1, "grain %zu of %d on %d nodes, radix %d",
                     grain / GRAIN, ranks, division->nodes, division->radix);
}

Test(division, slices_cover_a_bucket_once)
{
    for (int local = 1; local <= 6; local++)
        for (int nodes = 1; nodes <= 12; nodes++)
            for (int r = 0; r < RADICES; r++) {
                dlb_division division = {local, nodes, radices[r]};
                expect_cover(&division, (dlb_range){5 * GRAIN, 150 * GRAIN + 17});
                expect_cover(&division, (dlb_range){0, 3 * GRAIN});
            }
}
