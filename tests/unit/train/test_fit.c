/* Which data sets a model takes. */
#include <criterion/criterion.h>
#include <string.h>

#include "train/fit.h"

static void expect_refusal(const dlb_model *model, const char *why)
{
    dlb_error err;
    dlb_data data;
    cr_assert_eq(dlb_fit_load(&data, model, "mnist", 0, 0, &err), DLB_BAD_INPUT);
    cr_expect_not_null(strstr(err.message, why), "%s", err.message);
}

Test(fit, a_model_of_other_images_is_told_what_they_are)
{
    expect_refusal(&(dlb_model){.name = "wide", .input = {32, 32, 3}, .classes = 10},
                   "mnist: images of 28x28x1, but wide takes 32x32x3");
    expect_refusal(&(dlb_model){.name = "parity", .input = {28, 28, 1}, .classes = 2},
                   "mnist: 10 classes, but parity tells only 2 apart");
}

Test(fit, made_up_images_are_made_for_the_model)
{
    dlb_error err;
    dlb_data data;
    dlb_model model = {.name = "wide", .input = {8, 6, 3}, .classes = 4};
    cr_assert_eq(dlb_fit_load(&data, &model, "synthetic", 20, 10, &err), 0);
    cr_expect(data.train.count == 20 && data.test.count == 10 && data.train.c == 3);
    dlb_data_release(&data);
}
