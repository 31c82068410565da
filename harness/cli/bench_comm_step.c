#include "cli/bench_comm.h"
#include "cli/bench_table.h"

static const dlb_exchange_kind KINDS[] = {DLB_EXCHANGE_SHM, DLB_EXCHANGE_MPI};

enum { KINDS_COUNT = sizeof KINDS / sizeof *KINDS };

static size_t bytes_of(const dlb_bench_task *task)
{
    return task->count * sizeof(float);
}

enum { WAYS = KINDS_COUNT + 1, ALLREDUCE = KINDS_COUNT };

typedef struct contest {
    dlb_comm_bench *bench;
    dlb_bench_task task;
    dlb_bench_pieces pieces[KINDS_COUNT];
    dlb_bench_allreduce *allreduce;
    dlb_bench_way ways[WAYS];
} contest;

static int open_ways(contest *c, dlb_error *err)
{
    const dlb_workload *w = &c->bench->workload;
    int status = 0;
    for (int k = 0; k < KINDS_COUNT && status == 0; k++) {
        c->pieces[k].piece = (size_t)w->comm_piece_kb * DLB_FLOATS_A_KB;
        status = dlb_comm_bench_open(c->bench, &c->task, KINDS[k], w->comm_bucket_kb,
                                     &c->pieces[k].exchange, err);
        if (status == 0)
            c->ways[k] = dlb_bench_exchange_way(dlb_exchange_kind_name(KINDS[k]), &c->pieces[k]);
    }
    if (status == 0)
        status = dlb_bench_allreduce_create(&c->allreduce, &c->task, err);
    if (status == 0)
        c->ways[ALLREDUCE] = dlb_bench_allreduce_way("MPI_Allreduce + update", c->allreduce);
    return status;
}

static void close_ways(contest *c)
{
    dlb_bench_ways_release(c->ways, WAYS);
    dlb_bench_allreduce_free(c->allreduce);
    for (int k = KINDS_COUNT - 1; k >= 0; k--)
        dlb_bench_exchange_free(c->pieces[k].exchange);
}

static int save(const contest *c, dlb_error *err)
{
    const dlb_workload *w = &c->bench->workload;
    dlb_comm_row pieces = {"step", bytes_of(&c->task), w->comm_bucket_kb, w->comm_piece_kb, 1};
    dlb_comm_row whole = {.part = "step", .bytes = bytes_of(&c->task), .calls = 1};
    int status = 0;
    for (int i = 0; i < WAYS && status == 0; i++)
        status = dlb_comm_bench_save(c->bench, i == ALLREDUCE ? &whole : &pieces, &c->ways[i], err);
    return status;
}

static void add_row(const contest *c, const dlb_bench_way *way, dlb_bench_table *table)
{
    dlb_spread times = dlb_comm_bench_spread(c->bench, way);
    dlb_spread ratio = dlb_bench_times_as_long(&c->ways[ALLREDUCE], way, c->bench->rounds);
    dlb_bench_table_add(table, way->name);
    dlb_bench_table_add_time(table, &times);
    dlb_bench_table_add_ratio(table, &ratio);
}

static void print(const contest *c)
{
    char title[160];
    snprintf(title, sizeof title, "Reduce, update and share: %s, %s parameters (%sB), adam",
             DLB_COMM_BENCH_MODEL, dlb_text_count((double)c->task.count).text,
             dlb_text_si((double)bytes_of(&c->task)).text);
    dlb_comm_bench_title(c->bench, title);
    dlb_bench_table table;
    dlb_bench_table_init(&table, 5, true);
    static const char *const titles[] = {"way", "time", "quartiles", "×", "quartiles"};
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        dlb_bench_table_add(&table, titles[i]);
    for (int i = 0; i < WAYS; i++)
        add_row(c, &c->ways[i], &table);
    dlb_bench_table_print(&table, stdout);
    dlb_bench_table_release(&table);
    printf("\n  ×: how much longer MPI_Allreduce, then the update of all parameters on every rank "
           "take\n     in the same round, median\n\n");
    fflush(stdout);
}

int dlb_comm_bench_step(dlb_comm_bench *bench, dlb_error *err)
{
    contest c = {.bench = bench};
    int status = dlb_comm_bench_task(bench, &c.task, err);
    if (status < 0)
        return status;
    status = open_ways(&c, err);
    if (status == 0)
        status = dlb_comm_bench_measure(bench, "reduce, update, share", 1, c.ways, WAYS, err);
    if (status == 0)
        status = save(&c, err);
    if (status == 0 && bench->speaks)
        print(&c);
    close_ways(&c);
    return status;
}
