/*
 * Energy of the processor packages and their memory, from the RAPL meters that Linux shows in
 * /sys/class/powercap (Intel, and AMD since Linux 5.8). They measure the whole machine, not the
 * process, and most systems let only root read them; otherwise the joules are missing.
 *
 * A meter starts again at 0 after some minutes under load. Call dlb_energy_poll at least once a
 * minute (an epoch is a good moment), so that each turn is noticed.
 */
#ifndef DLB_MEASURE_ENERGY_H
#define DLB_MEASURE_ENERGY_H

#include "measure/value.h"

typedef struct dlb_energy dlb_energy;

/* The meters below `root` ("" = this machine). Never fails: without meters, values are missing. */
dlb_energy *dlb_energy_create(const char *root);
void dlb_energy_free(dlb_energy *e);

/* The meters in use: "package-0 dram package-1 dram"; "" when there are none. */
const char *dlb_energy_meters(const dlb_energy *e);

/* Begin a window, sample within it, and end it: joules since start. */
void dlb_energy_start(dlb_energy *e);
void dlb_energy_poll(dlb_energy *e);
dlb_value dlb_energy_stop(dlb_energy *e);

#endif
