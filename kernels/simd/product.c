#include "simd/product.h"

#include <string.h>

/* Columns and rows of C that a dense product keeps in registers. */
enum { TILE_VECTORS = 4, GROUP = DLK_WIDTH == 16 ? 4 : 3 };

/* From this many non-zeros of DEPTH on, a row is computed densely. */
enum { DENSE_FROM = DLK_WIDTH == 16 ? 40 : 34 };

/* C, and what it becomes the product of. */
typedef struct product {
    const factors *s;
    const float *d;
    float *c;
    size_t c_stride;
    bool fresh;
    uint64_t always; /* elements of a row of S that count even if they are zero */
} product;

DLK_INLINE int smaller(int a, int b)
{
    return a < b ? a : b;
}

DLK_INLINE uint64_t nonzeros_up_to(const float *s, int depth)
{
    uint64_t bits = 0;
    int k = 0;
    for (; k + V <= depth; k += V)
        bits |= (uint64_t)mask_bits(load(s + k) != 0.0F) << k;
    for (; k < depth; k++)
        bits |= (uint64_t)(s[k] != 0.0F) << k;
    return bits;
}

/* Bit k: s[k] is not zero. The loops of whole pieces are unrolled. */
DLK_INLINE uint64_t nonzeros(const float *s, int depth)
{
    return depth == DEPTH ? nonzeros_up_to(s, DEPTH) : nonzeros_up_to(s, depth);
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first of eight is the lowest byte");

_Static_assert(MOST_ROWS <= UINT8_MAX, "a count of rows is a byte");

/* Each count becomes the sum of those up to it. */
static void sum_up(uint8_t *counts, int count)
{
    const uint64_t ones = 0x0101010101010101;
    uint64_t before = 0, eight;
    for (int i = 0; i < count; i += (int)sizeof eight) {
        memcpy(&eight, counts + i, sizeof eight);
        eight = (eight + before) * ones;
        memcpy(counts + i, &eight, sizeof eight);
        before = eight >> 56;
    }
}

/*
 * Where rows with equally many non-zeros follow each other, the processor foresees the end of the
 * loop over them.
 */
static void sort_rows(factors *f)
{
    uint8_t count[MOST_ROWS], end[DEPTH + 8] = {0};
    for (int r = 0; r < f->rows; r++) {
        count[r] = (uint8_t)__builtin_popcountll(f->wanted[r]);
        end[count[r]]++;
    }
    sum_up(end, DEPTH + 8);
    for (int r = f->rows - 1; r >= 0; r--)
        f->order[--end[count[r]]] = (uint8_t)r;
}

/* Row after row, because memory is read fastest from one end to the other. */
void DLK_SIMD(find_factors)(const float *s, size_t stride, int rows, int depth, factors *found)
{
    for (int k = 0, i = 0; k < depth; k += DEPTH, i++) {
        found[i].s = s + k;
        found[i].stride = stride;
        found[i].rows = rows;
        found[i].depth = smaller(DEPTH, depth - k);
    }
    for (int r = 0; r < rows; r++)
        for (int k = 0, i = 0; k < depth; k += DEPTH, i++)
            found[i].wanted[r] = nonzeros(s + (size_t)r * stride + k, found[i].depth);
    for (int k = 0, i = 0; k < depth; k += DEPTH, i++)
        sort_rows(&found[i]);
}

DLK_INLINE void add_row(const product *p, int vectors, int r)
{
    const float *s = p->s->s + (size_t)r * p->s->stride;
    float *c = p->c + (size_t)r * p->c_stride;
    vec sum[BLOCK_VECTORS];
    for (int v = 0; v < vectors; v++)
        sum[v] = p->fresh ? (vec){0} : load(c + v * V);
    for (uint64_t wanted = p->s->wanted[r] | p->always; wanted; wanted &= wanted - 1) {
        int k = __builtin_ctzll(wanted);
        vec factor = splat(s[k]);
        const float *row = p->d + k * vectors * V;
        for (int v = 0; v < vectors; v++)
            sum[v] += factor * load(row + v * V);
    }
    for (int v = 0; v < vectors; v++)
        store(c + v * V, sum[v]);
}

/* GROUP rows and `vectors` of the block's `d_vectors`, from number `first` on. */
DLK_INLINE void add_tile(const product *p, int vectors, int d_vectors, int first,
                         const uint8_t rows[GROUP])
{
    const float *d = p->d + first * V, *s[GROUP];
    float *c[GROUP];
    vec sum[GROUP][TILE_VECTORS];
    for (int r = 0; r < GROUP; r++) {
        s[r] = p->s->s + (size_t)rows[r] * p->s->stride;
        c[r] = p->c + (size_t)rows[r] * p->c_stride + first * V;
        for (int v = 0; v < vectors; v++)
            sum[r][v] = p->fresh ? (vec){0} : load(c[r] + v * V);
    }
    for (int k = 0; k < p->s->depth; k++, d += d_vectors * V) {
        vec factor[GROUP];
        for (int r = 0; r < GROUP; r++)
            factor[r] = splat(s[r][k]);
        for (int v = 0; v < vectors; v++) {
            vec element = load(d + v * V);
            for (int r = 0; r < GROUP; r++)
                sum[r][v] += factor[r] * element;
        }
    }
    for (int r = 0; r < GROUP; r++)
        for (int v = 0; v < vectors; v++)
            store(c[r] + v * V, sum[r][v]);
}

DLK_INLINE void add_rows(const product *p, int vectors)
{
    const factors *s = p->s;
    int tile = vectors % 3 ? smaller(vectors, TILE_VECTORS) : 3, left = s->rows;
    int dense_from = DENSE_FROM * s->depth / DEPTH;
    for (; left >= GROUP; left -= GROUP) {
        const uint8_t *rows = s->order + left - GROUP;
        if (__builtin_popcountll(s->wanted[rows[0]]) < dense_from)
            break;
        for (int v = 0; v < vectors; v += tile)
            add_tile(p, tile, vectors, v, rows);
    }
    for (int i = 0; i < left; i++)
        add_row(p, vectors, s->order[i]);
}

void DLK_SIMD(add_product)(const factors *s, const block *d, bool fresh, float *c, size_t c_stride)
{
    /* A product with zero is zero, but for what is not finite. */
    uint64_t all = UINT64_MAX >> (DEPTH - d->depth);
    product p = {s, d->rows, c, c_stride, fresh, d->finite ? 0 : all};
    switch (d->vectors) {
    case 1:
        add_rows(&p, 1);
        break;
    case 2:
        add_rows(&p, 2);
        break;
    case 3:
        add_rows(&p, 3);
        break;
    case 4:
        add_rows(&p, 4);
        break;
    case 6:
        add_rows(&p, 6);
        break;
    default:
        add_rows(&p, 8);
        break;
    }
}
