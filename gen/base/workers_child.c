// The worker's side: takes ranges of jobs, runs them under limits, and sends what they answer.
#include "gen/base/workers_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "gen/base/clock.h"
#include "gen/base/fs.h"
#include "gen/base/heap.h"

enum { SEND_AT = 256 << 10, PIPE_BYTES = 1 << 20 };

// The limit counts from what the parent had already. Sanitizers reserve terabytes and cannot live
// under it.
static void limit_memory(uint64_t more)
{
#if !defined(__SANITIZE_ADDRESS__)
    buf text = BUF_INIT;
    uint64_t pages = 0;
    str rest, first;
    uint64_t reserved = more ? heap_reserved(more) : 0;
    if (more && fs_read("/proc/self/statm", 0, &text) == 0) {
        rest = buf_view(&text);
        if (str_cut(&rest, ' ', &first) && str_u64(first, &pages)) {
            uint64_t bytes = pages * (uint64_t)sysconf(_SC_PAGESIZE) - reserved + more;
            struct rlimit limit = {bytes, bytes};
            setrlimit(RLIMIT_AS, &limit);
        }
    }
    buf_free(&text);
#else
    (void)more;
#endif
}

static void send_results(int fd, buf *out)
{
    if (fs_write_all(fd, buf_view(out)) < 0)
        _exit(1);  // the parent is gone
    buf_clear(out);
}

static void run_job(const struct workers_plan *plan, struct workers_slot *slot, uint64_t index,
                    buf *out)
{
    struct workers_frame frame = {index, 0};
    size_t head = out->len;
    buf_put(out, &frame, sizeof frame);
    atomic_store(&slot->used_ms, clock_ms(CLOCK_PROCESS_CPUTIME_ID));
    atomic_store(&slot->since_ms, clock_ms(CLOCK_MONOTONIC));
    atomic_store(&slot->current, index);
    plan->job(plan->ctx, index, out);
    atomic_store(&slot->current, WORKERS_NO_JOB);
    frame.len = out->len - head - sizeof frame;
    memcpy(out->ptr + head, &frame, sizeof frame);
}

static void run_range(const struct workers_plan *plan, struct workers_slot *slot, uint64_t begin,
                      uint64_t end, int fd, buf *out)
{
    atomic_store(&slot->begin, begin);
    atomic_store(&slot->end, end);
    for (uint64_t i = begin; i < end; i++) {
        run_job(plan, slot, i, out);
        if (out->len >= SEND_AT)
            send_results(fd, out);
    }
    send_results(fd, out);
}

_Noreturn void workers_child(const struct workers_plan *plan, struct workers_shared *shared,
                             struct workers_slot *slot, int fd, const uint64_t *redo,
                             size_t redo_count, pid_t parent)
{
    // A build that is killed takes its workers with it.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    signal(SIGPIPE, SIG_IGN);
    fcntl(fd, F_SETPIPE_SZ, (int)PIPE_BYTES);
    limit_memory(plan->memory_bytes);
    if (plan->begin)
        plan->begin(plan->ctx);
    buf out = BUF_INIT;
    for (size_t i = 0; i < redo_count; i++)
        run_range(plan, slot, redo[i], redo[i] + 1, fd, &out);
    for (;;) {
        uint64_t begin = atomic_fetch_add(&shared->counter, shared->chunk);
        if (begin >= plan->job_count)
            break;
        uint64_t end = begin + shared->chunk;
        run_range(plan, slot, begin, end < plan->job_count ? end : plan->job_count, fd, &out);
    }
    if (plan->end)
        plan->end(plan->ctx);
    _exit(0);
}
