#include "report/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

enum { PATH_SIZE = 4096, FIXED_WORDS = 4, CANNOT_START = 127 };

static int check_installed(char *program, dlb_error *err)
{
    if (dlb_file_on_path("gnuplot", program, PATH_SIZE))
        return 0;
    return dlb_fail(err, DLB_FAIL,
                    "gnuplot is not installed, so no picture was drawn; install the package "
                    "gnuplot-nox");
}

static const char **arguments_of(const char *settings, const char *const *scripts)
{
    size_t count = 0;
    while (scripts[count])
        count++;
    const char **argv = dlb_alloc(FIXED_WORDS + count + 1, sizeof *argv);
    argv[0] = "gnuplot";
    argv[1] = "-d";
    argv[2] = "-e";
    argv[3] = settings;
    memcpy(argv + FIXED_WORDS, scripts, count * sizeof *argv);
    return argv;
}

/* In the child: only calls that are safe after fork. */
static void become_gnuplot(const char *program, const char *const *argv, const char *folder,
                           int printed, int complaints)
{
    int nothing = open("/dev/null", O_RDONLY);
    signal(SIGPIPE, SIG_DFL);
    if (nothing >= 0 && dup2(nothing, 0) >= 0 && dup2(printed, 1) >= 0 &&
        dup2(complaints, 2) >= 0 && chdir(folder) == 0)
        execv(program, (char *const *)argv);
    _exit(CANNOT_START);
}

static void read_pipe(int fd, dlb_str *text)
{
    char block[4096];
    for (;;) {
        ssize_t got = read(fd, block, sizeof block);
        if (got > 0)
            dlb_str_add_bytes(text, block, (size_t)got);
        else if (got == 0 || errno != EINTR)
            return;
    }
}

static int wait_for(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}

/* What is left of the complaints is read from a file, so that neither pipe can block the other. */
static int run(const char *program, const char *const *argv, const char *folder, dlb_str *printed,
               dlb_str *complaints)
{
    int out[2];
    FILE *errors = tmpfile();
    if (!errors || pipe2(out, O_CLOEXEC) < 0) {
        if (errors)
            fclose(errors);
        return -1;
    }
    pid_t child = fork();
    if (child == 0)
        become_gnuplot(program, argv, folder, out[1], fileno(errors));
    close(out[1]);
    read_pipe(out[0], printed);
    close(out[0]);
    int status = child < 0 ? -1 : wait_for(child);
    lseek(fileno(errors), 0, SEEK_SET);
    read_pipe(fileno(errors), complaints);
    fclose(errors);
    return status;
}

/* gnuplot points at the place over several lines; an error is one sentence. */
static void fold_lines(dlb_str *text)
{
    size_t length = 0;
    for (size_t i = 0; i < text->length; i++) {
        char c = (unsigned char)text->text[i] < ' ' ? ' ' : text->text[i];
        if (c != ' ' || (length && text->text[length - 1] != ' '))
            text->text[length++] = c;
    }
    text->length = length;
    dlb_str_add(text, "");
}

int dlb_gnuplot_run(const char *folder, const char *settings, const char *const *scripts,
                    dlb_str *printed, dlb_error *err)
{
    char program[PATH_SIZE];
    if (check_installed(program, err) < 0)
        return DLB_FAIL;
    dlb_str complaints = DLB_STR_INIT;
    const char **argv = arguments_of(settings, scripts);
    int status = run(program, argv, folder, printed, &complaints);
    fold_lines(&complaints);
    if (status != 0)
        dlb_fail(err, DLB_FAIL, "gnuplot failed in %s: %s", folder,
                 complaints.length ? complaints.text : "it said nothing");
    free(argv);
    dlb_str_release(&complaints);
    return status == 0 ? 0 : DLB_FAIL;
}
