/* Judging what can be measured here. */
#include "measure/doctor_checks.h"

static const double SLOW_CLOCK_NS = 200, COARSE_CLOCK_NS = 1000;
static const double POOR_SCALING = 0.8;

static void advise_on_library(const dlb_host *h, dlb_finding *f)
{
    if (strstr(h->counter_library_lacks, "no default PMU"))
        dlb_advise(f, "PAPI's libpfm4 is older than this processor: a newer one on LD_LIBRARY_PATH "
                      "helps");
    else
        dlb_advise(f, "see what papi_component_avail says (package papi-tools)");
}

static void check_counter_library(const dlb_host *h, dlb_finding *f)
{
    if (!h->event_count)
        return;
    if (!h->counter_library[0])
        dlb_found(f, DLB_VERDICT_MISSING, "PAPI does not start");
    else if (h->counter_library_lacks[0])
        dlb_found(f, DLB_VERDICT_WARN, "%s, but its perf_event component is off: %s",
                  h->counter_library, h->counter_library_lacks);
    else
        dlb_found(f, DLB_VERDICT_OK, "%s", h->counter_library);
    if (f->verdict != DLB_VERDICT_OK)
        advise_on_library(h, f);
}

/* The events of a kind that work, or that do not, separated by blanks. */
static int list_events(const dlb_host *h, bool hardware, bool works, dlb_str *names)
{
    int count = 0;
    for (int i = 0; i < h->event_count; i++) {
        const dlb_host_event *e = &h->events[i];
        if (e->hardware == hardware && e->works == works)
            dlb_str_addf(names, "%s%s", count++ ? " " : "", e->name);
    }
    return count;
}

/* Why the first event of a kind does not work or, if it does, who counts it. */
static const char *first_why(const dlb_host *h, bool hardware, bool works)
{
    for (int i = 0; i < h->event_count; i++) {
        if (h->events[i].hardware == hardware && h->events[i].works == works)
            return h->events[i].why;
    }
    return "";
}

static void check_events(const dlb_host *h, dlb_finding *f, bool hardware)
{
    dlb_str works = DLB_STR_INIT, fails = DLB_STR_INIT;
    int working = list_events(h, hardware, true, &works);
    int failing = list_events(h, hardware, false, &fails);
    const char *by = first_why(h, hardware, true); /* all of a kind are counted by the same */
    if (by[0])
        dlb_str_addf(&works, " (%s)", by);
    if (working)
        dlb_found(f, DLB_VERDICT_OK, "%s%s%s", works.text, failing ? "; not " : "",
                  failing ? fails.text : "");
    else if (failing)
        dlb_found(f, DLB_VERDICT_MISSING, "none counts; %s", first_why(h, hardware, false));
    dlb_str_release(&fails);
    dlb_str_release(&works);
}

static void check_hardware_events(const dlb_host *h, dlb_finding *f)
{
    check_events(h, f, true);
    if (f->verdict != DLB_VERDICT_MISSING)
        return;
    dlb_str software = DLB_STR_INIT;
    const char *cause = h->hypervisor[0] ? "virtual machine"
                                         : "ask for perf_event_paranoid <= 2, or a PAPI that "
                                           "knows this processor";
    if (list_events(h, false, true, &software))
        dlb_advise(f, "no hardware counters: %s; the counters that work here are %s", cause,
                   software.text);
    else
        dlb_advise(f, "no hardware counters: %s", cause);
    dlb_str_release(&software);
}

static void check_software_events(const dlb_host *h, dlb_finding *f)
{
    check_events(h, f, false);
    if (f->verdict == DLB_VERDICT_MISSING)
        dlb_advise(f, "page faults, context switches and CPU time are taken from getrusage anyway");
}

static void check_energy(const dlb_host *h, dlb_finding *f)
{
    if (h->energy.known) {
        dlb_found(f, DLB_VERDICT_OK, "%s", h->energy_meters);
        return;
    }
    dlb_found(f, DLB_VERDICT_MISSING, "%s", h->energy.why);
    dlb_advise(f, "%s",
               h->hypervisor[0] ? "usual in a virtual machine: joules stay empty"
                                : "ask for the module intel_rapl_msr and the right to read it");
}

static void check_clock_source(const dlb_host *h, dlb_finding *f)
{
    if (h->clocksource[0]) {
        dlb_found(f, DLB_VERDICT_OK, "%s", h->clocksource);
        return;
    }
    dlb_found(f, DLB_VERDICT_MISSING, "the kernel does not name its clock source");
    dlb_advise(f, "judge it by its measured resolution");
}

static void check_clock_cost(const dlb_host *h, dlb_finding *f)
{
    const dlb_timer *t = &h->timer;
    if (t->cost_ns <= 0)
        return;
    bool poor = t->cost_ns > SLOW_CLOCK_NS || t->step_ns > COARSE_CLOCK_NS;
    dlb_found(f, poor ? DLB_VERDICT_WARN : DLB_VERDICT_OK,
              "smallest step %.0f ns, a reading costs %.0f ns (resolution claimed: %.0f ns)",
              t->step_ns, t->cost_ns, t->claimed_ns);
    if (poor)
        dlb_advise(f, "every reading is a system call with this source: ask for tsc");
}

static void check_peak_one(const dlb_host *h, dlb_finding *f)
{
    if (!h->peak_threads)
        return;
    if (h->peak_one.known) {
        dlb_found(f, DLB_VERDICT_OK, "%.1f GFLOP/s, single precision, %s", h->peak_one.number,
                  h->best_isa);
        return;
    }
    dlb_found(f, DLB_VERDICT_MISSING, "%s", h->peak_one.why);
    dlb_advise(f, "results have no peak to be compared with");
}

static void check_peak_all(const dlb_host *h, dlb_finding *f)
{
    if (!h->peak_one.known)
        return;
    if (!h->peak_all.known) {
        dlb_found(f, DLB_VERDICT_MISSING, "%s", h->peak_all.why);
        dlb_advise(f, "look at OMP_THREAD_LIMIT and OMP_DYNAMIC");
        return;
    }
    int threads = h->peak_threads;
    double factor = h->peak_all.number / h->peak_one.number;
    bool poor = factor < POOR_SCALING * threads;
    dlb_found(f, poor ? DLB_VERDICT_WARN : DLB_VERDICT_OK, "%.1f GFLOP/s, %.2f × one (%d thread%s)",
              h->peak_all.number, factor, threads, dlb_plural(threads));
    if (poor)
        dlb_advise(f,
                   "the threads share cores (SMT), turbo frequency, a quota, or a busy machine: no "
                   "program can scale better than this here");
}

const dlb_check dlb_measuring_checks[] = {
    {"Counters", "library", check_counter_library},
    {"Counters", "hardware", check_hardware_events},
    {"Counters", "software", check_software_events},
    {"Counters", "energy", check_energy},
    {"Clock", "source", check_clock_source},
    {"Clock", "resolution", check_clock_cost},
    {"Peak", "one thread", check_peak_one},
    {"Peak", "all cores", check_peak_all},
    {0},
};
