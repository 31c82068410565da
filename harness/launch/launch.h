/*
 * From a run to processes: the command that starts its ranks, and the care for them while they run.
 *
 *     dlb_launch_machine machine;
 *     dlb_launch_here(&machine);
 *     dlb_launch launch = {.ranks = 4, .threads = 2, .program = argv};
 *     dlb_command_line line;
 *     dlb_launch_command(&line, &launch, &machine, &err)      what would be run, as an argv array
 *     dlb_launch_run(&line, NULL, &end, &err)                 run it and wait
 *     dlb_command_line_release(&line);
 *
 * No shell is ever involved.
 */
#ifndef DLB_LAUNCH_LAUNCH_H
#define DLB_LAUNCH_LAUNCH_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

typedef enum dlb_binding {
    DLB_BINDING_AUTO, /* `threads` cores a rank where there are enough for all, else none */
    DLB_BINDING_CORE,
    DLB_BINDING_HWTHREAD,
    DLB_BINDING_SOCKET,
    DLB_BINDING_NONE,
} dlb_binding;

/* Who starts the ranks. */
typedef enum dlb_starter {
    DLB_STARTER_AUTO, /* one rank: nobody; more: srun in a Slurm job, aprun in a Cobalt job, else
                         mpirun */
    DLB_STARTER_NONE, /* the program is started as it is, bound to nothing; one rank only */
    DLB_STARTER_MPIRUN,
    DLB_STARTER_SRUN,
    DLB_STARTER_APRUN,
} dlb_starter;

/* What is to be started. */
typedef struct dlb_launch {
    dlb_starter starter;
    int ranks;
    int ranks_per_node;   /* 0: left to the launcher */
    int threads;          /* of a rank, at least 1 */
    int threads_per_core; /* hardware threads of a core that are used, so that a rank wants
                             threads / threads_per_core cores; 0: left to the launcher, and a rank
                             wants `threads` cores */
    dlb_binding binding;
    const char *const *options;     /* further words for the launcher, ended by NULL; or NULL */
    const char *const *wrap;        /* words before the program of every rank, likewise */
    const char *const *program;     /* argv of a rank, ended by NULL */
    const char *const *environment; /* "NAME=value" for all ranks, ended by NULL; or NULL. The last
                                       value of a name counts. */
} dlb_launch;

/* What it is started on; dlb_launch_here fills it. Tests give machines of their own. */
typedef struct dlb_launch_machine {
    int nodes;          /* that a batch system has allotted; 1 without one */
    int cores;          /* of this node that this process may use */
    int hwthreads;      /* of those cores */
    bool narrowed;      /* its CPU mask leaves out CPUs that a launcher would bind ranks to */
    bool root;          /* Open MPI wants to be told that this is meant */
    bool slurm, cobalt; /* inside a job of that batch system */
    char mpirun[4096];  /* its path; "" if there is none */
    char version[1024]; /* how it answers --version */
    char srun[4096], aprun[4096]; /* their paths; "" if there are none */
    char srun_mpi[32];            /* what srun is to be told of MPI; "": its own default serves */
} dlb_launch_machine;

/* A command: an argv array and additions to the environment ("NAME=value"), ended by NULL. */
typedef struct dlb_command_line {
    char **argv, **environment;
    size_t argc, argv_capacity, environment_count, environment_capacity;
    int stop_signal;            /* which the command takes as: let every rank stop after its step */
    const char *const *chatter; /* what marks messages of the launcher that nobody needs; or NULL */
} dlb_command_line;

/* Look at this machine, and ask its mpirun or mpiexec which MPI it belongs to: ~50 ms. */
void dlb_launch_here(dlb_launch_machine *machine);

/* The same without asking, for who will start one rank without a launcher: ~1 ms. */
void dlb_launch_here_alone(dlb_launch_machine *machine);

/* Who starts the ranks: "none", "mpirun", "srun" or "aprun". */
const char *dlb_launch_starter(const dlb_launch *launch, const dlb_launch_machine *machine);

/* Ranks on a node; on the fullest where they are uneven. */
int dlb_launch_ranks_of_node(const dlb_launch *launch, const dlb_launch_machine *machine);

/* Threads of a rank where the user left them to us: the cores divided by the ranks of a node. */
int dlb_launch_threads(const dlb_launch *launch, const dlb_launch_machine *machine);

/* Cores, or hardware threads, that the ranks of a node want. */
int dlb_launch_wants(const dlb_launch *launch, const dlb_launch_machine *machine);

/* Whether that is more than there are. No, where nothing is known of the nodes (aprun). */
bool dlb_launch_oversubscribes(const dlb_launch *launch, const dlb_launch_machine *machine);

/* Whether each rank is bound to cores, or hardware threads, of its own. */
bool dlb_launch_binds(const dlb_launch *launch, const dlb_launch_machine *machine);

/*
 * Make *line, which holds nothing yet; nothing is to be released after an error. A binding that
 * the machine cannot give is DLB_BAD_INPUT, saying what fits. Without a launcher, or with one of
 * an unknown kind: DLB_FAIL, saying what to do.
 */
int dlb_launch_command(dlb_command_line *line, const dlb_launch *launch,
                       const dlb_launch_machine *machine, dlb_error *err);
void dlb_command_line_release(dlb_command_line *line);

/* Append a word as a person would type it, quoted where a shell would need it; for showing only. */
void dlb_command_line_add_word(dlb_str *text, const char *word);

/* Append it as a person would type it, quoted where a shell would need it; for showing only. */
void dlb_command_line_describe(const dlb_command_line *line, dlb_str *text);

/* Care for a command while it runs. Zeroed: none. */
typedef struct dlb_launch_care {
    int output;         /* open file that gets stdout and stderr; 0: ours, without `chatter` */
    const char *folder; /* that it is started in; NULL: ours */
    double timeout_s;   /* after which its processes are ended; 0: never */
    void (*on_tick)(void *arg, double elapsed_s); /* called every tick_ms; or NULL */
    int tick_ms;
    void *arg;
} dlb_launch_care;

/* How it ended. */
typedef struct dlb_launch_end {
    int status;     /* the exit status, or 128 + the number of the signal that killed it */
    bool timed_out; /* it was ended by us for its timeout */
    bool stopped;   /* a signal asked us to stop while it ran, be it only at its start */
    bool suspended; /* it stood still for a while, which a launcher may not have let all ranks do */
    double wall_s;  /* without that while */
} dlb_launch_end;

/*
 * Start the command in a process group of its own and wait for its end; argv[0] without a slash is
 * looked up in PATH. Its input is empty, and it has no open file of ours but its output. When this
 * returns nothing lives on of what it started, in whatever process group: what is left when it ends
 * gets a SIGTERM and, some seconds later, a SIGKILL.
 *
 * While it runs, SIGINT, SIGTERM, SIGUSR1 and, unless it is ignored as under nohup, SIGHUP to this
 * process become one stop_signal to the command; another of them more than a second later ends its
 * whole group: SIGTERM, and SIGKILL after some seconds. So does the timeout. SIGTSTP (Ctrl-Z)
 * suspends the command with this process; the timeout waits. If this process dies, even by SIGKILL,
 * everything is ended in the same way, but sooner.
 */
int dlb_launch_run(const dlb_command_line *line, const dlb_launch_care *care, dlb_launch_end *end,
                   dlb_error *err);

#endif
