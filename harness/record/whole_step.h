/*
 * What a whole training step is called among kernels: where it is measured, where it is judged, and
 * in files.
 */
#ifndef DLB_RECORD_WHOLE_STEP_H
#define DLB_RECORD_WHOLE_STEP_H

#define DLB_WHOLE_STEP "training step"

#endif
