/*
 * Baselines: how long kernels took beside references, round by round, on machines that are told
 * apart by CPU, instruction set and family of kernels. One file holds those of many machines, as
 * JSON:
 *
 *     {"format": "dlbench-baselines", "version": 1, "baselines": [
 *       {"cpu": "AMD EPYC, family 26 model 2 stepping 1", "isa": "avx512", "kernels": "simd",
 *        "commit": "955949acab99", "date": "2026-11-18T17:09:25Z", "host": "vm",
 *        "ratios": [{"model": "keras_cnn", "kernel": "dense_1 forward", "beside": "sgemm 512³",
 *                    "logs": [-2.31, -2.3, null, …]}, …]}, …]}
 *
 * A log is that of a call's time by the reference's; null is a round that tells nothing. Files are
 * replaced as a whole or not at all.
 */
#ifndef DLB_RECORD_BASELINE_H
#define DLB_RECORD_BASELINE_H

#include <stddef.h>

#include "base/error.h"

typedef struct dlb_baseline_ratio {
    char *model, *kernel, *beside;
    size_t count;
    double *logs; /* NaN: missing */
} dlb_baseline_ratio;

/* Texts are owned; valid when zeroed. */
typedef struct dlb_baseline {
    char *cpu, *isa, *kernels;  /* what it is found by */
    char *commit, *date, *host; /* where it is from */
    size_t count, capacity;
    dlb_baseline_ratio *ratios;
} dlb_baseline;

/* A file's. Valid when zeroed. */
typedef struct dlb_baselines {
    size_t count, capacity;
    dlb_baseline *list;
} dlb_baselines;

/*
 * Parse a text, which messages call `origin`. What is no such file, or one of a later version, is
 * DLB_BAD_INPUT, and *baselines is then empty.
 */
int dlb_baselines_parse(dlb_baselines *baselines, const char *origin, const char *text,
                        size_t length, dlb_error *err);

/* The same of a file, which must exist. */
int dlb_baselines_read(dlb_baselines *baselines, const char *path, dlb_error *err);
int dlb_baselines_write(const dlb_baselines *baselines, const char *path, dlb_error *err);

/* The one of such a machine; NULL: there is none. */
const dlb_baseline *dlb_baselines_find(const dlb_baselines *baselines, const char *cpu,
                                       const char *isa, const char *kernels);

/* Take a baseline over, in place of the one of the same machine if there is one. */
void dlb_baselines_put(dlb_baselines *baselines, dlb_baseline *baseline);
void dlb_baselines_release(dlb_baselines *baselines);

/* Copies all of it. */
void dlb_baseline_add(dlb_baseline *baseline, const char *model, const char *kernel,
                      const char *beside, const double *logs, size_t count);

/* NULL: it has none of that name. */
const dlb_baseline_ratio *dlb_baseline_find(const dlb_baseline *baseline, const char *model,
                                            const char *kernel);
void dlb_baseline_release(dlb_baseline *baseline);

#endif
