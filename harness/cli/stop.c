#include "cli/stop.h"

#include <signal.h>
#include <stdatomic.h>

#include "base/clock.h"

enum { PATIENCE_NS = 1000000000 };

static _Atomic int64_t first_signal_ns; /* 0: none yet */
_Static_assert(ATOMIC_LONG_LOCK_FREE == 2, "a signal handler may use lock-free atomics only");

static void on_signal(int number)
{
    int64_t now = dlb_clock_ns(), first = 0;
    if (atomic_compare_exchange_strong(&first_signal_ns, &first, now) || now - first < PATIENCE_NS)
        return;
    signal(number, SIG_DFL);
    raise(number);
}

void dlb_stop_catch(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, inherited;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGHUP, NULL, &inherited);
    if (inherited.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL);
}

bool dlb_stop_asked(void)
{
    return atomic_load(&first_signal_ns) != 0;
}
