#include "stats/law.h"

#include <stdbool.h>

#include "base/mem.h"

void dlb_law_add(dlb_law *law, double value, double chance)
{
    law->atoms = dlb_grow(law->atoms, &law->capacity, law->count + 1, sizeof *law->atoms);
    law->atoms[law->count++] = (dlb_atom){value, chance};
}

void dlb_law_release(dlb_law *law)
{
    free(law->atoms);
    *law = (dlb_law)DLB_LAW_INIT;
}

static int compare(const void *a, const void *b)
{
    double x = ((const dlb_atom *)a)->value, y = ((const dlb_atom *)b)->value;
    return (x > y) - (x < y);
}

static void sort(dlb_law *law)
{
    qsort(law->atoms, law->count, sizeof *law->atoms, compare);
}

static double middle_of(double a, double b, double c)
{
    double least = a < b ? a : b, greatest = a < b ? b : a;
    return c < least ? least : c > greatest ? greatest : c;
}

/* Atoms [0, less) are below the pivot, [more, count) above it, those between equal it. */
typedef struct parts {
    size_t less, more;
    double less_chance, equal_chance;
} parts;

static parts part(dlb_atom *atoms, size_t count, double pivot)
{
    parts found = {.more = count};
    for (size_t i = 0; i < found.more;) {
        dlb_atom atom = atoms[i];
        if (atom.value > pivot) {
            atoms[i] = atoms[--found.more];
            atoms[found.more] = atom;
            continue;
        }
        bool less = atom.value < pivot;
        *(less ? &found.less_chance : &found.equal_chance) += atom.chance;
        atoms[i++] = atoms[found.less];
        atoms[found.less] = atom;
        found.less += less;
    }
    return found;
}

/* Quickselect: the tails are wanted, the order within them is not. */
double dlb_law_quantile(dlb_law *law, double level)
{
    dlb_atom *atoms = law->atoms;
    size_t count = law->count;
    for (;;) {
        double pivot = middle_of(atoms[0].value, atoms[count / 2].value, atoms[count - 1].value);
        parts found = part(atoms, count, pivot);
        bool below = found.less > 0 && found.less_chance >= level;
        level -= below ? 0 : found.less_chance + found.equal_chance;
        if (!below && (level <= 0 || found.more == count))
            return pivot;
        atoms += below ? 0 : found.more;
        count = below ? found.less : count - found.more;
    }
}

/* A larger b admits larger values of a, so one pass through each is enough. */
static double chance_at_most(const dlb_law *a, const dlb_law *b, double ratio)
{
    double admitted = 0, chance = 0;
    size_t next = 0;
    for (size_t i = 0; i < b->count; i++) {
        while (next < a->count && a->atoms[next].value / b->atoms[i].value <= ratio)
            admitted += a->atoms[next++].chance;
        chance += b->atoms[i].chance * admitted;
    }
    return chance;
}

double dlb_law_ratio_quantile(dlb_law *a, dlb_law *b, double level)
{
    sort(a);
    sort(b);
    double above = a->atoms[a->count - 1].value / b->atoms[0].value, below = 0;
    for (;;) { /* until there is no number between them */
        double middle = below / 2 + above / 2;
        if (!(middle > below && middle < above))
            return above;
        if (chance_at_most(a, b, middle) >= level)
            above = middle;
        else
            below = middle;
    }
}
