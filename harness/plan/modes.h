/* How the work of a point follows its workers: the modes of docs/sweeps.md. */
#ifndef DLB_PLAN_MODES_H
#define DLB_PLAN_MODES_H

#include "plan/draft.h"

#define DLB_MODE_NONE "none"

/* Refuse what is no mode. */
int dlb_mode_check(const char *text, dlb_error *err);

/* The keys that a mode derives, a bit each. */
uint64_t dlb_mode_derives(const char *mode);

/* Override what the draft's mode derives. A point that the mode does not fit is DLB_BAD_INPUT. */
int dlb_mode_apply(dlb_draft *draft, dlb_error *err);

#endif
