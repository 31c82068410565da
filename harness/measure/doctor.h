/*
 * The judgement of a machine: a pure function from what was found (dlb_host) to findings, each
 * with a verdict and, unless all is well, advice.
 */
#ifndef DLB_MEASURE_DOCTOR_H
#define DLB_MEASURE_DOCTOR_H

#include "base/error.h"
#include "base/str.h"
#include "measure/host.h"

typedef enum dlb_verdict {
    DLB_VERDICT_OK,
    DLB_VERDICT_WARN,    /* measurements suffer */
    DLB_VERDICT_MISSING, /* something cannot be measured here */
    DLB_VERDICT_FAULT,   /* measurements would be wrong */
    DLB_VERDICTS,
} dlb_verdict;

typedef struct dlb_finding {
    const char *section; /* "Cores" */
    const char *topic;   /* "quota" */
    dlb_verdict verdict;
    char text[512];   /* what was found */
    char advice[512]; /* what to do about it; "" when there is nothing */
} dlb_finding;

/* In the order of sections. Zeroed, it is empty; release it with dlb_findings_release. */
typedef struct dlb_findings {
    dlb_finding *items;
    size_t count, capacity;
} dlb_findings;

/* Append the findings on *host. What does not apply to it has none. */
void dlb_doctor_examine(const dlb_host *host, dlb_findings *findings);
void dlb_findings_release(dlb_findings *findings);

size_t dlb_findings_with(const dlb_findings *findings, dlb_verdict verdict);
const char *dlb_verdict_name(dlb_verdict verdict); /* "ok", "warn", "missing", "fault" */

/* A page of at most 100 columns for people; `colour` uses the terminal's escape sequences. */
void dlb_doctor_text(const dlb_host *host, const dlb_findings *findings, bool colour, dlb_str *out);

/* The same as JSON, with the main numbers as facts; a missing one is null. */
int dlb_doctor_json(const dlb_host *host, const dlb_findings *findings, dlb_str *out,
                    dlb_error *err);

#endif
