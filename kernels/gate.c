#include "dlk/gate.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

/* Short waits are pure spinning; longer ones offer the core to others between looks. */
enum { PAUSES_BEFORE_YIELD = 512 };

static inline void pause_core(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void gate_sleep(dlk_gate *gate, uint32_t old)
{
    atomic_fetch_add(&gate->sleepers, 1);
    if (atomic_load(&gate->value) == old)
        syscall(SYS_futex, &gate->value, FUTEX_WAIT_PRIVATE, old, NULL, NULL, 0);
    atomic_fetch_sub(&gate->sleepers, 1);
}

void dlk_gate_wake(dlk_gate *gate)
{
    if (atomic_load(&gate->sleepers))
        syscall(SYS_futex, &gate->value, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

void dlk_gate_wait(dlk_gate *gate, uint32_t old, int64_t spin_ns)
{
    for (int i = 0; i < PAUSES_BEFORE_YIELD && spin_ns != 0; i++) {
        if (dlk_gate_value(gate) != old)
            return;
        pause_core();
    }
    int64_t deadline = spin_ns > 0 ? dlb_clock_ns() + spin_ns : 0;
    while (dlk_gate_value(gate) == old) {
        if (spin_ns >= 0 && dlb_clock_ns() >= deadline)
            gate_sleep(gate, old);
        else
            sched_yield();
    }
}
