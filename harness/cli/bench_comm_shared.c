#include <math.h>

#include "cli/bench_comm.h"
#include "cli/bench_row.h"
#include "cli/bench_table.h"
#include "graph/model.h"

int dlb_comm_bench_task(const dlb_comm_bench *bench, dlb_bench_task *task, dlb_error *err)
{
    dlb_model model;
    int status = dlb_model_load(&model, DLB_COMM_BENCH_MODEL, err);
    if (status < 0)
        return status;
    *task = (dlb_bench_task){.comm = bench->comm,
                             .count = (size_t)dlb_model_parameters(&model),
                             .kernels = &bench->kernels,
                             .workload = &bench->workload};
    dlb_model_release(&model);
    return 0;
}

/* Once, however often it was tried. */
static void note_lack(dlb_notes *notes, const char *kind, size_t bytes, const char *why)
{
    char text[512];
    snprintf(text, sizeof text, "no %s of %sB: %.400s", kind, dlb_text_si((double)bytes).text, why);
    for (size_t i = 0; i < notes->count; i++)
        if (strcmp(notes->texts[i], text) == 0)
            return;
    dlb_notes_add(notes, "%s", text);
}

int dlb_comm_bench_open(dlb_comm_bench *bench, const dlb_bench_task *task, dlb_exchange_kind kind,
                        long long bucket_kb, dlb_bench_exchange **exchange, dlb_error *err)
{
    size_t bucket = (size_t)bucket_kb * DLB_FLOATS_A_KB;
    *exchange = NULL;
    int status = dlb_bench_exchange_create(exchange, task, kind, bucket, err);
    if (status == 0 || dlb_comm_is_broken(bench->comm))
        return status;
    note_lack(&bench->notes, dlb_exchange_kind_name(kind), task->count * sizeof(float),
              err->message);
    return 0;
}

int dlb_comm_bench_measure(dlb_comm_bench *bench, const char *what, int calls, dlb_bench_way *ways,
                           int count, dlb_error *err)
{
    dlb_bench_rounds rounds = {.comm = bench->comm,
                               .what = what,
                               .rounds = bench->rounds,
                               .calls = calls,
                               .progress = &bench->progress};
    return dlb_bench_rounds_run(&rounds, ways, count, err);
}

dlb_spread dlb_comm_bench_spread(const dlb_comm_bench *bench, const dlb_bench_way *way)
{
    return dlb_spread_of(way->times, (size_t)bench->rounds);
}

void dlb_comm_bench_title(dlb_comm_bench *bench, const char *title)
{
    dlb_bench_progress_clear(&bench->progress);
    printf("%s\n%d ranks × 1 thread, median of %d round%s and quartiles\n\n", title,
           dlb_comm_size(bench->comm), bench->rounds, bench->rounds == 1 ? "" : "s");
}

/* ---- Raw measurements ---- */

static const char header[] = "part,way,bytes,bucket_kb,piece_kb,ranks,round,calls,time_s,host,mpi";

/* 0 stands for what does not apply. */
static void add_count(dlb_bench_row *row, long long count)
{
    dlb_bench_row_number(row, count ? (double)count : NAN);
}

static int append(const dlb_comm_bench *bench, const dlb_comm_row *row, const dlb_bench_way *way,
                  int round, dlb_error *err)
{
    dlb_bench_row cells = {0};
    dlb_bench_row_text(&cells, row->part);
    dlb_bench_row_text(&cells, way->name);
    add_count(&cells, (long long)row->bytes);
    add_count(&cells, row->bucket_kb);
    add_count(&cells, row->piece_kb);
    add_count(&cells, dlb_comm_size(bench->comm));
    add_count(&cells, round + 1);
    add_count(&cells, row->calls);
    dlb_bench_row_number(&cells, way->times[round]);
    dlb_bench_row_text(&cells, dlb_comm_place_of(bench->comm, 0)->host);
    dlb_bench_row_text(&cells, dlb_comm_library(bench->comm));
    return dlb_bench_row_append(&cells, bench->csv, header, err);
}

int dlb_comm_bench_check_csv(const dlb_comm_bench *bench, dlb_error *err)
{
    return bench->csv ? dlb_csv_check(bench->csv, header, err) : 0;
}

int dlb_comm_bench_save(const dlb_comm_bench *bench, const dlb_comm_row *row,
                        const dlb_bench_way *way, dlb_error *err)
{
    int status = 0;
    bool writes = bench->csv && bench->speaks;
    for (int round = 0; round < bench->rounds && writes && status == 0; round++)
        if (!isnan(way->times[round]))
            status = append(bench, row, way, round, err);
    return dlb_comm_agree(bench->comm, status, err);
}
