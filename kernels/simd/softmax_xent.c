/* As many images at a time as a vector has elements, class after class. */
#include <math.h>

#include "loops.h"
#include "ref/ref.h"
#include "simd/exp.h"
#include "simd/simd.h"

/* What a stack may hold; forking for fewer images takes longer than computing them. */
enum { MAX_CLASSES = 64, IMAGES_A_TASK = 256 };

typedef struct softmax_job {
    int n, classes;
    const float *logits;
    const uint8_t *labels;
    float scale;
    float *losses, *dlogits;
    _Atomic int correct; /* a count of whole images: the order of adding does not matter */
} softmax_job;

/* Up to V images: [classes][V] logits, then their exponentials. */
typedef struct group {
    size_t first;
    int images;
    vec class[MAX_CLASSES];
    vec max;
    ivec best; /* the first class with the largest logit; -1: some logit is not finite */
    vec rest;  /* the sum of the exponentials of all classes but `best`, whose own is 1 */
} group;

static void gather(const softmax_job *job, group *g)
{
    int classes = job->classes;
    const float *logits = job->logits + g->first * (size_t)classes;
    memset(g->class, 0, (size_t)classes * sizeof *g->class);
    for (int i = 0; i < g->images; i++, logits += classes)
        for (int c = 0; c < classes; c++)
            g->class[c][i] = logits[c];
}

static void find_best(group *g, int classes)
{
    ivec finite = g->class[0] - g->class[0] == 0.0F;
    g->max = g->class[0];
    g->best = (ivec){0};
    for (int c = 1; c < classes; c++) {
        vec x = g->class[c];
        ivec larger = x > g->max;
        finite &= x - x == 0.0F;
        g->max = choose(larger, x, g->max);
        g->best = (larger & c) | (~larger & g->best);
    }
    g->best |= ~finite;
}

static void exponentiate(group *g, int classes)
{
    g->rest = (vec){0};
    for (int c = 0; c < classes; c++) {
        g->class[c] = exp_negative(g->class[c] - g->max);
        g->rest += choose(g->best == c, (vec){0}, g->class[c]);
    }
}

/* Through the rest, a loss near 0 keeps all its digits. */
static int count_losses(const softmax_job *job, const group *g)
{
    int correct = 0;
    for (int i = 0; i < g->images; i++) {
        size_t image = g->first + (size_t)i;
        int label = job->labels[image];
        double logit = (double)job->logits[image * (size_t)job->classes + (size_t)label];
        double loss = log1p((double)g->rest[i]) - (logit - (double)g->max[i]);
        job->losses[image] = g->best[i] < 0 ? NAN : (float)loss;
        correct += g->best[i] == label;
    }
    return correct;
}

static void write_gradient(const softmax_job *job, group *g)
{
    int classes = job->classes;
    float *dlogits = job->dlogits + g->first * (size_t)classes;
    vec sum = choose(g->best < 0, splat(NAN), g->rest + 1.0F);
    for (int c = 0; c < classes; c++)
        g->class[c] = g->class[c] / sum;
    for (int i = 0; i < g->images; i++, dlogits += classes) {
        int label = job->labels[g->first + (size_t)i];
        for (int c = 0; c < classes; c++)
            dlogits[c] = (g->class[c][i] - (float)(c == label)) * job->scale;
    }
}

static void softmax_images(void *arg, int task, int thread)
{
    (void)thread;
    softmax_job *job = arg;
    dlk_range images = dlk_piece((size_t)job->n, IMAGES_A_TASK, task);
    int correct = 0;
    for (size_t first = images.first; first < images.end; first += V) {
        size_t left = images.end - first;
        group g = {.first = first, .images = left < V ? (int)left : V};
        gather(job, &g);
        find_best(&g, job->classes);
        exponentiate(&g, job->classes);
        correct += count_losses(job, &g);
        if (job->dlogits)
            write_gradient(job, &g);
    }
    job->correct += correct;
}

void DLK_SIMD(softmax_xent)(dlk_team *team, int n, int classes, const float *logits,
                            const uint8_t *labels, float scale, float *losses, float *dlogits,
                            dlk_softmax_result *result)
{
    if (classes > MAX_CLASSES) {
        dlk_ref_softmax_xent(team, n, classes, logits, labels, scale, losses, dlogits, result);
        return;
    }
    softmax_job job = {n, classes, logits, labels, scale, losses, dlogits, 0};
    dlk_parallel(team, dlk_pieces((size_t)n, IMAGES_A_TASK), softmax_images, &job);
    result->correct = job.correct;
    result->loss_sum = 0;
    for (int image = 0; image < n; image++)
        result->loss_sum += (double)losses[image];
}
