#include "comm/runtime.h"

#include <ctype.h>
#include <mpi.h>
#include <signal.h>
#include <stdatomic.h>

#include "base/mem.h"

static bool ours;
static atomic_bool abandoned;

bool dlb_mpi_runs(void)
{
    int initialised = 0, finalised = 0;
    MPI_Initialized(&initialised);
    MPI_Finalized(&finalised);
    return initialised && !finalised;
}

bool dlb_mpi_is_ours(void)
{
    return ours;
}

static void finalise(void)
{
    if (dlb_mpi_runs() && !atomic_load(&abandoned))
        MPI_Finalize();
}

void dlb_mpi_abandon(void)
{
    atomic_store(&abandoned, true);
}

/* Writing to the socket of a rank that has died must not end those that are left to tell of it. */
static void ignore_broken_pipes(void)
{
    struct sigaction now;
    if (sigaction(SIGPIPE, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
        signal(SIGPIPE, SIG_IGN);
}

static int initialise(int level, dlb_error *err)
{
    int finalised = 0, provided;
    MPI_Finalized(&finalised);
    if (finalised)
        return dlb_fail(err, DLB_FAIL, "MPI has been finalised and cannot be used again");
    if (MPI_Init_thread(NULL, NULL, level, &provided) != MPI_SUCCESS)
        return dlb_fail(err, DLB_FAIL, "MPI cannot be initialised");
    ours = true;
    ignore_broken_pipes();
    atexit(finalise);
    return 0;
}

int dlb_mpi_begin(bool many_threads, dlb_error *err)
{
    int level = many_threads ? MPI_THREAD_SERIALIZED : MPI_THREAD_FUNNELED, provided;
    int status = dlb_mpi_runs() ? 0 : initialise(level, err);
    if (status < 0)
        return status;
    MPI_Query_thread(&provided);
    if (provided < level)
        return dlb_fail(err, DLB_FAIL,
                        "MPI was initialised for less than %s: ask MPI_Init_thread for it",
                        many_threads ? "MPI_THREAD_SERIALIZED" : "MPI_THREAD_FUNNELED");
    return 0;
}

/* Referred to, so that it is no leak. */
typedef struct kept {
    struct kept *next;
    void *memory;
} kept;

void dlb_mpi_release(void *memory, bool quiet)
{
    static kept *list;
    if (quiet) {
        free(memory);
        return;
    }
    kept *item = dlb_alloc(1, sizeof *item);
    *item = (kept){.next = list, .memory = memory};
    list = item;
}

/* Open MPI's text is "Open MPI v4.1.4, package: …", MPICH's "MPICH Version:\t4.0.2\n…". */
void dlb_mpi_name(char *name, size_t size)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    MPI_Get_library_version(text, &length);
    text[strcspn(text, ",\n")] = '\0';
    const char *number = text + strcspn(text, "0123456789");
    int product = (int)(number - text);
    while (product > 0 && strchr(" \tv:", text[product - 1]))
        product--;
    snprintf(name, size, "%.*s %s", product, text, number);
}
