#include "cli/bench_suite_comm.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/csv_reader.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/bench_table.h"
#include "cli/bench_training.h"
#include "launch/launch.h"

/* ---- Rows of a file ---- */

enum { PART, WAY, BYTES, ROUND, TIME, CELLS };

static const char *const columns[CELLS] = {"part", "way", "bytes", "round", "time_s"};

/* Times of one way and size, round by round; NaN: missing. */
typedef struct series {
    char way[32];
    double bytes;
    size_t count, capacity;
    double *times;
} series;

enum { ROUNDS_MAX = 100000 };

typedef struct reading {
    int at[CELLS]; /* where each cell is */
    size_t count, capacity;
    series *list;
} reading;

static int find_columns(reading *r, const dlb_csv_record *head, const char *path, dlb_error *err)
{
    for (int i = 0; i < CELLS; i++) {
        r->at[i] = -1;
        for (size_t k = 0; k < head->count; k++)
            if (strcmp(head->fields[k].text, columns[i]) == 0)
                r->at[i] = (int)k;
        if (r->at[i] < 0)
            return dlb_fail(err, DLB_BAD_INPUT, "%s: has no column %s", path, columns[i]);
    }
    return 0;
}

static series *find_series(reading *r, const char *way, double bytes)
{
    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->list[i].way, way) == 0 && r->list[i].bytes == bytes)
            return &r->list[i];
    r->list = dlb_grow(r->list, &r->capacity, r->count + 1, sizeof *r->list);
    series *made = &r->list[r->count++];
    *made = (series){.bytes = bytes};
    snprintf(made->way, sizeof made->way, "%s", way);
    return made;
}

static void put_time(series *s, size_t round, double seconds)
{
    while (s->count < round) {
        s->times = dlb_grow(s->times, &s->capacity, s->count + 1, sizeof *s->times);
        s->times[s->count++] = NAN;
    }
    s->times[round - 1] = seconds;
}

static int take_row(reading *r, const dlb_csv_record *row, const char *path, dlb_error *err)
{
    const char *cells[CELLS];
    double bytes, seconds;
    long long round;
    for (int i = 0; i < CELLS; i++)
        cells[i] = (size_t)r->at[i] < row->count ? row->fields[r->at[i]].text : "";
    if (strcmp(cells[PART], "sum") != 0)
        return 0;
    if (!dlb_parse_real(cells[BYTES], &bytes) || !dlb_parse_real(cells[TIME], &seconds) ||
        !dlb_parse_int(cells[ROUND], &round) || round < 1 || round > ROUNDS_MAX)
        return dlb_fail(err, DLB_BAD_INPUT, "%s:%zu: bytes, round and time_s are not numbers", path,
                        row->line);
    put_time(find_series(r, cells[WAY], bytes), (size_t)round, seconds);
    return 0;
}

static int read_rows(reading *r, const char *path, dlb_error *err)
{
    dlb_csv_reader *reader;
    dlb_csv_record record;
    int status = dlb_csv_open(&reader, path, err);
    if (status < 0)
        return status;
    int got = dlb_csv_next(reader, &record, err);
    if (got > 0)
        got = find_columns(r, &record, path, err) < 0 ? DLB_BAD_INPUT : 1;
    while (got > 0 && (got = dlb_csv_next(reader, &record, err)) > 0)
        got = take_row(r, &record, path, err) < 0 ? DLB_BAD_INPUT : 1;
    dlb_csv_close(reader);
    return got;
}

/* ---- Sums ---- */

static void add_sum(dlb_suite_comm *comm, const series *s, const series *copy)
{
    comm->sums = dlb_grow(comm->sums, &comm->capacity, comm->count + 1, sizeof *comm->sums);
    dlb_suite_sum *sum = &comm->sums[comm->count++];
    *sum = (dlb_suite_sum){.bytes = s->bytes, .time = dlb_interval_median(s->times, s->count)};
    snprintf(sum->way, sizeof sum->way, "%s", s->way);
    size_t pairs = copy->count < s->count ? copy->count : s->count;
    sum->ratio = dlb_interval_paired_ratio(copy->times, s->times, pairs);
}

int dlb_suite_comm_read(dlb_suite_comm *comm, const char *path, dlb_error *err)
{
    static const char copy[] = "copy";
    reading r = {.count = 0};
    int status = read_rows(&r, path, err);
    size_t rows = r.count;
    if (status == 0 && rows == 0)
        status = dlb_fail(err, DLB_BAD_INPUT, "%s: has no sums", path);
    for (size_t i = 0; i < rows && status == 0; i++)
        if (strcmp(r.list[i].way, copy) != 0) {
            const series *beside = find_series(&r, copy, r.list[i].bytes);
            add_sum(comm, &r.list[i], beside);
        }
    for (size_t i = 0; i < r.count; i++)
        free(r.list[i].times);
    free(r.list);
    return status;
}

void dlb_suite_comm_release(dlb_suite_comm *comm)
{
    free(comm->sums);
    *comm = (dlb_suite_comm){0};
}

/* ---- Processes ---- */

/* What it prints is not shown: its rows are. */
static int run_bench_comm(const char *const *argv, dlb_error *err)
{
    dlb_launch launch = {.starter = DLB_STARTER_NONE, .ranks = 1, .threads = 1, .program = argv};
    dlb_launch_machine machine;
    dlb_command_line line;
    dlb_launch_end end;
    dlb_launch_here_alone(&machine);
    int status = dlb_launch_command(&line, &launch, &machine, err);
    if (status < 0)
        return status;
    dlb_launch_care care = {.output = open("/dev/null", O_WRONLY | O_CLOEXEC)};
    status = dlb_launch_run(&line, &care, &end, err);
    if (care.output > 0)
        close(care.output);
    if (status == 0 && end.stopped)
        status = dlb_fail(err, DLB_STOPPED, "stopped before all was measured");
    else if (status == 0 && end.status != 0)
        status =
            dlb_fail(err, DLB_FAIL,
                     "the exchange between ranks: 'dlbench bench comm' ended with %d; by itself "
                     "it says why",
                     end.status);
    dlb_command_line_release(&line);
    return status;
}

int dlb_suite_comm_run(dlb_suite_comm *comm, const char *program, dlb_error *err)
{
    char folder[PATH_MAX];
    int status = dlb_bench_make_folder(folder, err);
    if (status < 0)
        return status;
    dlb_str rows = DLB_STR_INIT;
    dlb_str_addf(&rows, "%s/rows.csv", folder);
    const char *const argv[] = {program, "bench",        "comm", "--ranks", "2",       "--rounds",
                                "15",    "--largest-kb", "4096", "--csv",   rows.text, NULL};
    comm->ranks = 2;
    status = run_bench_comm(argv, err);
    if (status == 0)
        status = dlb_suite_comm_read(comm, rows.text, err);
    dlb_file_remove_tree(folder);
    dlb_str_release(&rows);
    return status;
}

/* ---- For people ---- */

void dlb_suite_comm_print(const dlb_suite_comm *comm)
{
    static const char *const titles[] = {"sum",  "by",     "a call",  "interval",
                                         "rate", "× copy", "interval"};
    enum { WIDTH = sizeof titles / sizeof *titles };
    dlb_bench_table table;
    dlb_bench_table_init(&table, WIDTH, true);
    for (int i = 0; i < WIDTH; i++)
        dlb_bench_table_add(&table, titles[i]);
    for (size_t i = 0; i < comm->count; i++) {
        const dlb_suite_sum *s = &comm->sums[i];
        char rate[32];
        snprintf(rate, sizeof rate, "%.2f GB/s", 1e-9 * s->bytes / s->time.value);
        dlb_bench_table_add(&table, dlb_bench_size((size_t)s->bytes).text);
        dlb_bench_table_add(&table, s->way);
        dlb_bench_table_add_time_interval(&table, &s->time);
        dlb_bench_table_add(&table, rate);
        dlb_bench_table_add(&table, dlb_bench_ratio(s->ratio.value).text);
        dlb_bench_table_add_interval(&table, &s->ratio);
    }
    printf("exchange of gradients: %d ranks\n\n", comm->ranks);
    dlb_bench_table_print(&table, stdout);
    dlb_bench_table_release(&table);
    printf(
        "\n  × copy: by the rate of a copy of as many floats by every rank, in the same round\n\n");
}
