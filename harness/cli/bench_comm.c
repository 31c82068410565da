#include "cli/bench_comm.h"

#include "base/mem.h"
#include "cli/bench.h"
#include "cli/bench_scene.h"
#include "cli/cmd.h"
#include "cli/relaunch.h"
#include "cli/stop.h"
#include "cli/terminal.h"
#include "train/ranks.h"

static const char name[] = "dlbench bench comm";

#define RANKS      "2"
#define ROUNDS     "25"
#define LARGEST_KB "65536"

typedef struct options {
    long long ranks; /* 0: as many as the launcher has started */
    long long rounds, largest_kb;
    const char *csv;
} options;

/* ---- One rank of it ---- */

static int prepare(dlb_comm_bench *bench, const options *o, dlb_error *err)
{
    dlb_comm_options expected = {.ranks = (int)o->ranks,
                                 .hang_s = (double)bench->workload.hang_timeout};
    int status = dlb_comm_create(&bench->comm, &expected, err);
    if (status < 0)
        return status;
    if (dlb_comm_size(bench->comm) < 2)
        return dlb_fail(err, DLB_BAD_INPUT, "a rank alone has nobody to exchange anything with");
    bench->speaks = dlb_comm_rank(bench->comm) == 0;
    if (bench->speaks)
        dlb_bench_progress_init(&bench->progress, dlb_terminal_obeys(stdout) ? stdout : stderr);
    status = bench->speaks ? dlb_comm_bench_check_csv(bench, err) : 0;
    if (status == 0)
        status = dlk_kernels_select(&bench->kernels, DLK_FAMILY_AUTO, DLK_ISA_AUTO, err);
    return dlb_comm_agree(bench->comm, status, err);
}

/* Ranks without a core of their own wait for each other's CPU time. */
static int note_crowding(dlb_comm_bench *bench, dlb_error *err)
{
    dlb_node_cores own, crowded;
    int status = dlb_ranks_cores(bench->comm, 1, &own, &crowded, err);
    if (status == 0 && crowded.threads > crowded.cpus)
        dlb_notes_add(&bench->notes, "%d ranks share %d CPU%s: times are not those of %d cores",
                      crowded.ranks, crowded.cpus, crowded.cpus == 1 ? "" : "s", crowded.ranks);
    return status;
}

static int measure(dlb_comm_bench *bench, dlb_error *err)
{
    int status = note_crowding(bench, err);
    if (status == 0)
        status = dlb_comm_bench_sizes(bench, err);
    if (status == 0)
        status = dlb_comm_bench_step(bench, err);
    return status < 0 ? status : dlb_comm_bench_choices(bench, err);
}

static void print_end(const dlb_comm_bench *bench, const dlb_bench_scene *scene)
{
    for (size_t i = 0; i < bench->notes.count; i++)
        printf("note: %s\n", bench->notes.texts[i]);
    dlb_bench_scene_print(scene, dlb_comm_size(bench->comm));
}

static int fail(dlb_comm_bench *bench, const dlb_error *err)
{
    dlb_bench_progress_clear(&bench->progress);
    return dlb_cli_fail_rank(name, bench->comm, err);
}

static int run(dlb_comm_bench *bench, const options *o)
{
    dlb_error err;
    dlb_bench_scene scene = dlb_bench_scene_now();
    if (prepare(bench, o, &err) < 0 || measure(bench, &err) < 0)
        return fail(bench, &err);
    if (bench->speaks)
        print_end(bench, &scene);
    return DLB_EXIT_OK;
}

static int run_rank(const options *o)
{
    dlb_comm_bench bench = {
        .rounds = (int)o->rounds, .largest = (size_t)o->largest_kb * 1024, .csv = o->csv};
    dlb_workload_init(&bench.workload);
    dlb_stop_catch();
    dlk_float_mode_flush();
    int status = run(&bench, o);
    dlb_notes_release(&bench.notes);
    dlb_comm_free(bench.comm);
    dlb_workload_release(&bench.workload);
    return status;
}

/* ---- All ranks ---- */

static int start_ranks(const options *o, int argc, char **argv)
{
    const char **words = dlb_alloc((size_t)argc + 2, sizeof *words);
    words[0] = "bench";
    for (int i = 0; i < argc; i++)
        words[i + 1] = argv[i];
    dlb_launch launch = {.ranks = (int)o->ranks, .threads = 1, .program = words};
    dlb_launch_machine machine;
    dlb_launch_here(&machine);
    int status = dlb_relaunch(name, &launch, &machine);
    free(words);
    return status;
}

/* What stands after the flags, as text; NULL: not given. */
typedef struct texts {
    const char *ranks, *rounds, *largest_kb;
} texts;

static int parse(const texts *t, options *o, dlb_error *err)
{
    const char *ranks = t->ranks || dlb_relaunch_is_done() ? t->ranks : RANKS;
    if (ranks && dlb_bench_number("--ranks", ranks, 2, 4096, &o->ranks, err) < 0)
        return DLB_BAD_INPUT;
    if (dlb_bench_number("--rounds", t->rounds, 1, 100000, &o->rounds, err) < 0 ||
        dlb_bench_number("--largest-kb", t->largest_kb, 1, 1 << 20, &o->largest_kb, err) < 0)
        return DLB_BAD_INPUT;
    return 0;
}

int dlb_bench_comm(int argc, char **argv)
{
    texts t = {.rounds = ROUNDS, .largest_kb = LARGEST_KB};
    options o = {0};
    const dlb_flag flags[] = {
        {"ranks", "processes, each with a core of its own (default " RANKS ")", "N", &t.ranks,
         NULL},
        {"rounds", "measurements of each (default " ROUNDS ")", "N", &t.rounds, NULL},
        {"largest-kb", "the largest size that is exchanged (default " LARGEST_KB ")", "KB",
         &t.largest_kb, NULL},
        {"csv", "append one row a measurement to this file", "FILE", &o.csv, NULL},
    };
    const dlb_command command = {
        .name = name,
        .about = "Time the exchange of gradients between ranks against MPI_Allreduce and against "
                 "memory bandwidth; then the whole of reduce, update and share; then other sizes "
                 "of buckets and pieces. ~15 s.",
        .operands = "",
        .flags = flags,
        .flag_count = sizeof flags / sizeof *flags};
    dlb_arguments arguments;
    dlb_error err;
    int status;
    if (!dlb_cli_begin(&command, argc, argv, &arguments, &status))
        return status;
    if (parse(&t, &o, &err) < 0)
        return dlb_cli_fail(name, &err);
    return dlb_relaunch_is_done() ? run_rank(&o) : start_ranks(&o, argc, argv);
}
