/* Machines as they were recorded, and the commands that ranks are started with on them. */
#ifndef DLB_TESTS_LAUNCH_RECORDED_H
#define DLB_TESTS_LAUNCH_RECORDED_H

#include <criterion/criterion.h>

#include "launch/launch.h"

#define OPEN_MPI                                                                                   \
    "mpirun (Open MPI) 4.1.4\n\nReport bugs to http://www.open-mpi.org/community/help/\n"
#define MPICH "HYDRA build details:\n    Version:                                 4.1.2\n"
#define INTEL "Intel(R) MPI Library for Linux* OS, Version 2021.9 Build 20230307\n"

/* Two sockets of eight cores with two hardware threads each. */
static const dlb_launch_machine wide = {
    .nodes = 1, .cores = 16, .hwthreads = 32, .mpirun = "/usr/bin/mpirun", .version = OPEN_MPI};

static const dlb_launch_machine small = {
    .nodes = 1, .cores = 2, .hwthreads = 2, .mpirun = "/usr/bin/mpirun", .version = OPEN_MPI};

static const char *const program[] = {"/opt/dlbench", "train", "--data", "my images", NULL};

static inline void expect_words(char **words, const char *const *expected)
{
    size_t i = 0;
    cr_assert_not_null(words);
    for (; expected[i]; i++) {
        cr_assert_not_null(words[i], "no word %zu; expected %s", i, expected[i]);
        cr_assert_str_eq(words[i], expected[i], "word %zu is %s, not %s", i, words[i], expected[i]);
    }
    cr_assert_null(words[i], "a word more: %s", words[i]);
}

#define WORDS_NONE ((const char *const[]){NULL})
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* The command is `LAUNCHER EXPECTED… PROGRAM…`; without a launcher it begins with EXPECTED. */
static inline void expect_command_of(const char *launcher, const dlb_launch_machine *machine,
                                     dlb_launch launch, const char *const *expected)
{
    dlb_error err;
    dlb_command_line line;
    launch.program = program;
    cr_assert_eq(dlb_launch_command(&line, &launch, machine, &err), 0, "%s", err.message);
    const char *words[32] = {launcher};
    size_t count = launcher ? 1 : 0;
    for (; *expected; expected++)
        words[count++] = *expected;
    memcpy(words + count, program, sizeof program);
    expect_words(line.argv, words);
    dlb_command_line_release(&line);
}

static inline void expect_command(const dlb_launch_machine *machine, dlb_launch launch,
                                  const char *const *expected)
{
    expect_command_of(machine->mpirun, machine, launch, expected);
}

static inline const char *expect_refusal(const dlb_launch_machine *machine, dlb_launch launch,
                                         int code)
{
    static dlb_error err;
    dlb_command_line line;
    launch.program = program;
    cr_assert_eq(dlb_launch_command(&line, &launch, machine, &err), code);
    return err.message;
}

#endif
