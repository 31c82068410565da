#include "plan/modes.h"

static const char strong[] = "strong", weak[] = "weak", batch_scaled[] = "batch-scaled";

int dlb_mode_check(const char *text, dlb_error *err)
{
    static const char *const modes[] = {DLB_MODE_NONE, strong, weak, batch_scaled};
    size_t count = sizeof modes / sizeof *modes;
    for (size_t i = 0; i < count; i++)
        if (strcmp(text, modes[i]) == 0)
            return 0;
    const char *closest = dlb_closest(text, modes, count);
    return dlb_fail(err, DLB_BAD_INPUT,
                    "mode = %.80s: must be one of none|strong|weak|batch-scaled%s%s%s", text,
                    closest ? "; did you mean " : "", closest ? closest : "", closest ? "?" : "");
}

uint64_t dlb_mode_derives(const char *mode)
{
    if (strcmp(mode, strong) == 0)
        return UINT64_C(1) << DLB_KEY_batch | UINT64_C(1) << DLB_KEY_lr_scaling;
    return strcmp(mode, weak) == 0 ? UINT64_C(1) << DLB_KEY_train_images : 0;
}

static long long integer(const dlb_draft *draft, enum dlb_key key)
{
    return draft->index[key] == DLB_VALUE_MISSING ? 0 : draft->values[key].integer;
}

static long long workers_of(const dlb_draft *draft)
{
    long long workers = integer(draft, DLB_KEY_workers), ranks = integer(draft, DLB_KEY_ranks);
    return workers ? workers : ranks ? ranks : 1;
}

static int override_integer(dlb_draft *draft, enum dlb_key key, long long value, dlb_error *err)
{
    dlb_scalar scalar = {DLB_SCALAR_INT, {.integer = value}};
    return dlb_draft_override(draft, key, &scalar, err);
}

static int apply_strong(dlb_draft *draft, dlb_error *err)
{
    static const dlb_scalar unscaled = {DLB_SCALAR_TEXT, {.text = "none"}};
    long long batch = integer(draft, DLB_KEY_batch), workers = workers_of(draft);
    if (batch == 0)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "mode = strong divides batch among the workers; give batch");
    if (batch % workers)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "mode = strong: batch = %lld cannot be divided evenly among %lld workers",
                        batch, workers);
    if (override_integer(draft, DLB_KEY_batch, batch / workers, err) < 0)
        return DLB_BAD_INPUT;
    return dlb_draft_override(draft, DLB_KEY_lr_scaling, &unscaled, err);
}

static int apply_weak(dlb_draft *draft, dlb_error *err)
{
    long long images = integer(draft, DLB_KEY_train_images);
    if (images == 0)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "mode = weak gives every worker as many images; give train_images, those "
                        "of one worker");
    return override_integer(draft, DLB_KEY_train_images, images * workers_of(draft), err);
}

static int check_batch_scaled(const dlb_draft *draft, dlb_error *err)
{
    if (strcmp(dlb_draft_text(draft, DLB_KEY_lr_scaling), "none") == 0)
        return dlb_fail(err, DLB_BAD_INPUT,
                        "mode = batch-scaled lets the learning rate grow with the batch; "
                        "lr_scaling = none contradicts it, give sqrt or linear");
    return 0;
}

int dlb_mode_apply(dlb_draft *draft, dlb_error *err)
{
    const char *mode = dlb_draft_text(draft, DLB_SLOT_MODE);
    if (strcmp(mode, strong) == 0)
        return apply_strong(draft, err);
    if (strcmp(mode, weak) == 0)
        return apply_weak(draft, err);
    return strcmp(mode, batch_scaled) == 0 ? check_batch_scaled(draft, err) : 0;
}
