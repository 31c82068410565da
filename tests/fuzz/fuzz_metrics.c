/*
 * Any bytes that a program leaves behind yield a number that is not infinite, or an error with a
 * message, and their end is text without control bytes.
 */
#include <math.h>
#include <unistd.h>

#include "fuzz.h"
#include "record/metrics.h"

typedef int metric(const char *path, const char *what, double *value, dlb_error *err);

static void check(metric *find, const char *path, const char *what)
{
    double value = INFINITY;
    dlb_error err = {0};
    int status = find(path, what, &value, &err);
    if (status == 0 ? isinf(value) : status != DLB_FAIL || status != err.code || !*err.message)
        abort();
}

static void check_tail(const char *path)
{
    enum { LINES = 3, BYTES = 100 };
    dlb_str tail = DLB_STR_INIT;
    dlb_log_tail(path, LINES, BYTES, &tail);
    int lines = 1;
    for (size_t i = 0; i < tail.length; i++) {
        lines += tail.text[i] == '\n';
        if ((unsigned char)tail.text[i] < 0x20 && tail.text[i] != '\n')
            abort();
    }
    if (tail.length > BYTES || lines > LINES)
        abort();
    dlb_str_release(&tail);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
    char path[] = "/tmp/dlbench-fuzz-XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0 || write(fd, bytes, count) != (ssize_t)count)
        abort();
    close(fd);
    check(dlb_metric_regex, path, "loss: *([^ ,]+)");
    check(dlb_metric_regex, path, "^(.*)$");
    check(dlb_metric_json, path, "results.-1.loss");
    check(dlb_metric_json, path, "0");
    check(dlb_metric_csv, path, "loss");
    check_tail(path);
    unlink(path);
    return 0;
}
