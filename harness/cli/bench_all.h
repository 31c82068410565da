/* `dlbench bench` without a subject: everything (cli/bench_suite.h). */
#ifndef DLB_CLI_BENCH_ALL_H
#define DLB_CLI_BENCH_ALL_H

#include <stdio.h>

int dlb_bench_all(int argc, char **argv, void (*more_help)(FILE *out));

#endif
