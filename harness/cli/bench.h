/*
 * What the subjects of `dlbench bench` have in common. Each subject is a subcommand of its own: it
 * takes its name as argv[0], prints for people, and returns the exit status of the program.
 */
#ifndef DLB_CLI_BENCH_H
#define DLB_CLI_BENCH_H

#include <stdbool.h>

#include "base/error.h"

int dlb_bench_comm(int argc, char **argv);
int dlb_bench_scaling(int argc, char **argv);
int dlb_bench_workers(int argc, char **argv);
int dlb_bench_sweep(int argc, char **argv);
int dlb_bench_kernels(int argc, char **argv);
int dlb_bench_cores(int argc, char **argv);
int dlb_bench_serve(int argc, char **argv);

/* A whole number of a flag, `least` … `most`; *value keeps what it had if the flag was not given.
 */
int dlb_bench_number(const char *flag, const char *text, long long least, long long most,
                     long long *value, dlb_error *err);

/* A number of a flag, `least` … `most`, likewise. */
int dlb_bench_real(const char *flag, const char *text, double least, double most, double *value,
                   dlb_error *err);

/* Whether "MODEL NAME" contains one of the texts that `only` lists, separated by commas; NULL: any.
 */
bool dlb_bench_is_wanted(const char *only, const char *model, const char *name);

enum { DLB_BENCH_WORD = 32 };

/* The next word of a flag's list, whose words are separated by blanks or commas; false at its end.
 */
bool dlb_bench_next_word(const char **list, char word[DLB_BENCH_WORD]);

#endif
