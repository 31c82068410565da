/*
 * Who exchanges what with whom: arithmetic only.
 *
 * The number of members is a product of factors, and a member's number, written with these factors
 * as bases, has one digit a stage. In a stage, the members that differ in its digit only form a
 * group: the range that all of them hold is cut into as many parts, and each keeps the part of its
 * digit. The least significant digit comes first, so that the first groups are of consecutive
 * members and sums, taken in order of digits, are subtrees of dlk/tree.h where the number of
 * members is a power of two.
 */
#ifndef DLB_COMM_STAGES_H
#define DLB_COMM_STAGES_H

#include "comm/exchange.h"

typedef struct dlb_stage {
    int size;   /* members of a group */
    int place;  /* of this member in its group */
    int stride; /* from a member's number to that of its neighbour in the group */
} dlb_stage;

/* As many as an int has factors, at most. */
enum { DLB_STAGES_MAX = 31 };

typedef struct dlb_stages {
    int self;
    int count;
    dlb_stage stage[DLB_STAGES_MAX];
} dlb_stages;

/*
 * The stages of member `self`. Factors of two are grouped up to `radix`, every other prime is a
 * stage of its own.
 */
void dlb_stages_init(dlb_stages *stages, int members, int self, int radix);

/* The number of the member at a place of this member's group. */
int dlb_stages_member(const dlb_stages *stages, int stage, int place);

/* The part of `whole` that this member holds after its first `count` stages. */
dlb_range dlb_stages_held(const dlb_stages *stages, dlb_range whole, int count);

/* Part number `part` of `parts`, cut at multiples of the grain from the first on; may be empty. */
dlb_range dlb_range_part(dlb_range whole, int parts, int part);

/*
 * How buckets are divided among ranks: first among the `local` ranks of a node, then in stages
 * among the ranks with the same local number of all nodes.
 */
typedef struct dlb_division {
    int local, nodes, radix;
} dlb_division;

/* What the counterparts of `rank` on all nodes divide among them. */
dlb_range dlb_division_node_part(const dlb_division *division, dlb_range bucket, int rank);

/* What is left to `rank`. */
dlb_range dlb_division_slice(const dlb_division *division, dlb_range bucket, int rank);

#endif
