/* What holds for the forward kernel of every stage, besides the values of stage_kit.h. */
#ifndef FORWARD_KIT_H
#define FORWARD_KIT_H

#include "stage_kit.h"

/* Check the kernel of that name on every instruction set that this machine has. */
typedef void forward_check_fn(const dlk_stage_forward *kernel);
void on_every_isa(const char *name, forward_check_fn *check);

/* The same of a check that a convolution is given to, as most of those below are. */
typedef void forward_conv_check_fn(const dlk_stage_forward *kernel, dlk_conv2d conv);
void with_conv(const char *name, forward_conv_check_fn *check, dlk_conv2d conv);

/* Every shape with a ReLU, with and without a pool, against double. */
void check_forward_shapes(const dlk_stage_forward *kernel, const dlk_conv2d *shapes, size_t count,
                          double bound);

/* Every combination of ReLU, pool, winners and dropout that the kernel fits, against double. */
void check_forward_tails(const dlk_stage_forward *kernel, dlk_conv2d conv, double bound);

/* Windows that end at 0 or less behind a ReLU are 0 and dead, every one of them. */
void check_forward_dead(const dlk_stage_forward *kernel, dlk_conv2d conv);

/* Of equals the first wins, with a ReLU and without. */
void check_forward_ties(const dlk_stage_forward *kernel, dlk_conv2d conv);

/* A NaN or an infinity in any input, weight or bias ends in a y that is not finite. */
void check_forward_not_finite(const dlk_stage_forward *kernel, dlk_conv2d conv);

/* x and y as planes, alone and both, change no bit of y: they only lie elsewhere. */
void check_forward_planes(const dlk_stage_forward *kernel, dlk_conv2d conv);

/* Where arrays lie in memory changes no bit. */
void check_forward_alignment(const dlk_stage_forward *kernel, dlk_conv2d conv);

#endif
