/* Stages that are pooled and otherwise plain: what several kernels ask for. */
#ifndef DLK_SIMD_POOLED_H
#define DLK_SIMD_POOLED_H

#include "dlk/stage.h"

/* Why a stage is none; NULL: it is one. */
static inline const char *pooled_misfit(const dlk_stage *s)
{
    if (!s->pool)
        return "it has no pool";
    if (s->conv.stride_h != 1 || s->conv.stride_w != 1)
        return "its stride is not 1";
    if (s->conv.pad_h != 0 || s->conv.pad_w != 0)
        return "it is padded";
    return NULL;
}

#endif
