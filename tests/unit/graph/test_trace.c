#include <criterion/criterion.h>

#include "base/file.h"
#include "graph/trace.h"
#include "support/tempdir.h"

Test(trace, events_are_written_in_microseconds_from_the_first)
{
    tempdir dir;
    tempdir_make(&dir);
    const char *path = tempdir_file(&dir, "t.json");

    dlb_trace *trace = dlb_trace_create(2);
    dlb_trace_add(trace, 1, "late", "backward", 5000, 9000);
    dlb_trace_add(trace, 0, "early", "forward", 1000, 2500);
    dlb_error err;
    cr_assert_eq(dlb_trace_write(trace, path, &err), 0, "%s", err.message);
    cr_assert_eq(dlb_trace_dropped(trace), 0);
    dlb_trace_free(trace);

    dlb_str text = DLB_STR_INIT;
    cr_assert_eq(dlb_file_read(path, 1 << 20, &text, &err), 0);
    cr_assert(strstr(text.text, "\"tid\":0,\"name\":\"early\",\"cat\":\"forward\",\"ts\":0.000,"
                                "\"dur\":1.500"));
    cr_assert(strstr(text.text, "\"tid\":1,\"name\":\"late\",\"cat\":\"backward\",\"ts\":4.000,"
                                "\"dur\":4.000"));
    dlb_str_release(&text);
    tempdir_remove(&dir);
}
