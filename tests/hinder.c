// Runs a command and hinders it:
//   hinder kill N COMMAND...        kills it, and all that it started, at its N-th change of the
//   file system, before that is made hinder refuse ERRNO COMMAND...  openat2 fails with that number
//   in it, as in old kernels (38) and in some sandboxes (1)
// The exit code is the command's; 137 when it was killed; 77 where the kernel does not let anybody
// look.
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOAD(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define RETURN_IF(number, what) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), BPF_STMT(BPF_RET | BPF_K, (what))

static void install(const struct sock_filter *filter, unsigned short count)
{
    struct sock_fprog program = {count, (struct sock_filter *)(void *)filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        _exit(77);
}

static void refuse(unsigned error)
{
    const struct sock_filter filter[] = {LOAD(nr),
                                         RETURN_IF(SYS_openat2, SECCOMP_RET_ERRNO | error),
                                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    install(filter, sizeof filter / sizeof *filter);
}

// Every call that makes, moves or removes a name stops for the tracer; openat only where it may
// create.
static void stop_at_changes(void)
{
    const struct sock_filter filter[] = {LOAD(nr),
#ifdef SYS_rename
                                         RETURN_IF(SYS_rename, SECCOMP_RET_TRACE),
                                         RETURN_IF(SYS_unlink, SECCOMP_RET_TRACE),
                                         RETURN_IF(SYS_rmdir, SECCOMP_RET_TRACE),
                                         RETURN_IF(SYS_mkdir, SECCOMP_RET_TRACE),
                                         RETURN_IF(SYS_link, SECCOMP_RET_TRACE),
#endif
                                         RETURN_IF(SYS_renameat2, SECCOMP_RET_TRACE),
                                         RETURN_IF(SYS_renameat, SECCOMP_RET_TRACE),
                                         RETURN_IF(SYS_unlinkat, SECCOMP_RET_TRACE),
                                         RETURN_IF(SYS_mkdirat, SECCOMP_RET_TRACE),
                                         RETURN_IF(SYS_linkat, SECCOMP_RET_TRACE),
                                         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 1, 0),
                                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
                                         LOAD(args[2]),
                                         BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_CREAT, 0, 1),
                                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
                                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    install(filter, sizeof filter / sizeof *filter);
}

static pid_t start(char **command)
{
    pid_t pid = fork();
    if (pid)
        return pid;
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
        _exit(77);
    raise(SIGSTOP);
    stop_at_changes();
    execvp(*command, command);
    _exit(127);
}

// What is left of the command ends with the tracer: PTRACE_O_EXITKILL.
static int watch(pid_t main_pid, unsigned long left)
{
    const long follow = PTRACE_O_EXITKILL | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK |
                        PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE;
    int status;
    if (waitpid(main_pid, &status, 0) < 0)
        return 77;
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    if (ptrace(PTRACE_SETOPTIONS, main_pid, NULL, follow) < 0)
        return 77;
    ptrace(PTRACE_CONT, main_pid, NULL, NULL);
    for (pid_t pid; (pid = waitpid(-1, &status, __WALL)) > 0;) {
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (pid == main_pid)
                return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            continue;
        }
        if (status >> 8 == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8) && --left == 0)
            return 137;
        int signal = WSTOPSIG(status),
            is_event = status >> 16 || signal == SIGSTOP || signal == SIGTRAP;
        ptrace(PTRACE_CONT, pid, NULL, is_event ? 0 : signal);
    }
    return 77;
}

int main(int argc, char **argv)
{
    unsigned long number = argc > 3 ? strtoul(argv[2], NULL, 10) : 0;
    if (!number || (strcmp(argv[1], "kill") && strcmp(argv[1], "refuse"))) {
        fputs("usage: hinder kill N COMMAND... | hinder refuse ERRNO COMMAND...\n", stderr);
        return 2;
    }
    if (!strcmp(argv[1], "kill"))
        return watch(start(argv + 3), number);
    refuse((unsigned)number);
    execvp(argv[3], argv + 3);
    return 127;
}
