#include "train/buckets.h"

#include "base/mem.h"

_Static_assert(DLB_BLOCK_GRAIN % DLB_EXCHANGE_GRAIN == 0, "buckets may begin where blocks do");

static dlb_range range_of(const dlb_graph *graph, const dlb_group *group)
{
    bool last = group->end_block == dlb_graph_block_count(graph);
    size_t end = last ? dlb_graph_size(graph) : dlb_graph_block(graph, group->end_block)->offset;
    return (dlb_range){dlb_graph_block(graph, group->first_block)->offset, end};
}

static bool fits(const dlb_group *group, const dlb_graph *graph, size_t limit, dlb_fusion fusion)
{
    enum { SMALL = 32 * 1024 }; /* floats */
    dlb_range range = range_of(graph, group);
    size_t floats = range.end - range.first;
    if (fusion == DLB_FUSE_SMALL)
        return floats <= SMALL && group->end_block - group->first_block <= DLB_FUSED_SMALL;
    return fusion == DLB_FUSE_ALL || floats <= limit;
}

/* Extend the group downwards while all of it fits. */
static void fuse(dlb_group *group, const dlb_graph *graph, size_t limit, dlb_fusion fusion)
{
    while (group->first_block > 0) {
        dlb_group larger = *group;
        larger.first_block--;
        if (!fits(&larger, graph, limit, fusion))
            return;
        *group = larger;
    }
}

static int pieces_of(dlb_range range, size_t limit)
{
    return (int)((range.end - range.first + limit - 1) / limit);
}

/* The last piece comes first, as layers do. */
static void cut(dlb_buckets *b, dlb_group *group, dlb_range range, size_t limit)
{
    int pieces = pieces_of(range, limit);
    b->buckets = dlb_grow(b->buckets, &b->bucket_capacity, (size_t)(b->bucket_count + pieces),
                          sizeof *b->buckets);
    group->first_bucket = b->bucket_count;
    for (int piece = pieces - 1; piece >= 0; piece--) {
        size_t first = range.first + (size_t)piece * limit;
        size_t end = piece == pieces - 1 ? range.end : first + limit;
        b->buckets[b->bucket_count++] = (dlb_range){first, end};
    }
    group->end_bucket = b->bucket_count;
}

void dlb_buckets_init(dlb_buckets *b, const dlb_graph *graph, size_t limit, dlb_fusion fusion)
{
    int blocks = dlb_graph_block_count(graph);
    size_t grains = limit / DLB_EXCHANGE_GRAIN ? limit / DLB_EXCHANGE_GRAIN : 1;
    limit = fusion == DLB_FUSE_SMALL ? dlb_graph_size(graph) : grains * DLB_EXCHANGE_GRAIN;
    *b = (dlb_buckets){.groups = dlb_alloc((size_t)blocks, sizeof *b->groups)};
    for (int end = blocks; end > 0;) {
        dlb_group *group = &b->groups[b->group_count++];
        *group = (dlb_group){.first_block = end - 1, .end_block = end};
        fuse(group, graph, limit, fusion);
        cut(b, group, range_of(graph, group), limit);
        end = group->first_block;
    }
}

void dlb_buckets_release(dlb_buckets *b)
{
    free(b->buckets);
    free(b->groups);
    *b = (dlb_buckets){0};
}

int dlb_buckets_group_of(const dlb_buckets *b, int block)
{
    int group = 0;
    while (b->groups[group].first_block > block)
        group++;
    return group;
}
