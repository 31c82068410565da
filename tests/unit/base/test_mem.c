#include <stdint.h>

#include <criterion/criterion.h>

#include "base/mem.h"

Test(mem, memory_is_zeroed_and_aligned_to_a_cache_line)
{
    for (size_t bytes = 0; bytes < 200; bytes += 33) {
        unsigned char *memory = dlb_alloc(bytes, 1);
        cr_assert_eq((uintptr_t)memory % DLB_CACHE_LINE, 0);
        for (size_t i = 0; i < bytes; i++)
            cr_assert_eq(memory[i], 0);
        memset(memory, 0xff, bytes); /* so that the next one would show what is not cleared */
        free(memory);
    }
}

Test(mem, where_arrays_lie_in_pages_does_not_depend_on_what_was_allocated_before)
{
    enum { TRIALS = 64 };
    void *before[TRIALS], *array[TRIALS];
    for (size_t i = 0; i < TRIALS; i++) {
        before[i] = dlb_alloc(1 + 61 * i, 1);
        array[i] = dlb_alloc(DLB_PAGE + 100 * i, 1);
        cr_assert_eq((uintptr_t)array[i] % DLB_PAGE, 0);
    }
    for (size_t i = 0; i < TRIALS; i++) {
        free(array[i]);
        free(before[i]);
    }
}

Test(mem, a_size_that_overflows_is_refused)
{
    cr_assert_null(dlb_try_alloc(SIZE_MAX / 2, 4));
    cr_assert_null(dlb_try_alloc(SIZE_MAX, 1));
}

Test(mem, growing_keeps_items_and_zeroes_new_ones)
{
    size_t capacity = 0;
    int *items = NULL;
    for (size_t count = 1; count <= 100; count++) {
        items = dlb_grow(items, &capacity, count, sizeof *items);
        cr_assert_geq(capacity, count);
        cr_assert_eq(items[count - 1], 0);
        items[count - 1] = (int)count;
    }
    for (int i = 0; i < 100; i++)
        cr_assert_eq(items[i], i + 1);
    free(items);
}

Test(mem, growing_to_what_is_there_moves_nothing)
{
    size_t capacity = 0;
    int *items = dlb_grow(NULL, &capacity, 5, sizeof *items);
    cr_assert_eq(dlb_grow(items, &capacity, 5, sizeof *items), items);
    free(items);
}

Test(mem, strdup_copies)
{
    const char original[] = "model";
    char *copy = dlb_strdup(original);
    cr_assert_str_eq(copy, original);
    cr_assert_neq(copy, original);
    free(copy);
}
