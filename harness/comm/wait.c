#include "comm/wait.h"

#include <sched.h>

#include "base/clock.h"
#include "comm/comm_state.h"

/* Short waits are the rule: what is waited for is a message or a store by a running process. */
enum { SPIN_NS = 10 * 1000, YIELD_NS = 10 * 1000 * 1000, LONGEST_SLEEP_NS = 1000 * 1000 };

/* What a sleep may add to a wait is no more than this fraction of it. */
enum { SLEEP_FRACTION = 32 };

static void spin(void)
{
    for (int i = 0; i < 16; i++) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ volatile("yield");
#endif
    }
}

void dlb_wait_pause(int64_t since_ns)
{
    int64_t waited = dlb_clock_ns() - since_ns;
    if (waited < SPIN_NS) {
        spin();
    } else if (waited < YIELD_NS) {
        sched_yield();
    } else {
        int64_t ns = waited / SLEEP_FRACTION;
        struct timespec sleep = {.tv_nsec = ns < LONGEST_SLEEP_NS ? ns : LONGEST_SLEEP_NS};
        nanosleep(&sleep, NULL);
    }
}

/* Whether the collective call has ended; MPI is asked only as long as the comm is whole. */
static bool has_ended(dlb_comm *comm)
{
    int ended = 0;
    if (dlb_comm_lock(comm, NULL) < 0)
        return false;
    bool ok = dlb_comm_mpi_ok(comm, MPI_Test(&comm->request, &ended, MPI_STATUS_IGNORE));
    dlb_comm_unlock(comm);
    return ok && ended;
}

int dlb_comm_complete(dlb_comm *comm, int code, dlb_error *err)
{
    dlb_comm_mpi_ok(comm, code);
    dlb_comm_unlock(comm);
    for (int64_t since = dlb_clock_ns(); !has_ended(comm); dlb_wait_pause(since))
        if (dlb_comm_watch(comm, since) < 0)
            return dlb_comm_failure(comm, err);
    return 0;
}
