#include "cli/bench_suite.h"

#include <criterion/criterion.h>
#include <math.h>

static dlb_roofs roofs = {
    .names = {"sgemm 512³", "triad", "FMA peak"},
    .about = {{.flops = 200, .bytes = 1}, {.flops = 1, .bytes = 40}, {.flops = 400, .bytes = NAN}},
    .seconds = {1e-9, 1e-9, 1e-9}};

Test(bench_suite, what_bounds_a_case_is_where_the_roofs_meet)
{
    dlb_gate_about dense = {.flops = 10.1, .bytes = 1}, thin = {.flops = 9.9, .bytes = 1};
    dlb_gate_about files = {.flops = NAN, .bytes = 1};
    cr_assert_eq(dlb_roofs_beside(&roofs, &dense), DLB_REFERENCE_GEMM);
    cr_assert_eq(dlb_roofs_beside(&roofs, &thin), DLB_REFERENCE_TRIAD);
    cr_assert_eq(dlb_roofs_beside(&roofs, &files), DLB_REFERENCE_TRIAD, "only bytes are known");
}

Test(bench_suite, rates_are_of_flops_or_of_bytes)
{
    cr_assert_float_eq(dlb_roofs_rate(&roofs, DLB_REFERENCE_GEMM), 200, 1e-9);
    cr_assert_float_eq(dlb_roofs_rate(&roofs, DLB_REFERENCE_TRIAD), 40, 1e-9);
    cr_assert_float_eq(dlb_roofs_rate(&roofs, DLB_REFERENCE_PEAK), 400, 1e-9);
}

Test(bench_suite, a_wrong_result_comes_with_the_command_that_shows_it_again)
{
    dlb_suite_kind kind = {.model = "keras_cnn", .kernels = "simd", .isa = "avx2"};
    dlb_suite s = {.options = {.batch = "7", .threads = 2}, .kinds = &kind, .kind_count = 1};
    char name[] = "dense_1 forward";
    dlb_suite_case wrong = {.name = name, .error = 0.1, .bound = 0.01};
    dlb_suite_case right = {.error = 0.001, .bound = 0.01}, unknown = {.error = NAN, .bound = NAN};
    cr_assert(dlb_suite_is_wrong(&wrong));
    cr_assert_not(dlb_suite_is_wrong(&right));
    cr_assert_not(dlb_suite_is_wrong(&unknown));
    wrong.error = INFINITY;
    cr_assert(dlb_suite_is_wrong(&wrong), "a result that is not finite");
    dlb_str text = DLB_STR_INIT;
    dlb_suite_add_reproduction(&s, &wrong, &text);
    cr_assert_str_eq(text.text, "./dlbench bench --verify --list --model keras_cnn --kernels "
                                "simd --isa avx2 --batch 7 --threads 2 --only 'dense_1 forward'");
    dlb_str_release(&text);
}
