/*
 * What a whole training step is called among kernels: where it is measured, where it is judged, and
 * in files.
 */
#ifndef DLB_RECORD_WHOLE_STEP_H
#define DLB_RECORD_WHOLE_STEP_H

#define DLB_WHOLE_STEP_LAYERS "all layers"
#define DLB_WHOLE_STEP_PASSES "forward and backward"
#define DLB_WHOLE_STEP        DLB_WHOLE_STEP_LAYERS " " DLB_WHOLE_STEP_PASSES

#endif
