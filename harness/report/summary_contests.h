/* Sentences on who wins the contests of a study. */
#ifndef DLB_REPORT_SUMMARY_CONTESTS_H
#define DLB_REPORT_SUMMARY_CONTESTS_H

#include "base/str.h"
#include "report/points.h"

/*
 * Append a sentence, and a newline, for each panel of each contest (report/contest.h) with two
 * rates at least: the most images a second, and how many times as many they are as the next.
 */
void dlb_summary_contests(const dlb_points *points, dlb_str *sentences);

#endif
