/*
 * Which data a name stands for, without loading it: enough to tell whether results were obtained
 * with the same images.
 */
#ifndef DLB_DATA_FINGERPRINT_H
#define DLB_DATA_FINGERPRINT_H

#include <stdint.h>

#include "base/error.h"

typedef struct dlb_fingerprint {
    int images;    /* to train with; 0: as many as are asked for (synthetic) */
    uint64_t hash; /* of the four files' contents, be they compressed or not; 0 of synthetic data */
} dlb_fingerprint;

/* `name` is that of dlb_data_source. A few milliseconds where the files are compressed. */
int dlb_fingerprint_take(dlb_fingerprint *fingerprint, const char *name, dlb_error *err);

#endif
