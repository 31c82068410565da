/*
 * Softmax and cross-entropy in one: from logits [n][classes] and labels [n].
 *
 * dlogits is NULL, or becomes the gradient of sum(loss) * scale: (softmax - onehot) * scale; it
 * may be logits. The sum of the losses is added up in image order in double. An image with a logit
 * that is not finite has the loss NaN and is not correct.
 */
#ifndef DLK_SOFTMAX_XENT_H
#define DLK_SOFTMAX_XENT_H

#include <stdint.h>

#include "dlk/team.h"

typedef struct dlk_softmax_result {
    double loss_sum; /* of the n images */
    int correct;     /* images whose largest logit (the first of equals) is the label's */
} dlk_softmax_result;

/* `losses` is a buffer of n floats: the loss of each image. */
typedef void dlk_softmax_xent_fn(dlk_team *team, int n, int classes, const float *logits,
                                 const uint8_t *labels, float scale, float *losses, float *dlogits,
                                 dlk_softmax_result *result);

#endif
