/* Made-up images that a network can learn, a pure function of the seed and the shape. */
#ifndef DLB_DATA_SYNTHETIC_H
#define DLB_DATA_SYNTHETIC_H

#include "data/dataset.h"

/* Fills all but the checksum; on failure the caller releases what has been allocated. */
int dlb_synthetic_make(dlb_data *data, const dlb_data_source *source, dlb_error *err);

#endif
