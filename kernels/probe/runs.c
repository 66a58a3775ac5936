// The runs of a measurement: each in a process of its own, so that its memory is its own, and its
// result kept in a file, so that a call that ends early is continued by the next.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernels/probe/probe.h"
#include "kernels/record/sha256.h"

int runs_one(const char *name, const char *text, const char *tokens, const char *path)
{
    const struct experiment *e = experiment_find(name);
    struct settings s;
    char message[256] = "", bus[32];
    if (!e || !settings_parse(&s, text, message, sizeof message))
        return probe_fail(EXIT_USAGE, name, message);
    snprintf(s.tokens, sizeof s.tokens, "%s", tokens);
    if (!gpu_find(bus, message))
        return probe_fail(EXIT_NO_DEVICE, message, "");
    struct nvml *nvml = nvml_open(bus);
    struct rjson *result = record_result(e->name, "vramprobe", e->protocol);
    settings_to_json(&s, rjson_get(result, "config"));
    const char *status = e->measure(&s, nvml, rjson_get(result, "values"), message);
    record_finish(result, status, message);
    int code = rjson_write_file(result, path, true) == 0 ? 0 : EXIT_INPUT;
    rjson_free(result);
    nvml_close(nvml);
    return code;
}

// The path of a result follows from its experiment and config, so that the next call finds it.
static void state_path(char *out, size_t size, const struct options *o, const struct experiment *e,
                       const char *run)
{
    char text[2560], digest[65];
    struct stat st = {0};
    if (o->tokens)
        stat(o->tokens, &st);
    snprintf(text, sizeof text, "%s %d %s tokens=%s %lld %lld", e->name, e->protocol, run,
             o->tokens ? o->tokens : "", (long long)st.st_size, (long long)st.st_mtime);
    sha256_hex(text, strlen(text), digest);
    digest[20] = 0;
    snprintf(out, size, "%s/%s.json", o->state, digest);
}

// A run that crashed or took too long is a result too, which says so.
static void write_failure(const struct experiment *e, const char *run, const char *path,
                          const char *why)
{
    struct settings s;
    char error[256];
    struct rjson *result = record_result(e->name, "vramprobe", e->protocol);
    if (settings_parse(&s, run, error, sizeof error))
        settings_to_json(&s, rjson_get(result, "config"));
    record_finish(result, "failed", why);
    rjson_write_file(result, path, true);
    rjson_free(result);
}

int runs_wait(pid_t child, int limit_s)
{
    int status = 0;
    for (int tenths = 0; waitpid(child, &status, WNOHANG) == 0; tenths++) {
        if (tenths > limit_s * 10) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            return -1;
        }
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    return status;
}

// The config of a run with the additions of the command line: another card for max_batch, a file of
// tokens for steps.
static void run_text(char *out, size_t size, const struct options *o, const struct experiment *e,
                     const char *run)
{
    struct settings s;
    char error[256], cap[32];
    snprintf(out, size, "%s", run);
    if (!settings_parse(&s, run, error, sizeof error))
        return;
    snprintf(cap, sizeof cap, "%lld", (long long)o->cap_mib);
    if (e->measure == measure_max_batch)
        settings_put(&s, "cap_mib", cap);
    if (e->measure == measure_step && o->tokens)
        settings_put(&s, "tokens", "file");
    settings_write(&s, out, size);
}

// Runs `--one` in a process of its own and writes a result to path, also after a failure.
static void run_one(const struct experiment *e, const char *text, const char *tokens,
                    const char *path)
{
    char why[128];
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);  // nothing may stay on the GPU when the parent ends
        execl("/proc/self/exe", "vramprobe", "--one", e->name, text, tokens, path, (char *)NULL);
        _exit(127);
    }
    int status = child < 0 ? -1 : runs_wait(child, e->limit_s);
    if (status == 0 && access(path, F_OK) == 0)
        return;
    if (status == -1)
        snprintf(why, sizeof why, "longer than %d s, or could not be started", e->limit_s);
    else if (WIFSIGNALED(status))
        snprintf(why, sizeof why, "ended by signal %d", WTERMSIG(status));
    else
        snprintf(why, sizeof why, "ended with status %d", WEXITSTATUS(status));
    write_failure(e, text, path, why);
}

struct rjson *runs_child(const char *name, const struct settings *s)
{
    char path[] = "/tmp/vramprobe-XXXXXX", text[1024], error[200];
    int file = mkstemp(path);
    if (file >= 0)
        close(file);
    unlink(path);  // only the name is needed: the result takes the file's place
    settings_write(s, text, sizeof text);
    run_one(experiment_find(name), text, s->tokens, path);
    struct rjson *result = rjson_read_file(path, error, sizeof error);
    unlink(path);
    if (result)
        return result;
    result = record_result(name, "vramprobe", experiment_find(name)->protocol);
    record_finish(result, "failed", error);
    return result;
}

static bool wanted(const struct options *o, const char *name)
{
    for (int i = 0; i < o->name_count; i++)
        if (strcmp(o->names[i], name) == 0)
            return true;
    return o->name_count == 0;
}

static double since(const struct timespec *begin)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - begin->tv_sec) + (double)(now.tv_nsec - begin->tv_nsec) * 1e-9;
}

static void show(const struct experiment *e, const char *run, const char *path, double seconds)
{
    char error[200];
    struct rjson *r = rjson_read_file(path, error, sizeof error);
    const struct rjson *peak =
        rjson_get(rjson_get(rjson_get(r, "values"), "max_memory_allocated_bytes"), "value");
    printf("%-14s %-7s %5.1f s  ", e->name, rjson_text(rjson_get(r, "status")), seconds);
    if (peak)
        printf("%6lld MiB  ", (long long)peak->integer >> 20);
    printf("%s%s%s\n", run, *rjson_text(rjson_get(r, "message")) ? ": " : "",
           rjson_text(rjson_get(r, "message")));
    fflush(stdout);
    rjson_free(r);
}

// One run, unless its result exists or time is up. Returns false when it is left for the next call.
static bool run_once(const struct options *o, const struct experiment *e, const char *run,
                     struct rjson *results, const struct timespec *begin)
{
    char path[4096], text[1024], error[200];
    run_text(text, sizeof text, o, e, run);
    state_path(path, sizeof path, o, e, text);
    if (access(path, F_OK) != 0 && since(begin) > (double)o->seconds)
        return false;
    if (access(path, F_OK) != 0) {
        double at = since(begin);
        run_one(e, text, o->tokens ? o->tokens : "", path);
        show(e, text, path, since(begin) - at);
    }
    struct rjson *r = rjson_read_file(path, error, sizeof error);
    if (r)
        rjson_add(results, r);
    return true;
}

int runs_all(const struct options *o, struct rjson *results)
{
    const char *const words[] = {o->words, NULL};
    struct timespec begin;
    int left = 0;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (const struct experiment *e = experiments; e->name; e++) {
        const char *const *runs = *o->words ? words : e->runs;
        for (int i = 0; wanted(o, e->name) && runs[i]; i++)
            left += !run_once(o, e, runs[i], results, &begin);
    }
    return left;
}
