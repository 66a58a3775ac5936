// vramprobe: measures on a GPU what training takes, and writes records. Every run is a process of its own, so that its
// memory is its own; results are kept one by one, so that a call that ends early is continued by the next.
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernels/probe.h"
#include "kernels/sha256.h"

#ifndef VERSION
#define VERSION "0"
#endif
#ifndef SOURCES_SHA256
#define SOURCES_SHA256 "0000000000000000000000000000000000000000000000000000000000000000"
#endif
#ifndef COMPILE_FLAGS
#define COMPILE_FLAGS ""
#endif

enum { EXIT_USAGE = 2, EXIT_INPUT = 3, EXIT_MORE = 75, EXIT_NO_DEVICE = 77 };

struct options {
    const char *output, *state, *commit;
    int64_t cap_mib, seconds;
    int dirty;          // -1 unknown
    bool replace;
    char **names;       // of experiments; all when there is none
    int name_count;
    int argc;
    char **argv;
};

static void usage(FILE *out)
{
    fputs("vramprobe " VERSION ": measures what training takes on a GPU\n"
          "usage: vramprobe run [EXPERIMENT...] -o FILE.json [options]\n"
          "       vramprobe --check [SEED]        compare every kernel with its CPU reference\n"
          "       vramprobe --list                the experiments, and what each measures\n"
          "       vramprobe validate FILE...      is a record what the schema says?\n"
          "       vramprobe merge FILE... -o FILE one record from many of the same GPU\n"
          "options of run:\n"
          "  -o, --output FILE   the record; it is not replaced without --force\n"
          "      --state DIR     where results are kept one by one [build/vramprobe]\n"
          "      --seconds N     start no new run after N seconds [480]; exit status 75 when some are left\n"
          "      --cap MIB       memory of the card that max_batch imitates [12282], MiB may follow\n"
          "      --commit HASH   commit of the sources, where there is no git; --dirty or --clean beside it\n"
          "      --force         replace FILE\n"
          "exit status: 0 done, 1 a check failed, 2 usage, 3 input or output, 75 call again, 77 no GPU\n",
          out);
}

static int fail(int status, const char *what, const char *why)
{
    fprintf(stderr, "vramprobe: error: %s%s%s\n", what, *why ? ": " : "", why);
    return status;
}

static int list(void)
{
    for (const struct experiment *e = experiments; e->name; e++) {
        int runs = 0;
        while (e->runs[runs])
            runs++;
        printf("%-14s protocol %d, %2d run%s of at most %3d s: %s\n", e->name, e->protocol, runs, runs == 1 ? " " : "s",
               e->limit_s, e->about);
    }
    return 0;
}

// ---- one run, in a process of its own: its result as JSON in a file

static int one(const char *name, const char *text, const char *path)
{
    const struct experiment *e = experiment_find(name);
    struct settings s;
    char message[256] = "", bus[32];
    if (!e || !settings_parse(&s, text, message, sizeof message))
        return fail(EXIT_USAGE, name, message);
    if (!gpu_find(bus, message))
        return fail(EXIT_NO_DEVICE, message, "");
    struct nvml *nvml = nvml_open(bus);
    struct json *result = record_result(e->name, "vramprobe", e->protocol);
    settings_to_json(&s, json_get(result, "config"));
    const char *status = e->measure(&s, nvml, json_get(result, "values"), message);
    record_finish(result, status, message);
    int code = json_write_file(result, path, true) == 0 ? 0 : EXIT_INPUT;
    json_free(result);
    nvml_close(nvml);
    return code;
}

// ---- all runs

static void state_path(char *out, size_t size, const struct options *o, const struct experiment *e, const char *run)
{
    char text[1024], digest[65];
    snprintf(text, sizeof text, "%s %d %s cap=%lld", e->name, e->protocol, run, (long long)o->cap_mib);
    sha256_hex(text, strlen(text), digest);
    digest[20] = 0;
    snprintf(out, size, "%s/%s.json", o->state, digest);
}

// A run that crashed or ran too long is a result too: it says so.
static void write_failure(const struct experiment *e, const char *run, const char *path, const char *why)
{
    struct settings s;
    char error[256];
    struct json *result = record_result(e->name, "vramprobe", e->protocol);
    if (settings_parse(&s, run, error, sizeof error))
        settings_to_json(&s, json_get(result, "config"));
    record_finish(result, "failed", why);
    json_write_file(result, path, true);
    json_free(result);
}

static int wait_for(pid_t child, int limit_s)
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

// With --cap, max_batch imitates another card than its configs say.
static void run_text(char *out, size_t size, const struct options *o, const struct experiment *e, const char *run)
{
    struct settings s;
    char error[256], cap[32];
    snprintf(out, size, "%s", run);
    if (strcmp(e->name, "max_batch") != 0 || !settings_parse(&s, run, error, sizeof error))
        return;
    snprintf(cap, sizeof cap, "%lld", (long long)o->cap_mib);
    settings_put(&s, "cap_mib", cap);
    size_t at = 0;
    for (int i = 0; i < s.count && at < size; i++)
        at += (size_t)snprintf(out + at, size - at, "%s%s=%s", i ? " " : "", s.pairs[i].key, s.pairs[i].value);
}

static void run_one(const struct options *o, const struct experiment *e, const char *run, const char *path)
{
    char text[1024], why[128];
    run_text(text, sizeof text, o, e, run);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "vramprobe", "--one", e->name, text, path, (char *)NULL);
        _exit(127);
    }
    int status = child < 0 ? -1 : wait_for(child, e->limit_s);
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
    struct json *r = json_read_file(path, error, sizeof error);
    const struct json *peak = json_get(json_get(json_get(r, "values"), "max_memory_allocated_bytes"), "value");
    printf("%-14s %-7s %5.1f s  ", e->name, json_text(json_get(r, "status")), seconds);
    if (peak)
        printf("%6lld MiB  ", (long long)peak->integer >> 20);
    printf("%s%s%s\n", run, *json_text(json_get(r, "message")) ? ": " : "", json_text(json_get(r, "message")));
    fflush(stdout);
    json_free(r);
}

// Number of runs that are left; results go to `results` as far as they are there.
static int run_all(const struct options *o, struct json *results)
{
    struct timespec begin;
    int left = 0;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (const struct experiment *e = experiments; e->name; e++)
        for (int i = 0; wanted(o, e->name) && e->runs[i]; i++) {
            char path[4096], error[200];
            state_path(path, sizeof path, o, e, e->runs[i]);
            if (access(path, F_OK) != 0 && since(&begin) > (double)o->seconds) {
                left++;
                continue;
            }
            if (access(path, F_OK) != 0) {
                double at = since(&begin);
                run_one(o, e, e->runs[i], path);
                show(e, e->runs[i], path, since(&begin) - at);
            }
            struct json *r = json_read_file(path, error, sizeof error);
            if (r)
                json_add(results, r);
        }
    return left;
}

static struct json *os_name(void)
{
    char line[256];
    struct utsname u;
    struct json *host = json_object();
    FILE *f = fopen("/etc/os-release", "r");
    const char *name = "Linux";
    char text[256];
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "PRETTY_NAME=\"%255[^\"]\"", text) == 1)
            name = text;
    if (f)
        fclose(f);
    json_set(host, "os", json_string(name));
    if (uname(&u) == 0) {
        json_set(host, "kernel", json_string(u.release));
        json_set(host, "machine", json_string(u.machine));
    }
    return host;
}

static struct json *tool_part(const struct options *o)
{
    struct json *tool = json_object(), *protocols = json_object(), *command = json_array();
    json_set(tool, "name", json_string("vramprobe"));
    json_set(tool, "version", json_string(VERSION));
    json_set(tool, "sources_sha256", json_string(SOURCES_SHA256));
    for (const struct experiment *e = experiments; e->name; e++)
        json_set(protocols, e->name, json_int(e->protocol));
    json_set(tool, "protocols", protocols);
    for (int i = 0; i < o->argc; i++)
        json_add(command, json_string(i ? o->argv[i] : "vramprobe"));
    json_set(tool, "command", command);
    return tool;
}

static struct json *record_head(const struct options *o, bool has_device, struct nvml *nvml)
{
    char now[21], id[129];
    struct json *r = json_object(), *code = json_object();
    const char *base = strrchr(o->output, '/');
    base = base ? base + 1 : o->output;
    size_t n = strlen(base);
    if (n > 5 && strcmp(base + n - 5, ".json") == 0)
        n -= 5;
    snprintf(id, sizeof id, "%.*s", (int)n, base);
    record_utc(now);
    json_set(r, "schema", json_string("vramprobe/1"));
    json_set(r, "id", json_string(id));
    json_set(r, "status", json_string(has_device ? "ok" : "no-device"));
    json_set(r, "created_utc", json_string(now));
    json_set(r, "tool", tool_part(o));
    json_set(code, "commit", o->commit ? json_string(o->commit) : json_null());
    json_set(code, "dirty", o->dirty < 0 ? json_null() : json_bool(o->dirty));
    json_set(r, "code", code);
    json_set(r, "host", os_name());
    if (has_device) {
        struct json *device = json_set(r, "device", json_object()), *software = json_set(r, "software", json_object());
        gpu_describe(device, software, nvml);
        json_set(software, "compiler_flags", json_string(COMPILE_FLAGS));
        int others = nvml_process_count(nvml);
        json_set(device, "other_processes", others < 0 ? json_null() : json_int(others > 0 ? others - 1 : 0));
        if (others > 1)
            fprintf(stderr, "vramprobe: warning: %d other processes use this GPU; times will vary\n", others - 1);
    }
    json_set(r, "results", json_array());
    return r;
}

static int write_record(const struct options *o, struct json *record)
{
    int code = json_write_file(record, o->output, o->replace);
    int saved = errno;
    json_free(record);
    if (code == 0)
        return 0;
    return fail(EXIT_INPUT, o->output, saved == EEXIST ? "it exists; give another name, or --force" : strerror(saved));
}

// In a child: the parent must hold nothing on the GPU while runs measure it.
static int describe(const struct options *o, const char *path)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        char bus[32], why[160];
        struct nvml *nvml = gpu_find(bus, why) ? nvml_open(bus) : NULL;
        struct json *head = record_head(o, true, nvml);
        _exit(json_write_file(head, path, true) == 0 ? 0 : EXIT_INPUT);
    }
    int status = child < 0 ? -1 : wait_for(child, 60);
    return status == 0 ? 0 : -1;
}

static bool has_gpu(char why[160])
{
    int pipe_ends[2];
    char bus[32];
    if (pipe(pipe_ends) != 0)
        return false;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        bool found = gpu_find(bus, why);
        if (!found && write(pipe_ends[1], why, 160) < 0)
            _exit(2);
        _exit(found ? 0 : 1);
    }
    int status = child < 0 ? -1 : wait_for(child, 60);
    close(pipe_ends[1]);
    if (status != 0 && read(pipe_ends[0], why, 160) <= 0)
        snprintf(why, 160, "no GPU: asking for one failed");
    close(pipe_ends[0]);
    return status == 0;
}

static int run(const struct options *o)
{
    char why[160] = "", path[4096], error[200];
    for (int i = 0; i < o->name_count; i++)
        if (!experiment_find(o->names[i]))
            return fail(EXIT_USAGE, o->names[i], "no such experiment; --list shows them");
    if (!o->replace && access(o->output, F_OK) == 0)
        return fail(EXIT_INPUT, o->output, "it exists; give another name, or --force");
    if (!has_gpu(why)) {
        int code = write_record(o, record_head(o, false, NULL));
        fprintf(stderr, "vramprobe: %s; nothing was measured\n", why);
        return code ? code : EXIT_NO_DEVICE;
    }
    if (mkdir(o->state, 0777) != 0 && errno != EEXIST)
        return fail(EXIT_INPUT, o->state, strerror(errno));
    snprintf(path, sizeof path, "%s/head.json", o->state);
    if (describe(o, path) != 0)
        return fail(EXIT_INPUT, path, "the GPU could not be described");
    struct json *record = json_read_file(path, error, sizeof error);
    if (!record)
        return fail(EXIT_INPUT, path, error);
    int left = run_all(o, json_get(record, "results"));
    if (left) {
        json_free(record);
        printf("%d runs are left: call again to go on\n", left);
        return EXIT_MORE;
    }
    int code = write_record(o, record);
    if (code == 0)
        printf("%s is written. To contribute it, add it to content/measurements/ in a pull request.\n", o->output);
    return code;
}

// ---- records

static struct json *read_record(const char *path, int *wrong)
{
    char error[200];
    struct json *r = json_read_file(path, error, sizeof error);
    if (!r)
        fprintf(stderr, "%s:%s%s\n", path, strchr("0123456789", *error) ? "" : " ", error);
    *wrong += r ? record_check(r, path, stderr) : 1;
    return r;
}

static int validate(char **files, int count)
{
    int wrong = 0;
    for (int i = 0; i < count; i++) {
        int before = wrong;
        json_free(read_record(files[i], &wrong));
        if (wrong == before)
            printf("%s: a record of schema vramprobe/1\n", files[i]);
    }
    return wrong ? EXIT_INPUT : 0;
}

static int merge(const struct options *o)
{
    int wrong = 0;
    struct json **records = calloc((size_t)o->name_count + 1, sizeof *records), *merged = NULL;
    for (int i = 0; records && i < o->name_count; i++)
        records[i] = read_record(o->names[i], &wrong);
    if (records && !wrong && o->name_count) {
        const char *base = strrchr(o->output, '/');
        char id[129];
        snprintf(id, sizeof id, "%s", base ? base + 1 : o->output);
        id[strcspn(id, ".")] = 0;
        merged = record_merge(records, o->names, o->name_count, id, stderr);
    }
    for (int i = 0; records && i < o->name_count; i++)
        json_free(records[i]);
    free(records);
    return merged ? write_record(o, merged) : EXIT_INPUT;
}

// ---- arguments

static int64_t mebibytes(const char *text)
{
    char *end;
    long long v = strtoll(text, &end, 10);
    return v > 0 && v < 1 << 24 && (!*end || strcmp(end, "MiB") == 0) ? v : -1;
}

static bool parse(struct options *o, int argc, char **argv)
{
    enum { STATE = 256, SECONDS, CAP, COMMIT, DIRTY, CLEAN, FORCE };
    static const struct option table[] = {
        {"output", 1, 0, 'o'}, {"state", 1, 0, STATE}, {"seconds", 1, 0, SECONDS}, {"cap", 1, 0, CAP},
        {"commit", 1, 0, COMMIT}, {"dirty", 0, 0, DIRTY}, {"clean", 0, 0, CLEAN}, {"force", 0, 0, FORCE}, {0}};
    for (int c; (c = getopt_long(argc, argv, "o:", table, NULL)) != -1;) {
        switch (c) {
        case 'o': o->output = optarg; break;
        case STATE: o->state = optarg; break;
        case SECONDS: o->seconds = atoll(optarg); break;
        case CAP: o->cap_mib = mebibytes(optarg); break;
        case COMMIT: o->commit = optarg; break;
        case DIRTY: o->dirty = 1; break;
        case CLEAN: o->dirty = 0; break;
        case FORCE: o->replace = true; break;
        default: return false;
        }
    }
    o->names = argv + optind;
    o->name_count = argc - optind;
    return o->cap_mib > 0 && o->seconds >= 0;
}

static int check(const char *seed)
{
    char bus[32], why[160];
    if (!gpu_find(bus, why)) {
        fprintf(stderr, "vramprobe: %s; nothing was checked\n", why);
        return EXIT_NO_DEVICE;
    }
    uint64_t number = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL);
    printf("seed %llu\n", (unsigned long long)number);
    int wrong = kernels_check(number);
    printf("%d kernels are off\n", wrong);
    return wrong ? 1 : 0;
}

int main(int argc, char **argv)
{
    struct options o = {.state = "build/vramprobe", .cap_mib = 12282, .seconds = 480, .dirty = -1, .argc = argc, .argv = argv};
    const char *verb = argc > 1 ? argv[1] : "--help";
    if (strcmp(verb, "--list") == 0)
        return list();
    if (strcmp(verb, "--one") == 0 && argc == 5)
        return one(argv[2], argv[3], argv[4]);
    if (strcmp(verb, "--check") == 0)
        return check(argc > 2 ? argv[2] : NULL);
    if (strcmp(verb, "--version") == 0)
        return puts("vramprobe " VERSION) < 0;
    if (strcmp(verb, "validate") == 0 && argc > 2)
        return validate(argv + 2, argc - 2);
    bool is_run = strcmp(verb, "run") == 0, is_merge = strcmp(verb, "merge") == 0;
    if ((is_run || is_merge) && parse(&o, argc - 1, argv + 1) && o.output)
        return is_run ? run(&o) : merge(&o);
    bool help = strcmp(verb, "--help") == 0 || strcmp(verb, "-h") == 0;
    usage(help ? stdout : stderr);
    return help ? 0 : EXIT_USAGE;
}
