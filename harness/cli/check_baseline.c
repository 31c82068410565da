#include "cli/check_baseline.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "cli/gate_past.h"
#include "record/provenance.h"

static void name_cpu(dlb_check_baseline *b)
{
    dlb_host *host = dlb_alloc(1, sizeof *host);
    dlb_host_probe(host, "");
    b->cpu = dlb_host_cpu_name(host);
    free(host);
}

static int make_folder_of(const char *path, dlb_error *err)
{
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path)
        return 0;
    dlb_str folder = DLB_STR_INIT;
    dlb_str_add_bytes(&folder, path, (size_t)(slash - path));
    int status = dlb_file_make_folder(folder.text, err);
    dlb_str_release(&folder);
    return status;
}

int dlb_check_baseline_open(dlb_check_baseline *b, const dlk_kernels *kernels, bool saves,
                            dlb_error *err)
{
    name_cpu(b);
    b->isa = dlk_isa_name(kernels->isa);
    b->kernels = dlk_family_name(kernels->family);
    if (saves && (make_folder_of(b->path, err) < 0 || dlb_file_writable(b->path, err) < 0))
        return DLB_BAD_INPUT;
    if (saves && !dlb_file_exists(b->path))
        return 0;
    if (dlb_baselines_read(&b->all, b->path, err) < 0)
        return DLB_BAD_INPUT;
    b->found = dlb_baselines_find(&b->all, b->cpu.text, b->isa, b->kernels);
    return 0;
}

void dlb_check_baseline_release(dlb_check_baseline *b)
{
    dlb_baselines_release(&b->all);
}

static dlb_baseline make_baseline(const dlb_check_baseline *b)
{
    char date[DLB_DATE_SIZE];
    dlb_host *host = dlb_alloc(1, sizeof *host);
    dlb_host_probe(host, "");
    dlb_date_now(date);
    dlb_baseline made = {.cpu = dlb_strdup(b->cpu.text),
                         .isa = dlb_strdup(b->isa),
                         .kernels = dlb_strdup(b->kernels),
                         .commit = dlb_strdup(dlb_commit()),
                         .date = dlb_strdup(date),
                         .host = dlb_strdup(host->name)};
    free(host);
    return made;
}

/* Others may have saved theirs since the file was opened. */
static int read_again(dlb_check_baseline *b, dlb_error *err)
{
    b->found = NULL;
    dlb_baselines_release(&b->all);
    return dlb_file_exists(b->path) ? dlb_baselines_read(&b->all, b->path, err) : 0;
}

int dlb_check_baseline_save(dlb_check_baseline *b, const dlb_gate *gate, size_t *kept,
                            dlb_error *err)
{
    int status = read_again(b, err);
    if (status < 0)
        return status;
    dlb_baseline made = make_baseline(b);
    *kept = dlb_gate_add_to_baseline(gate, &made);
    if (*kept == 0) {
        dlb_baseline_release(&made);
        return dlb_fail(err, DLB_FAIL,
                        "others have disturbed every kernel in too many rounds, so that there is "
                        "nothing to save; %s is as it was",
                        b->path);
    }
    dlb_baselines_put(&b->all, &made);
    return dlb_baselines_write(&b->all, b->path, err);
}
