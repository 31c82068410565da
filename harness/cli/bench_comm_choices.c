#include "cli/bench_comm.h"
#include "cli/bench_table.h"

static const long long BUCKETS_KB[] = {64, 256, 1024, 4096, 16384};
static const long long PIECES_KB[] = {16, 64, 256, 1024};

enum {
    BUCKETS = sizeof BUCKETS_KB / sizeof *BUCKETS_KB,
    PIECES = sizeof PIECES_KB / sizeof *PIECES_KB,
    WAYS = BUCKETS * PIECES,
};

/* All choices of one kind; way b * PIECES + p has bucket b and piece p. */
typedef struct contest {
    dlb_comm_bench *bench;
    dlb_bench_task task;
    dlb_exchange_kind kind;
    dlb_bench_exchange *exchanges[BUCKETS];
    dlb_bench_pieces pieces[WAYS];
    dlb_bench_way ways[WAYS];
} contest;

static int open_ways(contest *c, dlb_error *err)
{
    for (int b = 0; b < BUCKETS; b++) {
        int status =
            dlb_comm_bench_open(c->bench, &c->task, c->kind, BUCKETS_KB[b], &c->exchanges[b], err);
        if (status < 0)
            return status;
    }
    for (int i = 0; i < WAYS; i++) {
        size_t piece = (size_t)PIECES_KB[i % PIECES] * DLB_FLOATS_A_KB;
        c->pieces[i] = (dlb_bench_pieces){c->exchanges[i / PIECES], piece};
        c->ways[i] = dlb_bench_exchange_way(dlb_exchange_kind_name(c->kind), &c->pieces[i]);
    }
    return 0;
}

static void close_ways(contest *c)
{
    dlb_bench_ways_release(c->ways, WAYS);
    for (int b = BUCKETS - 1; b >= 0; b--)
        dlb_bench_exchange_free(c->exchanges[b]);
}

static int save(const contest *c, dlb_error *err)
{
    int status = 0;
    for (int i = 0; i < WAYS && status == 0; i++) {
        dlb_comm_row row = {"choice", c->task.count * sizeof(float), BUCKETS_KB[i / PIECES],
                            PIECES_KB[i % PIECES], 1};
        status = dlb_comm_bench_save(c->bench, &row, &c->ways[i], err);
    }
    return status;
}

static bool is_default(const contest *c, int way)
{
    const dlb_workload *w = &c->bench->workload;
    return BUCKETS_KB[way / PIECES] == w->comm_bucket_kb &&
           PIECES_KB[way % PIECES] == w->comm_piece_kb;
}

static double median_of(const contest *c, int way)
{
    return dlb_comm_bench_spread(c->bench, &c->ways[way]).median;
}

static int find_fastest(const contest *c)
{
    int fastest = 0;
    for (int i = 1; i < WAYS; i++)
        if (median_of(c, i) < median_of(c, fastest))
            fastest = i;
    return fastest;
}

static void add_titles(dlb_bench_table *table)
{
    dlb_bench_table_init(table, PIECES + 1, false);
    dlb_bench_table_add(table, "bucket");
    for (int p = 0; p < PIECES; p++) {
        char title[32];
        snprintf(title, sizeof title, "piece %lld KB", PIECES_KB[p]);
        dlb_bench_table_add(table, title);
    }
}

static void print_times(const contest *c)
{
    dlb_bench_table table;
    add_titles(&table);
    for (int i = 0; i < WAYS; i++) {
        char cell[64];
        snprintf(cell, sizeof cell, "%lld KB", BUCKETS_KB[i / PIECES]);
        if (i % PIECES == 0)
            dlb_bench_table_add(&table, cell);
        snprintf(cell, sizeof cell, "%s%s", is_default(c, i) ? "* " : "",
                 dlb_bench_time(median_of(c, i)).text);
        dlb_bench_table_add(&table, cell);
    }
    dlb_bench_table_print(&table, stdout);
    dlb_bench_table_release(&table);
}

/* The default beside the fastest: a ratio around 1 is no reason to change it. */
static void print_verdict(const contest *c)
{
    int fastest = find_fastest(c);
    for (int i = 0; i < WAYS; i++) {
        if (!is_default(c, i) || !c->ways[i].run)
            continue;
        dlb_spread ratio =
            dlb_bench_times_as_long(&c->ways[i], &c->ways[fastest], c->bench->rounds);
        printf("\n  * the default; it takes %.2f times (%.2f…%.2f) as long as the fastest, %lld KB "
               "in pieces of %lld KB\n",
               ratio.median, ratio.lower, ratio.upper, BUCKETS_KB[fastest / PIECES],
               PIECES_KB[fastest % PIECES]);
    }
    printf("\n");
}

static void print(const contest *c)
{
    char title[128];
    snprintf(title, sizeof title,
             "Reduce, update and share with other comm_bucket_kb and comm_piece_kb: %s",
             dlb_exchange_kind_name(c->kind));
    dlb_comm_bench_title(c->bench, title);
    print_times(c);
    print_verdict(c);
    fflush(stdout);
}

static int compare(contest *c, dlb_error *err)
{
    int status = open_ways(c, err);
    if (status == 0)
        status = dlb_comm_bench_measure(c->bench, "buckets and pieces", 1, c->ways, WAYS, err);
    if (status == 0)
        status = save(c, err);
    if (status == 0 && c->bench->speaks)
        print(c);
    close_ways(c);
    return status;
}

int dlb_comm_bench_choices(dlb_comm_bench *bench, dlb_error *err)
{
    contest shm = {.bench = bench, .kind = DLB_EXCHANGE_SHM},
            mpi = {.bench = bench, .kind = DLB_EXCHANGE_MPI};
    int status = dlb_comm_bench_task(bench, &shm.task, err);
    mpi.task = shm.task;
    if (status == 0)
        status = compare(&shm, err);
    return status < 0 ? status : compare(&mpi, err);
}
