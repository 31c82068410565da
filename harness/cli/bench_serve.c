#include "cli/bench_serve.h"

#include <math.h>
#include <sched.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/bench.h"
#include "cli/bench_cases.h"
#include "cli/bench_verify.h"
#include "cli/cmd.h"
#include "cli/relaunch.h"
#include "dlk/rng.h"
#include "measure/counters.h"
#include "measure/usage.h"

static const char name[] = "dlbench bench serve";

#define STEPS "20"

typedef struct server {
    dlb_bench_cases cases;
    double slowdown;    /* 0.05: everything takes 5 % longer than it does */
    double noise;       /* 0.05: and then up to 5 % more, by chance */
    uint32_t disturbed; /* slices so far */
} server;

static void announce(const server *s)
{
    printf(DLB_SERVE_GREETING "\n");
    for (size_t i = 0; i < s->cases.count; i++) {
        const dlb_bench_case *c = &s->cases.list[i];
        printf("%s%s\n", c->role == DLB_CASE_REFERENCE ? DLB_SERVE_REFERENCE : DLB_SERVE_CASE,
               c->name);
    }
    printf(DLB_SERVE_READY "\n");
}

/* ---- Measuring ---- */

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

/* No compiler may merge it with its callers: see the header. */
__attribute__((noinline)) void dlb_serve_calls(const dlb_kernel_call *call, long long repeats)
{
    for (long long i = 0; i < repeats; i++)
        call->run(call->self);
}

/* What is asked for, and its answer. */
typedef struct request {
    server *server;
    const dlb_bench_case *subject;
    long long repeats;
    double seconds;
    dlb_serve_sample sample;
    dlb_counters *counters;
} request;

static void measure(void *arg)
{
    request *r = arg;
    const dlb_kernel_call *call = &r->subject->call;
    dlb_kernel_call_prepare(call);
    sched_yield(); /* whoever asked is on its way to wait, maybe on this core */
    for (long long i = 0; i < 1 + r->repeats / 4; i++) /* others have had the caches since */
        call->run(call->self);
    int cpu = sched_getcpu();
    dlb_usage usage = dlb_usage_now();
    int64_t start = dlb_clock_ns();
    dlb_serve_calls(call, r->repeats);
    slow_down(r->server, start);
    int64_t end = dlb_clock_ns();
    r->sample = (dlb_serve_sample){end - start, dlb_usage_since(&usage).involuntary_switches,
                                   sched_getcpu() != cpu};
}

static void calibrate(void *arg)
{
    request *r = arg;
    dlb_kernel_call_prepare(&r->subject->call);
    r->repeats = dlb_kernel_call_repeats(&r->subject->call, r->seconds);
}

/* The second call: the first may have to make room for what it computes. */
static void count(void *arg)
{
    const request *r = arg;
    const dlb_kernel_call *call = &r->subject->call;
    dlb_kernel_call_prepare(call);
    call->run(call->self);
    dlb_counters_start(r->counters, 0);
    call->run(call->self);
    dlb_counters_stop(r->counters, 0);
}

/* ---- Requests ---- */

static int answer_calibrate(request *r, dlb_error *err)
{
    (void)err;
    dlb_bench_cases_lead(&r->server->cases, calibrate, r);
    printf(DLB_SERVE_REPEATS "\n", r->repeats);
    return 0;
}

static int answer_run(request *r, dlb_error *err)
{
    dlb_bench_cases_lead(&r->server->cases, measure, r);
    if (dlb_bench_input_status(r->server->cases.input, err) < 0)
        return DLB_FAIL;
    printf(DLB_SERVE_SAMPLE "\n", (long long)r->sample.ns, r->sample.switches, r->sample.migrated);
    return 0;
}

static int answer_describe(request *r, dlb_error *err)
{
    const dlb_bench_case *c = r->subject;
    (void)err;
    printf("about %s %d %.17g %.17g %s\n", dlb_case_role_name(c->role), c->images, c->cost.flops,
           c->cost.bytes, c->kernel);
    return 0;
}

static int answer_verify(request *r, dlb_error *err)
{
    const dlb_kernel_row *row = r->subject->row;
    double error = NAN;
    int status = row ? dlb_verify_row(&r->server->cases.training.plan, row, &error, err) : 0;
    if (status == 0)
        printf(DLB_SERVE_ERROR "\n", error, DLB_VERIFY_BOUND);
    return status;
}

static int answer_count(request *r, dlb_error *err)
{
    long long instructions;
    int status = dlb_counters_create(&r->counters, "PAPI_TOT_INS", 1, err);
    if (status < 0)
        return status;
    dlb_bench_cases_lead(&r->server->cases, count, r);
    if (dlb_counters_value(r->counters, 0, &instructions))
        printf(DLB_SERVE_COUNTED "\n", instructions);
    else
        printf(DLB_SERVE_MISSING "%s\n", dlb_counters_why(r->counters, 0));
    dlb_counters_free(r->counters);
    return 0;
}

static bool is_whole(const char *line, int read)
{
    return read > 0 && line[read] == '\n';
}

typedef int answer_fn(request *request, dlb_error *err);

/* What the line asks for; NULL: nothing that there is. */
static answer_fn *parse_request(const char *line, request *r, long long *number)
{
    int read = 0;
    if (sscanf(line, DLB_SERVE_RUN "%n", number, &r->repeats, &read) == 2 && is_whole(line, read))
        return r->repeats > 0 ? answer_run : NULL;
    if (sscanf(line, DLB_SERVE_CALIBRATE "%n", number, &r->seconds, &read) == 2 &&
        is_whole(line, read))
        return r->seconds > 0 ? answer_calibrate : NULL;
    if (sscanf(line, DLB_SERVE_DESCRIBE "%n", number, &read) == 1 && is_whole(line, read))
        return answer_describe;
    if (sscanf(line, DLB_SERVE_VERIFY "%n", number, &read) == 1 && is_whole(line, read))
        return answer_verify;
    if (sscanf(line, DLB_SERVE_COUNT "%n", number, &read) == 1 && is_whole(line, read))
        return answer_count;
    return NULL;
}

static int answer(server *s, const char *line, dlb_error *err)
{
    request r = {.server = s};
    long long number = -1;
    answer_fn *fn = parse_request(line, &r, &number);
    if (!fn || number < 0 || (size_t)number >= s->cases.count)
        return dlb_fail(err, DLB_BAD_INPUT, "'%.*s' is no request", (int)strcspn(line, "\n"), line);
    r.subject = &s->cases.list[number];
    return fn(&r, err);
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
    const char *steps, *threads, *slowdown, *noise;
    bool others;
} texts;

static int run(server *s, const texts *t, dlb_error *err)
{
    long long steps = 0, threads = 1;
    if (dlb_relaunch_is_done())
        return dlb_fail(err, DLB_BAD_INPUT, "it measures one process and needs no launcher");
    if (dlb_bench_number("--steps", t->steps, 0, 1000000, &steps, err) < 0 ||
        dlb_bench_number("--threads", t->threads, 1, 4096, &threads, err) < 0 ||
        dlb_bench_real("--slow-down", t->slowdown, 0, 10, &s->slowdown, err) < 0 ||
        dlb_bench_real("--noise", t->noise, 0, 10, &s->noise, err) < 0)
        return DLB_BAD_INPUT;
    dlk_float_mode_flush();
    dlb_bench_cases_options options = {
        .threads = (int)threads, .steps = steps, .others = t->others};
    int status = dlb_kernel_training_ask(&s->cases.training, &t->request, err);
    if (status == 0)
        status = dlb_bench_cases_start(&s->cases, &options, err);
    return status < 0 ? status : serve(s, err);
}

int dlb_bench_serve(int argc, char **argv)
{
    texts t = {.steps = STEPS, .threads = "1", .slowdown = "0", .noise = "0"};
    const dlb_flag flags[] = {
        {"model", "a built-in model or the path of a .model file (default keras_cnn)", "NAME|FILE",
         &t.request.model, NULL},
        {"layers", "layers instead of a model: \"26x26x32; conv2d filters=64 kernel=3; relu\"",
         "TEXT", &t.request.layers, NULL},
        {"kernels", "the family of kernels (default: the best)", "FAMILY", &t.request.kernels,
         NULL},
        {"isa", "their instruction set (default: the best)", "ISA", &t.request.isa, NULL},
        {"batch", "images in a step (default: the model's)", "N", &t.request.batch, NULL},
        {"data", "what is trained on, as for train (default mnist)", "NAME|DIR", &t.request.data,
         NULL},
        {"steps", "of training before, on which depends what is zero (default " STEPS ")", "N",
         &t.steps, NULL},
        {"threads", "of the team that computes (default 1)", "N", &t.threads, NULL},
        {"others", "serve kernels that the plan does not use, too", NULL, NULL, &t.others},
        {"slow-down", "take longer by this share, to see who notices", "SHARE", &t.slowdown, NULL},
        {"noise", "and by up to this share more, by chance", "SHARE", &t.noise, NULL},
    };
    const dlb_command command = {.name = name,
                                 .about = "Time operations of a training step on request: what "
                                          "bench, check and selftest talk to, by lines on standard "
                                          "input and output.",
                                 .operands = "",
                                 .flags = flags,
                                 .flag_count = sizeof flags / sizeof *flags};
    dlb_arguments arguments;
    int status;
    if (!dlb_cli_begin(&command, argc, argv, &arguments, &status))
        return status;
    dlb_error err;
    server s = {0};
    dlb_bench_cases_init(&s.cases);
    status = run(&s, &t, &err) < 0 ? dlb_cli_fail(name, &err) : DLB_EXIT_OK;
    dlb_bench_cases_release(&s.cases);
    return status;
}
