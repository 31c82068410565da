#include "cli/train_launch.h"

#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/relaunch.h"
#include "train/threads.h"

static const char name[] = "dlbench train";

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
    char added[16] = "";
    dlb_error err;
    dlb_launch_machine machine;
    dlb_launch launch = {.ranks = (int)workload->ranks,
                         .ranks_per_node = (int)workload->ranks_per_node,
                         .threads_per_core = (int)workload->threads_per_core,
                         .binding = (dlb_binding)workload->binding};
    if (dlb_threads_given(workload, &launch.threads, &err) < 0)
        return dlb_cli_fail(name, &err);
    dlb_launch_here(&machine);
    if (!launch.threads) {
        launch.threads = dlb_launch_threads(&launch, &machine);
        snprintf(added, sizeof added, "%d", launch.threads);
    }
    const char **words = list_words(argc, argv, added);
    launch.program = words;
    int status = dlb_relaunch(name, &launch, &machine);
    free(words);
    return status;
}
