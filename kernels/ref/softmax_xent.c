#include <math.h>
#include <stdbool.h>

#include "loops.h"
#include "ref/ref.h"

enum { IMAGES_A_TASK = 16 };

typedef struct softmax_job {
    int n, classes;
    const float *logits;
    const uint8_t *labels;
    float scale;
    float *losses, *dlogits;
    _Atomic int correct; /* a count of whole images: the order of adding does not matter */
} softmax_job;

static bool all_finite(int classes, const float *logits)
{
    bool finite = true;
    for (int i = 0; i < classes; i++)
        finite &= isfinite(logits[i]) != 0;
    return finite;
}

/* The first of the largest. */
static int largest(int classes, const float *logits)
{
    int best = 0;
    for (int i = 1; i < classes; i++)
        if (logits[i] > logits[best])
            best = i;
    return best;
}

static double exp_sum(int classes, const float *logits, float max)
{
    double sum = 0;
    for (int i = 0; i < classes; i++)
        sum += (double)expf(logits[i] - max);
    return sum;
}

static void gradient(int classes, const float *logits, float max, double sum, int label,
                     float scale, float *dlogits)
{
    for (int i = 0; i < classes; i++) {
        double probability = (double)expf(logits[i] - max) / sum;
        dlogits[i] = (float)(probability - (i == label)) * scale;
    }
}

static void softmax_image(softmax_job *job, size_t image)
{
    int classes = job->classes, label = job->labels[image];
    const float *logits = job->logits + image * (size_t)classes;
    bool finite = all_finite(classes, logits);
    int best = largest(classes, logits);
    float max = logits[best];
    double sum = exp_sum(classes, logits, max);
    job->losses[image] = finite ? (float)(log(sum) - ((double)logits[label] - (double)max)) : NAN;
    job->correct += finite && best == label;
    if (job->dlogits)
        gradient(classes, logits, max, sum, label, job->scale,
                 job->dlogits + image * (size_t)classes);
}

static void softmax_images(void *arg, int task, int thread)
{
    (void)thread;
    softmax_job *job = arg;
    dlk_range images = dlk_piece((size_t)job->n, IMAGES_A_TASK, task);
    for (size_t image = images.first; image < images.end; image++)
        softmax_image(job, image);
}

void dlk_ref_softmax_xent(dlk_team *team, int n, int classes, const float *logits,
                          const uint8_t *labels, float scale, float *losses, float *dlogits,
                          dlk_softmax_result *result)
{
    softmax_job job = {n, classes, logits, labels, scale, losses, dlogits, 0};
    dlk_parallel(team, dlk_pieces((size_t)n, IMAGES_A_TASK), softmax_images, &job);
    result->correct = job.correct;
    result->loss_sum = 0;
    for (int image = 0; image < n; image++)
        result->loss_sum += (double)losses[image];
}
