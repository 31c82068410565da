#include "cli/bench_comm.h"
#include "cli/bench_table.h"

enum { WAYS = 4, SMALLEST = 1024, STEP = 4, REPEATED = 1 << 18, CALLS_MAX = 256 };

/* The ways to sum so many floats, in this order. */
enum { SHM, MPI, ALLREDUCE, COPY };

typedef struct contest {
    dlb_comm_bench *bench;
    dlb_bench_task task;
    long long bucket_kb[WAYS];
    dlb_bench_pieces shm, mpi;
    dlb_bench_allreduce *allreduce;
    dlb_bench_copy *copy;
    dlb_bench_way ways[WAYS];
} contest;

/* Small exchanges are repeated until some hundred microseconds are over. */
static int calls_of(size_t bytes)
{
    size_t calls = REPEATED / bytes;
    return calls < 1 ? 1 : calls > CALLS_MAX ? CALLS_MAX : (int)calls;
}

static int open_ways(contest *c, dlb_error *err)
{
    dlb_comm_bench *bench = c->bench;
    size_t piece = (size_t)bench->workload.comm_piece_kb * DLB_FLOATS_A_KB;
    c->bucket_kb[SHM] = (long long)(c->task.count / DLB_FLOATS_A_KB);
    c->bucket_kb[MPI] = bench->workload.comm_bucket_kb;
    c->shm.piece = c->mpi.piece = piece;
    int status = dlb_comm_bench_open(bench, &c->task, DLB_EXCHANGE_SHM, c->bucket_kb[SHM],
                                     &c->shm.exchange, err);
    if (status == 0)
        status = dlb_comm_bench_open(bench, &c->task, DLB_EXCHANGE_MPI, c->bucket_kb[MPI],
                                     &c->mpi.exchange, err);
    if (status == 0)
        status = dlb_bench_allreduce_create(&c->allreduce, &c->task, err);
    if (status == 0)
        status = dlb_bench_copy_create(&c->copy, &c->task, err);
    if (status < 0)
        return status;
    c->ways[SHM] = dlb_bench_exchange_way("shm", &c->shm);
    c->ways[MPI] = dlb_bench_exchange_way("mpi", &c->mpi);
    c->ways[ALLREDUCE] = dlb_bench_allreduce_way("MPI_Allreduce", c->allreduce);
    c->ways[COPY] = dlb_bench_copy_way("copy", c->copy);
    return 0;
}

static void close_ways(contest *c)
{
    dlb_bench_ways_release(c->ways, WAYS);
    dlb_bench_copy_free(c->copy);
    dlb_bench_allreduce_free(c->allreduce);
    dlb_bench_exchange_free(c->mpi.exchange);
    dlb_bench_exchange_free(c->shm.exchange);
}

static int save(const contest *c, dlb_error *err)
{
    int status = 0;
    size_t bytes = c->task.count * sizeof(float);
    for (int i = 0; i < WAYS && status == 0; i++) {
        bool pieces = i == SHM || i == MPI;
        dlb_comm_row row = {"sum", bytes, c->bucket_kb[i],
                            pieces ? c->bench->workload.comm_piece_kb : 0, calls_of(bytes)};
        status = dlb_comm_bench_save(c->bench, &row, &c->ways[i], err);
    }
    return status;
}

static void add_titles(dlb_bench_table *table)
{
    static const char *const titles[] = {"size",      "shm",           "quartiles", "mpi",
                                         "quartiles", "MPI_Allreduce", "quartiles", "copy",
                                         "× shm",     "× mpi"};
    enum { COLUMNS = sizeof titles / sizeof *titles };
    dlb_bench_table_init(table, COLUMNS, false);
    for (int i = 0; i < COLUMNS; i++)
        dlb_bench_table_add(table, titles[i]);
}

static void add_row(const contest *c, dlb_bench_table *table)
{
    const dlb_comm_bench *bench = c->bench;
    dlb_bench_table_add(table, dlb_bench_size(c->task.count * sizeof(float)).text);
    for (int i = SHM; i <= ALLREDUCE; i++) {
        dlb_spread times = dlb_comm_bench_spread(bench, &c->ways[i]);
        dlb_bench_table_add_time(table, &times);
    }
    double copy = dlb_comm_bench_spread(bench, &c->ways[COPY]).median;
    dlb_bench_table_add(table, dlb_bench_time(copy).text);
    for (int i = SHM; i <= MPI; i++) {
        dlb_spread ratio = dlb_bench_times_as_long(&c->ways[ALLREDUCE], &c->ways[i], bench->rounds);
        dlb_bench_table_add(table, dlb_bench_ratio(ratio.median).text);
    }
}

static int measure_size(dlb_comm_bench *bench, size_t bytes, dlb_bench_table *table, dlb_error *err)
{
    contest c = {.bench = bench,
                 .task = {.comm = bench->comm,
                          .count = bytes / sizeof(float),
                          .workload = &bench->workload}};
    char what[64];
    snprintf(what, sizeof what, "sum of %s", dlb_bench_size(bytes).text);
    int status = open_ways(&c, err);
    if (status == 0)
        status = dlb_comm_bench_measure(bench, what, calls_of(bytes), c.ways, WAYS, err);
    if (status == 0)
        status = save(&c, err);
    if (status == 0)
        add_row(&c, table);
    close_ways(&c);
    return status;
}

static void print(dlb_comm_bench *bench, const dlb_bench_table *table)
{
    dlb_comm_bench_title(bench, "Exchange: the sum of all ranks' floats, on every rank");
    dlb_bench_table_print(table, stdout);
    printf("\n  shm: one bucket; mpi: buckets of %lld KB; both in pieces of %lld KB\n"
           "  copy: what memory alone takes: all ranks copy as many bytes at the same time\n"
           "  ×: how much longer MPI_Allreduce takes in the same round, median\n\n",
           bench->workload.comm_bucket_kb, bench->workload.comm_piece_kb);
    fflush(stdout);
}

int dlb_comm_bench_sizes(dlb_comm_bench *bench, dlb_error *err)
{
    dlb_bench_table table;
    add_titles(&table);
    int status = 0;
    for (size_t bytes = SMALLEST; bytes <= bench->largest && status == 0; bytes *= STEP)
        status = measure_size(bench, bytes, &table, err);
    if (status == 0 && bench->speaks)
        print(bench, &table);
    dlb_bench_table_release(&table);
    return status;
}
