#include "stats/judgement.h"

#include <math.h>

#include "stats/interval.h"

const char *dlb_judgement_name(dlb_judgement_kind kind)
{
    static const char *const names[DLB_JUDGEMENTS] = {[DLB_JUDGED_SAME] = "same",
                                                      [DLB_JUDGED_FASTER] = "faster",
                                                      [DLB_JUDGED_SLOWER] = "slower",
                                                      [DLB_JUDGED_INCONCLUSIVE] = "inconclusive"};
    return names[kind];
}

static double chance_of_one(const dlb_judgement_rule *rule)
{
    return rule->chance / (double)rule->kernels;
}

/* Of n values all lie on one side of their median with the chance 2 / 2^n. */
size_t dlb_judgement_needed(const dlb_judgement_rule *rule)
{
    return (size_t)ceil(1 - log2(chance_of_one(rule)));
}

static double farthest(const dlb_interval *interval)
{
    return fmax(fabs(interval->low), fabs(interval->high));
}

/* `effect`, and the end of its interval that is nearest to 0, to the side that is asked for. */
static bool changed(const dlb_judgement_rule *rule, double effect, double nearest,
                    double resolution, double seconds)
{
    return nearest > log1p(rule->threshold) && effect > resolution &&
           seconds * expm1(effect) >= rule->floor_s;
}

static dlb_judgement_kind kind_of(const dlb_judgement_rule *rule, const dlb_interval *change,
                                  double resolution, double seconds)
{
    if (changed(rule, change->value, change->low, resolution, seconds))
        return DLB_JUDGED_SLOWER;
    if (changed(rule, -change->value, -change->high, resolution, seconds * exp(change->value)))
        return DLB_JUDGED_FASTER;
    double limit = log1p(rule->threshold);
    return farthest(change) < limit && resolution < limit ? DLB_JUDGED_SAME
                                                          : DLB_JUDGED_INCONCLUSIVE;
}

dlb_judgement dlb_judgement_of(const dlb_judgement_rule *rule, const dlb_judgement_rounds *r)
{
    double chance = chance_of_one(rule);
    dlb_interval change = dlb_interval_median_sure(r->change, r->count, chance);
    dlb_interval control = dlb_interval_median_sure(r->control, r->count, chance);
    size_t needed = dlb_judgement_needed(rule);
    if (change.count < needed || control.count < needed)
        return (dlb_judgement){DLB_JUDGED_INCONCLUSIVE, NAN, NAN, NAN, NAN};
    double resolution = farthest(&control);
    return (dlb_judgement){kind_of(rule, &change, resolution, r->seconds), expm1(change.value),
                           expm1(change.low), expm1(change.high), expm1(resolution)};
}

size_t dlb_judgement_needed_since(const dlb_judgement_rule *rule)
{
    return dlb_judgement_needed(rule) + 1; /* half of the chance */
}

dlb_judgement dlb_judgement_since(const dlb_judgement_rule *rule, const dlb_judgement_past *r)
{
    double chance = chance_of_one(rule);
    dlb_interval then = dlb_interval_median_sure(r->past, r->past_count, chance / 2);
    dlb_interval now = dlb_interval_median_sure(r->present, r->count, chance / 2);
    dlb_interval control = dlb_interval_median_sure(r->control, r->count, chance);
    size_t needed = dlb_judgement_needed_since(rule);
    if (then.count < needed || now.count < needed || control.count < needed || isnan(r->shift))
        return (dlb_judgement){DLB_JUDGED_INCONCLUSIVE, NAN, NAN, NAN, NAN};
    dlb_interval change = {.count = now.count,
                           .value = now.value - then.value,
                           .low = now.low - then.high,
                           .high = now.high - then.low};
    double resolution = fmax(farthest(&control), fabs(r->shift));
    double seconds_then = r->seconds * exp(-change.value);
    return (dlb_judgement){kind_of(rule, &change, resolution, seconds_then), expm1(change.value),
                           expm1(change.low), expm1(change.high), expm1(resolution)};
}

bool dlb_judgement_needs_repetition(const dlb_judgement *verdict)
{
    return verdict->kind == DLB_JUDGED_SLOWER || verdict->kind == DLB_JUDGED_FASTER;
}

dlb_judgement dlb_judgement_confirmed(const dlb_judgement *first, const dlb_judgement *repetition)
{
    dlb_judgement verdict = *repetition;
    if (first->kind != repetition->kind)
        verdict.kind = DLB_JUDGED_INCONCLUSIVE;
    return verdict;
}
