#include "cli/watchdog.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/cmd.h"

/* The ranks' own search for one that is lost comes first. */
enum { GRACE_S = 15 };

static struct {
    const char *command;
    int limit_s;
    atomic_int quiet_s; /* seconds that this process ran without a pat */
} watchdog;

/* What a launcher tells a process of its rank; NULL in one that none has started. */
static const char *launched_rank(void)
{
    static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",
                                            "ALPS_APP_PE"};
    const char *rank = NULL;
    for (size_t i = 0; !rank && i < sizeof variables / sizeof *variables; i++)
        rank = getenv(variables[i]);
    return rank;
}

static void bark(void)
{
    char host[DLB_HOST_NAME] = "";
    gethostname(host, sizeof host - 1);
    fprintf(stderr,
            "%s: rank %s on %s is held inside MPI for %d s; another rank is lost, or never came\n",
            watchdog.command, launched_rank(), host, watchdog.limit_s);
    _exit(DLB_EXIT_SHORT);
}

static void *watch(void *arg)
{
    while (atomic_fetch_add(&watchdog.quiet_s, 1) < watchdog.limit_s)
        sleep(1);
    bark();
    return arg;
}

void dlb_watchdog_start(const char *command, int hang_timeout)
{
    pthread_t thread;
    sigset_t all, before;
    if (hang_timeout == 0 || !launched_rank())
        return;
    watchdog.command = command;
    watchdog.limit_s = hang_timeout + GRACE_S;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the main thread's */
    if (pthread_create(&thread, NULL, watch, NULL) == 0)
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void dlb_watchdog_pat(void)
{
    atomic_store(&watchdog.quiet_s, 0);
}
