/*
 * A program that serves its kernels (`dlbench bench serve`, cli/bench_serve.h) as a child process.
 * It may be one of another commit: what it says is checked, never believed.
 */
#ifndef DLB_CLI_GATE_PROGRAM_H
#define DLB_CLI_GATE_PROGRAM_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/error.h"
#include "cli/bench_serve.h"

/* An argv array, of words that outlive it; valid when zeroed. */
typedef struct dlb_gate_words {
    int count;
    const char *words[32];
} dlb_gate_words;

void dlb_gate_words_add(dlb_gate_words *words, const char *word);

/* Both, unless the value is NULL. */
void dlb_gate_words_add_flag(dlb_gate_words *words, const char *flag, const char *value);

typedef struct dlb_gate_program {
    const char *path; /* for messages */
    pid_t pid;
    FILE *to, *from;
    size_t count, references, capacity;
    char **cases; /* the names of `count` cases, then those of its references */
} dlb_gate_program;

/* What a program says of a case. */
typedef struct dlb_gate_about {
    char role[16]; /* "kernel", "step", …: see cli/bench_cases.h */
    char kernel[64];
    int images;          /* of a call */
    double flops, bytes; /* of a call; NaN: not known */
} dlb_gate_about;

/* `argv` begins with the program's path and ends with NULL. It goes on while it gets ready. */
int dlb_gate_program_start(dlb_gate_program *program, const char *const *argv, dlb_error *err);

/* Wait until it is ready, and take the names of its cases. */
int dlb_gate_program_greet(dlb_gate_program *program, dlb_error *err);

/* Of one that did not greet: end it, and tell whether it has ended by itself, because of what it
 * was asked for. */
bool dlb_gate_program_refused(dlb_gate_program *program);

/* The number of a case, or -1: it has none of that name. */
int dlb_gate_program_find(const dlb_gate_program *program, const char *name);

/* The same of a reference whose name begins so. */
int dlb_gate_program_find_reference(const dlb_gate_program *program, const char *beginning);

int dlb_gate_program_describe(dlb_gate_program *program, int number, dlb_gate_about *about,
                              dlb_error *err);

/* How far a case's results are from those of `ref`, and how far they may be; NaN: not known. */
int dlb_gate_program_verify(dlb_gate_program *program, int number, double *error, double *bound,
                            dlb_error *err);

/* How many calls take so many seconds; and so many calls, timed. */
int dlb_gate_program_calibrate(dlb_gate_program *program, int number, double seconds,
                               long long *repeats, dlb_error *err);
int dlb_gate_program_run(dlb_gate_program *program, int number, long long repeats,
                         dlb_serve_sample *sample, dlb_error *err);

/* Instructions of a call, by hardware counters; an error says why it cannot be told. */
int dlb_gate_program_count(dlb_gate_program *program, int number, long long *instructions,
                           dlb_error *err);

/*
 * Bind them, and this process, to one core: the last, as the first has most of the interrupts.
 * Where that is refused, the kernel places them. And let this process use all cores again, so that
 * what it starts next gets ready on all of them.
 */
void dlb_gate_gather(const dlb_gate_program *programs, int count);
void dlb_gate_disperse(void);

/* End it and wait for its end. A zeroed one is none. */
void dlb_gate_program_stop(dlb_gate_program *program);

#endif
