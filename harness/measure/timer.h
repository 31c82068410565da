/* How fine the clock of base/clock.h is and what a reading costs, measured. */
#ifndef DLB_MEASURE_TIMER_H
#define DLB_MEASURE_TIMER_H

typedef struct dlb_timer {
    double claimed_ns; /* clock_getres */
    double step_ns;    /* smallest difference seen between two readings that differ */
    double cost_ns;    /* of a reading */
} dlb_timer;

/* Takes about a millisecond; less when readings are cheap. */
dlb_timer dlb_timer_measure(void);

#endif
