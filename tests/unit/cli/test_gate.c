#include "cli/gate.h"

#include <criterion/criterion.h>

#include "record/whole_step.h"

static char step[] = DLB_WHOLE_STEP, kernel[] = "dense_1 forward", other[] = "dense_1 backward";

static bool alarms(dlb_judgement_kind of_step, dlb_judgement_kind of_kernel,
                   dlb_judgement_kind of_other, size_t allowed)
{
    dlb_gate_case cases[] = {{.name = step, .verdict.kind = of_step},
                             {.name = kernel, .verdict.kind = of_kernel},
                             {.name = other, .verdict.kind = of_other}};
    dlb_gate gate = {.cases = cases, .count = 3};
    return dlb_gate_alarms(&gate, allowed);
}

Test(gate, alarms_at_more_slower_kernels_than_are_allowed)
{
    cr_assert(!alarms(DLB_JUDGED_SAME, DLB_JUDGED_FASTER, DLB_JUDGED_INCONCLUSIVE, 0));
    cr_assert(alarms(DLB_JUDGED_SAME, DLB_JUDGED_SLOWER, DLB_JUDGED_SAME, 0));
    cr_assert(!alarms(DLB_JUDGED_SAME, DLB_JUDGED_SLOWER, DLB_JUDGED_SAME, 1));
    cr_assert(alarms(DLB_JUDGED_SAME, DLB_JUDGED_SLOWER, DLB_JUDGED_SLOWER, 1));
    cr_assert(!alarms(DLB_JUDGED_SAME, DLB_JUDGED_SLOWER, DLB_JUDGED_SLOWER, 2));
}

Test(gate, alarms_at_a_whole_training_step_whatever_is_allowed)
{
    cr_assert(alarms(DLB_JUDGED_SLOWER, DLB_JUDGED_SAME, DLB_JUDGED_SAME, 9));
}
