#include "comm/window.h"

#include <sys/statvfs.h>

#include "base/mem.h"

/*
 * Where MPI implementations keep the memory. Without enough room there some of them wait for each
 * other for ever, and others fail at the first write only.
 */
#define SHARED_FOLDER "/dev/shm"

static int check_room(size_t bytes, dlb_error *err)
{
    struct statvfs folder;
    if (statvfs(SHARED_FOLDER, &folder) < 0)
        return 0;
    double room = (double)folder.f_bavail * (double)folder.f_frsize;
    if ((double)bytes <= room)
        return 0;
    return dlb_fail(err, DLB_FAIL,
                    "the ranks of a node would share %.1f MB in %s, which has room for %.1f MB",
                    (double)bytes / 1e6, SHARED_FOLDER, room / 1e6);
}

static char *align(char *address)
{
    size_t beyond = (uintptr_t)address % DLB_PAGE;
    return beyond ? address + (DLB_PAGE - beyond) : address;
}

static int allocate_alone(dlb_window *window, size_t bytes, dlb_error *err)
{
    window->memory = dlb_try_alloc(bytes + DLB_PAGE, 1);
    if (!window->memory)
        return dlb_fail(err, DLB_FAIL, "no memory for %zu bytes", bytes);
    window->segments[0] = align(window->memory);
    return 0;
}

static int mpi_failure(int code, dlb_error *err)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    MPI_Error_string(code, text, &length);
    return dlb_fail(err, DLB_FAIL, "MPI cannot share memory among the ranks of a node: %s", text);
}

/* A segment has the same address modulo the page in every process. */
static int find_segments(dlb_window *window, int ranks, dlb_error *err)
{
    int code = MPI_SUCCESS;
    for (int r = 0; r < ranks && code == MPI_SUCCESS; r++) {
        MPI_Aint size;
        int unit;
        char *base = NULL;
        code = MPI_Win_shared_query(window->win, r, &size, &unit, &base);
        window->segments[r] = align(base);
    }
    return code == MPI_SUCCESS ? 0 : mpi_failure(code, err);
}

/* Segments are placed apart, so that each may be near its rank. */
static int allocate_shared(dlb_window *window, const dlb_comm *comm, size_t bytes, dlb_error *err)
{
    MPI_Info info;
    char *base;
    MPI_Info_create(&info);
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    int code = MPI_Win_allocate_shared((MPI_Aint)(bytes + DLB_PAGE), 1, info, comm->node, &base,
                                       &window->win);
    MPI_Info_free(&info);
    return code == MPI_SUCCESS ? find_segments(window, comm->local_size, err)
                               : mpi_failure(code, err);
}

int dlb_window_open(dlb_window *window, dlb_comm *comm, size_t bytes, size_t node_bytes,
                    dlb_error *err)
{
    size_t ranks = (size_t)comm->local_size;
    *window = (dlb_window){.win = MPI_WIN_NULL};
    window->segments = dlb_alloc(ranks, sizeof *window->segments);
    if (comm->size == 1)
        return allocate_alone(window, bytes, err);
    int status = check_room(node_bytes + ranks * DLB_PAGE, err);
    status = dlb_comm_agree(comm, status, err);
    if (status < 0)
        return status;
    return dlb_comm_agree(comm, allocate_shared(window, comm, bytes, err), err);
}

void dlb_window_close(dlb_window *window, bool whole)
{
    if (whole && window->win != MPI_WIN_NULL)
        MPI_Win_free(&window->win);
    free(window->segments);
    free(window->memory);
}
