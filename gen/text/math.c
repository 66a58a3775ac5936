// Runs blahtexml on formulas that are not known yet, and keeps what it answers.
#include "gen/text/math.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gen/base/fs.h"
#include "gen/base/map.h"
#include "gen/base/escape.h"
#include "gen/text/math_letters.h"
#include "gen/text/math_spelling.h"

enum {
    MAX_FORMULA = 16384,  // bytes: less than a socket holds, so that writing it cannot block
    MAX_ANSWER = 4 << 20,
    FORMAT = 3,  // raised when what is kept would be made differently
};

extern char **environ;

struct math {
    str dir;
    arena arena;
    struct map known;  // key -> str *
};

struct math *math_open(str cache_dir)
{
    arena a = ARENA_INIT;
    struct math *m = arena_new(&a, struct math, 1);
    m->dir = arena_str(&a, cache_dir);
    m->arena = a;
    return m;
}

void math_free(struct math *m)
{
    if (!m)
        return;
    arena a = m->arena;
    arena_free(&a);
}

// The key of a formula: everything that its MathML depends on.
static void put_key(buf *key, str tex, bool display)
{
    buf_printf(key, "%d %c ", FORMAT, display ? 'd' : 'i');
    buf_str(key, tex);
}

static void cache_path(const struct math *m, str key, buf *path)
{
    buf_str(path, m->dir);
    buf_printf(path, "/math/%016llx", (unsigned long long)str_hash(key));
}

static const str *remember(struct math *m, str key, str mathml)
{
    bool is_new;
    void **place = map_put(&m->known, &m->arena, key, &is_new);
    str *kept = arena_new(&m->arena, str, 1);
    *kept = arena_str(&m->arena, mathml);
    return *place = kept;
}

// A kept file is the key, a NUL, and the MathML: the key guards against two formulas with one hash.
static const str *recall(struct math *m, str key)
{
    const str *known = m ? map_get(&m->known, key) : NULL;
    if (known || !m || !m->dir.len)
        return known;
    buf path = BUF_INIT, file = BUF_INIT;
    cache_path(m, key, &path);
    if (!fs_read(path.ptr, MAX_ANSWER, &file)) {
        str rest = buf_view(&file), kept_key;
        if (str_cut(&rest, 0, &kept_key) && str_eq(kept_key, key))
            known = remember(m, key, rest);
    }
    buf_free(&path);
    buf_free(&file);
    return known;
}

// A result that cannot be written is only made again next time: no error.
static void keep(struct math *m, str key, str mathml)
{
    if (!m)
        return;
    remember(m, key, mathml);
    if (!m->dir.len)
        return;
    buf path = BUF_INIT, file = BUF_INIT;
    buf_str(&path, m->dir);
    buf_lit(&path, "/math");
    fs_mkdirs(path.ptr);
    buf_clear(&path);
    cache_path(m, key, &path);
    buf_str(&file, key);
    buf_char(&file, 0);
    buf_str(&file, mathml);
    (void)fs_write(path.ptr, buf_view(&file));
    buf_free(&path);
    buf_free(&file);
}

static int spawn(int socket, bool display, pid_t *pid)
{
    char *argv[] = {"blahtexml", "--mathml",         "--mathml-encoding",
                    "raw",       "--other-encoding", "raw",
                    "--spacing", "moderate",         display ? "--displaymath" : NULL,
                    NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, socket, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    int error = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static void read_all(int fd, buf *answer)
{
    char chunk[4096];
    ssize_t n;
    while ((n = read(fd, chunk, sizeof chunk)) > 0 || (n < 0 && errno == EINTR))
        if (n > 0 && answer->len < MAX_ANSWER)
            buf_put(answer, chunk, (size_t)n);
}

static void talk(int fd, str tex, pid_t pid, buf *answer)
{
    int status;
    (void)send(fd, tex.ptr, tex.len, MSG_NOSIGNAL);
    shutdown(fd, SHUT_WR);
    read_all(fd, answer);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
}

// Gives tex to a child and reads all that it prints. 0 or an errno. A socket, not pipes: a child
// that has died must not end this process by SIGPIPE.
static int run(str tex, bool display, buf *answer)
{
    int ends[2];
    pid_t pid;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return errno;
    int error = spawn(ends[1], display, &pid);
    close(ends[1]);
    if (!error)
        talk(ends[0], tex, pid, answer);
    close(ends[0]);
    return error;
}

// What is between two marks of the answer; empty when they are not there.
static str between(str s, str open, str close)
{
    size_t start = str_search(s, open);
    if (start == s.len)
        return STR_NONE;
    str rest = str_slice(s, start + open.len, s.len);
    size_t end = str_search(rest, close);
    return end == rest.len ? STR_NONE : str_slice(rest, 0, end);
}

static void put_math(buf *mathml, str markup, bool display)
{
    if (display)
        buf_lit(mathml, "<math display=\"block\">");
    else
        buf_lit(mathml, "<math>");
    for (str line; str_line(&markup, &line);)
        math_letters(line, mathml);
    buf_lit(mathml, "</math>");
}

static bool fail(str tex, struct diag_pos at, struct diag *d, buf *out, const char *why, size_t len)
{
    diag_add(d, D_MATH_SYNTAX, at, "%.*s", (int)len, why);
    buf_lit(out, "<code>");
    escape_text(out, tex);
    buf_lit(out, "</code>");
    return false;
}

static bool convert(str tex, bool display, struct diag_pos at, struct diag *d, buf *out,
                    buf *mathml)
{
    buf answer = BUF_INIT, spelled = BUF_INIT;
    bool ok = false;
    math_spelling(tex, display, &spelled);
    int error = spelled.len > MAX_FORMULA ? EFBIG : run(buf_view(&spelled), display, &answer);
    buf_free(&spelled);
    str markup = between(buf_view(&answer), STR("<markup>"), STR("</markup>"));
    str message = between(buf_view(&answer), STR("<message>"), STR("</message>"));
    if (error == EFBIG) {
        fail(tex, at, d, out, "too long", sizeof "too long" - 1);
    } else if (error) {
        const char *why =
            error == ENOENT ? "blahtexml is not installed" : "blahtexml cannot be run";
        fail(tex, at, d, out, why, strlen(why));
    } else if (message.len) {
        fail(tex, at, d, out, message.ptr, message.len);
    } else if (!answer.len) {
        fail(tex, at, d, out, "blahtexml gave no answer", sizeof "blahtexml gave no answer" - 1);
    } else {
        put_math(mathml, markup, display);
        ok = true;
    }
    buf_free(&answer);
    return ok;
}

bool math_render(struct math *m, str tex, bool display, struct diag_pos at, struct diag *d,
                 buf *out)
{
    buf key = BUF_INIT, mathml = BUF_INIT;
    put_key(&key, tex, display);
    const str *known = recall(m, buf_view(&key));
    bool ok = known || convert(tex, display, at, d, out, &mathml);
    if (known) {
        buf_str(out, *known);
    } else if (ok) {
        keep(m, buf_view(&key), buf_view(&mathml));
        buf_str(out, buf_view(&mathml));
    }
    buf_free(&key);
    buf_free(&mathml);
    return ok;
}
