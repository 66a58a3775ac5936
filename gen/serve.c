// The serve command: builds, serves on the loopback address, and builds again when a file changes.
// One loop, no threads; each build runs in a forked child, so that a build that fails or crashes
// leaves the server as it was.
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gen/base/clock.h"
#include "gen/base/fs.h"
#include "gen/base/path.h"
#include "gen/cmd.h"
#include "gen/serve_http.h"
#include "gen/site/output/build.h"
#include "gen/text/address.h"
#include "gen/site/source/publish.h"
#include "gen/site/source/settings.h"
#include "gen/watch.h"

enum { QUIET_MS = 3, PATIENCE_MS = 40, HEARTBEAT_MS = 15000, DEFAULT_PORT = 8000 };

struct serve_options {
    const char *config, *source, *output, *templates, *i18n, *cache, *port_text;
    uint64_t jobs;
    bool strict, drafts, quiet;
};

struct serve {
    const struct serve_options *options;
    struct build_options build;
    char output[4096];  // as the settings say
    buf base;           // the path of their base_url
    struct watch *watch;
    struct http *http;
    pid_t builder;  // 0: none
    int builder_fd;
    buf report;                  // what the builder said so far
    uint64_t started_ms;         // of the running build
    uint64_t first_ms, last_ms;  // of the changes that no build has seen; 0: none
    uint64_t heartbeat_ms;
    int64_t until;  // Unix seconds, when another page is due
};

static void say(const struct serve *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void say(const struct serve *s, const char *format, ...)
{
    if (s->options->quiet)
        return;
    buf b = BUF_INIT;
    va_list list;
    va_start(list, format);
    buf_vprintf(&b, format, list);
    va_end(list);
    diag_say(buf_view(&b));
    buf_free(&b);
}

// In the child: builds, and writes to fd whether the site is good, until when, and all messages as
// text.
static _Noreturn void run_builder(const struct serve *s, int fd)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    struct diag *d =
        diag_new((struct diag_options){.strict = s->options->strict, .quiet = s->options->quiet});
    struct build_summary summary;
    bool ok = build_site(&s->build, d, &summary);
    buf out = BUF_INIT;
    buf_char(&out, ok ? '+' : '-');
    buf_put(&out, &summary.until, sizeof summary.until);
    if (diag_count(d, DIAG_ERROR))
        diag_text(d, &out);
    diag_flush(d);
    if (fs_write_all(fd, buf_view(&out)) < 0)
        _exit(EXIT_IO);
    _exit(ok ? EXIT_OK : EXIT_CHECK);
}

static void start_builder(struct serve *s)
{
    int ends[2];
    s->first_ms = s->last_ms = 0;
    if (pipe(ends) < 0)
        return;
    fflush(NULL);
    s->builder = fork();
    if (s->builder == 0) {
        close(ends[0]);
        run_builder(s, ends[1]);
    }
    close(ends[1]);
    s->builder_fd = ends[0];
    s->started_ms = clock_ms(CLOCK_MONOTONIC);
    buf_clear(&s->report);
    if (s->builder < 0) {
        close(ends[0]);
        s->builder = 0;
    }
}

// Watches what the settings name, which may have changed with the last build.
static bool watch_all(struct serve *s)
{
    arena a = ARENA_INIT;
    struct diag *d = diag_new((struct diag_options){.quiet = true});
    struct settings settings;
    bool ok = true;
    settings_defaults(&settings);
    settings_load(&settings, &s->build.paths, s->build.program_dir, &a, d);
    buf_clear(&s->base);
    buf_str(&s->base, address_base_path(settings.base_url));
    if (s->http)
        http_set_base(s->http, buf_view(&s->base));
    const str folders[] = {s->build.paths.file, settings.content_dir, settings.templates_dir,
                           settings.i18n_dir};
    if (settings.output_dir.len && settings.output_dir.len < sizeof s->output) {
        memcpy(s->output, settings.output_dir.ptr, settings.output_dir.len);
        s->output[settings.output_dir.len] = 0;
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (folders[i].len && watch_add(s->watch, arena_c(&a, folders[i]), s->output) < 0)
            ok = false;
    if (!ok)
        say(s, "vramdoc: not every folder can be watched: %s\n", strerror(errno));
    diag_free(d);
    arena_free(&a);
    return ok;
}

static void finish_builder(struct serve *s)
{
    int status = 0;
    close(s->builder_fd);
    while (waitpid(s->builder, &status, 0) < 0 && errno == EINTR) {
    }
    s->builder = 0;
    str report = buf_view(&s->report);
    bool spoke = report.len > sizeof s->until;
    bool good = spoke && report.ptr[0] == '+';
    if (spoke)
        memcpy(&s->until, report.ptr + 1, sizeof s->until);
    if (s->http) {
        http_set_problems(s->http, spoke ? str_slice(report, 1 + sizeof s->until, report.len)
                                         : STR("the build ended without a word\n"));
        http_reload(s->http);
    }
    say(s, "%s in %llu ms\n", good ? "built" : "not built: the last good site is shown",
        (unsigned long long)(clock_ms(CLOCK_MONOTONIC) - s->started_ms));
    watch_all(s);
}

static void read_builder(struct serve *s)
{
    buf_reserve(&s->report, 16384);
    ssize_t n = read(s->builder_fd, s->report.ptr + s->report.len, 16384);
    if (n < 0 && errno == EINTR)
        return;
    if (n <= 0) {
        finish_builder(s);
        return;
    }
    s->report.len += (size_t)n;
    s->report.ptr[s->report.len] = 0;
}

// Changes come in flocks: a build begins when they have been quiet for a moment, or have gone on
// for long.
static int until_build_ms(const struct serve *s)
{
    if (!s->first_ms || s->builder)
        return -1;
    uint64_t due = s->last_ms + QUIET_MS, latest = s->first_ms + PATIENCE_MS,
             now = clock_ms(CLOCK_MONOTONIC);
    if (due > latest)
        due = latest;
    return due > now ? (int)(due - now) : 0;
}

static int wait_ms(const struct serve *s)
{
    int ms = until_build_ms(s), http = http_timeout_ms(s->http);
    if (ms < 0 || (http >= 0 && http < ms))
        ms = http >= 0 ? http : ms;
    return ms < 0 || ms > HEARTBEAT_MS ? HEARTBEAT_MS : ms;
}

static void note_change(struct serve *s)
{
    s->last_ms = clock_ms(CLOCK_MONOTONIC);
    if (!s->first_ms)
        s->first_ms = s->last_ms;
}

static void serve_loop(struct serve *s, int signals)
{
    for (;;) {
        struct pollfd fds[4] = {{signals, POLLIN, 0},
                                {watch_fd(s->watch), POLLIN, 0},
                                {http_fd(s->http), POLLIN, 0},
                                {s->builder ? s->builder_fd : -1, POLLIN, 0}};
        poll(fds, 4, wait_ms(s));
        if (fds[0].revents)
            return;
        if (fds[1].revents && watch_read(s->watch))
            note_change(s);
        if (fds[3].revents)
            read_builder(s);
        if (until_build_ms(s) == 0)
            start_builder(s);
        if (clock_ms(CLOCK_MONOTONIC) - s->heartbeat_ms > HEARTBEAT_MS) {
            s->heartbeat_ms = clock_ms(CLOCK_MONOTONIC);
            http_heartbeat(s->http);
            if (publish_now() >= s->until)
                note_change(s);
        }
        http_run(s->http);
    }
}

static int fail(const char *what)
{
    buf b = BUF_INIT;
    buf_printf(&b, "vramdoc serve: %s: %s\n", what, strerror(errno));
    diag_say(buf_view(&b));
    buf_free(&b);
    return EXIT_IO;
}

static int block_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    return signalfd(-1, &set, SFD_CLOEXEC);
}

static int serve(struct serve *s, uint16_t port)
{
    int signals = block_signals();
    s->watch = watch_new();
    if (signals < 0 || !s->watch)
        return fail("cannot watch files");
    watch_all(s);
    // The port is taken first: a build that cannot be seen would be useless.
    s->http = http_open(s->output, port);
    if (!s->http)
        return fail(errno == ENOENT || errno == ENOSYS ? "libmicrohttpd.so.12 is needed"
                                                       : "cannot listen");
    http_set_base(s->http, buf_view(&s->base));
    start_builder(s);
    while (s->builder)
        read_builder(s);
    say(s, "http://127.0.0.1:%u%s/ shows %s; Ctrl-C ends\n", http_port(s->http), s->base.ptr,
        s->output);
    serve_loop(s, signals);
    http_close(s->http);
    watch_free(s->watch);
    buf_free(&s->report), buf_free(&s->base);
    close(signals);
    return EXIT_OK;
}

// Beside the output, so that no draft gets into the folder that is published: "site" ->
// ".site.vramdoc-drafts".
static str drafts_folder(str output, arena *a)
{
    if (!output.len)
        output = STR("site");
    while (output.len > 1 && output.ptr[output.len - 1] == '/')
        output.len--;
    return arena_printf(a, "%.*s.%.*s.vramdoc-drafts", STR_ARG(path_folder_slash(output)),
                        STR_ARG(path_name(output)));
}

static int run(void *options, int operand_count, char **operands)
{
    struct serve_options *o = options;
    (void)operands;
    uint64_t port = DEFAULT_PORT;
    if (operand_count || (o->port_text && (!str_u64(str_c(o->port_text), &port) || port > 65535))) {
        diag_say(STR("vramdoc serve: no operands, and --port wants a number up to 65535\n"));
        return EXIT_USAGE;
    }
    arena a = ARENA_INIT;
    struct serve *s = arena_new(&a, struct serve, 1);
    s->options = o;
    s->report = s->base = BUF_INIT;
    s->until = INT64_MAX;
    s->build = (struct build_options){.jobs = (unsigned)o->jobs,
                                      .strict = o->strict,
                                      .drafts = o->drafts,
                                      .program_dir = build_program_dir(&a)};
    str output = str_c(o->output);
    s->build.paths =
        (struct settings_paths){.file = str_c(o->config),
                                .content = str_c(o->source),
                                .templates = str_c(o->templates),
                                .output = o->drafts ? drafts_folder(output, &a) : output,
                                .i18n = str_c(o->i18n),
                                .cache = str_c(o->cache)};
    int rc = serve(s, (uint16_t)port);
    arena_free(&a);
    return rc;
}

#define AT(field) offsetof(struct serve_options, field)
static const struct arg_option options_of_serve[] = {
    {'c', "config", ARG_STRING, AT(config), "FILE",
     "the settings (site.yaml in the content folder)"},
    {'s', "source", ARG_STRING, AT(source), "DIR", "the folder of documents"},
    {'o', "output", ARG_STRING, AT(output), "DIR", "where the site is written"},
    {0, "templates", ARG_STRING, AT(templates), "DIR", "templates other than vramdoc's own"},
    {0, "i18n", ARG_STRING, AT(i18n), "DIR", "message catalogs other than vramdoc's own"},
    {0, "cache", ARG_STRING, AT(cache), "DIR", "where the state of the last build is kept"},
    {'j', "jobs", ARG_UINT, AT(jobs), "N", "worker processes (as many as processors)"},
    {'p', "port", ARG_STRING, AT(port_text), "PORT", "8000; 0 takes any that is free"},
    {0, "strict", ARG_FLAG, AT(strict), NULL, "warnings about content are errors"},
    {0, "drafts", ARG_FLAG, AT(drafts), NULL,
     "show drafts and pages of the future, in a folder of their own beside the output"},
    {'q', "quiet", ARG_FLAG, AT(quiet), NULL, "only errors"},
    {0},
};

const struct arg_command command_serve = {
    "serve",
    "",
    "serve the site on 127.0.0.1 and build it again when a file changes",
    options_of_serve,
    sizeof(struct serve_options),
    run,
};
