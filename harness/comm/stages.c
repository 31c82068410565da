#include "comm/stages.h"

static int smallest_odd_factor(int number)
{
    for (int factor = 3; factor <= number / factor; factor += 2)
        if (number % factor == 0)
            return factor;
    return number;
}

/* The largest power of two that divides `number` and is not more than `radix`; at least 2. */
static int group_of_twos(int number, int radix)
{
    int group = 2;
    while (group <= radix / 2 && number % (group * 2) == 0)
        group *= 2;
    return group;
}

void dlb_stages_init(dlb_stages *stages, int members, int self, int radix)
{
    *stages = (dlb_stages){.self = self};
    for (int stride = 1, rest = members; rest > 1;) {
        int size = rest % 2 ? smallest_odd_factor(rest) : group_of_twos(rest, radix);
        stages->stage[stages->count++] = (dlb_stage){size, self / stride % size, stride};
        stride *= size;
        rest /= size;
    }
}

int dlb_stages_member(const dlb_stages *stages, int stage, int place)
{
    const dlb_stage *s = &stages->stage[stage];
    return stages->self + (place - s->place) * s->stride;
}

static size_t cut(dlb_range whole, int parts, int part)
{
    size_t grains = (dlb_range_length(whole) + DLB_EXCHANGE_GRAIN - 1) / DLB_EXCHANGE_GRAIN;
    size_t at = whole.first + grains * (size_t)part / (size_t)parts * DLB_EXCHANGE_GRAIN;
    return at < whole.end ? at : whole.end;
}

dlb_range dlb_range_part(dlb_range whole, int parts, int part)
{
    return (dlb_range){cut(whole, parts, part), cut(whole, parts, part + 1)};
}

dlb_range dlb_stages_held(const dlb_stages *stages, dlb_range whole, int count)
{
    for (int s = 0; s < count; s++)
        whole = dlb_range_part(whole, stages->stage[s].size, stages->stage[s].place);
    return whole;
}

dlb_range dlb_division_node_part(const dlb_division *division, dlb_range bucket, int rank)
{
    return dlb_range_part(bucket, division->local, rank % division->local);
}

dlb_range dlb_division_slice(const dlb_division *division, dlb_range bucket, int rank)
{
    dlb_stages stages;
    dlb_stages_init(&stages, division->nodes, rank / division->local, division->radix);
    return dlb_stages_held(&stages, dlb_division_node_part(division, bucket, rank), stages.count);
}
