#include "base/str.h"
#include "cli/bench.h"
#include "cli/bench_all.h"
#include "cli/cmd.h"

static const struct subject {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *about;
} subjects[] = {
    {"comm", dlb_bench_comm, "exchange of gradients against MPI_Allreduce and memory bandwidth"},
    {"scaling", dlb_bench_scaling, "images/s of several ranks against one, batch by batch"},
    {"workers", dlb_bench_workers,
     "an epoch of many workers on one rank against one of a single worker"},
    {"sweep", dlb_bench_sweep, "what a sweep itself costs a point, and a million points and rows"},
    {"kernels", dlb_bench_kernels,
     "each operation of a training step against OpenBLAS and the peak"},
    {"cores", dlb_bench_cores,
     "what more cores bring to training, against what they bring to the peak"},
    {"serve", dlb_bench_serve, "times operations on request, for check"},
};

enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static void print_subjects(FILE *out)
{
    fprintf(out, "\nSubjects: dlbench bench SUBJECT [--flag value …]\n");
    for (int i = 0; i < SUBJECTS; i++)
        fprintf(out, "  %-10s %s\n", subjects[i].name, subjects[i].about);
    fprintf(out, "\ndlbench bench SUBJECT --help lists the flags of a subject.\n");
}

static int fail_unknown(const char *name)
{
    const char *names[SUBJECTS];
    for (int i = 0; i < SUBJECTS; i++)
        names[i] = subjects[i].name;
    const char *close = dlb_closest(name, names, SUBJECTS);
    fprintf(stderr, "dlbench bench: unknown subject '%s'; ", name);
    if (close)
        fprintf(stderr, "did you mean %s?\n", close);
    else
        fprintf(stderr, "dlbench bench --help lists them\n");
    return DLB_EXIT_USAGE;
}

int cmd_bench(int argc, char **argv)
{
    if (argc < 2 || argv[1][0] == '-')
        return dlb_bench_all(argc, argv, print_subjects);
    for (int i = 0; i < SUBJECTS; i++)
        if (strcmp(argv[1], subjects[i].name) == 0)
            return subjects[i].run(argc - 1, argv + 1);
    return fail_unknown(argv[1]);
}

int dlb_bench_number(const char *flag, const char *text, long long least, long long most,
                     long long *value, dlb_error *err)
{
    long long number;
    if (!dlb_parse_int(text, &number) || number < least || number > most)
        return dlb_fail(err, DLB_BAD_INPUT, "%s %s: must be a whole number, %lld to %lld", flag,
                        text, least, most);
    *value = number;
    return 0;
}

int dlb_bench_real(const char *flag, const char *text, double least, double most, double *value,
                   dlb_error *err)
{
    double number;
    if (!dlb_parse_real(text, &number) || !(number >= least && number <= most))
        return dlb_fail(err, DLB_BAD_INPUT, "%s %s: must be a number, %g to %g", flag, text, least,
                        most);
    *value = number;
    return 0;
}

bool dlb_bench_next_word(const char **list, char word[DLB_BENCH_WORD])
{
    static const char separators[] = " ,";
    *list += strspn(*list, separators);
    size_t length = strcspn(*list, separators);
    snprintf(word, DLB_BENCH_WORD, "%.*s", (int)length, *list);
    *list += length;
    return length > 0;
}

static bool contains_one_of(const char *text, const char *words)
{
    while (*words) {
        size_t length = strcspn(words, ",");
        for (const char *at = text; length && *at; at++)
            if (strncmp(at, words, length) == 0)
                return true;
        words += length + (words[length] == ',');
    }
    return false;
}

bool dlb_bench_is_wanted(const char *only, const char *model, const char *name)
{
    dlb_str whole = DLB_STR_INIT;
    dlb_str_addf(&whole, "%s %s", model, name);
    bool wanted = !only || contains_one_of(whole.text, only);
    dlb_str_release(&whole);
    return wanted;
}
