// Runs a command and says what it took: measure COMMAND... prints "SECONDS PEAK_MB EXIT_CODE".
// Peak memory is that of the command and all its descendants together, what they share counted
// once: the sum of Pss of /proc/PID/smaps_rollup, read every 10 ms. Times under 20 ms may see no
// sample; the peak is then that of getrusage.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "gen/base/fs.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

// The number behind name in a file of /proc, or 0.
static uint64_t field(const char *path, str name)
{
    buf b = BUF_INIT;
    uint64_t v = 0;
    if (fs_read(path, 0, &b) == 0) {
        str rest = buf_view(&b), line;
        while (str_line(&rest, &line))
            if (str_starts(line, name)) {
                str number = str_trim(str_slice(line, name.len, line.len));
                str_u64(str_slice(number, 0, str_find(number, ' ')), &v);
                break;
            }
    }
    buf_free(&b);
    return v;
}

// Whether all processes of the session belong to the command: it was made the leader of its own.
static uint64_t session_pss_kb(pid_t session)
{
    uint64_t sum = 0;
    DIR *proc = opendir("/proc");
    for (struct dirent *e; proc && (e = readdir(proc)) != NULL;) {
        uint64_t pid;
        if (!str_u64(str_c(e->d_name), &pid) || getsid((pid_t)pid) != session)
            continue;
        buf path = BUF_INIT;
        buf_printf(&path, "/proc/%s/smaps_rollup", e->d_name);
        sum += field(path.ptr, STR("Pss:"));
        buf_free(&path);
    }
    if (proc)
        closedir(proc);
    return sum;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fputs("usage: measure COMMAND...\n", stderr);
        return 2;
    }
    bool sample = getenv("NO_PSS") == NULL;
    double start = now();
    pid_t pid = fork();
    if (pid == 0) {
        setsid();
        int quiet = open("/dev/null", O_WRONLY);
        dup2(quiet, STDOUT_FILENO);
        execvp(argv[1], argv + 1);
        _exit(127);
    }
    uint64_t peak_kb = 0;
    int status = 0;
    struct rusage usage;
    while (wait4(pid, &status, sample ? WNOHANG : 0, &usage) == 0) {
        uint64_t kb = session_pss_kb(pid);
        if (kb > peak_kb)
            peak_kb = kb;
        usleep(10000);
    }
    double took = now() - start;
    if (peak_kb < (uint64_t)usage.ru_maxrss && took < 0.02)
        peak_kb = (uint64_t)usage.ru_maxrss;
    printf("%.4f %.1f %d\n", took, (double)peak_kb / 1024,
           WIFEXITED(status) ? WEXITSTATUS(status) : 128);
    return 0;
}
