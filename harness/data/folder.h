/* Data sets that are files: read, checked against each other, cut to the images asked for. */
#ifndef DLB_DATA_FOLDER_H
#define DLB_DATA_FOLDER_H

#include "data/dataset.h"

/* Fills all but the checksum; on failure the caller releases what has been allocated. */
int dlb_folder_load(dlb_data *data, const dlb_data_source *source, dlb_error *err);

#endif
