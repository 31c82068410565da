/*
 * A measured number, or the reason why there is none. A missing value is never 0: check `known`
 * before `number` is used.
 */
#ifndef DLB_MEASURE_VALUE_H
#define DLB_MEASURE_VALUE_H

#include <stdbool.h>

typedef struct dlb_value {
    bool known;
    double number; /* NaN when missing */
    char why[192]; /* one sentence without a full stop when missing, else empty */
} dlb_value;

dlb_value dlb_value_of(double number);
dlb_value dlb_value_missing(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
