#include "cli/train_launch.h"

#include "base/mem.h"
#include "cli/relaunch.h"

_Static_assert((int)DLB_BINDING_AUTO == (int)DLB_binding_auto &&
                   (int)DLB_BINDING_CORE == (int)DLB_binding_core &&
                   (int)DLB_BINDING_HWTHREAD == (int)DLB_binding_hwthread &&
                   (int)DLB_BINDING_SOCKET == (int)DLB_binding_socket &&
                   (int)DLB_BINDING_NONE == (int)DLB_binding_none,
               "the key binding has the choices of dlb_binding");

bool dlb_train_launches(const dlb_workload *workload)
{
    return workload->ranks > 1 && !dlb_relaunch_is_done();
}

/* The first number of OMP_NUM_THREADS; 0 without it. Ranks read it anew and refuse nonsense. */
static int threads_of_environment(void)
{
    const char *text = getenv("OMP_NUM_THREADS");
    if (!text || !*text)
        return 0;
    long threads = strtol(text, NULL, 10);
    return threads > 0 && threads <= dlb_key_info(DLB_KEY_threads)->max ? (int)threads : 1;
}

/* argv; the number of threads is added where neither flag nor environment gives it. */
static const char **list_words(int argc, char **argv, const char *threads)
{
    enum { MORE = 3 }; /* --threads, the number, and the end */
    const char **words = dlb_alloc((size_t)argc + MORE, sizeof *words);
    for (int i = 0; i < argc; i++)
        words[i] = argv[i];
    if (*threads) {
        words[argc] = "--threads";
        words[argc + 1] = threads;
    }
    return words;
}

int dlb_train_launch(const dlb_workload *workload, int argc, char **argv)
{
    char threads[16] = "";
    dlb_launch_machine machine;
    dlb_launch_here(&machine);
    dlb_launch launch = {.ranks = (int)workload->ranks,
                         .ranks_per_node = (int)workload->ranks_per_node,
                         .threads =
                             workload->threads ? (int)workload->threads : threads_of_environment(),
                         .binding = (dlb_binding)workload->binding};
    if (!launch.threads) {
        launch.threads = dlb_launch_threads(&launch, &machine);
        snprintf(threads, sizeof threads, "%d", launch.threads);
    }
    const char **words = list_words(argc, argv, threads);
    launch.program = words;
    int status = dlb_relaunch("dlbench train", &launch, &machine);
    free(words);
    return status;
}
