#include "measure/doctor.h"

#include <stdarg.h>

#include "base/mem.h"
#include "measure/doctor_checks.h"

void dlb_found(dlb_finding *f, dlb_verdict verdict, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(f->text, sizeof f->text, format, args);
    va_end(args);
    f->verdict = verdict;
}

void dlb_advise(dlb_finding *f, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(f->advice, sizeof f->advice, format, args);
    va_end(args);
}

const char *dlb_plural(int count)
{
    return count == 1 ? "" : "s";
}

static void run_checks(const dlb_check *check, const dlb_host *host, dlb_findings *findings)
{
    for (; check->check; check++) {
        dlb_finding f = {.section = check->section, .topic = check->topic};
        check->check(host, &f);
        if (!f.text[0])
            continue;
        findings->items = dlb_grow(findings->items, &findings->capacity, findings->count + 1,
                                   sizeof *findings->items);
        findings->items[findings->count++] = f;
    }
}

void dlb_doctor_examine(const dlb_host *host, dlb_findings *findings)
{
    run_checks(dlb_machine_checks, host, findings);
    run_checks(dlb_software_checks, host, findings);
    run_checks(dlb_measuring_checks, host, findings);
}

void dlb_findings_release(dlb_findings *findings)
{
    free(findings->items);
    *findings = (dlb_findings){0};
}

size_t dlb_findings_with(const dlb_findings *findings, dlb_verdict verdict)
{
    size_t count = 0;
    for (size_t i = 0; i < findings->count; i++)
        count += findings->items[i].verdict == verdict;
    return count;
}

const char *dlb_verdict_name(dlb_verdict verdict)
{
    static const char *const NAMES[DLB_VERDICTS] = {"ok", "warn", "missing", "fault"};
    return NAMES[verdict];
}
