#include "cli/bench_suite_comm.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/file.h"
#include "support/tempdir.h"

static tempdir dir;

static void setup(void)
{
    tempdir_make(&dir);
}

static void teardown(void)
{
    tempdir_remove(&dir);
}

TestSuite(bench_suite_comm, .init = setup, .fini = teardown);

static int read_text(dlb_suite_comm *comm, const char *text, dlb_error *err)
{
    const char *path = tempdir_file(&dir, "rows.csv");
    cr_assert_eq(dlb_file_write_atomic(path, text, strlen(text), err), 0);
    *comm = (dlb_suite_comm){0};
    return dlb_suite_comm_read(comm, path, err);
}

Test(bench_suite_comm, sums_are_compared_with_the_copy_of_the_same_round)
{
    dlb_suite_comm comm;
    dlb_error err;
    cr_assert_eq(read_text(&comm,
                           "part,way,bytes,round,time_s\n"
                           "sum,shm,1024,1,2\nsum,shm,1024,2,4\nsum,shm,1024,3,8\n"
                           "sum,copy,1024,3,4\nsum,copy,1024,1,1\nsum,copy,1024,2,2\n"
                           "step,shm,1024,1,100\nsum,shm,4096,1,9\n",
                           &err),
                 0);
    cr_assert_eq(comm.count, 2);
    cr_assert_str_eq(comm.sums[0].way, "shm");
    cr_assert_float_eq(comm.sums[0].time.value, 4, 1e-12);
    cr_assert_float_eq(comm.sums[0].ratio.value, 0.5, 1e-12);
    cr_assert_eq(comm.sums[1].ratio.count, 0, "no copy of that size was measured");
    dlb_suite_comm_release(&comm);
}

Test(bench_suite_comm, a_file_of_another_kind_is_refused)
{
    dlb_suite_comm comm;
    dlb_error err;
    cr_assert_eq(read_text(&comm, "a,b\n1,2\n", &err), DLB_BAD_INPUT);
    cr_assert(strstr(err.message, "no column part"));
    cr_assert_eq(read_text(&comm, "part,way,bytes,round,time_s\n", &err), DLB_BAD_INPUT);
    cr_assert(strstr(err.message, "has no sums"));
    cr_assert_eq(read_text(&comm, "part,way,bytes,round,time_s\nsum,shm,many,1,2\n", &err),
                 DLB_BAD_INPUT);
    cr_assert(strstr(err.message, "rows.csv:2: bytes, round and time_s"));
    dlb_suite_comm_release(&comm);
}
