#include "cli/outputs.h"

#include "base/file.h"

static int check_pair(const dlb_output *a, const dlb_output *b, dlb_error *err)
{
    if (!a->path || !b->path || !dlb_file_same(a->path, b->path))
        return 0;
    return dlb_fail(err, DLB_BAD_INPUT, "%s and %s name the same file, %s", a->flag, b->flag,
                    b->path);
}

int dlb_outputs_check(const dlb_output *outputs, size_t count, dlb_error *err)
{
    int status = 0;
    for (size_t i = 0; i < count && status == 0; i++) {
        if (outputs[i].path && !*outputs[i].path)
            status = dlb_fail(err, DLB_BAD_INPUT, "%s needs the name of a file", outputs[i].flag);
        for (size_t k = 0; k < i && status == 0; k++)
            status = check_pair(&outputs[k], &outputs[i], err);
    }
    return status;
}
