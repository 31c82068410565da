#include "measure/placement.h"

#include <sched.h>

#include "base/mem.h"

enum { PLACES = 16 }; /* a thread seen on more CPUs than this wanders; the rest is lumped */

typedef struct place {
    int cpu, node;
    unsigned long samples;
} place;

typedef struct track {
    _Alignas(DLB_CACHE_LINE) dlb_cpus seen;
    int places;
    unsigned long samples; /* also those that found no place */
    place place[PLACES];
} track;

struct dlb_placement {
    int threads;
    track *track;
};

dlb_placement *dlb_placement_create(int threads)
{
    dlb_placement *p = dlb_alloc(1, sizeof *p);
    p->threads = threads;
    p->track = dlb_alloc((size_t)threads, sizeof *p->track);
    return p;
}

void dlb_placement_free(dlb_placement *p)
{
    if (!p)
        return;
    free(p->track);
    free(p);
}

static place *find_place(track *t, int cpu, int node)
{
    for (int i = 0; i < t->places; i++) {
        if (t->place[i].cpu == cpu)
            return &t->place[i];
    }
    if (t->places == PLACES)
        return NULL;
    place *found = &t->place[t->places++];
    *found = (place){.cpu = cpu, .node = node};
    return found;
}

void dlb_placement_note(dlb_placement *p, int thread, int cpu, int node)
{
    track *t = &p->track[thread];
    place *found = find_place(t, cpu, node);
    if (found)
        found->samples++;
    t->samples++;
    dlb_cpus_add(&t->seen, cpu);
}

void dlb_placement_sample(dlb_placement *p, int thread)
{
    unsigned cpu, node;
    if (getcpu(&cpu, &node) == 0)
        dlb_placement_note(p, thread, (int)cpu, (int)node);
}

static int by_samples(const void *left, const void *right)
{
    const place *a = left, *b = right;
    if (a->samples != b->samples)
        return a->samples < b->samples ? 1 : -1;
    return a->cpu - b->cpu;
}

void dlb_placement_describe(const dlb_placement *p, int thread, dlb_str *text)
{
    const track *t = &p->track[thread];
    dlb_str_addf(text, "%d:", thread);
    if (!t->samples) {
        dlb_str_add(text, " never sampled");
        return;
    }
    place order[PLACES];
    memcpy(order, t->place, sizeof order);
    qsort(order, (size_t)t->places, sizeof *order, by_samples);

    unsigned long rest = t->samples;
    for (int i = 0; i < t->places; i++) {
        rest -= order[i].samples;
        dlb_str_addf(text, "%s cpu %d (node %d) %.0f %%", i ? "," : "", order[i].cpu, order[i].node,
                     100.0 * (double)order[i].samples / (double)t->samples);
    }
    if (rest)
        dlb_str_addf(text, ", others %.0f %%", 100.0 * (double)rest / (double)t->samples);
}

dlb_cpus dlb_placement_cpus(const dlb_placement *p)
{
    dlb_cpus all = {{0}};
    for (int thread = 0; thread < p->threads; thread++) {
        for (int i = 0; i < DLB_CPUS_MAX / 64; i++)
            all.bits[i] |= p->track[thread].seen.bits[i];
    }
    return all;
}

int dlb_placement_home(const dlb_placement *p, int thread)
{
    const track *t = &p->track[thread];
    for (int i = 0; i < t->places; i++) {
        if (10 * t->place[i].samples >= 9 * t->samples)
            return t->place[i].cpu;
    }
    return -1;
}

bool dlb_placement_shared(const dlb_placement *p, int *first, int *second)
{
    for (*first = 0; *first < p->threads; ++*first) {
        int home = dlb_placement_home(p, *first);
        for (*second = *first + 1; home >= 0 && *second < p->threads; ++*second) {
            if (dlb_placement_home(p, *second) == home)
                return true;
        }
    }
    return false;
}
