/*
 * The numbers of a contest (report/contest.h) in one respect: what each value comes to in each
 * panel, how it compares, and in which order the values stand.
 */
#ifndef DLB_REPORT_BOARD_H
#define DLB_REPORT_BOARD_H

#include "report/contest.h"
#include "stats/interval.h"

enum dlb_board_kind {
    DLB_BOARD_RATE, /* images a second */
    DLB_BOARD_TIME,
    DLB_BOARD_TARGET,   /* the time to the target accuracy */
    DLB_BOARD_ACCURACY, /* in percent */
    DLB_BOARD_KINDS
};

/* A value in a panel. */
typedef struct dlb_board_entry {
    size_t point; /* SIZE_MAX: the panel has none */
    dlb_interval value;
    double least, most; /* of the value, its interval and single runs; NaN without */
    size_t reached;     /* of TARGET: runs of value.count */
    double ratio;       /* how many times as fast as the best of the others, median of the ratios
                           within blocks; NaN of accuracies and where some run missed the target */
} dlb_board_entry;

typedef struct dlb_board {
    const dlb_points *points;
    const dlb_contest *contest;
    enum dlb_board_kind kind;
    enum dlb_measure measure;
    dlb_board_entry entries[DLB_CONTEST_PANELS][DLB_CONTEST_VALUES];
    size_t places[DLB_CONTEST_VALUES]; /* of each value, from 1, in all panels: the best first */
} dlb_board;

/* False if no point has such a number. */
bool dlb_board_make(dlb_board *board, const dlb_contest *contest, enum dlb_board_kind kind);

/* The best entry of a panel but for that of a value, `except`; NULL if no other has a number. */
const dlb_board_entry *dlb_board_best(const dlb_board *board, size_t panel, size_t except);

/* What the measure of a single run is multiplied by. */
double dlb_board_scale(const dlb_board *board);

#endif
