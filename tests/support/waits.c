/*
 * waits COMMAND…: runs a command with its output discarded and prints how often its threads have
 * gone to sleep (voluntary context switches); ends as it ended.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void run(char **command)
{
    int null = open("/dev/null", O_WRONLY);
    if (null >= 0 && dup2(null, STDOUT_FILENO) >= 0)
        execvp(command[0], command);
    perror(command[0]);
    _exit(127);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    pid_t child = fork();
    if (child == 0)
        run(argv + 1);
    struct rusage used;
    int status;
    if (child < 0 || wait4(child, &status, 0, &used) != child)
        return 1;
    printf("%ld\n", used.ru_nvcsw);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
