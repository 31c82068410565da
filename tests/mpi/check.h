/* Checks of programs that run as several ranks: the first that fails ends all of them. */
#ifndef DLB_TESTS_MPI_CHECK_H
#define DLB_TESTS_MPI_CHECK_H

#include <mpi.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* CHECK(condition, format, …) */
#define CHECK(condition, ...) check_that((condition), #condition, __FILE__, __LINE__, __VA_ARGS__)

static __attribute__((format(printf, 5, 6))) void
check_that(bool holds, const char *condition, const char *file, int line, const char *format, ...)
{
    if (holds)
        return;
    int initialised = 0, rank = 0;
    char text[1024];
    MPI_Initialized(&initialised);
    if (initialised)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "rank %d: %s:%d: %s: %s\n", rank, file, line, condition, text);
    if (initialised)
        MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

#endif
