/*
 * Whether a program has become slower, from rounds in which the old and the new one were measured
 * side by side, and the old one a second time as a control.
 *
 * A round tells the logarithm of the ratio new / old. The effect is their median; its interval is
 * the bootstrap's, made sure (stats/interval.h) and wider for the number of kernels that are judged
 * together (Bonferroni). The control is the same of two processes of the old program, which ought
 * to be 0: how far its interval reaches from there is the resolution. What lies below it is not
 * seen, and nothing is said of it.
 */
#ifndef DLB_STATS_JUDGEMENT_H
#define DLB_STATS_JUDGEMENT_H

#include <stdbool.h>
#include <stddef.h>

typedef enum dlb_judgement_kind {
    DLB_JUDGED_SAME,
    DLB_JUDGED_FASTER,
    DLB_JUDGED_SLOWER,
    DLB_JUDGED_INCONCLUSIVE,
} dlb_judgement_kind;

enum { DLB_JUDGEMENTS = DLB_JUDGED_INCONCLUSIVE + 1 };

/* "same", "faster", "slower" or "inconclusive". */
const char *dlb_judgement_name(dlb_judgement_kind kind);

typedef struct dlb_judgement_rule {
    double threshold; /* the change that counts: 0.02 is 2 % */
    double floor_s;   /* and the seconds of a call that it must come to */
    double chance;    /* that any of all intervals misses what it is an interval of */
    size_t kernels;   /* judged together */
} dlb_judgement_rule;

typedef struct dlb_judgement_rounds {
    size_t count;
    const double *change;  /* log(new / old) in each round; NaN: missing */
    const double *control; /* the same of the old program and itself */
    double seconds;        /* of a call of the old program */
} dlb_judgement_rounds;

/* Changes, not ratios: 0.05 is 5 % slower. NaN where too few rounds tell. */
typedef struct dlb_judgement {
    dlb_judgement_kind kind;
    double effect, low, high;
    double resolution;
} dlb_judgement;

/*
 * How many rounds an interval needs to be as sure as the rule asks for. The interval of a median
 * reaches from the least to the greatest value at most, and misses it if all lie on one side.
 */
size_t dlb_judgement_needed(const dlb_judgement_rule *rule);

/*
 * slower, faster: the whole interval lies beyond the threshold, and the effect beyond the
 *                 resolution and the floor
 * same:           the whole interval, and the resolution, lie within the threshold
 * inconclusive:   all else, and always with fewer rounds than dlb_judgement_needed
 */
dlb_judgement dlb_judgement_of(const dlb_judgement_rule *rule, const dlb_judgement_rounds *rounds);

/* The same with rounds that were measured at another time, each beside a reference that both times
 * have in common. */
typedef struct dlb_judgement_past {
    size_t past_count, count;
    const double *past;    /* log(kernel / reference) in each round then; NaN: missing */
    const double *present; /* and now */
    const double *control; /* the difference of two processes of the present program */
    double shift;          /* by how much the references themselves have moved apart since then */
    double seconds;        /* of a call now */
} dlb_judgement_past;

/*
 * Nothing pairs the rounds of two times, so the interval of the change is that of both medians
 * together, each as sure as half of the chance asks for. What hides it is the larger of the
 * control's reach and the references' shift.
 */
dlb_judgement dlb_judgement_since(const dlb_judgement_rule *rule, const dlb_judgement_past *past);

/* How many rounds that needs, each time. */
size_t dlb_judgement_needed_since(const dlb_judgement_rule *rule);

/* Whether somebody ought to look again before it is believed: it says that something changed. */
bool dlb_judgement_needs_repetition(const dlb_judgement *verdict);

/*
 * What is left of it after a repetition: the repetition's figures, which nobody has selected, and
 * `inconclusive` if the two do not agree.
 */
dlb_judgement dlb_judgement_confirmed(const dlb_judgement *first, const dlb_judgement *repetition);

#endif
