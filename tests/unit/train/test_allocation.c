/* The linker sends every allocation of our own code through here (tests/CMakeLists.txt). */
#include <criterion/criterion.h>
#include <stdatomic.h>

#include "unit/train/short_run.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static _Atomic long allocations;

void *__wrap_malloc(size_t size)
{
    allocations++;
    return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    allocations++;
    return __real_calloc(count, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    allocations++;
    return __real_aligned_alloc(alignment, size);
}

Test(allocation, a_step_allocates_nothing)
{
    const char *const teams[] = {"1", "2"};
    for (int i = 0; i < 2; i++) {
        dlb_session *s = SESSION("model", "keras_cnn", "batch", "16", "threads", "2", "inter_op",
                                 teams[i], "train_images", "256", "test_images", "16");
        dlb_error err;
        cr_assert_gt(allocations, 0);
        cr_assert_eq(dlb_session_step(s, NULL, &err), 0);
        long before = allocations;
        for (int step = 0; step < 10; step++)
            cr_assert_eq(dlb_session_step(s, NULL, &err), 0);
        cr_assert_eq(allocations, before);
        dlb_session_free(s);
    }
}
