#include "base/file.h"
#include "base/mem.h"
#include "train/checkpoint.h"
#include "train/session_state.h"

/* What must be the same for times of two parts of a training to be added up. */
static void describe_setting(const dlb_session *s, char *text, size_t size)
{
    snprintf(text, size, "%d ranks x %d threads in %d teams on %d nodes from %s, %s %s, %s",
             dlb_comm_size(s->comm), s->threads.intra_op, s->threads.inter_op,
             dlb_comm_nodes(s->comm), dlb_comm_place_of(s->comm, 0)->host,
             dlk_family_name(s->kernels.family), dlk_isa_name(s->kernels.isa),
             dlb_session_comm_kind(s));
}

/* ---- Writing ---- */

static int take_arrays(dlb_session *s, dlb_checkpoint *c, dlb_error *err)
{
    int status = 0;
    c->count = dlb_graph_size(s->graph);
    c->array_count = 1 + dlb_optimizer_states(s->optimizer);
    for (int i = 0; status == 0 && i < c->array_count; i++)
        if (!(c->arrays[i] = dlb_try_alloc(c->count, sizeof(float))))
            status = dlb_fail(err, DLB_FAIL, "not enough memory for a checkpoint");
    status = dlb_comm_agree(s->comm, status, err);
    if (status == 0)
        status = dlb_updates_settle(s->updates, err);
    if (status < 0)
        return status;
    memcpy(c->arrays[0], dlb_graph_parameters(s->graph), c->count * sizeof(float));
    for (int i = 1; status == 0 && i < c->array_count; i++)
        status = dlb_updates_collect_state(s->updates, i - 1, c->arrays[i], err);
    return status;
}

static void take_history(const dlb_session *s, dlb_checkpoint *c)
{
    c->epoch_count = s->epoch_count;
    c->epochs = dlb_alloc((size_t)s->epoch_count + 1, sizeof *c->epochs);
    if (s->epoch_count)
        memcpy(c->epochs, s->epochs, (size_t)s->epoch_count * sizeof *c->epochs);
    c->evaluation_due = s->evaluation_due;
    c->step = s->step;
    c->under_way = s->epoch;
    c->loss_sum = s->loss_sum;
    c->correct = s->correct;
    c->steps = s->steps;
    c->images = s->images;
    c->updates = dlb_optimizer_steps(s->optimizer);
    c->timed = !*s->untimed;
    c->time_to_solution_s = s->time_to_solution_s;
    c->time_to_target_s = s->time_to_target_s;
    c->eval_s = s->eval_s;
    c->plateau = s->schedule.plateau;
}

int dlb_session_checkpoint(dlb_session *s, const char *path, dlb_error *err)
{
    dlb_checkpoint c = {0};
    dlb_workload_copy(&c.workload, &s->workload);
    c.data_checksum = s->data.checksum;
    describe_setting(s, c.setting, sizeof c.setting);
    take_history(s, &c);
    int status = take_arrays(s, &c, err);
    if (status == 0) {
        bool writes = dlb_comm_rank(s->comm) == 0;
        status = dlb_comm_agree(s->comm, writes ? dlb_checkpoint_write(&c, path, err) : 0, err);
    }
    dlb_checkpoint_release(&c);
    return status;
}

/* ---- Going on ---- */

static int read_on_first(dlb_session *s, const char *path, dlb_str *bytes, dlb_error *err)
{
    int status = 0;
    if (dlb_comm_rank(s->comm) == 0)
        status = dlb_file_read(path, DLB_CHECKPOINT_BYTES_MAX, bytes, err);
    return dlb_comm_agree(s->comm, status, err);
}

/* The bytes of the file on every rank. */
static int spread_bytes(dlb_session *s, const char *path, dlb_str *bytes, dlb_error *err)
{
    int status = read_on_first(s, path, bytes, err);
    size_t length = bytes->length;
    if (status == 0)
        status = dlb_comm_broadcast(s->comm, &length, sizeof length, err);
    if (status < 0)
        return status;
    if (dlb_comm_rank(s->comm) != 0) {
        bytes->text = dlb_try_alloc(length + 1, 1);
        bytes->length = length;
        bytes->capacity = length + 1;
        if (!bytes->text)
            status = dlb_fail(err, DLB_FAIL, "not enough memory for the checkpoint %s", path);
    }
    status = dlb_comm_agree(s->comm, status, err);
    return status < 0 ? status : dlb_comm_broadcast(s->comm, bytes->text, length, err);
}

static int check_fit(const dlb_session *s, const dlb_checkpoint *c, const char *path,
                     dlb_error *err)
{
    if (s->steps > 0)
        return dlb_fail(err, DLB_BAD_INPUT, "%s: a training that has begun cannot go on from it",
                        path);
    if (dlb_checkpoint_fits(c, &s->workload, s->data.checksum, path, err) < 0)
        return DLB_BAD_INPUT;
    if (c->epoch_count + (c->step > 0) > s->workload.epochs)
        return dlb_fail(
            err, DLB_BAD_INPUT,
            "%s: has come to epoch %d already, which is more than epochs = %lld; ask for "
            "more",
            path, c->epoch_count + (c->step > 0), s->workload.epochs);
    if (c->count == dlb_graph_size(s->graph) &&
        c->array_count == 1 + dlb_optimizer_states(s->optimizer) &&
        c->step < dlb_session_steps_per_epoch(s))
        return 0;
    return dlb_fail(err, DLB_BAD_INPUT,
                    "%s: of another training than this of %s; give another "
                    "--checkpoint",
                    path, s->model.name);
}

static void put_history(dlb_session *s, const dlb_checkpoint *c)
{
    s->epochs =
        dlb_grow(s->epochs, &s->epoch_capacity, (size_t)c->epoch_count + 1, sizeof *s->epochs);
    if (c->epoch_count)
        memcpy(s->epochs, c->epochs, (size_t)c->epoch_count * sizeof *s->epochs);
    s->epoch_count = c->epoch_count;
    s->evaluation_due = c->evaluation_due;
    s->step = c->step;
    s->epoch = c->under_way;
    s->loss_sum = c->loss_sum;
    s->correct = c->correct;
    s->steps = c->steps;
    s->images = c->images;
    s->time_to_solution_s = c->time_to_solution_s;
    s->time_to_target_s = c->time_to_target_s;
    s->eval_s = c->eval_s;
    s->schedule.plateau = c->plateau;
    dlb_optimizer_set_steps(s->optimizer, c->updates);
}

static void note_resumed(dlb_session *s, const dlb_checkpoint *c, const char *path)
{
    char setting[sizeof c->setting];
    describe_setting(s, setting, sizeof setting);
    s->resumed = true;
    dlb_notes_add(&s->notes, "went on from %s after %ld steps", path, c->steps);
    if (!c->timed || strcmp(setting, c->setting) != 0)
        snprintf(s->untimed, sizeof s->untimed,
                 "parts of this training ran in different settings, so their times do not add up");
}

static int go_on(dlb_session *s, const dlb_checkpoint *c, const char *path, dlb_error *err)
{
    note_resumed(s, c, path);
    put_history(s, c);
    for (int i = 1; i < c->array_count; i++)
        dlb_updates_spread_state(s->updates, i - 1, c->arrays[i]);
    if (dlb_comm_rank(s->comm) == 0)
        memcpy(dlb_graph_parameters(s->graph), c->arrays[0], c->count * sizeof(float));
    return dlb_exchange_broadcast(s->exchange, err);
}

int dlb_session_resume(dlb_session *s, const char *path, dlb_error *err)
{
    dlb_checkpoint c = {0};
    dlb_str bytes = DLB_STR_INIT;
    int status = spread_bytes(s, path, &bytes, err);
    if (status == 0)
        status = dlb_checkpoint_parse(&c, path, bytes.text, bytes.length, err);
    dlb_str_release(&bytes);
    bool parsed = status == 0;
    if (parsed)
        status = check_fit(s, &c, path, err);
    status = dlb_comm_agree(s->comm, status, err);
    if (status == 0)
        status = go_on(s, &c, path, err);
    if (parsed)
        dlb_checkpoint_release(&c);
    return status;
}
