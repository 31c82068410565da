#include "cli/cmd.h"
#include "cli/terminal.h"
#include "dlk/dispatch.h"
#include "measure/doctor.h"

/* A BLAS that cannot be loaded is no error here but a finding. */
static void probe(dlb_host *host, bool with_peak)
{
    dlk_kernels kernels;
    dlb_error ignored;
    dlk_kernels_select(&kernels, DLK_FAMILY_AUTO, DLK_ISA_AUTO, &ignored);
    dlb_host_probe(host, "");
    dlb_host_probe_counters(host);
    if (with_peak)
        dlb_host_probe_peak(host);
}

static int print(const dlb_host *host, const dlb_findings *findings, bool json, dlb_error *err)
{
    dlb_str page = DLB_STR_INIT;
    int status = 0;
    if (json)
        status = dlb_doctor_json(host, findings, &page, err);
    else
        dlb_doctor_text(host, findings, dlb_terminal_colours(stdout), &page);
    if (status == 0)
        fputs(page.text, stdout);
    dlb_str_release(&page);
    return status;
}

int cmd_doctor(int argc, char **argv)
{
    bool json = false, quick = false;
    const dlb_flag flags[] = {
        {"json", "print findings, counters and the main numbers as JSON", .on = &json},
        {"quick", "leave out the peak, which takes 0.2 s to measure", .on = &quick},
    };
    const dlb_command command = {
        .name = "dlbench doctor",
        .about = "Show what this machine offers, what is missing, and what to do about it. A line "
                 "is ok, warn (measurements suffer), missing (something cannot be measured here) "
                 "or fault (measurements would be wrong, and the exit status is 1).",
        .operands = "",
        .flags = flags,
        .flag_count = sizeof flags / sizeof *flags};
    dlb_arguments arguments;
    int status;
    if (!dlb_cli_begin(&command, argc, argv, &arguments, &status))
        return status;

    dlb_host host;
    dlb_findings findings = {0};
    dlb_error err;
    probe(&host, !quick);
    dlb_doctor_examine(&host, &findings);
    status = print(&host, &findings, json, &err);
    bool fault = dlb_findings_with(&findings, DLB_VERDICT_FAULT) > 0;
    dlb_findings_release(&findings);
    if (status < 0)
        return dlb_cli_fail(command.name, &err);
    return fault ? DLB_EXIT_SHORT : DLB_EXIT_OK;
}
