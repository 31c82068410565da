#include "measure/host.h"

#include <cpuid.h>
#include <mpi.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "dlk/dispatch.h"
#include "dlk/gemm.h"
#include "measure/counters.h"
#include "measure/energy.h"
#include "measure/noise.h"
#include "measure/peak.h"
#include "measure/sysfile.h"

/* Instruction sets worth a mention: the name in the flags of /proc/cpuinfo, and the usual one. */
static const struct {
    const char *flag, *name;
} INSTRUCTION_SETS[] = {
    {"sse4_2", "sse4.2"},
    {"avx", "avx"},
    {"f16c", "f16c"},
    {"avx2", "avx2"},
    {"fma", "fma"},
    {"avx512f", "avx512f"},
    {"avx512bw", "avx512bw"},
    {"avx512vl", "avx512vl"},
    {"avx512_vnni", "avx512_vnni"},
    {"avx512_bf16", "avx512_bf16"},
    {"amx_tile", "amx"},
};

static bool has_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = strstr(words, word); at; at = strstr(at + 1, word)) {
        bool starts = at == words || at[-1] == ' ';
        if (starts && (at[length] == ' ' || at[length] == '\0'))
            return true;
    }
    return false;
}

static void list_instruction_sets(const char *flags, char *isa, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < sizeof INSTRUCTION_SETS / sizeof *INSTRUCTION_SETS; i++) {
        if (has_word(flags, INSTRUCTION_SETS[i].flag) && used < size)
            used += (size_t)snprintf(isa + used, size - used, "%s%s", used ? " " : "",
                                     INSTRUCTION_SETS[i].name);
    }
}

/* The hypervisor says who it is in a leaf of cpuid; a recorded machine has its system's vendor. */
static void name_hypervisor(char *name, size_t size, const char *root)
{
    char signature[13] = "";
    if (!root[0]) {
        unsigned leaf, words[3];
        __cpuid(0x40000000, leaf, words[0], words[1], words[2]);
        memcpy(signature, words, sizeof words);
    } else {
        dlb_sys_line(signature, sizeof signature, root, "/sys/class/dmi/id/sys_vendor");
    }
    if (strcmp(signature, "KVMKVMKVM") == 0)
        snprintf(name, size, "KVM");
    else
        snprintf(name, size, "%s", signature[0] ? signature : "unknown hypervisor");
}

static void probe_cpu_version(dlb_host *host, const char *cpuinfo)
{
    char family[16], model[16], stepping[16];
    if (dlb_sys_field(cpuinfo, "cpu family", family, sizeof family) &&
        dlb_sys_field(cpuinfo, "model", model, sizeof model) &&
        dlb_sys_field(cpuinfo, "stepping", stepping, sizeof stepping))
        snprintf(host->cpu_version, sizeof host->cpu_version, "family %s model %s stepping %s",
                 family, model, stepping);
}

dlb_cpu_name dlb_host_cpu_name(const dlb_host *host)
{
    dlb_cpu_name name;
    snprintf(name.text, sizeof name.text, "%s%s%s", host->cpu, host->cpu_version[0] ? ", " : "",
             host->cpu_version);
    return name;
}

static void probe_cpu(dlb_host *host, const char *root)
{
    dlb_str cpuinfo = DLB_STR_INIT;
    if (dlb_sys_read(&cpuinfo, root, "/proc/cpuinfo")) {
        char flags[4096];
        dlb_sys_field(cpuinfo.text, "model name", host->cpu, sizeof host->cpu);
        probe_cpu_version(host, cpuinfo.text);
        dlb_sys_field(cpuinfo.text, "vendor_id", host->vendor, sizeof host->vendor);
        dlb_sys_field(cpuinfo.text, "flags", flags, sizeof flags);
        list_instruction_sets(flags, host->isa, sizeof host->isa);
        if (has_word(flags, "hypervisor"))
            name_hypervisor(host->hypervisor, sizeof host->hypervisor, root);
    }
    dlb_str_release(&cpuinfo);
}

/* Of "always [madvise] never", the choice in brackets. */
static void bracketed(char *choice, size_t size, const char *line)
{
    const char *open = strchr(line, '[');
    if (open)
        snprintf(choice, size, "%.*s", (int)strcspn(open + 1, "]"), open + 1);
}

static void probe_turbo(char *turbo, size_t size, const char *root)
{
    long long value;
    if (dlb_sys_number(&value, root, "/sys/devices/system/cpu/intel_pstate/no_turbo"))
        snprintf(turbo, size, "%s", value ? "off" : "on");
    else if (dlb_sys_number(&value, root, "/sys/devices/system/cpu/cpufreq/boost"))
        snprintf(turbo, size, "%s", value ? "on" : "off");
}

static void probe_settings(dlb_host *host, const char *root)
{
    char line[128];
    int cpu = dlb_cpus_next(&host->cores.cpus, -1);
    dlb_sys_line(host->name, sizeof host->name, root, "/proc/sys/kernel/hostname");
    dlb_sys_line(host->kernel, sizeof host->kernel, root, "/proc/sys/kernel/osrelease");
    dlb_sys_line(host->governor, sizeof host->governor, root,
                 "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu);
    dlb_sys_line(host->clocksource, sizeof host->clocksource, root,
                 "/sys/devices/system/clocksource/clocksource0/current_clocksource");
    dlb_sys_line(line, sizeof line, root, "/sys/kernel/mm/transparent_hugepage/enabled");
    bracketed(host->thp, sizeof host->thp, line);
    probe_turbo(host->turbo, sizeof host->turbo, root);
}

static dlb_value memory_field(const char *meminfo, const char *key)
{
    double bytes;
    if (meminfo && dlb_sys_field_bytes(meminfo, key, &bytes))
        return dlb_value_of(bytes);
    return dlb_value_missing("/proc/meminfo has no %s", key);
}

static void probe_memory(dlb_host *host, const char *root)
{
    dlb_str meminfo = DLB_STR_INIT;
    dlb_sys_read(&meminfo, root, "/proc/meminfo");
    host->memory_total = memory_field(meminfo.text, "MemTotal");
    host->memory_available = memory_field(meminfo.text, "MemAvailable");
    dlb_str_release(&meminfo);
}

static void probe_noise(dlb_host *host, const char *root)
{
    char loadavg[128];
    dlb_sys_line(loadavg, sizeof loadavg, root, "/proc/loadavg");
    host->load = dlb_load_parse(loadavg);

    dlb_str stat = DLB_STR_INIT;
    dlb_cpu_ticks at_boot = {.known = true}, now = {0};
    if (dlb_sys_read(&stat, root, "/proc/stat"))
        now = dlb_cpu_ticks_parse(stat.text, &host->cores.cpus);
    host->steal_pct = dlb_steal_pct(at_boot, now);
    dlb_str_release(&stat);
}

static void probe_energy(dlb_host *host, const char *root)
{
    dlb_energy *meters = dlb_energy_create(root);
    snprintf(host->energy_meters, sizeof host->energy_meters, "%s", dlb_energy_meters(meters));
    dlb_energy_start(meters);
    host->energy = dlb_energy_stop(meters);
    dlb_energy_free(meters);
}

/* OpenBLAS describes itself as "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH …". */
static void probe_blas(dlb_host *host)
{
    dlk_gemm_info info;
    host->blas.loaded = dlk_gemm_describe(&info);
    if (!host->blas.loaded)
        return;
    const char *version = strchr(info.config, ' ');
    size_t length = version ? (size_t)(version - info.config) + 1 + strcspn(version + 1, " ")
                            : strlen(info.config);
    snprintf(host->blas.name, sizeof host->blas.name, "%.*s", (int)length, info.config);
    snprintf(host->blas.core, sizeof host->blas.core, "%s", info.core);
    host->blas.threaded = info.threaded;
    dlb_library_resolve(info.path, host->blas.path);
}

/* Open MPI's text goes on about its build after the first comma. */
static void probe_mpi(char *name, size_t size)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    MPI_Get_library_version(version, &length);
    snprintf(name, size, "%.*s", (int)strcspn(version, ",\n"), version);
}

static void probe_software(dlb_host *host)
{
    probe_blas(host);
    probe_mpi(host->mpi, sizeof host->mpi);
    if (!dlb_file_on_path("mpirun", host->launcher, sizeof host->launcher))
        dlb_file_on_path("srun", host->launcher, sizeof host->launcher);
    snprintf(host->counter_library, sizeof host->counter_library, "%s", dlb_counters_library());
    snprintf(host->counter_library_lacks, sizeof host->counter_library_lacks, "%s",
             dlb_counters_library_lacks());
    snprintf(host->best_isa, sizeof host->best_isa, "%s", dlk_isa_name(dlk_isa_best()));
    host->timer = dlb_timer_measure();
}

void dlb_host_probe(dlb_host *host, const char *root)
{
    *host = (dlb_host){
        .peak_one = dlb_value_missing("not measured"),
        .peak_all = dlb_value_missing("not measured"),
    };
    dlb_error ignored; /* a topology that hwloc cannot tell stays all zero */
    dlb_topology_probe(&host->topology, root, &ignored);
    dlb_cores_probe(&host->cores, root);
    probe_cpu(host, root);
    probe_settings(host, root);
    probe_memory(host, root);
    probe_noise(host, root);
    probe_energy(host, root);
    dlb_openmp_find(&host->openmp, root);
    dlb_blas_find(&host->blas_libraries, root);
    if (!root[0])
        probe_software(host);
}

static const char *const HARDWARE_EVENTS[] = {
    "PAPI_TOT_INS", "PAPI_TOT_CYC", "PAPI_L1_DCM", "PAPI_L2_DCM", "PAPI_L3_TCM",
    "PAPI_TLB_DM",  "PAPI_BR_MSP",  "PAPI_SP_OPS", "PAPI_VEC_SP", "PAPI_FP_OPS",
};

static const char *const SOFTWARE_EVENTS[] = {
    "perf::TASK-CLOCK",   "perf::CPU-CLOCK",        "perf::PAGE-FAULTS",
    "perf::MINOR-FAULTS", "perf::CONTEXT-SWITCHES", "perf::CPU-MIGRATIONS",
};

static void probe_events(dlb_host *host, const char *const *names, size_t count, bool hardware)
{
    for (size_t i = 0; i < count; i++) {
        dlb_error reason;
        const char *note;
        dlb_host_event *e = &host->events[host->event_count++];
        *e = (dlb_host_event){.name = names[i], .hardware = hardware};
        e->works = dlb_counters_probe(names[i], &note, &reason) == 0;
        snprintf(e->why, sizeof e->why, "%.*s", (int)sizeof e->why - 1,
                 e->works ? note : reason.message);
    }
}

void dlb_host_probe_counters(dlb_host *host)
{
    enum {
        HARDWARE = sizeof HARDWARE_EVENTS / sizeof *HARDWARE_EVENTS,
        SOFTWARE = sizeof SOFTWARE_EVENTS / sizeof *SOFTWARE_EVENTS,
    };
    _Static_assert(HARDWARE + SOFTWARE <= DLB_HOST_EVENTS, "room for every event");
    host->event_count = 0;
    probe_events(host, HARDWARE_EVENTS, HARDWARE, true);
    probe_events(host, SOFTWARE_EVENTS, SOFTWARE, false);
}

void dlb_host_probe_peak(dlb_host *host)
{
    dlk_isa isa = dlk_isa_best();
    host->peak_threads = host->cores.allowed;
    host->peak_one = dlb_peak_gflops(1, isa);
    host->peak_all = dlb_peak_gflops(host->peak_threads, isa);
}
