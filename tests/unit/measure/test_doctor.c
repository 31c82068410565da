#include <criterion/criterion.h>
#include <jansson.h>

#include "machines.h"
#include "measure/doctor.h"

static dlb_host host;
static dlb_findings findings;

static void examine(const char *machine)
{
    dlb_host_probe(&host, machine);
    dlb_doctor_examine(&host, &findings);
}

static void release(void)
{
    dlb_findings_release(&findings);
}

TestSuite(doctor, .fini = release);

static const dlb_finding *finding(const char *section, const char *topic)
{
    for (size_t i = 0; i < findings.count; i++) {
        const dlb_finding *f = &findings.items[i];
        if (strcmp(f->section, section) == 0 && strcmp(f->topic, topic) == 0)
            return f;
    }
    return NULL;
}

static void expect(const char *section, const char *topic, dlb_verdict verdict, const char *text,
                   const char *advice)
{
    const dlb_finding *f = finding(section, topic);
    cr_assert_not_null(f, "%s, %s: no finding", section, topic);
    cr_expect_str_eq(dlb_verdict_name(f->verdict), dlb_verdict_name(verdict), "%s: %s", topic,
                     f->text);
    cr_expect_not_null(strstr(f->text, text), "%s: %s", topic, f->text);
    cr_expect_not_null(strstr(f->advice, advice), "%s: %s", topic, f->advice);
}

Test(doctor, a_node_with_two_runtimes_is_at_fault)
{
    examine(MACHINE("two-socket-smt"));
    expect("OpenMP", "runtime", DLB_VERDICT_FAULT, "libiomp5.so and /usr/lib/gcc", "ldd");
    cr_expect_eq(dlb_findings_with(&findings, DLB_VERDICT_FAULT), 1);
}

Test(doctor, a_badly_tuned_node_gets_advice_for_each_knob)
{
    examine(MACHINE("two-socket-smt"));
    expect("Machine", "governor", DLB_VERDICT_WARN, "powersave", "ask for performance");
    expect("Machine", "virtualisation", DLB_VERDICT_OK, "bare metal", "");
    expect("Cores", "allowed", DLB_VERDICT_OK, "16 of 16 CPUs (0-15) on 2 sockets", "");
    expect("Cores", "SMT", DLB_VERDICT_WARN, "16 CPUs allowed are threads of 8 cores",
           "set threads = 8");
    expect("Cores", "load", DLB_VERDICT_WARN, "7.93", "somebody else");
    expect("Memory", "huge pages", DLB_VERDICT_WARN, "THP never", "madvise or always");
    expect("BLAS", "others", DLB_VERDICT_WARN, "libmkl_rt", "ldd");
    expect("Counters", "energy", DLB_VERDICT_OK, "package-0 dram package-1 dram", "");
}

Test(doctor, a_container_is_told_how_many_threads_its_quota_feeds)
{
    examine(MACHINE("container"));
    expect("Cores", "quota", DLB_VERDICT_WARN, "cgroup quota 1.5 CPUs", "set threads = 1:");
    expect("Memory", "available", DLB_VERDICT_WARN, "0.5 of 31.2 GiB", "start few");
    expect("Memory", "limit", DLB_VERDICT_WARN, "0.50 GiB", "killed");
    expect("Machine", "governor", DLB_VERDICT_OK, "performance", "");
}

Test(doctor, with_libgomp_it_says_that_kmp_has_no_effect)
{
    examine(MACHINE("container"));
    expect("OpenMP", "runtime", DLB_VERDICT_OK, "GNU libgomp", "");
    expect("OpenMP", "KMP_*", DLB_VERDICT_WARN, "no effect with GNU libgomp", "clang");
}

Test(doctor, a_guest_without_knobs_is_usable)
{
    examine(MACHINE("kvm-guest"));
    expect("Machine", "processor", DLB_VERDICT_OK, "1 socket, 2 cores", "");
    expect("Machine", "caches", DLB_VERDICT_OK, "L2 2 × 2 MiB, L3 1 × 260 MiB", "");
    expect("Machine", "governor", DLB_VERDICT_MISSING, "", "virtual machine");
    expect("Cores", "steal", DLB_VERDICT_WARN, "1.7 %", "compare medians");
    expect("OpenMP", "KMP_*", DLB_VERDICT_OK, "have an effect", "");
    cr_expect_eq(dlb_findings_with(&findings, DLB_VERDICT_FAULT), 0);
}

Test(doctor, a_machine_that_tells_nothing_is_missing_much_but_not_ill)
{
    examine(MACHINE("container-v1"));
    expect("Machine", "processor", DLB_VERDICT_MISSING, "", "");
    expect("Machine", "caches", DLB_VERDICT_MISSING, "", "");
    expect("Memory", "available", DLB_VERDICT_MISSING, "", "");
    expect("Clock", "source", DLB_VERDICT_MISSING, "", "");
    expect("OpenMP", "runtime", DLB_VERDICT_FAULT, "no OpenMP runtime", "OpenMP");
}

Test(doctor, a_threaded_blas_is_a_fault)
{
    dlb_host_probe(&host, MACHINE("kvm-guest"));
    host.blas.loaded = true;
    host.blas.threaded = true;
    dlb_doctor_examine(&host, &findings);
    expect("BLAS", "threading", DLB_VERDICT_FAULT, "threads of its own", "libopenblas0-serial");
}

Test(doctor, the_advice_for_dead_counters_names_the_living)
{
    dlb_host_probe(&host, MACHINE("kvm-guest"));
    host.event_count = 3;
    host.events[0] = (dlb_host_event){"PAPI_TOT_INS", true, false, "PAPI_TOT_INS: it stays at 0"};
    host.events[1] = (dlb_host_event){"perf::TASK-CLOCK", false, true, ""};
    host.events[2] = (dlb_host_event){"perf::CPU-CLOCK", false, false, "forbidden"};
    dlb_doctor_examine(&host, &findings);
    expect("Counters", "hardware", DLB_VERDICT_MISSING, "PAPI_TOT_INS: it stays at 0",
           "virtual machine; the counters that work here are perf::TASK-CLOCK");
    expect("Counters", "software", DLB_VERDICT_OK, "perf::TASK-CLOCK; not perf::CPU-CLOCK", "");
}

Test(doctor, it_says_who_counts_when_papi_does_not_know_the_processor)
{
    dlb_host_probe(&host, MACHINE("kvm-guest"));
    snprintf(host.counter_library, sizeof host.counter_library, "PAPI 7.0.0");
    snprintf(host.counter_library_lacks, sizeof host.counter_library_lacks,
             "Error libpfm4 no default PMU found");
    host.event_count = 2;
    host.events[0] = (dlb_host_event){"perf::TASK-CLOCK", false, true, "counted by the kernel"};
    host.events[1] = (dlb_host_event){"perf::CPU-CLOCK", false, false, "forbidden"};
    dlb_doctor_examine(&host, &findings);
    expect("Counters", "library", DLB_VERDICT_WARN, "component is off: Error libpfm4",
           "older than this processor");
    expect("Counters", "software", DLB_VERDICT_OK,
           "perf::TASK-CLOCK (counted by the kernel); not perf::CPU-CLOCK", "");
}

Test(doctor, oversubscription_a_slow_clock_and_poor_scaling_are_noticed)
{
    dlb_host_probe(&host, MACHINE("kvm-guest"));
    host.openmp.max_threads = 8;
    host.timer = (dlb_timer){.claimed_ns = 1, .step_ns = 70, .cost_ns = 900};
    host.peak_threads = 2;
    host.peak_one = dlb_value_of(100);
    host.peak_all = dlb_value_of(105);
    dlb_doctor_examine(&host, &findings);
    expect("OpenMP", "threads", DLB_VERDICT_WARN, "8 threads for 2 cores", "OMP_NUM_THREADS = 2");
    expect("Clock", "resolution", DLB_VERDICT_WARN, "costs 900 ns", "tsc");
    expect("Peak", "all cores", DLB_VERDICT_WARN, "1.05 × one", "SMT");
}

Test(doctor, what_was_not_measured_has_no_finding)
{
    examine(MACHINE("kvm-guest"));
    cr_expect_null(finding("Peak", "one thread"));
    cr_expect_null(finding("Counters", "hardware"));
}

Test(doctor, unless_all_is_well_there_is_advice)
{
    const char *const machines[] = {MACHINE("kvm-guest"), MACHINE("two-socket-smt"),
                                    MACHINE("container"), MACHINE("container-v1")};
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
        examine(machines[m]);
        for (size_t i = 0; i < findings.count; i++) {
            const dlb_finding *f = &findings.items[i];
            cr_expect_eq(f->advice[0] == '\0', f->verdict == DLB_VERDICT_OK, "%s: %s", f->topic,
                         f->text);
        }
        dlb_findings_release(&findings);
    }
}

static int widest_line(const char *text)
{
    int widest = 0, columns = 0;
    for (const char *c = text; *c; c++) {
        columns = *c == '\n' ? 0 : columns + ((*c & 0xc0) != 0x80);
        widest = columns > widest ? columns : widest;
    }
    return widest;
}

Test(doctor, the_page_is_plain_and_at_most_100_columns_wide)
{
    examine(MACHINE("two-socket-smt"));
    dlb_str page = DLB_STR_INIT;
    dlb_doctor_text(&host, &findings, false, &page);
    cr_expect_leq(widest_line(page.text), 100);
    cr_expect_null(strchr(page.text, '\033'));
    cr_expect_not_null(strstr(page.text, "node042"));
    cr_expect_not_null(strstr(page.text, "1 fault\n"));
    dlb_str_release(&page);
}

Test(doctor, a_word_wider_than_the_page_is_cut_and_not_lost)
{
    dlb_finding f = {.section = "S", .topic = "t"};
    memset(f.text, 'x', 300);
    dlb_findings one = {.items = &f, .count = 1};
    dlb_str page = DLB_STR_INIT;
    dlb_doctor_text(&host, &one, false, &page);
    cr_expect_leq(widest_line(page.text), 100);
    int letters = 0;
    for (const char *c = page.text; *c; c++)
        letters += *c == 'x';
    cr_expect_eq(letters, 300);
    dlb_str_release(&page);
}

Test(doctor, colour_only_adds_escape_sequences)
{
    examine(MACHINE("kvm-guest"));
    dlb_str plain = DLB_STR_INIT, colour = DLB_STR_INIT, stripped = DLB_STR_INIT;
    dlb_doctor_text(&host, &findings, false, &plain);
    dlb_doctor_text(&host, &findings, true, &colour);
    for (const char *c = colour.text; *c; c++) {
        if (*c == '\033')
            c += strcspn(c, "m");
        else
            dlb_str_add_bytes(&stripped, c, 1);
    }
    cr_expect_gt(colour.length, plain.length);
    cr_expect_str_eq(stripped.text, plain.text);
    dlb_str_release(&stripped);
    dlb_str_release(&colour);
    dlb_str_release(&plain);
}

Test(doctor, json_has_every_finding_and_null_for_what_is_missing)
{
    examine(MACHINE("container"));
    dlb_str text = DLB_STR_INIT;
    dlb_error err;
    cr_assert_eq(dlb_doctor_json(&host, &findings, &text, &err), 0, "%s", err.message);
    json_t *root = json_loads(text.text, 0, NULL);
    cr_assert_not_null(root);
    cr_expect_eq(json_array_size(json_object_get(root, "findings")), findings.count);
    json_t *facts = json_object_get(root, "facts");
    cr_expect_eq(json_integer_value(json_object_get(facts, "cores_allowed")), 2);
    cr_expect_eq(json_real_value(json_object_get(facts, "cpu_quota")), 1.5);
    cr_expect(json_is_null(json_object_get(facts, "peak_one_gflops")));
    cr_expect(json_is_false(json_object_get(facts, "kmp_has_effect")));
    json_decref(root);
    dlb_str_release(&text);
}
