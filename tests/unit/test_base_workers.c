// Workers: every job answered once and in order, whatever crashes, hangs, runs out of memory or
// answers at length.
#include "tests/unit/base_fixture.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "gen/base/workers.h"

struct run {
    size_t count, next;
    size_t crashed, timed_out;
    int last_signal;
    bool wrong;
    size_t bad_every;  // jobs that misbehave: index % bad_every == 3
    size_t length;     // of each answer
    int bad;
};

// Processor time; a job that waits for NAP_MS is within WORKERS_WAIT times as much.
enum { HANG_MS = 400, NAP_MS = 800 };
enum { BAD_ABORT = 1, BAD_EXIT, BAD_HANG, BAD_SPIN, BAD_NAP, BAD_MEMORY };

static bool is_bad(const struct run *r, size_t index)
{
    return r->bad && index % r->bad_every == 3;
}

static void misbehave(int how)
{
    // The core file and cmocka's handler of the parent are not wanted here.
    signal(SIGABRT, SIG_DFL);
    if (how == BAD_ABORT)
        raise(SIGKILL);
    if (how == BAD_EXIT)
        _exit(5);
    if (how == BAD_HANG)
        for (;;)
            pause();
    if (how == BAD_SPIN)
        for (volatile unsigned i = 0;; i++)
            ;
    if (how == BAD_NAP) {
        nanosleep(&(struct timespec){.tv_nsec = NAP_MS * 1000000L}, NULL);
        return;
    }
    buf b = BUF_INIT;
    for (;;)
        buf_reserve(&b, b.cap + (16 << 20));
}

static void job(void *ctx, size_t index, buf *out)
{
    struct run *r = ctx;
    if (is_bad(r, index)) {
        if (r->bad == BAD_MEMORY)
            close(STDERR_FILENO);  // it would say that memory ran out
        misbehave(r->bad);
    }
    buf_printf(out, "%zu:", index);
    while (out->len && r->length && out->len % r->length)
        buf_char(out, 'x');
}

static void result(void *ctx, size_t index, enum workers_fate fate, int signal_number, str bytes)
{
    struct run *r = ctx;
    buf wanted = BUF_INIT;
    buf_printf(&wanted, "%zu:", index);
    if (index != r->next++)
        r->wrong = true;
    if (fate == WORKERS_DONE &&
        ((is_bad(r, index) && r->bad != BAD_NAP) || !str_starts(bytes, buf_view(&wanted))))
        r->wrong = true;
    if (fate != WORKERS_DONE && (!is_bad(r, index) || bytes.len))
        r->wrong = true;
    r->crashed += fate == WORKERS_CRASHED;
    r->timed_out += fate == WORKERS_TIMED_OUT;
    if (fate == WORKERS_CRASHED)
        r->last_signal = signal_number;
    buf_free(&wanted);
}

static void run(struct run *r, unsigned workers, unsigned chunk)
{
    struct workers_plan plan = {
        .job_count = r->count,
        .workers = workers,
        .chunk = chunk,
        .job = job,
        .result = result,
        .ctx = r,
        .job_timeout_ms =
            r->bad == BAD_HANG || r->bad == BAD_SPIN || r->bad == BAD_NAP ? HANG_MS : 0,
        .memory_bytes = r->bad == BAD_MEMORY ? 64 << 20 : 0};
    r->next = r->crashed = r->timed_out = 0;
    assert_int_equal(workers_run(&plan), 0);
    assert_int_equal(r->next, r->count);
    assert_false(r->wrong);
}

static void results_come_in_order(void **state)
{
    (void)state;
    for (unsigned workers = 0; workers < 5; workers++)
        for (unsigned chunk = 0; chunk < 8; chunk += 3) {
            struct run r = {.count = 1000, .length = workers * 50};
            run(&r, workers, chunk);
        }
    struct run none = {.count = 0}, one = {.count = 1}, large = {.count = 40, .length = 300000};
    run(&none, 2, 0);
    run(&one, 8, 0);
    run(&large, 3, 4);
}

static void a_crash_costs_one_job(void **state)
{
    (void)state;
    struct run r = {.count = 200, .bad = BAD_ABORT, .bad_every = 20, .length = 40};
    run(&r, 2, 7);
    assert_int_equal(r.crashed, 10);
    assert_int_equal(r.last_signal, SIGKILL);
    r.bad = BAD_EXIT;
    run(&r, 3, 50);
    assert_int_equal(r.crashed, 10);
    assert_int_equal(r.last_signal, 0);
    struct run all = {.count = 4, .bad = BAD_EXIT, .bad_every = 4};
    run(&all, 1, 4);
    assert_int_equal(all.crashed, 1);
}

static void a_hang_is_ended(void **state)
{
    (void)state;
    struct run r = {.count = 30, .bad = BAD_HANG, .bad_every = 15};
    run(&r, 2, 5);
    assert_int_equal(r.timed_out, 2);
    assert_int_equal(r.crashed, 0);
}

static void an_endless_loop_is_ended(void **state)
{
    (void)state;
    struct run r = {.count = 30, .bad = BAD_SPIN, .bad_every = 15};
    run(&r, 2, 5);
    assert_int_equal(r.timed_out, 2);
    assert_int_equal(r.crashed, 0);
}

// The limit is of processor time: what others make of the machine's time ends no job.
static void a_job_that_waits_has_more_time(void **state)
{
    (void)state;
    struct run r = {.count = 10, .bad = BAD_NAP, .bad_every = 5};
    run(&r, 2, 5);
    assert_int_equal(r.timed_out, 0);
    assert_int_equal(r.crashed, 0);
}

static void memory_is_bounded(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__)
    skip();
#endif
    struct run r = {.count = 10, .bad = BAD_MEMORY, .bad_every = 10};
    run(&r, 2, 2);
    assert_int_equal(r.crashed, 1);
}

static void begin_in_vain(void *ctx)
{
    (void)ctx;
    _exit(9);
}

static void count_crash(void *ctx, size_t index, enum workers_fate fate, int signal_number,
                        str bytes)
{
    (void)index, (void)signal_number, (void)bytes;
    *(size_t *)ctx += fate == WORKERS_CRASHED;
}

static void workers_that_cannot_begin_do_not_loop(void **state)
{
    (void)state;
    size_t crashed = 0;
    struct workers_plan plan = {.job_count = 50,
                                .workers = 2,
                                .begin = begin_in_vain,
                                .job = job,
                                .result = count_crash,
                                .ctx = &crashed};
    assert_int_equal(workers_run(&plan), 0);
    assert_int_equal(crashed, 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_come_in_order),
        cmocka_unit_test(a_crash_costs_one_job),
        cmocka_unit_test(a_hang_is_ended),
        cmocka_unit_test(an_endless_loop_is_ended),
        cmocka_unit_test(a_job_that_waits_has_more_time),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(workers_that_cannot_begin_do_not_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
