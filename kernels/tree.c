#include "dlk/tree.h"

#include <string.h>

#include "loops.h"

/* Elements that pass through a tree at a time: partial sums stay in the first-level cache. */
enum { BLOCK = 512 };

static void copy(const float *a, size_t count, float *out)
{
    if (out != a)
        memcpy(out, a, count * sizeof *out);
}

static void sum_2(const float *a, const float *b, size_t count, float *out)
{
    DLK_INDEPENDENT
    for (size_t i = 0; i < count; i++)
        out[i] = a[i] + b[i];
}

static void sum_3(const float *a, const float *b, const float *c, size_t count, float *out)
{
    DLK_INDEPENDENT
    for (size_t i = 0; i < count; i++)
        out[i] = (a[i] + b[i]) + c[i];
}

static void sum_4(const float *a, const float *b, const float *c, const float *d, size_t count,
                  float *out)
{
    DLK_INDEPENDENT
    for (size_t i = 0; i < count; i++)
        out[i] = (a[i] + b[i]) + (c[i] + d[i]);
}

/* out[0 … count-1] = the tree's sum over in[…][first … first+count-1], for n of at most 4. */
static void sum_few(int n, const float *const *in, size_t first, size_t count, float *out)
{
    switch (n) {
    case 2:
        sum_2(in[0] + first, in[1] + first, count, out);
        break;
    case 3:
        sum_3(in[0] + first, in[1] + first, in[2] + first, count, out);
        break;
    case 4:
        sum_4(in[0] + first, in[1] + first, in[2] + first, in[3] + first, count, out);
        break;
    default:
        copy(in[0] + first, count, out);
        break;
    }
}

/* The same for any n and a count of at most BLOCK. `out` is written after all has been read. */
// NOLINTNEXTLINE(misc-no-recursion): as deep as the tree
static void sum_block(int n, const float *const *in, size_t first, size_t count, float *out)
{
    if (n <= 4) {
        sum_few(n, in, first, count, out);
        return;
    }
    float left[BLOCK], right[BLOCK];
    int n_left = dlk_tree_left(n);
    sum_block(n_left, in, first, count, left);
    sum_block(n - n_left, in + n_left, first, count, right);
    sum_2(left, right, count, out);
}

void dlk_tree_sum_range(int n, const float *const *in, size_t first, size_t end, float *out)
{
    size_t step = n <= 4 ? end - first : BLOCK;
    for (size_t i = first; i < end; i += step)
        sum_block(n, in, i, end - i < step ? end - i : step, out + i);
}

void dlk_tree_sum(int n, const float *const *in, size_t count, float *out)
{
    dlk_tree_sum_range(n, in, 0, count, out);
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as the tree
double dlk_tree_sum_of(int n, const double *in)
{
    if (n == 1)
        return in[0];
    int left = dlk_tree_left(n);
    return dlk_tree_sum_of(left, in) + dlk_tree_sum_of(n - left, in + left);
}
