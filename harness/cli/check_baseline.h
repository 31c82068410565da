/* The file of baselines that a check reads or saves to, and this machine's place in it. */
#ifndef DLB_CLI_CHECK_BASELINE_H
#define DLB_CLI_CHECK_BASELINE_H

#include "cli/gate.h"
#include "measure/host.h"

#define DLB_BASELINE_FILE "results/baselines/kernels.json"

/* Valid when zeroed but for the path. */
typedef struct dlb_check_baseline {
    const char *path;
    dlb_cpu_name cpu;
    const char *isa, *kernels;
    dlb_baselines all;
    const dlb_baseline *found; /* this machine's; NULL: there is none */
} dlb_check_baseline;

/*
 * Read the file and look for this machine with these kernels. A file that is not there is none of
 * its own where one is to be saved, else DLB_BAD_INPUT; so is one that is damaged, in any case.
 */
int dlb_check_baseline_open(dlb_check_baseline *baseline, const dlk_kernels *kernels, bool saves,
                            dlb_error *err);
void dlb_check_baseline_release(dlb_check_baseline *baseline);

/* Put what the gate has measured in this machine's place, and write the file. *kept: so many cases;
 * none is an error, and the file stays as it was. */
int dlb_check_baseline_save(dlb_check_baseline *baseline, const dlb_gate *gate, size_t *kept,
                            dlb_error *err);

#endif
