/*
 * What breaks a comm: a rank that has died, one that has been silent for too long, or MPI.
 *
 * Whoever finds out raises the alarm: a message to all others, which look for it while they wait.
 * All ranks that hear it raise it, too, and so each learns who is alive: those whose alarm it
 * hears. A rank that is not alive in this sense is dead or stopped, or does something else than
 * waiting for the others.
 */
#include <errno.h>
#include <signal.h>
#include <sys/types.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "comm/comm_state.h"
#include "comm/runtime.h"

enum { ALARM_TAG = 1 };

/* What an alarm says: which rank has died, or that one is silent. */
enum { SILENCE = -1 };

static const int64_t look_every_ns = 10 * 1000 * 1000;

/* A longer time between two looks means that this process was stopped, perhaps with all others. */
static const int64_t longest_gap_ns = 1000 * 1000 * 1000;

/*
 * How long the others may take to answer an alarm. Of a death people are told soon: a launcher
 * that sees it ends the whole run.
 */
static const int64_t answer_ns = 2000 * 1000 * 1000, answer_to_death_ns = 200 * 1000 * 1000;

int dlb_comm_failure(const dlb_comm *comm, dlb_error *err)
{
    return dlb_fail(err, comm->failure.code, "%s", comm->failure.message);
}

void dlb_comm_break(dlb_comm *comm, const char *format, ...)
{
    if (dlb_comm_is_broken(comm))
        return;
    comm->failure.code = DLB_FAIL;
    va_list args;
    va_start(args, format);
    vsnprintf(comm->failure.message, sizeof comm->failure.message, format, args);
    va_end(args);
    dlb_mpi_abandon();
    atomic_store_explicit(&comm->broken, true, memory_order_release);
}

/* Of the other ranks nothing is known then. */
bool dlb_comm_mpi_ok(dlb_comm *comm, int code)
{
    if (code == MPI_SUCCESS)
        return true;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    MPI_Error_string(code, text, &length);
    for (int r = 0; r < comm->size && !dlb_comm_is_broken(comm); r++)
        comm->alive[r] = r == comm->rank;
    dlb_comm_break(comm, "MPI failed on rank %d on %s: %s", comm->rank,
                   comm->places[comm->rank].host, text);
    return false;
}

int dlb_comm_lock(dlb_comm *comm, dlb_error *err)
{
    pthread_mutex_lock(&comm->mpi);
    if (!dlb_comm_is_broken(comm))
        return 0;
    pthread_mutex_unlock(&comm->mpi);
    return dlb_comm_failure(comm, err);
}

void dlb_comm_unlock(dlb_comm *comm)
{
    pthread_mutex_unlock(&comm->mpi);
}

static int find_dead(const dlb_comm *comm)
{
    for (int r = 0; r < comm->size; r++)
        if (comm->neighbours[r] && kill(comm->pids[r], 0) < 0 && errno == ESRCH)
            return r;
    return SILENCE;
}

/* The alarms of an inquest, one a rank; those of this rank itself are not used. */
typedef struct alarms {
    int said;
    int *heard; /* [size] */
    MPI_Request *sends, *receives;
} alarms;

static void exchange_alarms(dlb_comm *comm, alarms *alarm)
{
    for (int r = 0; r < comm->size; r++) {
        comm->alive[r] = r == comm->rank;
        alarm->sends[r] = alarm->receives[r] = MPI_REQUEST_NULL;
        if (r == comm->rank)
            continue;
        MPI_Irecv(&alarm->heard[r], 1, MPI_INT, r, ALARM_TAG, comm->all, &alarm->receives[r]);
        MPI_Isend(&alarm->said, 1, MPI_INT, r, ALARM_TAG, comm->all, &alarm->sends[r]);
    }
}

/* Marks those whose alarm has come; returns how many are still missing. */
static int count_missing(dlb_comm *comm, alarms *alarm)
{
    int missing = 0;
    for (int r = 0; r < comm->size; r++) {
        int heard = comm->alive[r];
        if (!heard)
            MPI_Test(&alarm->receives[r], &heard, MPI_STATUS_IGNORE);
        comm->alive[r] = heard;
        missing += !heard;
    }
    return missing;
}

/* An alarm that could not be sent yet is kept: MPI still reads it. */
static void withdraw_alarms(const dlb_comm *comm, alarms *alarm)
{
    int sent = 0;
    for (int r = 0; r < comm->size; r++)
        if (alarm->receives[r] != MPI_REQUEST_NULL) {
            MPI_Cancel(&alarm->receives[r]);
            MPI_Request_free(&alarm->receives[r]);
        }
    MPI_Testall(comm->size, alarm->sends, &sent, MPI_STATUSES_IGNORE);
    free(alarm->receives);
    free(alarm->heard);
    free(alarm->sends);
    dlb_mpi_release(alarm, sent);
}

/* The rank that has died according to any alarm. */
static int told_dead(const dlb_comm *comm, const alarms *alarm)
{
    int dead = alarm->said;
    for (int r = 0; r < comm->size && dead == SILENCE; r++)
        if (r != comm->rank && comm->alive[r])
            dead = alarm->heard[r];
    return dead;
}

static void name_some(const dlb_comm *comm, int missing, dlb_str *text)
{
    enum { NAMED = 4 };
    for (int r = 0, named = 0; r < comm->size && named < NAMED; r++) {
        if (comm->alive[r])
            continue;
        const char *joint = named == 0 ? "" : named == missing - 1 ? " and " : ", ";
        dlb_str_addf(text, "%srank %d on %s", joint, r, comm->places[r].host);
        named++;
    }
    if (missing > NAMED)
        dlb_str_addf(text, " and %d more", missing - NAMED);
}

static void break_for_silence(dlb_comm *comm, int missing)
{
    dlb_str names = DLB_STR_INIT;
    name_some(comm, missing, &names);
    if (missing)
        dlb_comm_break(comm, "%s %s made no step for %g s", names.text,
                       missing == 1 ? "has" : "have", comm->hang_s);
    else
        dlb_comm_break(comm, "the ranks have waited for each other for %g s", comm->hang_s);
    dlb_str_release(&names);
}

static void break_for_death(dlb_comm *comm, int dead)
{
    comm->alive[dead] = false;
    dlb_comm_break(comm, "rank %d on %s (process %ld) has died", dead, comm->places[dead].host,
                   (long)comm->pids[dead]);
}

/* With MPI locked: find out who is alive, and break the comm. `dead` may be SILENCE. */
static void hold_inquest(dlb_comm *comm, int dead)
{
    alarms *alarm = dlb_alloc(1, sizeof *alarm);
    alarm->said = dead;
    alarm->heard = dlb_alloc((size_t)comm->size, sizeof *alarm->heard);
    alarm->sends = dlb_alloc((size_t)comm->size, sizeof(MPI_Request));
    alarm->receives = dlb_alloc((size_t)comm->size, sizeof(MPI_Request));
    exchange_alarms(comm, alarm);

    int missing;
    for (int64_t begin = dlb_clock_ns();;) {
        missing = count_missing(comm, alarm);
        dead = told_dead(comm, alarm);
        int64_t patience = dead == SILENCE ? answer_ns : answer_to_death_ns;
        if (missing <= (dead != SILENCE) || dlb_clock_ns() - begin > patience)
            break;
        nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
    }
    withdraw_alarms(comm, alarm);
    if (dead == SILENCE)
        break_for_silence(comm, missing);
    else
        break_for_death(comm, dead);
}

/*
 * Whether another rank has raised the alarm; its message is left where it is. What a first probe
 * takes in from outside only a second one finds.
 */
static bool hears_alarm(dlb_comm *comm)
{
    int heard = 0;
    for (int probe = 0; probe < 2 && !heard; probe++)
        MPI_Iprobe(MPI_ANY_SOURCE, ALARM_TAG, comm->all, &heard, MPI_STATUS_IGNORE);
    return heard;
}

/* Time waited, without times in which this process was stopped. */
static int64_t time_waited(dlb_comm *comm, int64_t since_ns, int64_t now_ns)
{
    if (comm->watch.since_ns != since_ns) {
        comm->watch.since_ns = comm->watch.look_ns = since_ns;
        comm->watch.lost_ns = 0;
    }
    int64_t gap = now_ns - comm->watch.look_ns;
    if (gap > longest_gap_ns)
        comm->watch.lost_ns += gap;
    comm->watch.look_ns = now_ns;
    return now_ns - since_ns - comm->watch.lost_ns;
}

static bool look_is_due(const dlb_comm *comm, int64_t since_ns, int64_t now_ns)
{
    int64_t last = comm->watch.look_ns > since_ns ? comm->watch.look_ns : since_ns;
    return comm->size > 1 && now_ns - last >= look_every_ns;
}

int dlb_comm_watch(dlb_comm *comm, int64_t since_ns)
{
    int64_t now = dlb_clock_ns();
    if (look_is_due(comm, since_ns, now) && dlb_comm_lock(comm, NULL) == 0) {
        /* Those who raised an alarm may have ended since: they are not the ones who died. */
        bool alarm = hears_alarm(comm);
        int dead = alarm ? SILENCE : find_dead(comm);
        bool hangs = time_waited(comm, since_ns, now) > comm->hang_s * 1e9 && comm->hang_s > 0;
        if (alarm || dead != SILENCE || hangs)
            hold_inquest(comm, dead);
        dlb_comm_unlock(comm);
    }
    return dlb_comm_is_broken(comm) ? DLB_FAIL : 0;
}
