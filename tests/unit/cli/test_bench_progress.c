#include "cli/bench_progress.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

static char *shown_after(double elapsed_s, size_t done, size_t all)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    dlb_bench_progress progress;
    dlb_bench_progress_init(&progress, out);
    dlb_bench_progress_count(&progress, 0, all);
    progress.began = dlb_clock_s() - elapsed_s;
    dlb_bench_progress_count(&progress, done, all);
    dlb_bench_progress_show(&progress, "round %d", 2);
    fclose(out);
    return text;
}

static void expect(const char *expected, double elapsed_s, size_t done, size_t all)
{
    char *text = shown_after(elapsed_s, done, all);
    cr_assert_str_eq(text, expected);
    free(text);
}

Test(bench_progress, tells_how_long_the_rest_takes_once_it_can_know)
{
    expect("round 2, 10 s to go\n", 10, 1, 2);
    expect("round 2, 5 min 0 s to go\n", 100, 1, 4);
    expect("round 2\n", 1, 1, 2);
    expect("round 2\n", 10, 0, 2);
    expect("round 2\n", 10, 0, 0);
}
