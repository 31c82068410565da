/* Judging the libraries that are loaded. */
#include "measure/doctor_checks.h"

static void check_openmp_runtime(const dlb_host *h, dlb_finding *f)
{
    const dlb_library_list *r = &h->openmp.runtimes;
    if (r->count > 1) {
        dlb_found(f, DLB_VERDICT_FAULT, "%d OpenMP runtimes in one process: %s and %s", r->count,
                  r->path[0], r->path[1]);
        dlb_advise(f,
                   "each starts its own threads, and they fight for the cores: find who links the "
                   "second one (ldd), and leave it out");
    } else if (r->count == 1) {
        dlb_found(f, DLB_VERDICT_OK, "%s (%s)", h->openmp.name, r->path[0]);
    } else {
        dlb_found(f, DLB_VERDICT_FAULT, "no OpenMP runtime is loaded");
        dlb_advise(f, "build again with OpenMP");
    }
}

static void check_kmp(const dlb_host *h, dlb_finding *f)
{
    if (h->openmp.runtimes.count == 0)
        return;
    if (h->openmp.has_kmp) {
        dlb_found(f, DLB_VERDICT_OK, "KMP_BLOCKTIME and KMP_AFFINITY have an effect");
        return;
    }
    dlb_found(f, DLB_VERDICT_WARN, "KMP_BLOCKTIME and KMP_AFFINITY have no effect with %s",
              h->openmp.name);
    dlb_advise(f, "build with clang and libomp, the default, to study them");
}

static void check_openmp_threads(const dlb_host *h, dlb_finding *f)
{
    int threads = h->openmp.max_threads, cores = h->cores.allowed;
    if (!threads)
        return;
    bool many = threads > cores;
    dlb_found(f, many ? DLB_VERDICT_WARN : DLB_VERDICT_OK, "%d thread%s for %d core%s", threads,
              dlb_plural(threads), cores, dlb_plural(cores));
    if (many)
        dlb_advise(f, "set OMP_NUM_THREADS = %d or less", cores);
}

static void check_blas(const dlb_host *h, dlb_finding *f)
{
    if (h->blas.loaded) {
        dlb_found(f, DLB_VERDICT_OK, "%s for %s (%s)", h->blas.name, h->blas.core, h->blas.path);
        return;
    }
    dlb_found(f, DLB_VERDICT_MISSING,
              "no BLAS could be loaded: kernels = blas cannot be had, and what simd does not "
              "do is left to ref");
    dlb_advise(f, "install libopenblas0-serial");
}

static void check_blas_threads(const dlb_host *h, dlb_finding *f)
{
    if (!h->blas.loaded)
        return;
    if (!h->blas.threaded) {
        dlb_found(f, DLB_VERDICT_OK, "serial, as it must be inside our parallel regions");
        return;
    }
    dlb_found(f, DLB_VERDICT_FAULT, "this build of BLAS starts threads of its own");
    dlb_advise(f,
               "install libopenblas0-serial and build again, so that it is found by its own path");
}

static void check_other_blas(const dlb_host *h, dlb_finding *f)
{
    const dlb_library_list *all = &h->blas_libraries;
    int kept = all->count < DLB_LIBRARY_MAX ? all->count : DLB_LIBRARY_MAX;
    for (int i = 0; i < kept; i++) {
        if (h->blas.loaded && strcmp(all->path[i], h->blas.path) == 0)
            continue;
        dlb_found(f, DLB_VERDICT_WARN, "also loaded: %s", all->path[i]);
        dlb_advise(f, "nothing here calls it, but it may start threads: find who links it (ldd)");
        return;
    }
    if (h->blas.loaded)
        dlb_found(f, DLB_VERDICT_OK, "no other BLAS is loaded");
}

static void check_mpi(const dlb_host *h, dlb_finding *f)
{
    if (h->mpi[0])
        dlb_found(f, DLB_VERDICT_OK, "%s", h->mpi);
}

static void check_launcher(const dlb_host *h, dlb_finding *f)
{
    if (!h->mpi[0])
        return;
    if (h->launcher[0]) {
        dlb_found(f, DLB_VERDICT_OK, "%s", h->launcher);
        return;
    }
    dlb_found(f, DLB_VERDICT_MISSING, "neither mpirun nor srun is on PATH: ranks = 1 only");
    dlb_advise(f, "install openmpi-bin, or load the cluster's MPI module");
}

const dlb_check dlb_software_checks[] = {
    {"OpenMP", "runtime", check_openmp_runtime},
    {"OpenMP", "KMP_*", check_kmp},
    {"OpenMP", "threads", check_openmp_threads},
    {"BLAS", "library", check_blas},
    {"BLAS", "threading", check_blas_threads},
    {"BLAS", "others", check_other_blas},
    {"MPI", "library", check_mpi},
    {"MPI", "launcher", check_launcher},
    {0},
};
