// Talks with blahtexml by its XML input: each formula is an attribute of an element, which comes
// back with MathML in it.
//
// blahtexml answers when it has read a piece of its input whole: 48 KiB by Xerces 3.2 (kRawBufSize
// of XMLReader.hpp). So as much white space is sent behind the last formula, inside of the next
// one's tag where it is not echoed, and more whenever no answer comes.
#include "gen/text/math_program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gen/base/clock.h"
#include "gen/base/escape.h"

enum {
    MAX_ANSWER = 4 << 20,
    NO_PROGRAM = 127,  // exit codes of a child that could not become blahtexml, as the shell's
    CANNOT_RUN = 126,
    PADDING = 64 << 10,
    PAD_AGAIN_MS = 20,
    CHUNK = 64 << 10,
    // Each tag is written by itself: to be woken for each would cost as much as all conversions.
    GATHER_NS = 300000,
};

#define MATHML "http://www.w3.org/1998/Math/MathML"
#define BLAHTEXML "http://gva.noekeon.org/blahtexml"

enum ending { GOES_ON, ENDED, TOO_SLOW };

_Noreturn static void become_blahtexml(int in, int out, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // what hangs must not outlive a worker that is killed
    if (getppid() != parent)
        _exit(CANNOT_RUN);
    // Where a standard stream was closed, one of these may be in its place.
    int own_in = fcntl(in, F_DUPFD_CLOEXEC, 3), own_out = fcntl(out, F_DUPFD_CLOEXEC, 3);
    int nothing = open("/dev/null", O_WRONLY);
    dup2(own_in, 0), dup2(own_out, 1), dup2(nothing, 2);
    execlp("blahtexml", "blahtexml", "--xmlin", "--mathml", "--mathml-encoding", "raw",
           "--other-encoding", "raw", "--spacing", "moderate", (char *)NULL);
    _exit(errno == ENOENT ? NO_PROGRAM : CANNOT_RUN);
}

static void close_both(const int ends[2])
{
    close(ends[0]), close(ends[1]);
}

// A socket for what it reads: a child that has died must not end this process by SIGPIPE. A pipe
// for what it writes, tag by tag: a socket holds few pieces.
static bool start(struct math_program *p)
{
    int in[2], out[2];
    pid_t parent = getpid();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in))
        return false;
    if (pipe2(out, O_CLOEXEC)) {
        close_both(in);
        return false;
    }
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    pid_t pid = fork();
    if (pid == 0)
        become_blahtexml(in[1], out[1], parent);
    if (pid < 0) {
        close_both(in), close_both(out);
        return false;
    }
    close(in[1]), close(out[1]);
    p->pid = pid, p->to = in[0], p->from = out[0];
    p->asked = p->answered = p->sent = p->looked = 0;
    buf_clear(&p->in), buf_clear(&p->out);
    buf_lit(&p->out, "<f xmlns=\"" MATHML "\" xmlns:b=\"" BLAHTEXML "\"><e");
    return true;
}

// Ends the process; its exit code, -1 when it has not exited by itself.
static int end(struct math_program *p)
{
    int status = -1;
    kill(p->pid, SIGKILL);
    close(p->to), close(p->from);
    while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
        ;
    p->pid = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void math_program_end(struct math_program *p)
{
    if (p->pid)
        end(p);
    buf_free(&p->in);
    buf_free(&p->out);
}

// The tag of the element that holds the formula is open already.
static void put_question(struct math_program *p, const struct math_question *q)
{
    buf_printf(&p->out, " n=\"%zu\" b:%s=\"", p->asked++, q->display ? "block" : "inline");
    escape_xml(&p->out, q->tex);
    buf_lit(&p->out, "\"/><e");
}

static void put_padding(struct math_program *p)
{
    buf_reserve(&p->out, PADDING);
    memset(p->out.ptr + p->out.len, ' ', PADDING);
    p->out.ptr[p->out.len += PADDING] = 0;
}

// Sends what the socket takes. False when no process reads any more.
static bool send_some(struct math_program *p)
{
    ssize_t n =
        send(p->to, p->out.ptr + p->sent, p->out.len - p->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    p->sent += n > 0 ? (size_t)n : 0;
    if (p->sent == p->out.len) {
        buf_clear(&p->out);
        p->sent = 0;
    }
    return n > 0 || errno == EAGAIN || errno == EINTR;
}

// Takes what has gathered. False at the end of it.
static bool receive_some(struct math_program *p)
{
    buf_reserve(&p->in, CHUNK);
    ssize_t n = read(p->from, p->in.ptr + p->in.len, CHUNK);
    p->in.len += n > 0 ? (size_t)n : 0;
    p->in.ptr[p->in.len] = 0;
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

// What is between two marks; false when they are not there.
static bool between(str s, str open, str close, str *inside)
{
    size_t start = str_search(s, open) + open.len;
    *inside = str_slice(s, start, s.len);
    size_t length = str_search(*inside, close);
    bool found = start <= s.len && length < inside->len;
    *inside = str_slice(*inside, 0, length);
    return found;
}

// Reads the element that a question came back as.
static bool read_answer(str element, size_t number, struct math_question *q, arena *a)
{
    str found;
    uint64_t n;
    if (!between(element, STR("<e n=\""), STR("\""), &found) || !str_u64(found, &n) || n != number)
        return false;
    q->outcome = MATH_REFUSED;
    if (!between(element, STR("<error xmlns=\"" BLAHTEXML "\">"), STR("</error>"), &found)) {
        q->outcome = MATH_CONVERTED;
        if (!between(element, q->display ? STR("<math display=\"block\">") : STR("<math>"),
                     STR("</math>"), &found))
            return false;
    }
    q->text = arena_str(a, found);
    return true;
}

// Takes the whole answers that have come. False when one is none.
static bool take_answers(struct math_program *p, struct math_question *questions, size_t count,
                         size_t *done, arena *a)
{
    static const str close = STR("</e>");
    size_t taken = 0;
    for (; *done < count; ++*done) {
        str rest = str_slice(buf_view(&p->in), p->looked, p->in.len);
        size_t at = str_search(rest, close);
        if (at == rest.len)
            break;
        p->looked += at + close.len;
        str element = str_slice(buf_view(&p->in), taken, p->looked);
        if (!read_answer(element, p->answered++, &questions[*done], a))
            return false;
        taken = p->looked;
    }
    memmove(p->in.ptr, p->in.ptr + taken, p->in.len - taken + 1);
    p->in.len -= taken;
    p->looked = p->in.len < close.len ? 0 : p->in.len - close.len + 1;
    return p->in.len <= MAX_ANSWER;
}

// One round of sending and receiving. False when the process has ended.
static bool exchange(struct math_program *p, int wait_ms)
{
    static const struct timespec gather = {.tv_nsec = GATHER_NS};
    bool all_sent = p->sent == p->out.len;
    struct pollfd fds[] = {{.fd = p->from, .events = POLLIN}, {.fd = p->to, .events = POLLOUT}};
    int ready = poll(fds, all_sent ? 1 : 2, wait_ms < PAD_AGAIN_MS ? wait_ms : PAD_AGAIN_MS);
    if (ready == 0 && all_sent)
        put_padding(p);
    bool goes_on = ready <= 0 || !fds[1].revents || send_some(p);
    if (ready <= 0 || !fds[0].revents)
        return goes_on;
    nanosleep(&gather, NULL);
    return receive_some(p);
}

// Asks the questions from *done on of the process that runs.
static enum ending talk(struct math_program *p, struct math_question *questions, size_t count,
                        size_t *done, arena *a)
{
    uint64_t since = clock_ms(CLOCK_MONOTONIC), now = since;
    for (size_t i = *done; i < count; i++)
        put_question(p, &questions[i]);
    put_padding(p);
    while (*done < count) {
        size_t before = *done;
        if (now - since >= p->wait_ms)
            return TOO_SLOW;
        if (!exchange(p, (int)(since + p->wait_ms - now)) ||
            !take_answers(p, questions, count, done, a))
            return ENDED;
        now = clock_ms(CLOCK_MONOTONIC);
        if (*done > before)
            since = now;
    }
    return GOES_ON;
}

static void fail(struct math_question *q, str why)
{
    q->outcome = MATH_FAILED;
    q->text = why;
}

// Why no question can be answered, by the exit code of the child; "" when another process may.
static str missing(int code)
{
    if (code == NO_PROGRAM)
        return STR("blahtexml is not installed");
    return code == CANNOT_RUN ? STR("blahtexml cannot be run") : STR_NONE;
}

void math_program_ask(struct math_program *p, struct math_question *questions, size_t count,
                      arena *a)
{
    size_t done = 0, tried = SIZE_MAX;  // the question that the last process ended at
    while (done < count) {
        bool runs = p->pid || start(p);
        enum ending how = runs ? talk(p, questions, count, &done, a) : ENDED;
        if (how == GOES_ON)
            return;
        str why = missing(runs ? end(p) : CANNOT_RUN);
        for (; why.len && done < count; done++)
            fail(&questions[done], why);
        if (done < count && how == TOO_SLOW)
            fail(&questions[done++],
                 arena_printf(a, "blahtexml took longer than %u ms", p->wait_ms));
        else if (done < count && tried == done)
            fail(&questions[done++], STR("blahtexml gave no answer"));
        else
            tried = done;
    }
}
