/* A share of trials, such as the rate of false alarms, with its interval. */
#ifndef DLB_STATS_SHARE_H
#define DLB_STATS_SHARE_H

#include "stats/interval.h"

/*
 * found / trials and its 95 % interval by Wilson's score, which stays within 0 … 1 and says
 * something even where nothing was found: of 0 in 200 it reaches to 0.019. All NaN without trials.
 */
dlb_interval dlb_share_of(size_t found, size_t trials);

#endif
