#include <math.h>
#include <sched.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/bench.h"
#include "cli/bench_kernels_training.h"
#include "cli/bench_serve.h"
#include "cli/cmd.h"
#include "cli/relaunch.h"
#include "dlk/rng.h"
#include "measure/usage.h"

static const char name[] = "dlbench bench serve";

#define STEPS "20"

typedef struct server {
    dlb_kernel_training training;
    double slowdown;    /* 0.05: everything takes 5 % longer than it does */
    double noise;       /* 0.05: and then up to 5 % more, by chance */
    uint32_t disturbed; /* slices so far */
} server;

/* ---- Cases ---- */

/* What the plan uses: alternatives to it concern nobody who trains. */
static bool is_served(const dlb_kernel_row *row)
{
    return !row->alternative;
}

static dlb_kernel_row *find_case(server *s, long long number)
{
    dlb_kernel_plan *p = &s->training.plan;
    for (size_t i = 0; i < p->row_count; i++)
        if (is_served(&p->rows[i]) && number-- == 0)
            return &p->rows[i];
    return NULL;
}

static void announce(server *s)
{
    printf(DLB_SERVE_GREETING "\n");
    const dlb_kernel_row *row;
    for (int i = 0; (row = find_case(s, i)) != NULL; i++)
        printf(DLB_SERVE_CASE "%s\n", row->name);
    printf(DLB_SERVE_READY "\n");
}

/* ---- Requests ---- */

/* Another chance in every process and slice. */
static double share_of_noise(server *s)
{
    dlk_rng_key key = {.purpose = DLK_RNG_SYNTHETIC, .worker = (uint32_t)getpid()};
    return s->noise * dlk_rng_uniform(&key, s->disturbed++);
}

/* Wait as long as slowdown and noise ask for after what took from `start` until now. */
static void slow_down(server *s, int64_t start)
{
    double share = s->slowdown + share_of_noise(s);
    if (share <= 0)
        return;
    int64_t now = dlb_clock_ns();
    int64_t end = now + llround(share * (double)(now - start));
    while (dlb_clock_ns() < end) {
    }
}

static dlb_serve_sample measure(server *s, const dlb_kernel_call *call, long long repeats)
{
    dlb_kernel_call_prepare(call);
    sched_yield(); /* whoever asked is on its way to wait, maybe on this core */
    for (long long i = 0; i < 1 + repeats / 4; i++) /* others have had the caches since */
        call->run(call->self);
    int cpu = sched_getcpu();
    dlb_usage usage = dlb_usage_now();
    int64_t start = dlb_clock_ns();
    for (long long i = 0; i < repeats; i++)
        call->run(call->self);
    slow_down(s, start);
    int64_t end = dlb_clock_ns();
    return (dlb_serve_sample){end - start, dlb_usage_since(&usage).involuntary_switches,
                              sched_getcpu() != cpu};
}

static int fail_request(const char *line, dlb_error *err)
{
    return dlb_fail(err, DLB_BAD_INPUT, "'%.*s' is no request", (int)strcspn(line, "\n"), line);
}

static int answer(server *s, const char *line, dlb_error *err)
{
    long long number, repeats;
    double seconds;
    int read = 0;
    if (sscanf(line, DLB_SERVE_CALIBRATE "%n", &number, &seconds, &read) == 2 &&
        line[read] == '\n') {
        const dlb_kernel_row *row = find_case(s, number);
        if (!row || !(seconds > 0))
            return fail_request(line, err);
        dlb_kernel_call_prepare(&row->own);
        printf(DLB_SERVE_REPEATS "\n", (long long)dlb_kernel_call_repeats(&row->own, seconds));
        return 0;
    }
    if (sscanf(line, DLB_SERVE_RUN "%n", &number, &repeats, &read) == 2 && line[read] == '\n') {
        const dlb_kernel_row *row = find_case(s, number);
        if (!row || repeats < 1)
            return fail_request(line, err);
        dlb_serve_sample sample = measure(s, &row->own, repeats);
        printf(DLB_SERVE_SAMPLE "\n", (long long)sample.ns, sample.switches, sample.migrated);
        return 0;
    }
    return fail_request(line, err);
}

static int serve(server *s, dlb_error *err)
{
    char line[128];
    int status = 0;
    announce(s);
    fflush(stdout);
    while (status == 0 && fgets(line, sizeof line, stdin)) {
        status = answer(s, line, err);
        fflush(stdout);
    }
    return status;
}

/* ---- What is asked for ---- */

typedef struct texts {
    dlb_kernel_request request;
    const char *steps, *slowdown, *noise;
} texts;

static int run(server *s, const texts *t, dlb_error *err)
{
    long long steps = 0;
    dlb_bench_progress silent = {0};
    if (dlb_relaunch_is_done())
        return dlb_fail(err, DLB_BAD_INPUT, "it measures one core and needs no launcher");
    if (dlb_bench_number("--steps", t->steps, 0, 1000000, &steps, err) < 0 ||
        dlb_bench_real("--slow-down", t->slowdown, 0, 10, &s->slowdown, err) < 0 ||
        dlb_bench_real("--noise", t->noise, 0, 10, &s->noise, err) < 0)
        return DLB_BAD_INPUT;
    dlk_float_mode_flush();
    int status = dlb_kernel_training_ask(&s->training, &t->request, err);
    if (status == 0)
        status = dlb_kernel_training_start(&s->training, steps, NAN, &silent, err);
    return status < 0 ? status : serve(s, err);
}

int dlb_bench_serve(int argc, char **argv)
{
    texts t = {.steps = STEPS, .slowdown = "0", .noise = "0"};
    const dlb_flag flags[] = {
        {"model", "a built-in model or the path of a .model file (default keras_cnn)", "NAME|FILE",
         &t.request.model, NULL},
        {"kernels", "the family of kernels (default: the best)", "FAMILY", &t.request.kernels,
         NULL},
        {"isa", "their instruction set (default: the best)", "ISA", &t.request.isa, NULL},
        {"batch", "images in a step (default: the model's)", "N", &t.request.batch, NULL},
        {"data", "what is trained on, as for train (default mnist)", "NAME|DIR", &t.request.data,
         NULL},
        {"steps", "of training before, on which depends what is zero (default " STEPS ")", "N",
         &t.steps, NULL},
        {"slow-down", "take longer by this share, to see who notices", "SHARE", &t.slowdown, NULL},
        {"noise", "and by up to this share more, by chance", "SHARE", &t.noise, NULL},
    };
    const dlb_command command = {.name = name,
                                 .about = "Time operations of a training step on request: what "
                                          "check and selftest talk to, by lines on standard input "
                                          "and output.",
                                 .operands = "",
                                 .flags = flags,
                                 .flag_count = sizeof flags / sizeof *flags};
    dlb_arguments arguments;
    int status;
    if (!dlb_cli_begin(&command, argc, argv, &arguments, &status))
        return status;
    dlb_error err;
    server s = {0};
    dlb_kernel_training_init(&s.training);
    status = run(&s, &t, &err) < 0 ? dlb_cli_fail(name, &err) : DLB_EXIT_OK;
    dlb_kernel_training_release(&s.training);
    return status;
}
