#include "measure/known_work.h"

#include <sched.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "measure/cores.h"

/* Uses a result, so that computing it is not optimised away. */
static void keep(double result)
{
    volatile double kept = result;
    (void)kept;
}

/* Single and double precision, with a branch that depends on a random bit. */
static void compute(void)
{
    uint32_t random = 1;
    float single = 1;
    double twice = 1;
    for (int i = 0; i < 200000; i++) {
        random = random * 1664525u + 1013904223u;
        if (random >> 31)
            single = single * 0.999f + 0.5f;
        else
            twice = twice * 0.999 + 0.25;
    }
    keep(twice + (double)single);
}

/* Fresh memory, larger than the caches of a core, written and read across its pages. */
static void touch_memory(void)
{
    enum { BYTES = 8 << 20, LINE = 64, STRIDE = 4096 + LINE };
    unsigned char *memory =
        mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return;
    unsigned sum = 0;
    for (size_t i = 0; i < BYTES; i += LINE)
        memory[i] = (unsigned char)i;
    for (size_t i = 0, at = 0; i < BYTES / LINE; i++, at = (at + STRIDE) % BYTES)
        sum += memory[at];
    munmap(memory, BYTES);
    keep(sum);
}

/* Run on each of two CPUs in turn if the mask has two; the mask is restored. */
static void migrate(void)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) < 0 || CPU_COUNT(&allowed) < 2)
        return;
    int visited = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE && visited < 2; cpu++) {
        if (!CPU_ISSET(cpu, &allowed))
            continue;
        dlb_cpu_bind(cpu);
        visited++;
    }
    sched_setaffinity(0, sizeof allowed, &allowed);
}

void dlb_known_work(void)
{
    compute();
    touch_memory();
    migrate();
    usleep(200);
}
