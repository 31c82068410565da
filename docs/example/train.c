/* Train for one epoch and show it. Build: cc train.c $(pkg-config --cflags --libs dlbench) */
#include <dlbench/trainer.h>
#include <stdio.h>

static int show(void *arg, const dlbench_progress *p)
{
    (void)arg;
    if (p->step % 10 == 0)
        printf("step %d of %d: loss %.3f\n", p->step, p->steps, p->train.loss);
    return 0; /* anything else stops the training */
}

int main(void)
{
    dlbench_error err;
    dlbench_epoch epoch;
    dlbench_trainer *trainer = dlbench_trainer_create();
    dlbench_trainer_on_step(trainer, show, NULL);
    int status = dlbench_trainer_set(trainer, "model", "horovod_cnn", &err);
    if (status == 0)
        status = dlbench_trainer_set(trainer, "train_images", "6400", &err);
    if (status == 0)
        status = dlbench_trainer_load(trainer, &err);
    if (status == 0)
        status = dlbench_trainer_epoch(trainer, &epoch, &err);
    if (status == 0)
        printf("test accuracy %.3f after %.1f s\n", epoch.test.accuracy, epoch.seconds);
    else
        fprintf(stderr, "%s\n", err.message);
    dlbench_trainer_destroy(trainer);
    return status == 0 ? 0 : 1;
}
