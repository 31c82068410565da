#include "train/init.h"

#include <math.h>

#include "dlk/rng.h"

static void fill_uniform(float *values, int count, const dlk_rng_key *key, uint32_t first,
                         double limit)
{
    for (int i = 0; i < count; i++) {
        double u = (double)dlk_rng_uniform(key, first + (uint32_t)i);
        values[i] = (float)((2 * u - 1) * limit);
    }
}

static void init_block(float *parameters, const dlb_block *block, dlb_init init,
                       const dlk_rng_key *key)
{
    float *biases = parameters + block->weights;
    if (init == DLB_INIT_GLOROT) {
        fill_uniform(parameters, block->weights, key, 0,
                     sqrt(6.0 / (block->fan_in + block->fan_out)));
        memset(biases, 0, (size_t)block->biases * sizeof *biases);
    } else {
        double limit = 1 / sqrt(block->fan_in);
        fill_uniform(parameters, block->weights, key, 0, limit);
        fill_uniform(biases, block->biases, key, (uint32_t)block->weights, limit);
    }
}

void dlb_init_parameters(dlb_graph *graph, dlb_init init, uint32_t seed)
{
    for (int i = 0; i < dlb_graph_block_count(graph); i++) {
        const dlb_block *block = dlb_graph_block(graph, i);
        dlk_rng_key key = {.seed = seed, .purpose = DLK_RNG_INIT, .stream = (uint16_t)i};
        init_block(dlb_graph_parameters(graph) + block->offset, block, init, &key);
    }
}
