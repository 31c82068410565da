/* The checks behind dlb_doctor_examine: tables of small functions, one question each. */
#ifndef DLB_MEASURE_DOCTOR_CHECKS_H
#define DLB_MEASURE_DOCTOR_CHECKS_H

#include "measure/doctor.h"

/* Fills verdict, text and advice; leaves the text empty if the question does not arise. */
typedef void dlb_check_fn(const dlb_host *host, dlb_finding *finding);

typedef struct dlb_check {
    const char *section, *topic;
    dlb_check_fn *check;
} dlb_check;

/* Each ends with an entry without a check. */
extern const dlb_check dlb_machine_checks[], dlb_software_checks[], dlb_measuring_checks[];

void dlb_found(dlb_finding *f, dlb_verdict verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void dlb_advise(dlb_finding *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "s" unless there is one. */
const char *dlb_plural(int count);

#endif
