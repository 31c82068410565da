#include <criterion/criterion.h>
#include <sys/mman.h>
#include <unistd.h>

#include "measure/known_work.h"
#include "measure/usage.h"

enum { BYTES = 64 << 20, PAGE = 4096 };

static unsigned char *touched_pages(void)
{
    unsigned char *memory =
        mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(memory != MAP_FAILED);
    madvise(memory, BYTES, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < BYTES; i += PAGE)
        memory[i] = 1;
    return memory;
}

Test(usage, touching_pages_shows_as_faults_and_sleeping_as_switches)
{
    dlb_usage start = dlb_usage_now();
    munmap(touched_pages(), BYTES);
    for (int i = 0; i < 3; i++)
        usleep(100);
    dlb_usage used = dlb_usage_since(&start);
    cr_expect_geq(used.minor_faults, BYTES / PAGE);
    cr_expect_geq(used.voluntary_switches, 3);
}

Test(usage, cpu_time_grows_with_work_and_never_runs_backwards)
{
    dlb_usage start = dlb_usage_now();
    for (int i = 0; i < 20; i++)
        dlb_known_work();
    dlb_usage used = dlb_usage_since(&start);
    cr_expect_gt(used.user_s + used.system_s, 0);
    cr_expect_geq(used.user_s, 0);
    cr_expect_geq(used.system_s, 0);
}

Test(usage, peak_memory_stays_after_it_is_given_back)
{
    dlb_value before = dlb_peak_rss_mb();
    munmap(touched_pages(), BYTES);
    dlb_value after = dlb_peak_rss_mb();
    cr_assert(before.known && after.known);
    cr_expect_geq(after.number, 1e-6 * BYTES);
    cr_expect_geq(after.number, before.number);
}
