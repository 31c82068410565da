#include <criterion/criterion.h>

#include "graph/copies.h"

enum { THREADS = 3, FLOATS = 100 };

static float parameters[FLOATS];

static dlb_copies make_copies(int threads)
{
    dlb_copies copies;
    for (int i = 0; i < FLOATS; i++)
        parameters[i] = (float)i;
    dlb_copies_init(&copies, parameters, FLOATS);
    cr_assert(dlb_copies_make_room(&copies, threads));
    return copies;
}

static void expect_all_read(dlb_copies *copies, const float *values, const char *when)
{
    for (int thread = 0; thread < THREADS; thread++)
        cr_assert_arr_eq(dlb_copies_of(copies, thread), values, FLOATS * sizeof(float),
                         "thread %d, %s", thread, when);
}

Test(copies, each_thread_reads_the_parameters_in_a_place_of_its_own)
{
    dlb_copies copies = make_copies(THREADS);
    dlb_copies_begin(&copies, true);
    expect_all_read(&copies, parameters, "at first");
    for (int thread = 0; thread < THREADS; thread++) {
        cr_assert_neq(dlb_copies_of(&copies, thread), parameters);
        cr_assert_neq(dlb_copies_of(&copies, thread), dlb_copies_of(&copies, (thread + 1) % 3));
    }
    dlb_copies_release(&copies);
}

Test(copies, what_is_handed_out_is_all_that_changes)
{
    float wanted[FLOATS];
    dlb_copies copies = make_copies(THREADS);
    dlb_copies_begin(&copies, true);
    memcpy(wanted, parameters, sizeof wanted);
    for (int i = 0; i < FLOATS; i++)
        parameters[i] = -1;
    dlb_copies_hand_out(&copies, 7, 20);
    for (int i = 7; i < 27; i++)
        wanted[i] = -1;
    dlb_copies_begin(&copies, true);
    expect_all_read(&copies, wanted, "after handing out");
    dlb_copies_release(&copies);
}

Test(copies, parameters_that_were_written_otherwise_are_copied_before_they_are_read)
{
    dlb_copies copies = make_copies(THREADS);
    dlb_copies_begin(&copies, true);
    copies.current = false;
    parameters[50] = 1e6F;
    dlb_copies_begin(&copies, true);
    expect_all_read(&copies, parameters, "after writing");
    dlb_copies_release(&copies);
}

Test(copies, those_that_come_after_the_first_step_are_filled_too)
{
    dlb_copies copies = make_copies(1);
    dlb_copies_begin(&copies, true);
    cr_assert(dlb_copies_make_room(&copies, THREADS));
    dlb_copies_begin(&copies, false);
    expect_all_read(&copies, parameters, "after the first step");
    dlb_copies_release(&copies);
}

Test(copies, there_are_none_for_one_thread_or_many_or_for_more_than_a_cache_holds)
{
    dlb_copies copies = make_copies(1);
    dlb_copies_begin(&copies, true);
    cr_assert_eq(dlb_copies_of(&copies, 0), parameters);
    dlb_copies_release(&copies);
    copies = make_copies(64);
    dlb_copies_begin(&copies, true);
    cr_assert_eq(dlb_copies_of(&copies, 63), parameters);
    dlb_copies_release(&copies);
    dlb_copies_init(&copies, parameters, 1000000);
    cr_assert(dlb_copies_make_room(&copies, THREADS));
    dlb_copies_begin(&copies, true);
    cr_assert_eq(dlb_copies_of(&copies, 2), parameters);
    dlb_copies_release(&copies);
}

Test(copies, once_given_up_all_threads_read_what_is_written)
{
    dlb_copies copies = make_copies(THREADS);
    dlb_copies_begin(&copies, true);
    dlb_copies_give_up(&copies);
    dlb_copies_begin(&copies, false);
    for (int thread = 0; thread < THREADS; thread++)
        cr_assert_eq(dlb_copies_of(&copies, thread), parameters);
    dlb_copies_release(&copies);
}
