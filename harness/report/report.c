#include "report/report.h"

#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "report/report_state.h"

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static char *joined(const char *folder, const char *name)
{
    dlb_str path = DLB_STR_INIT;
    dlb_str_addf(&path, "%s/%s", folder, name);
    return path.text;
}

static char *parent_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    dlb_str folder = DLB_STR_INIT;
    if (slash)
        dlb_str_add_bytes(&folder, path, slash == path ? 1 : (size_t)(slash - path));
    else
        dlb_str_add(&folder, ".");
    return folder.text;
}

int dlb_report_read(dlb_report **report, const char *path, dlb_error *err)
{
    bool folder = is_folder(path);
    *report = dlb_alloc(1, sizeof **report);
    (*report)->runs = folder ? joined(path, "runs.csv") : dlb_strdup(path);
    (*report)->folder = folder ? dlb_strdup(path) : parent_of(path);
    int status = dlb_points_read(&(*report)->points, (*report)->runs, err);
    if (status < 0) {
        dlb_report_free(*report);
        *report = NULL;
    }
    return status;
}

void dlb_report_free(dlb_report *report)
{
    if (!report)
        return;
    dlb_points_free(report->points);
    free(report->folder);
    free(report->runs);
    free(report);
}

bool dlb_report_beside(const dlb_report *report, const char *name, dlb_str *path)
{
    dlb_str_addf(path, "%s/%s", report->folder, name);
    return dlb_file_exists(path->text);
}

bool dlb_report_provenance(const dlb_report *report, dlb_provenance *provenance)
{
    dlb_str path = DLB_STR_INIT;
    dlb_report_beside(report, "host.json", &path);
    bool there = dlb_provenance_read(provenance, path.text);
    dlb_str_release(&path);
    return there;
}
