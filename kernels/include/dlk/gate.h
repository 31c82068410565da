/*
 * A counter that threads wait on: they spin for a while, then sleep in the kernel. Whoever changes
 * the value and then calls dlk_gate_wake loses no sleeper, and pays for no system call when there
 * is none.
 */
#ifndef DLK_GATE_H
#define DLK_GATE_H

#include <stdatomic.h>
#include <stdint.h>

typedef struct dlk_gate {
    _Alignas(64) _Atomic uint32_t value;
    _Atomic uint32_t sleepers;
} dlk_gate;

static inline uint32_t dlk_gate_value(dlk_gate *gate)
{
    return atomic_load_explicit(&gate->value, memory_order_acquire);
}

/* Wait until the value is no longer `old`; sleep after spin_ns (< 0: never). */
void dlk_gate_wait(dlk_gate *gate, uint32_t old, int64_t spin_ns);

/* After a (sequentially consistent) change of the value: wake those who sleep. */
void dlk_gate_wake(dlk_gate *gate);

#endif
