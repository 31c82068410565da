#include "train/checkpoint.h"

#include <limits.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>

#include <criterion/criterion.h>

#include "base/file.h"
#include "base/mem.h"
#include "data/checksum.h"
#include "support/tempdir.h"

enum { ARRAYS = 3, FLOATS = 5, EPOCHS = 2, SUM = sizeof(uint64_t) };

static tempdir dir;
static dlb_checkpoint original;
static dlb_str bytes; /* of the original */

/* What arithmetic and comparison would not tell apart: a NaN with a payload, zeros, denormals. */
static const uint32_t odd_floats[FLOATS] = {0x7fc12345, 0x80000000, 0x00000001, 0x807fffff,
                                            0xff800000};

/* Every byte of every field is set; what lies between the fields is 0, as in one that was read. */
static dlb_epoch filled_epoch(int byte)
{
    dlb_epoch epoch;
    memset(&epoch, byte, sizeof epoch);
    memset((char *)&epoch + sizeof epoch.number, 0, offsetof(dlb_epoch, lr) - sizeof epoch.number);
    return epoch;
}

static void fill_arrays(dlb_checkpoint *c)
{
    c->count = FLOATS;
    c->array_count = ARRAYS;
    for (int i = 0; i < ARRAYS; i++) {
        c->arrays[i] = dlb_alloc(FLOATS, sizeof(float));
        for (int j = 0; j < FLOATS; j++)
            memcpy(&c->arrays[i][j], &odd_floats[(i + j) % FLOATS], sizeof(float));
    }
}

static void fill(dlb_checkpoint *c)
{
    dlb_checkpoint_init(c);
    cr_assert_eq(dlb_workload_set(&c->workload, DLB_KEY_batch, "64", NULL), 0);
    cr_assert_eq(dlb_workload_set(&c->workload, DLB_KEY_data, "my data/m\xc3\xa4rz ", NULL), 0);
    cr_assert_eq(dlb_workload_set_default(&c->workload, DLB_KEY_lr, "0.1", NULL), 0);
    c->data_checksum = 0xfedcba9876543210;
    snprintf(c->setting, sizeof c->setting, "2 ranks x 1 threads on vm");
    c->epoch_count = EPOCHS;
    c->epochs = dlb_alloc(EPOCHS, sizeof *c->epochs);
    for (int i = 0; i < EPOCHS; i++)
        c->epochs[i] = filled_epoch(0x11 * (i + 1));
    c->evaluation_due = true;
    c->step = 3;
    c->under_way = filled_epoch(0x44);
    c->loss_sum = 1.0 / 3;
    c->correct = 1234567890123;
    c->steps = 7;
    c->images = 9007199254740993; /* no double is equal to it */
    c->updates = INT64_MAX;
    c->timed = true;
    c->time_to_solution_s = -0.0;
    c->time_to_target_s = NAN;
    c->eval_s = 5e-324;
    c->plateau = (dlb_plateau){INFINITY, 0.001, 2};
    fill_arrays(c);
}

static void setup(void)
{
    tempdir_make(&dir);
    fill(&original);
    cr_assert_eq(dlb_checkpoint_format(&original, &bytes, NULL), 0);
}

static void teardown(void)
{
    dlb_str_release(&bytes);
    dlb_checkpoint_release(&original);
    tempdir_remove(&dir);
}

TestSuite(checkpoint, .init = setup, .fini = teardown);

static void assert_same_workload(const dlb_workload *workload, const dlb_workload *expected)
{
    for (int key = 0; key < DLB_KEY_COUNT; key++) {
        dlb_str a = DLB_STR_INIT, b = DLB_STR_INIT;
        dlb_workload_get(workload, key, &a);
        dlb_workload_get(expected, key, &b);
        cr_assert_str_eq(a.text, b.text, "%s", dlb_key_info(key)->name);
        dlb_str_release(&b);
        dlb_str_release(&a);
    }
}

static void assert_same_progress(const dlb_checkpoint *c)
{
    cr_assert_eq(c->data_checksum, original.data_checksum);
    cr_assert_str_eq(c->setting, original.setting);
    cr_assert_eq(c->evaluation_due, true);
    cr_assert_eq(c->step, 3);
    cr_assert_eq(c->loss_sum, 1.0 / 3);
    cr_assert_eq(c->correct, 1234567890123);
    cr_assert_eq(c->steps, 7);
    cr_assert_eq(c->images, 9007199254740993);
    cr_assert_eq(c->updates, INT64_MAX);
}

static void assert_same_times(const dlb_checkpoint *c)
{
    cr_assert_eq(c->timed, true);
    cr_assert(c->time_to_solution_s == 0 && signbit(c->time_to_solution_s));
    cr_assert(isnan(c->time_to_target_s));
    cr_assert_eq(c->eval_s, 5e-324);
    cr_assert_eq(c->plateau.lowest, INFINITY);
    cr_assert_eq(c->plateau.factor, 0.001);
    cr_assert_eq(c->plateau.waited, 2);
}

static void assert_same(const dlb_checkpoint *c)
{
    assert_same_workload(&c->workload, &original.workload);
    assert_same_progress(c);
    assert_same_times(c);
    cr_assert_eq(c->epoch_count, EPOCHS);
    cr_assert_eq(memcmp(c->epochs, original.epochs, EPOCHS * sizeof *c->epochs), 0);
    cr_assert_eq(memcmp(&c->under_way, &original.under_way, sizeof c->under_way), 0);
    cr_assert_eq(c->count, FLOATS);
    cr_assert_eq(c->array_count, ARRAYS);
    for (int i = 0; i < ARRAYS; i++)
        cr_assert_eq(memcmp(c->arrays[i], original.arrays[i], FLOATS * sizeof(float)), 0);
}

static void assert_holds_nothing(const dlb_checkpoint *c)
{
    static const dlb_checkpoint nothing;
    cr_assert_eq(memcmp(c, &nothing, sizeof nothing), 0);
}

/* Refused with one message that names the file, says `what` is wrong, and how to go on. */
static void assert_refused(const char *input, size_t count, const char *what)
{
    dlb_checkpoint c;
    dlb_error err;
    cr_assert_eq(dlb_checkpoint_parse(&c, "ckpt.bin", input, count, &err), DLB_BAD_INPUT, "%s",
                 what);
    cr_assert_eq(strncmp(err.message, "ckpt.bin: ", 10), 0, "%s", err.message);
    cr_assert(strstr(err.message, what), "%s: %s", what, err.message);
    cr_assert(strstr(err.message, "; remove it to start anew, or give another --checkpoint file"),
              "%s", err.message);
    assert_holds_nothing(&c);
}

Test(checkpoint, a_file_reads_back_as_what_was_written)
{
    dlb_checkpoint back;
    dlb_error err;
    const char *path = tempdir_file(&dir, "ckpt.bin");
    cr_assert_eq(dlb_checkpoint_write(&original, path, &err), 0, "%s", err.message);
    cr_assert_eq(dlb_checkpoint_read(&back, path, &err), 0, "%s", err.message);
    assert_same(&back);
    dlb_checkpoint_release(&back);
    cr_assert_eq(tempdir_count(&dir), 1);
}

Test(checkpoint, one_before_the_first_epoch_reads_back)
{
    dlb_checkpoint first, back;
    dlb_str start = DLB_STR_INIT;
    dlb_error err;
    dlb_checkpoint_init(&first);
    first.array_count = 1;
    first.arrays[0] = dlb_alloc(first.count, sizeof(float));
    cr_assert_eq(dlb_checkpoint_format(&first, &start, NULL), 0);
    cr_assert_eq(dlb_checkpoint_parse(&back, "start", start.text, start.length, &err), 0, "%s",
                 err.message);
    assert_same_workload(&back.workload, &first.workload);
    cr_assert_eq(back.epoch_count, 0);
    cr_assert_eq(back.count, 0);
    dlb_checkpoint_release(&back);
    dlb_str_release(&start);
    dlb_checkpoint_release(&first);
}

Test(checkpoint, nothing_counts_as_given_by_the_user)
{
    dlb_checkpoint back;
    cr_assert_eq(dlb_checkpoint_parse(&back, "ckpt.bin", bytes.text, bytes.length, NULL), 0);
    cr_assert_eq(back.workload.batch, 64);
    cr_assert_eq(back.workload.lr, 0.1);
    cr_assert_eq(back.workload.given, 0);
    dlb_checkpoint_release(&back);
}

Test(checkpoint, one_that_is_cut_anywhere_is_refused)
{
    assert_refused(bytes.text, 0, "is empty");
    assert_refused(bytes.text, 5, "is no checkpoint of dlbench");
    for (size_t count = 1; count < bytes.length; count++)
        assert_refused(bytes.text, count, "");
    assert_refused(bytes.text, bytes.length - 1, "was cut or changed");
}

Test(checkpoint, one_with_any_bit_changed_is_refused)
{
    for (size_t bit = 0; bit < 8 * bytes.length; bit++) {
        bytes.text[bit / 8] ^= (char)(1u << bit % 8);
        assert_refused(bytes.text, bytes.length, "");
        bytes.text[bit / 8] ^= (char)(1u << bit % 8);
    }
}

Test(checkpoint, one_with_bytes_after_its_end_is_refused)
{
    dlb_str_add(&bytes, "x");
    assert_refused(bytes.text, bytes.length, "was cut or changed");
}

Test(checkpoint, other_files_are_refused)
{
    static const char other[] = "{\"schema\": 1}";
    assert_refused(other, strlen(other), "is no checkpoint of dlbench");
}

Test(checkpoint, a_file_that_is_empty_or_not_there_is_named)
{
    dlb_checkpoint c;
    dlb_error err;
    const char *path = tempdir_file(&dir, "ckpt.bin");
    cr_assert_eq(dlb_checkpoint_read(&c, path, &err), DLB_BAD_INPUT);
    cr_assert(strstr(err.message, path), "%s", err.message);
    assert_holds_nothing(&c);
    cr_assert_eq(dlb_file_write_atomic(path, "", 0, NULL), 0);
    cr_assert_eq(dlb_checkpoint_read(&c, path, &err), DLB_BAD_INPUT);
    cr_assert(strstr(err.message, path) && strstr(err.message, "is empty"), "%s", err.message);
    assert_holds_nothing(&c);
}

static void seal(dlb_str *changed)
{
    uint64_t sum = dlb_checksum(0, (const uint8_t *)changed->text, changed->length);
    dlb_str_add_bytes(changed, (const char *)&sum, sizeof sum);
}

/* With a checksum that agrees, so that only what the header says is left to judge. */
static void assert_edit_refused(const char *from, const char *to, const char *what)
{
    dlb_str changed = DLB_STR_INIT;
    const char *at = memmem(bytes.text, bytes.length, from, strlen(from));
    cr_assert_not_null(at, "%s", from);
    size_t before = (size_t)(at - bytes.text), after = before + strlen(from);
    dlb_str_add_bytes(&changed, bytes.text, before);
    dlb_str_add(&changed, to);
    dlb_str_add_bytes(&changed, bytes.text + after, bytes.length - SUM - after);
    seal(&changed);
    assert_refused(changed.text, changed.length, what);
    dlb_str_release(&changed);
}

Test(checkpoint, another_version_or_byte_order_is_refused)
{
    assert_edit_refused("checkpoint 1 ", "checkpoint 2 ", "is of another version");
    assert_edit_refused("little-endian", "big-endian", "another byte order");
}

Test(checkpoint, lines_that_are_missing_repeated_unknown_or_misplaced_are_refused)
{
    assert_edit_refused("\nsteps 7", "", "has \"images 9007199254740993\" where");
    assert_edit_refused("\nsteps 7", "\nsteps 7\nsteps 7", "has \"steps 7\" where");
    assert_edit_refused("\nsteps 7", "\nstepz 7", "where this version of dlbench has steps");
    assert_edit_refused("\nsteps 7", "\nsteps", "has \"steps\" where");
    assert_edit_refused("\nworkload.seed 1", "", "dlbench has workload.seed");
    assert_edit_refused("epoch_count 2", "epoch_count 1", "has \"epoch.number");
    assert_edit_refused("\n\n", "\nmore 1\n\n", "has an unknown line \"more 1\"");
    assert_edit_refused("\nsteps 7", "\n\nsteps 7", "its header ends before steps");
    assert_edit_refused("\nworkload.model", "\n\nworkload.model", "ends before workload.model");
}

Test(checkpoint, a_header_that_is_no_text_is_refused)
{
    char *at = strstr(bytes.text, "steps 7");
    *at = '\0';
    bytes.length -= SUM;
    seal(&bytes);
    assert_refused(bytes.text, bytes.length, "its header is not text");
}

Test(checkpoint, a_header_without_end_is_refused)
{
    bytes.length = (size_t)(strstr(bytes.text, "\n\n") + 1 - bytes.text);
    seal(&bytes);
    assert_refused(bytes.text, bytes.length, "its header is not text that ends with an empty line");
}

Test(checkpoint, wrong_values_are_refused)
{
    char long_setting[300] = "setting ";
    memset(long_setting + 8, 'x', sizeof original.setting);
    assert_edit_refused("setting 2 ranks x 1 threads on vm", long_setting, "setting cannot be");
    assert_edit_refused("\nstep 3", "\nstep -3", "step cannot be \"-3\"");
    assert_edit_refused("\nstep 3", "\nstep 2147483648", "step cannot be \"2147483648\"");
    assert_edit_refused("\nsteps 7", "\nsteps 9223372036854775808", "steps cannot be");
    assert_edit_refused("\nsteps 7", "\nsteps 7.5", "steps cannot be \"7.5\"");
    assert_edit_refused("timed yes", "timed 1", "timed cannot be \"1\"");
    assert_edit_refused("loss_sum ", "loss_sum x", "loss_sum cannot be");
    assert_edit_refused("fedcba9876543210", "fedcba987654321", "data_checksum cannot be");
    assert_edit_refused("workload.batch 64", "workload.batch 0", "batch = 0: must be an integer");
}

Test(checkpoint, counts_that_the_file_has_no_room_for_are_refused)
{
    assert_edit_refused("epoch_count 2", "epoch_count 2147483647", "is too short for 2147483647");
    assert_edit_refused("array_count 3", "array_count 0", "array_count must be 1 to 3");
    assert_edit_refused("array_count 3", "array_count 4", "array_count must be 1 to 3");
    assert_edit_refused("array_count 3", "array_count 2", "its 60 bytes of arrays are not 2");
    assert_edit_refused("\n\n", "\n\n12", "its 62 bytes of arrays are not 3");
    assert_edit_refused("epoch_count 2", "epoch_count 0", "an evaluation due, but no epoch");
}

Test(checkpoint, a_line_break_in_a_text_is_not_written)
{
    dlb_error err;
    cr_assert_eq(dlb_workload_set(&original.workload, DLB_KEY_model, "a\nsteps 9", NULL), 0);
    const char *path = tempdir_file(&dir, "ckpt.bin");
    cr_assert_eq(dlb_checkpoint_write(&original, path, &err), DLB_BAD_INPUT);
    cr_assert(strstr(err.message, path), "%s", err.message);
    cr_assert(strstr(err.message, "workload.model has a line break"), "%s", err.message);
    cr_assert_eq(tempdir_count(&dir), 0);
}

static void assert_not_written(const char *path)
{
    dlb_error err;
    cr_assert_lt(dlb_checkpoint_write(&original, path, &err), 0);
    cr_assert(strstr(err.message, path), "%s", err.message);
}

static void assert_old_file(const char *path)
{
    dlb_checkpoint back;
    dlb_error err;
    cr_assert_eq(dlb_checkpoint_read(&back, path, &err), 0, "%s", err.message);
    cr_assert_eq(back.steps, 7);
    dlb_checkpoint_release(&back);
    cr_assert_eq(tempdir_count(&dir), 1);
}

Test(checkpoint, a_folder_that_is_not_there_is_named)
{
    assert_not_written("/nonexistent/ckpt.bin");
}

Test(checkpoint, the_old_file_stays_when_the_disk_is_full)
{
    const char *path = tempdir_file(&dir, "ckpt.bin");
    cr_assert_eq(dlb_checkpoint_write(&original, path, NULL), 0);
    struct rlimit limit = {bytes.length / 2, RLIM_INFINITY};
    cr_assert_neq(signal(SIGXFSZ, SIG_IGN), SIG_ERR);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    original.steps = 8;
    assert_not_written(path);
    assert_old_file(path);
}

/* As in a folder that is read-only, which would not stop root: no name that long can exist. */
Test(checkpoint, the_old_file_stays_when_none_can_be_made_beside_it)
{
    char name[NAME_MAX + 1] = "", path[PATH_MAX];
    memset(name, 'x', NAME_MAX);
    snprintf(path, sizeof path, "%s/%s", dir.path, name);
    cr_assert_eq(dlb_checkpoint_write(&original, tempdir_file(&dir, "ckpt.bin"), NULL), 0);
    cr_assert_eq(rename(dir.file, path), 0);
    original.steps = 8;
    assert_not_written(path);
    assert_old_file(path);
}

static int fits(const dlb_workload *workload, dlb_error *err)
{
    return dlb_checkpoint_fits(&original, workload, original.data_checksum, "ckpt.bin", err);
}

/* Any valid value but the one it has. */
static void change(dlb_workload *workload, enum dlb_key key)
{
    const struct dlb_key_info *info = dlb_key_info(key);
    void *field = (char *)workload + info->offset;
    switch (info->type) {
    case DLB_TYPE_INT:
        *(long long *)field += 1;
        break;
    case DLB_TYPE_REAL:
        *(double *)field = *(double *)field * 0.5 + 0.125;
        break;
    case DLB_TYPE_BOOL:
        *(bool *)field = !*(bool *)field;
        break;
    case DLB_TYPE_TEXT:
        cr_assert_eq(dlb_workload_set(workload, key, "another", NULL), 0);
        break;
    case DLB_TYPE_CHOICE:
        *(int *)field = *(int *)field == 0;
        break;
    }
}

Test(checkpoint, every_key_of_learning_must_be_the_same_and_no_other)
{
    dlb_error err;
    cr_assert_eq(fits(&original.workload, &err), 0, "%s", err.message);
    for (int key = 0; key < DLB_KEY_COUNT; key++) {
        dlb_workload workload;
        char named[64];
        dlb_workload_copy(&workload, &original.workload);
        change(&workload, key);
        bool of_learning = dlb_key_info(key)->of_learning;
        cr_assert_eq(fits(&workload, &err), of_learning ? DLB_BAD_INPUT : 0, "%s",
                     dlb_key_info(key)->name);
        snprintf(named, sizeof named, "ckpt.bin was trained with %s = ", dlb_key_info(key)->name);
        if (of_learning)
            cr_assert(strstr(err.message, named), "%s", err.message);
        dlb_workload_release(&workload);
    }
}

Test(checkpoint, both_values_of_a_key_that_differs_are_told)
{
    dlb_workload workload;
    dlb_error err;
    dlb_workload_copy(&workload, &original.workload);
    cr_assert_eq(dlb_workload_set(&workload, DLB_KEY_lr, "0.2", NULL), 0);
    cr_assert_eq(fits(&workload, &err), DLB_BAD_INPUT);
    cr_assert_str_eq(err.message, "ckpt.bin was trained with lr = 0.1, not 0.2; give the same, or "
                                  "another --checkpoint file");
    dlb_workload_release(&workload);
}

Test(checkpoint, epochs_may_change_unless_the_rate_depends_on_them)
{
    dlb_workload workload;
    dlb_error err;
    original.workload.schedule = DLB_schedule_cosine;
    dlb_workload_copy(&workload, &original.workload);
    cr_assert_eq(fits(&workload, &err), 0, "%s", err.message);
    workload.epochs = 50;
    cr_assert_eq(fits(&workload, &err), DLB_BAD_INPUT);
    cr_assert(strstr(err.message, "epochs = 5, not 50"), "%s", err.message);
    workload.schedule = original.workload.schedule = DLB_schedule_step;
    cr_assert_eq(fits(&workload, &err), 0, "%s", err.message);
    dlb_workload_release(&workload);
}

Test(checkpoint, other_data_under_the_same_name_is_refused)
{
    dlb_error err;
    cr_assert_eq(dlb_checkpoint_fits(&original, &original.workload, 1, "ckpt.bin", &err),
                 DLB_BAD_INPUT);
    cr_assert(strstr(err.message, "ckpt.bin was trained on other images"), "%s", err.message);
    cr_assert(strstr(err.message, "--checkpoint"), "%s", err.message);
}
