/* Judging the hardware, and how much of it this process may use. */
#include "dlk/dispatch.h"
#include "measure/doctor_checks.h"

static const double GIB = 1024.0 * 1024 * 1024;
static const double LITTLE_MEMORY_GIB = 1; /* a run stays under 0.4, but never alone */
static const double BUSY_LOAD = 1;
static const double MUCH_STEAL_PCT = 1;

static void check_processor(const dlb_host *h, dlb_finding *f)
{
    const dlb_topology *t = &h->topology;
    if (!h->cpu[0] || !t->cores) {
        dlb_found(f, DLB_VERDICT_MISSING,
                  "neither /proc/cpuinfo nor hwloc describes the processor");
        dlb_advise(f, "see whether /proc and /sys are mounted, and what lstopo says");
        return;
    }
    dlb_found(f, DLB_VERDICT_OK, "%s: %d socket%s, %d core%s, %d thread%s, %d NUMA node%s", h->cpu,
              t->sockets, dlb_plural(t->sockets), t->cores, dlb_plural(t->cores), t->cpus,
              dlb_plural(t->cpus), t->numa_nodes, dlb_plural(t->numa_nodes));
}

static void check_caches(const dlb_host *h, dlb_finding *f)
{
    dlb_str text = DLB_STR_INIT;
    for (int i = 0; i < h->topology.cache_count; i++) {
        const dlb_cache *c = &h->topology.caches[i];
        bool large = c->bytes >= 1024 * 1024;
        dlb_str_addf(&text, "%sL%d%s %d × %g %s", i ? ", " : "", c->level, c->kind, c->count,
                     c->bytes / (large ? 1024 * 1024 : 1024), large ? "MiB" : "KiB");
    }
    if (text.text) {
        dlb_found(f, DLB_VERDICT_OK, "%s", text.text);
    } else {
        dlb_found(f, DLB_VERDICT_MISSING, "hwloc does not see the caches");
        dlb_advise(f, "some hypervisors hide them; no result depends on it");
    }
    dlb_str_release(&text);
}

/* The instruction set that kernels use, then those that `isa` can force. */
static void check_kernels(const dlb_host *h, dlb_finding *f)
{
    const char *best = h->best_isa[0] ? h->best_isa : dlk_isa_name(DLK_ISA_SSE);
    dlb_str forced = DLB_STR_INIT;
    for (dlk_isa isa = DLK_ISA_SSE; isa < DLK_ISA_AVX512 && strcmp(dlk_isa_name(isa), best); isa++)
        dlb_str_addf(&forced, " or %s", dlk_isa_name(isa));
    dlb_found(f, DLB_VERDICT_OK, "simd for %s%s%s; blas; ref", best,
              forced.text ? ", on demand (isa) for" : "", forced.text ? forced.text + 3 : "");
    dlb_str_release(&forced);
}

static void check_instruction_sets(const dlb_host *h, dlb_finding *f)
{
    bool fast = h->best_isa[0] && strcmp(h->best_isa, dlk_isa_name(DLK_ISA_SSE)) != 0;
    dlb_found(f, fast ? DLB_VERDICT_OK : DLB_VERDICT_WARN, "%s", h->isa[0] ? h->isa : "sse2 only");
    if (!fast)
        dlb_advise(
            f, "without avx2, fma and bmi1 expect a quarter of the speed of a current processor");
}

static void check_virtualisation(const dlb_host *h, dlb_finding *f)
{
    if (!h->hypervisor[0]) {
        dlb_found(f, DLB_VERDICT_OK, "none: bare metal");
        return;
    }
    dlb_found(f, DLB_VERDICT_WARN, "virtual machine (%s)", h->hypervisor);
    dlb_advise(
        f, "its neighbours move the times: repeat runs and look at steal_pct beside each result");
}

static void check_kernel(const dlb_host *h, dlb_finding *f)
{
    if (h->kernel[0])
        dlb_found(f, DLB_VERDICT_OK, "Linux %s", h->kernel);
}

static void check_governor(const dlb_host *h, dlb_finding *f)
{
    if (!h->governor[0]) {
        dlb_found(f, DLB_VERDICT_MISSING, "the kernel does not show who sets the frequency");
        dlb_advise(f, "%s",
                   h->hypervisor[0] ? "usual in a virtual machine, where its host decides"
                                    : "ask the site which frequency policy is set");
    } else if (strcmp(h->governor, "performance") == 0) {
        dlb_found(f, DLB_VERDICT_OK, "performance");
    } else {
        dlb_found(f, DLB_VERDICT_WARN, "%s", h->governor);
        dlb_advise(f, "ask for performance: cpupower frequency-set -g performance, or the batch "
                      "system's option");
    }
}

static void check_turbo(const dlb_host *h, dlb_finding *f)
{
    if (h->turbo[0])
        dlb_found(f, DLB_VERDICT_OK, "%s%s", h->turbo,
                  strcmp(h->turbo, "on") == 0
                      ? ": fewer busy cores run faster, scaling looks worse"
                      : ": every number of busy cores runs at one frequency");
}

static void check_allowed(const dlb_host *h, dlb_finding *f)
{
    const dlb_cores *c = &h->cores;
    int all = h->topology.cpus ? h->topology.cpus : c->count;
    dlb_str list = DLB_STR_INIT;
    dlb_cpus_format(&c->cpus, &list);
    dlb_found(f, DLB_VERDICT_OK, "%d of %d CPUs (%s) on %d socket%s%s", c->count, all, list.text,
              c->sockets, dlb_plural(c->sockets),
              c->count < all ? ": bound by a launcher, taskset or cpuset" : "");
    dlb_str_release(&list);
}

static void check_quota(const dlb_host *h, dlb_finding *f)
{
    if (!h->cores.quota.known) {
        dlb_found(f, DLB_VERDICT_OK, "%s", h->cores.quota.why);
        return;
    }
    double quota = h->cores.quota.number;
    int threads = quota < 1 ? 1 : (int)quota;
    bool bites = quota < h->cores.count;
    dlb_found(f, bites ? DLB_VERDICT_WARN : DLB_VERDICT_OK, "cgroup quota %g CPUs", quota);
    if (bites)
        dlb_advise(f, "set threads = %d: more are stopped for a part of every period", threads);
}

static void check_smt(const dlb_host *h, dlb_finding *f)
{
    const dlb_cores *c = &h->cores;
    if (c->physical == c->count) {
        dlb_found(f, DLB_VERDICT_OK, "every CPU allowed is a core of its own");
        return;
    }
    dlb_found(f, DLB_VERDICT_WARN, "the %d CPUs allowed are threads of %d core%s", c->count,
              c->physical, dlb_plural(c->physical));
    dlb_advise(f, "set threads = %d, one a core: the second shares its arithmetic units",
               c->physical);
}

static void check_load(const dlb_host *h, dlb_finding *f)
{
    if (!h->load.known) {
        dlb_found(f, DLB_VERDICT_MISSING, "%s", h->load.why);
        dlb_advise(f, "repeat runs: a disturbed one cannot be told from the others");
        return;
    }
    bool busy = h->load.number >= BUSY_LOAD;
    dlb_found(f, busy ? DLB_VERDICT_WARN : DLB_VERDICT_OK, "%.2f over the last minute",
              h->load.number);
    if (busy)
        dlb_advise(f, "somebody else computes here: wait, or ask for a node of your own");
}

static void check_steal(const dlb_host *h, dlb_finding *f)
{
    if (!h->steal_pct.known) {
        dlb_found(f, DLB_VERDICT_MISSING, "%s", h->steal_pct.why);
        dlb_advise(f, "steal_pct stays empty beside results: repeat runs");
        return;
    }
    bool much = h->steal_pct.number >= MUCH_STEAL_PCT;
    dlb_found(f, much ? DLB_VERDICT_WARN : DLB_VERDICT_OK, "%.1f %% of the time since boot",
              h->steal_pct.number);
    if (much)
        dlb_advise(f, "the hypervisor gives these CPUs to others: repeat, and compare medians");
}

static void check_memory(const dlb_host *h, dlb_finding *f)
{
    if (!h->memory_total.known || !h->memory_available.known) {
        dlb_found(f, DLB_VERDICT_MISSING, "/proc/meminfo does not tell the memory");
        dlb_advise(f, "see whether /proc is mounted");
        return;
    }
    double available = h->memory_available.number / GIB;
    bool little = available < LITTLE_MEMORY_GIB;
    dlb_found(f, little ? DLB_VERDICT_WARN : DLB_VERDICT_OK, "%.1f of %.1f GiB", available,
              h->memory_total.number / GIB);
    if (little)
        dlb_advise(f, "a rank needs up to 0.4 GB: start few");
}

static void check_memory_limit(const dlb_host *h, dlb_finding *f)
{
    const dlb_value *limit = &h->cores.memory_limit;
    if (!limit->known) {
        dlb_found(f, DLB_VERDICT_OK, "%s", limit->why);
        return;
    }
    double gib = limit->number / GIB;
    dlb_found(f, gib < LITTLE_MEMORY_GIB ? DLB_VERDICT_WARN : DLB_VERDICT_OK,
              "cgroup limit %.2f GiB", gib);
    if (gib < LITTLE_MEMORY_GIB)
        dlb_advise(f, "a rank needs up to 0.4 GB, and one beyond the limit is killed: start few");
}

static void check_huge_pages(const dlb_host *h, dlb_finding *f)
{
    if (!h->thp[0]) {
        dlb_found(f, DLB_VERDICT_MISSING, "this kernel has no transparent huge pages");
        dlb_advise(f, "large buffers miss the TLB more often: compare with machines like it");
    } else if (strcmp(h->thp, "never") == 0) {
        dlb_found(f, DLB_VERDICT_WARN, "THP never");
        dlb_advise(f, "large buffers then miss the TLB more often: ask for madvise or always");
    } else {
        dlb_found(f, DLB_VERDICT_OK, "THP %s", h->thp);
    }
}

const dlb_check dlb_machine_checks[] = {
    {"Machine", "processor", check_processor},
    {"Machine", "caches", check_caches},
    {"Machine", "instruction sets", check_instruction_sets},
    {"Machine", "kernels", check_kernels},
    {"Machine", "virtualisation", check_virtualisation},
    {"Machine", "kernel", check_kernel},
    {"Machine", "governor", check_governor},
    {"Machine", "turbo", check_turbo},
    {"Cores", "allowed", check_allowed},
    {"Cores", "quota", check_quota},
    {"Cores", "SMT", check_smt},
    {"Cores", "load", check_load},
    {"Cores", "steal", check_steal},
    {"Memory", "available", check_memory},
    {"Memory", "limit", check_memory_limit},
    {"Memory", "huge pages", check_huge_pages},
    {0},
};
