// Runs jobs in forked processes: the parent forks, reads results, kills what hangs, and replaces
// what died.
#include "gen/base/workers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gen/base/clock.h"
#include "gen/base/workers_child.h"

enum { MAX_WORKERS = 256, POLL_MS = 20 };

// What the parent knows of one worker.
struct worker {
    pid_t pid;  // 0: ended
    int fd;
    buf in;          // bytes read and not yet understood
    uint64_t *redo;  // jobs that a predecessor left undone
    size_t redo_count;
    bool timed_out;
};

struct pool {
    const struct workers_plan *plan;
    struct workers_shared *shared;
    struct worker workers[MAX_WORKERS];
    unsigned count;
    struct answer {
        bool known;
        enum workers_fate fate;
        int signal;
        buf result;
    } * answers;         // [job_count]
    size_t next;         // the first job whose result was not handed on
    unsigned fruitless;  // workers that died before they took a job
};

// That this process may use; at least 1.
static unsigned processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) < 0)
        return 1;
    int n = CPU_COUNT(&set);
    return n > 0 ? (unsigned)n : 1;
}

static void hand_on(struct pool *p)
{
    while (p->next < p->plan->job_count && p->answers[p->next].known) {
        struct answer *a = &p->answers[p->next];
        if (p->plan->result)
            p->plan->result(p->plan->ctx, p->next, a->fate, a->signal, buf_view(&a->result));
        buf_free(&a->result);
        p->next++;
    }
}

static void answer(struct pool *p, size_t index, enum workers_fate fate, int signal, str result)
{
    struct answer *a = &p->answers[index];
    if (a->known)
        return;
    *a = (struct answer){true, fate, signal, BUF_INIT};
    // The usual case: it is its turn, and nothing needs to be copied.
    if (index == p->next) {
        if (p->plan->result)
            p->plan->result(p->plan->ctx, index, fate, signal, result);
        p->next++;
        hand_on(p);
    } else {
        buf_str(&a->result, result);
    }
}

static bool start(struct pool *p, unsigned slot, uint64_t *redo, size_t redo_count)
{
    struct worker *w = &p->workers[slot];
    int ends[2];
    *w = (struct worker){.in = BUF_INIT, .redo = redo, .redo_count = redo_count, .fd = -1};
    if (pipe2(ends, O_CLOEXEC) < 0)
        return false;
    struct workers_slot *s = &p->shared->slots[slot];
    atomic_store(&s->current, WORKERS_NO_JOB);
    atomic_store(&s->begin, 0);
    atomic_store(&s->end, 0);
    fflush(NULL);
    pid_t parent = getpid();
    w->pid = fork();
    if (w->pid == 0) {
        close(ends[0]);
        for (unsigned i = 0; i < p->count; i++)
            if (i != slot && p->workers[i].fd >= 0)
                close(p->workers[i].fd);
        workers_child(p->plan, p->shared, s, ends[1], redo, redo_count, parent);
    }
    close(ends[1]);
    if (w->pid < 0) {
        int error = errno;
        close(ends[0]);
        w->pid = 0;
        errno = error;
        return false;
    }
    w->fd = ends[0];
    return true;
}

// Takes whole results out of what was read.
static void understand(struct pool *p, struct worker *w)
{
    size_t at = 0;
    struct workers_frame f;
    while (w->in.len - at >= sizeof f) {
        memcpy(&f, w->in.ptr + at, sizeof f);
        if (w->in.len - at - sizeof f < f.len)
            break;
        at += sizeof f;
        answer(p, f.index, WORKERS_DONE, 0, (str){w->in.ptr + at, f.len});
        at += f.len;
    }
    if (at == 0)
        return;
    memmove(w->in.ptr, w->in.ptr + at, w->in.len - at);
    w->in.len -= at;
}

// False at the end of the pipe.
static bool read_results(struct pool *p, struct worker *w)
{
    buf_reserve(&w->in, 65536);
    ssize_t n = read(w->fd, w->in.ptr + w->in.len, 65536);
    if (n < 0)
        return errno == EINTR;
    w->in.len += (size_t)n;
    if (n > 0)
        understand(p, w);
    return n > 0;
}

static void add_undone(struct pool *p, uint64_t index, uint64_t **list, size_t *count)
{
    if (index >= p->plan->job_count || p->answers[index].known)
        return;
    uint64_t *more = realloc(*list, (*count + 1) * sizeof **list);
    if (!more)
        buf_no_memory();
    *list = more;
    more[(*count)++] = index;
}

// The worker is gone: blames its job if it died in one, and finds the jobs whose results died with
// it.
static void bury(struct pool *p, unsigned slot)
{
    struct worker *w = &p->workers[slot];
    struct workers_slot *s = &p->shared->slots[slot];
    int status = 0;
    while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR) {
    }
    close(w->fd);
    buf_free(&w->in);
    w->fd = -1;
    w->pid = 0;
    bool clean = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    uint64_t current = atomic_load(&s->current);
    if (!clean && current != WORKERS_NO_JOB)
        answer(p, current, w->timed_out ? WORKERS_TIMED_OUT : WORKERS_CRASHED,
               WIFSIGNALED(status) ? WTERMSIG(status) : 0, STR_NONE);
    if (!clean && current == WORKERS_NO_JOB)
        p->fruitless++;
    uint64_t *undone = NULL;
    size_t count = 0;
    for (size_t i = 0; i < w->redo_count; i++)
        add_undone(p, w->redo[i], &undone, &count);
    for (uint64_t i = atomic_load(&s->begin); i < atomic_load(&s->end); i++)
        add_undone(p, i, &undone, &count);
    free(w->redo);
    w->redo = NULL;
    w->redo_count = 0;
    bool more = count || atomic_load(&p->shared->counter) < p->plan->job_count;
    if (clean || !more || p->fruitless > p->count || !start(p, slot, undone, count))
        free(undone);
}

static bool is_past(uint64_t now, uint64_t since, uint64_t limit)
{
    return now > since && now - since > limit;
}

// Kills workers whose job runs past its limit.
static void watch_clock(struct pool *p)
{
    uint64_t now = clock_ms(CLOCK_MONOTONIC), limit = p->plan->job_timeout_ms;
    for (unsigned i = 0; i < p->count; i++) {
        struct worker *w = &p->workers[i];
        struct workers_slot *s = &p->shared->slots[i];
        if (!w->pid || w->timed_out || atomic_load(&s->current) == WORKERS_NO_JOB)
            continue;
        clockid_t processor;
        uint64_t used = clock_getcpuclockid(w->pid, &processor) == 0 ? clock_ms(processor) : 0;
        if (!is_past(used, atomic_load(&s->used_ms), limit) &&
            !is_past(now, atomic_load(&s->since_ms), limit * WORKERS_WAIT))
            continue;
        w->timed_out = true;
        kill(w->pid, SIGKILL);
    }
}

static void serve_pool(struct pool *p)
{
    for (;;) {
        struct pollfd fds[MAX_WORKERS];
        unsigned slots[MAX_WORKERS], n = 0;
        for (unsigned i = 0; i < p->count; i++)
            if (p->workers[i].pid)
                slots[n] = i, fds[n++] = (struct pollfd){.fd = p->workers[i].fd, .events = POLLIN};
        if (n == 0)
            return;
        int ready = poll(fds, n, p->plan->job_timeout_ms ? POLL_MS : -1);
        for (unsigned i = 0; ready > 0 && i < n; i++)
            if (fds[i].revents && !read_results(p, &p->workers[slots[i]]))
                bury(p, slots[i]);
        if (p->plan->job_timeout_ms)
            watch_clock(p);
    }
}

static unsigned wanted_workers(const struct workers_plan *plan)
{
    unsigned n = plan->workers ? plan->workers : processors();
    if (n > MAX_WORKERS)
        n = MAX_WORKERS;
    return n > plan->job_count ? (unsigned)plan->job_count : n;
}

static uint64_t chosen_chunk(const struct workers_plan *plan, unsigned workers)
{
    if (plan->chunk)
        return plan->chunk;
    size_t chunk = plan->job_count / ((size_t)workers * 32);
    return chunk < 1 ? 1 : chunk > 32 ? 32 : chunk;
}

static int run_pool(struct pool *p)
{
    int error = 0;
    unsigned started = 0;
    for (unsigned i = 0; i < p->count; i++)
        p->workers[i].fd = -1;
    for (unsigned i = 0; i < p->count; i++) {
        if (start(p, i, NULL, 0))
            started++;
        else
            error = errno;
    }
    if (!started)
        return errno = error, -1;
    serve_pool(p);
    // Whatever could not be run because workers could not be started or died on their own.
    for (size_t i = p->next; i < p->plan->job_count; i++)
        answer(p, i, WORKERS_CRASHED, 0, STR_NONE);
    hand_on(p);
    return 0;
}

int workers_run(const struct workers_plan *plan)
{
    if (plan->job_count == 0)
        return 0;
    struct pool *p = calloc(1, sizeof *p);
    struct answer *answers = calloc(plan->job_count, sizeof *answers);
    if (!p || !answers)
        buf_no_memory();
    p->plan = plan;
    p->answers = answers;
    for (size_t i = 0; i < plan->job_count; i++)
        answers[i].result = BUF_INIT;
    p->count = wanted_workers(plan);
    size_t bytes = sizeof *p->shared + p->count * sizeof p->shared->slots[0];
    void *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int rc = -1;
    if (shared != MAP_FAILED) {
        p->shared = shared;
        p->shared->chunk = chosen_chunk(plan, p->count);
        rc = run_pool(p);
        int error = errno;
        munmap(shared, bytes);
        errno = error;
    }
    int error = errno;
    free(answers);
    free(p);
    errno = error;
    return rc;
}
