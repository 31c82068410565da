/* The operations of the reference family, one file each. */
#ifndef DLK_REF_H
#define DLK_REF_H

#include "dlk/dispatch.h"

#define DLK_DECLARE(name, type) type dlk_ref_##name;
DLK_OPERATIONS(DLK_DECLARE)
#undef DLK_DECLARE

#endif
