#include "cli/sweep_command.h"

#include "base/mem.h"
#include "cli/relaunch.h"
#include "train/threads.h"

static const char env_prefix[] = "env.";

/* Words that are owned, ended by NULL. */
typedef struct words {
    char **texts;
    size_t count, capacity;
} words;

static void add(words *w, const char *text)
{
    w->texts = dlb_grow(w->texts, &w->capacity, w->count + 2, sizeof *w->texts);
    w->texts[w->count++] = dlb_strdup(text);
    w->texts[w->count] = NULL;
}

static void add_filled(void *w, const char *text)
{
    add(w, text);
}

static void addf(words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void addf(words *w, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    if (length >= 0)
        add(w, text);
    free(text);
}

static void release(words *w)
{
    for (size_t i = 0; i < w->count; i++)
        free(w->texts[i]);
    free(w->texts);
}

static const char *const *list(const words *w)
{
    return (const char *const *)w->texts;
}

/* ---- Our own trainer ---- */

static void add_key(words *program, const dlb_workload *workload, enum dlb_key key)
{
    dlb_str flag = DLB_STR_INIT, value = DLB_STR_INIT;
    dlb_key_flag(key, &flag);
    dlb_str_add(&value, "");
    dlb_workload_get(workload, key, &value);
    bool looks_like_flag = strncmp(value.text, "--", 2) == 0;
    if (looks_like_flag)
        addf(program, "%s=%s", flag.text, value.text);
    else {
        add(program, flag.text);
        add(program, value.text);
    }
    dlb_str_release(&value);
    dlb_str_release(&flag);
}

static void list_trainer(words *program, const dlb_sweep_scene *scene, const dlb_workload *workload,
                         const dlb_sweep_run *run)
{
    add(program, scene->program);
    add(program, "train");
    for (enum dlb_key key = 0; key < DLB_KEY_COUNT; key++)
        if (dlb_workload_is_set(workload, key))
            add_key(program, workload, key);
    add(program, "--result");
    add(program, run->result);
    add(program, "--quiet");
}

/* ---- The environment ---- */

static void add_inherited(void *environment, const char *variable)
{
    add(environment, variable);
}

static void list_environment(words *environment, const dlb_sweep_scene *scene,
                             const dlb_workload *workload, const dlb_sweep_run *run)
{
    if (scene->machine.nodes > 1) /* a launcher hands on only what it is told by name */
        dlb_relaunch_inherited(add_inherited, environment);
    addf(environment, "OMP_NUM_THREADS=%lld", workload->threads);
    if (dlb_workload_is_set(workload, DLB_KEY_kmp_blocktime))
        addf(environment, "KMP_BLOCKTIME=%s", workload->kmp_blocktime);
    if (dlb_workload_is_set(workload, DLB_KEY_kmp_affinity))
        addf(environment, "KMP_AFFINITY=%s", workload->kmp_affinity);
    for (size_t p = 0; p < dlb_plan_parameters(scene->plan); p++) {
        const char *name = dlb_plan_parameter(scene->plan, p);
        if (strncmp(name, env_prefix, strlen(env_prefix)) == 0 &&
            dlb_plan_has(scene->plan, run->point, (int)p))
            addf(environment, "%s=%s", name + strlen(env_prefix),
                 dlb_plan_value(scene->plan, run->point, (int)p));
    }
}

/* ---- All of it ---- */

static dlb_starter starter_of(const char *name)
{
    static const char *const names[] = {[DLB_STARTER_AUTO] = "auto",
                                        [DLB_STARTER_NONE] = "none",
                                        [DLB_STARTER_MPIRUN] = "mpirun",
                                        [DLB_STARTER_SRUN] = "srun",
                                        [DLB_STARTER_APRUN] = "aprun"};
    dlb_starter starter = DLB_STARTER_AUTO;
    while (strcmp(names[starter], name) != 0)
        starter++;
    return starter;
}

/* Keys that leave a choice to the machine get it; the seed is that of the repeat. */
static int resolve(const dlb_sweep_scene *scene, const dlb_sweep_run *run, dlb_workload *workload,
                   dlb_launch *launch, dlb_error *err)
{
    char number[24];
    *launch = (dlb_launch){.starter = starter_of(scene->study->launcher),
                           .ranks = workload->ranks ? (int)workload->ranks : 1,
                           .ranks_per_node = (int)workload->ranks_per_node,
                           .threads_per_core = (int)workload->threads_per_core,
                           .binding = (dlb_binding)workload->binding,
                           .options = (const char *const *)scene->study->launch_options};
    if (dlb_threads_given(workload, &launch->threads, err) < 0)
        return DLB_BAD_INPUT;
    if (!launch->threads)
        launch->threads = dlb_launch_threads(launch, &scene->machine);
    snprintf(number, sizeof number, "%d", launch->threads);
    if (dlb_workload_set(workload, DLB_KEY_threads, number, err) < 0)
        return DLB_BAD_INPUT;
    snprintf(number, sizeof number, "%lld", workload->seed + run->repeat - 1);
    return dlb_workload_set(workload, DLB_KEY_seed, number, err);
}

static int build(const dlb_sweep_scene *scene, const dlb_sweep_run *run,
                 const dlb_workload *workload, dlb_launch *launch, dlb_command_line *line,
                 dlb_error *err)
{
    words program = {0}, wrap = {0}, environment = {0};
    dlb_fill fill = {.repeat = run->repeat, .seed = workload->seed, .run_dir = run->run_dir};
    int status = 0;
    if (!scene->study->command)
        list_trainer(&program, scene, workload, run);
    else
        status = dlb_plan_fill(scene->plan, run->point, scene->study->command, &fill, add_filled,
                               &program, err);
    if (status == 0 && scene->study->wrap)
        status = dlb_plan_fill(scene->plan, run->point, scene->study->wrap, &fill, add_filled,
                               &wrap, err);
    if (status == 0) {
        list_environment(&environment, scene, workload, run);
        launch->program = list(&program);
        launch->wrap = list(&wrap);
        launch->environment = list(&environment);
        status = dlb_launch_command(line, launch, &scene->machine, err);
    }
    release(&environment);
    release(&wrap);
    release(&program);
    return status;
}

int dlb_sweep_command(const dlb_sweep_scene *scene, const dlb_sweep_run *run,
                      dlb_command_line *line, dlb_sweep_shape *shape, dlb_error *err)
{
    dlb_workload workload;
    dlb_launch launch;
    dlb_plan_workload(scene->plan, run->point, &workload);
    int status = resolve(scene, run, &workload, &launch, err);
    if (status == 0)
        status = build(scene, run, &workload, &launch, line, err);
    bool crowded = dlb_launch_oversubscribes(&launch, &scene->machine);
    *shape = (dlb_sweep_shape){.ranks = launch.ranks,
                               .threads = launch.threads,
                               .seed = workload.seed,
                               .oversubscribed = crowded,
                               .bound = dlb_launch_binds(&launch, &scene->machine),
                               .launcher = dlb_launch_starter(&launch, &scene->machine)};
    dlb_workload_release(&workload);
    return status;
}

void dlb_sweep_describe(const dlb_sweep_scene *scene, size_t point, dlb_str *text)
{
    const char *grid = dlb_plan_grid(scene->plan, point), *separator = "";
    if (*grid)
        dlb_str_addf(text, "%s: ", grid);
    for (size_t p = 0; p < dlb_plan_parameters(scene->plan); p++)
        if (dlb_sweep_tells(scene, grid, p)) {
            dlb_str_addf(text, "%s%s %s", separator, dlb_plan_parameter(scene->plan, p),
                         dlb_plan_value(scene->plan, point, (int)p));
            separator = ", ";
        }
    if (!*separator)
        dlb_str_add(text, "the only point");
}
