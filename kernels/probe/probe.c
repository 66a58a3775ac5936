// vramprobe: measures the memory and time of training on a GPU and writes records. The command
// line, and a record's head.
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernels/probe/estimator.h"
#include "kernels/probe/probe.h"

#ifndef VERSION
#define VERSION "0"
#endif
#ifndef SOURCES_SHA256
#define SOURCES_SHA256 "0000000000000000000000000000000000000000000000000000000000000000"
#endif
#ifndef COMPILE_FLAGS
#define COMPILE_FLAGS ""
#endif

static void usage(FILE *out)
{
    fputs(
        "vramprobe " VERSION ": measures what training takes on a GPU\n"
        "usage: vramprobe run [EXPERIMENT...] [key=value...] -o FILE.json [options]\n"
        "       vramprobe --check [SEED]        compare every kernel with its CPU reference\n"
        "       vramprobe --list                the experiments and what each measures\n"
        "       vramprobe validate FILE...      check records against the schema\n"
        "       vramprobe merge FILE... -o FILE one record from many of the same GPU\n"
        "       vramprobe compare FILE...       the estimator's figures next to the measured ones\n"
        "options of run:\n"
        "  -o, --output FILE   the record; it is not replaced without --force\n"
        "      --state DIR     where results are kept one by one [build/vramprobe]\n"
        "      --seconds N     start no new run after N seconds [480]; exit status 75 when some "
        "are left\n"
        "      --cap MIB       memory of the card that max_batch imitates [12282], MiB may follow\n"
        "      --commit HASH   commit of the sources, where there is no git; with --dirty or "
        "--clean\n"
        "      --config FILE   run the experiments on a nanoGPT config file instead of their own "
        "configs; key=value\n"
        "                      words come after it and win, preset=NAME comes before it\n"
        "      --tokens FILE   train on these tokens (16 bits each, as nanoGPT's train.bin), not "
        "on generated ones\n"
        "      --force         replace FILE\n"
        "exit status: 0 done, 1 a check failed or a figure is off, 2 usage, 3 input or output, 75 "
        "call again, 77 no GPU\n",
        out);
}

int probe_fail(int status, const char *what, const char *why)
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
        printf("%-14s protocol %d, %2d run%s of at most %3d s: %s\n", e->name, e->protocol, runs,
               runs == 1 ? " " : "s", e->limit_s, e->about);
    }
    return 0;
}

static struct rjson *os_name(void)
{
    char line[256];
    struct utsname u;
    struct rjson *host = rjson_object();
    FILE *f = fopen("/etc/os-release", "r");
    const char *name = "Linux";
    char text[256];
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "PRETTY_NAME=\"%255[^\"]\"", text) == 1)
            name = text;
    if (f)
        fclose(f);
    rjson_set(host, "os", rjson_string(name));
    if (uname(&u) == 0) {
        rjson_set(host, "kernel", rjson_string(u.release));
        rjson_set(host, "machine", rjson_string(u.machine));
    }
    return host;
}

// A record says nothing of whoever measured: of an absolute path only the name.
static const char *without_folder(const char *word)
{
    return *word == '/' ? strrchr(word, '/') + 1 : word;
}

static struct rjson *tool_part(const struct options *o)
{
    struct rjson *tool = rjson_object(), *protocols = rjson_object(), *command = rjson_array();
    rjson_set(tool, "name", rjson_string("vramprobe"));
    rjson_set(tool, "version", rjson_string(VERSION));
    rjson_set(tool, "sources_sha256", rjson_string(SOURCES_SHA256));
    for (const struct experiment *e = experiments; e->name; e++)
        rjson_set(protocols, e->name, rjson_int(e->protocol));
    rjson_set(tool, "protocols", protocols);
    for (int i = 0; i < o->argc; i++)
        rjson_add(command, rjson_string(i ? without_folder(o->argv[i]) : "vramprobe"));
    rjson_set(tool, "command", command);
    return tool;
}

static struct rjson *record_head(const struct options *o, bool has_device, struct nvml *nvml)
{
    char now[21], id[129];
    struct rjson *r = rjson_object(), *code = rjson_object();
    const char *base = strrchr(o->output, '/');
    base = base ? base + 1 : o->output;
    size_t n = strlen(base);
    if (n > 5 && strcmp(base + n - 5, ".json") == 0)
        n -= 5;
    snprintf(id, sizeof id, "%.*s", (int)n, base);
    record_utc(now);
    rjson_set(r, "schema", rjson_string("vramprobe/1"));
    rjson_set(r, "id", rjson_string(id));
    rjson_set(r, "status", rjson_string(has_device ? "ok" : "no-device"));
    rjson_set(r, "created_utc", rjson_string(now));
    rjson_set(r, "tool", tool_part(o));
    rjson_set(code, "commit", o->commit ? rjson_string(o->commit) : rjson_null());
    rjson_set(code, "dirty", o->dirty < 0 ? rjson_null() : rjson_bool(o->dirty));
    rjson_set(r, "code", code);
    rjson_set(r, "host", os_name());
    if (has_device) {
        struct rjson *device = rjson_set(r, "device", rjson_object()),
                     *software = rjson_set(r, "software", rjson_object());
        gpu_describe(device, software, nvml);
        rjson_set(software, "compiler_flags", rjson_string(COMPILE_FLAGS));
        int others = nvml_process_count(nvml);
        rjson_set(device, "other_processes",
                  others < 0 ? rjson_null() : rjson_int(others > 0 ? others - 1 : 0));
        if (others > 1)
            fprintf(stderr,
                    "vramprobe: warning: %d other processes use this GPU; times will vary\n",
                    others - 1);
    }
    rjson_set(r, "results", rjson_array());
    return r;
}

int probe_write(const struct options *o, struct rjson *record)
{
    int code = rjson_write_file(record, o->output, o->replace);
    int saved = errno;
    rjson_free(record);
    if (code == 0)
        return 0;
    return probe_fail(EXIT_INPUT, o->output,
                      saved == EEXIST ? "it exists; give another name, or --force"
                                      : strerror(saved));
}

// In a child process: the parent must hold nothing on the GPU while runs measure it.
static int describe(const struct options *o, const char *path)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        char bus[32], why[160];
        struct nvml *nvml = gpu_find(bus, why) ? nvml_open(bus) : NULL;
        struct rjson *head = record_head(o, true, nvml);
        _exit(rjson_write_file(head, path, true) == 0 ? 0 : EXIT_INPUT);
    }
    int status = child < 0 ? -1 : runs_wait(child, 60);
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
    int status = child < 0 ? -1 : runs_wait(child, 60);
    close(pipe_ends[1]);
    if (status != 0 && read(pipe_ends[0], why, 160) <= 0)
        snprintf(why, 160, "no GPU: asking for one failed");
    close(pipe_ends[0]);
    return status == 0;
}

// The one config made from key=value words, a preset and a config file; does nothing when there is
// none of them.
static int complete_words(struct options *o)
{
    struct settings given, s = {0};
    char error[256];
    if (!settings_parse(&given, o->words, error, sizeof error))
        return probe_fail(EXIT_USAGE, error, "");
    const char *preset = settings_text(&given, "preset", NULL);
    if ((preset || o->config) && !estimator_read_config(&s, preset, o->config, error, sizeof error))
        return probe_fail(EXIT_INPUT, error, "");
    for (int i = 0; i < given.count; i++)
        if (strcmp(given.pairs[i].key, "preset") != 0)
            settings_put(&s, given.pairs[i].key, given.pairs[i].value);
    settings_write(&s, o->words, sizeof o->words);
    if (*o->words && !o->name_count)
        return probe_fail(EXIT_USAGE, o->words, "say which experiments shall run it, such as step");
    return 0;
}

static int check_tokens(const struct options *o)
{
    struct tokens t;
    char error[256];
    if (!o->tokens)
        return 0;
    if (!tokens_open(&t, o->tokens, error, sizeof error))
        return probe_fail(EXIT_INPUT, error, "");
    tokens_close(&t);
    return 0;
}

static int run(struct options *o)
{
    char why[160] = "", path[4096], error[200];
    int status = complete_words(o);
    status = status ? status : check_tokens(o);
    if (status)
        return status;
    for (int i = 0; i < o->name_count; i++)
        if (!experiment_find(o->names[i]))
            return probe_fail(EXIT_USAGE, o->names[i], "no such experiment; --list shows them");
    if (!o->replace && access(o->output, F_OK) == 0)
        return probe_fail(EXIT_INPUT, o->output, "it exists; give another name, or --force");
    if (!has_gpu(why)) {
        int code = probe_write(o, record_head(o, false, NULL));
        fprintf(stderr, "vramprobe: %s; nothing was measured\n", why);
        return code ? code : EXIT_NO_DEVICE;
    }
    if (mkdir(o->state, 0777) != 0 && errno != EEXIST)
        return probe_fail(EXIT_INPUT, o->state, strerror(errno));
    snprintf(path, sizeof path, "%s/head.json", o->state);
    if (describe(o, path) != 0)
        return probe_fail(EXIT_INPUT, path, "the GPU could not be described");
    struct rjson *record = rjson_read_file(path, error, sizeof error);
    if (!record)
        return probe_fail(EXIT_INPUT, path, error);
    int left = runs_all(o, rjson_get(record, "results"));
    if (left) {
        rjson_free(record);
        printf("%d runs are left: call again to go on\n", left);
        return EXIT_MORE;
    }
    int code = probe_write(o, record);
    if (code == 0)
        printf(
            "%s is written. To contribute it, add it to content/measurements/ in a pull request.\n",
            o->output);
    return code;
}

// ---- arguments

static int64_t mebibytes(const char *text)
{
    char *end;
    long long v = strtoll(text, &end, 10);
    return v > 0 && v < 1 << 24 && (!*end || strcmp(end, "MiB") == 0) ? v : -1;
}

// Moves names that are key=value to o->words; the others stay.
static bool take_words(struct options *o, int count)
{
    size_t at = 0;
    for (int i = 0; i < count; i++) {
        if (!strchr(o->names[i], '='))
            o->names[o->name_count++] = o->names[i];
        else if (at < sizeof o->words)
            at += (size_t)snprintf(o->words + at, sizeof o->words - at, "%s%s", at ? " " : "",
                                   o->names[i]);
    }
    return at < sizeof o->words;
}

static bool parse(struct options *o, int argc, char **argv)
{
    enum { STATE = 256, SECONDS, CAP, COMMIT, DIRTY, CLEAN, FORCE, CONFIG, TOKENS };
    static const struct option table[] = {{"output", 1, 0, 'o'},
                                          {"state", 1, 0, STATE},
                                          {"seconds", 1, 0, SECONDS},
                                          {"cap", 1, 0, CAP},
                                          {"commit", 1, 0, COMMIT},
                                          {"dirty", 0, 0, DIRTY},
                                          {"clean", 0, 0, CLEAN},
                                          {"force", 0, 0, FORCE},
                                          {"config", 1, 0, CONFIG},
                                          {"tokens", 1, 0, TOKENS},
                                          {0}};
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
        case CONFIG: o->config = optarg; break;
        case TOKENS: o->tokens = optarg; break;
        default: return false;
        }
    }
    o->names = argv + optind;
    return take_words(o, argc - optind) && o->cap_mib > 0 && o->seconds >= 0;
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
    struct options o = {.state = "build/vramprobe",
                        .cap_mib = 12282,
                        .seconds = 480,
                        .dirty = -1,
                        .argc = argc,
                        .argv = argv};
    const char *verb = argc > 1 ? argv[1] : "--help";
    if (strcmp(verb, "--list") == 0)
        return list();
    if (strcmp(verb, "--one") == 0 && argc == 6)
        return runs_one(argv[2], argv[3], argv[4], argv[5]);
    if (strcmp(verb, "--check") == 0)
        return check(argc > 2 ? argv[2] : NULL);
    if (strcmp(verb, "--version") == 0)
        return puts("vramprobe " VERSION) < 0;
    if (*verb != '-' && parse(&o, argc - 1, argv + 1)) {
        if (strcmp(verb, "run") == 0 && o.output)
            return run(&o);
        if (strcmp(verb, "merge") == 0 && o.output && o.name_count)
            return record_verb_merge(&o);
        if (strcmp(verb, "validate") == 0 && o.name_count)
            return record_verb_validate(&o);
        if (strcmp(verb, "compare") == 0 && o.name_count)
            return record_verb_compare(&o);
    }
    bool help = strcmp(verb, "--help") == 0 || strcmp(verb, "-h") == 0;
    usage(help ? stdout : stderr);
    return help ? 0 : EXIT_USAGE;
}
