// The kernels on the emulated GPU: what the emulator must notice, what --check compares, and the
// experiments from one end to the other. Times that come out mean nothing and are not looked at.
#include <algorithm>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/cuda/cuda_ops.cuh"
#include "kernels/step/gpt.h"
#include "kernels/probe/probe.h"

static int failed;

static void say(bool good, const char *format, const char *name, const char *why)
{
    printf(good ? "ok " : "not ok ");
    printf(format, name);
    printf(good ? "\n" : ": %s\n", why);
    fflush(stdout);
    failed |= !good;
}

int probe_fail(int status, const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    return status;
}

// ---- the emulator itself

static void reads_beyond(int *p)
{
    p[0] = p[4];
}
static void writes_beyond(int *p)
{
    extern unsigned char memory[];
    memory[16 + *p] = 0;
}
static void misses_a_barrier(int *p)
{
    if ((int)threadIdx.x < *p)
        __syncthreads();
}
static void meets_alone(int *p)
{
    if (threadIdx.x != 3)
        *p = __shfl_sync(0xffffffffu, 1, 0);
}

// Whether a launch of so many threads is ended by the emulator, or by the page that may not be
// touched.
static void must_end(const char *name, void (*kernel)(int *), unsigned threads)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int *p, status = 4;
        if (!freopen("/dev/null", "w", stderr))
            _exit(0);
        CUDA_CHECK(cudaMalloc(&p, 4 * sizeof *p));
        CUDA_CHECK(cudaMemcpy(p, &status, sizeof status, cudaMemcpyHostToDevice));
        emulator::at(kernel, 1, threads, 16)(p);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    say(WIFSIGNALED(status), "emulator: %s", name, "it was not noticed");
}

static void check_emulator()
{
    must_end("a read beyond device memory", reads_beyond, 1);
    must_end("a write beyond shared memory", writes_beyond, 1);
    must_end("a barrier that some threads miss", misses_a_barrier, 32);
    must_end("a lane that is missing in a shuffle", meets_alone, 32);
    must_end("more threads than a block may have", meets_alone, 1056);
}

// ---- experiments

// What has been measured here, by the functions of the table.
static measure_fn *measured[64];
static int measured_count;

static bool is_measured(measure_fn *measure)
{
    return std::find(measured, measured + measured_count, measure) != measured + measured_count;
}

// wanted: a value that the result must have; NULL when it must be "oom".
static void check_experiment(const char *name, const char *text, const char *capability,
                             const char *mib, const char *wanted)
{
    char path[] = "/tmp/vramprobe-emulated-XXXXXX", error[200] = "", what[300];
    close(mkstemp(path));
    setenv("EMULATED_CAPABILITY", capability, 1);
    setenv("EMULATED_MIB", mib, 1);
    int status = runs_one(name, text, "", path);
    struct rjson *r = rjson_read_file(path, error, sizeof error);
    const struct rjson *value =
        wanted ? rjson_get(rjson_get(rjson_get(r, "values"), wanted), "value") : r;
    bool good = status == 0 &&
                strcmp(rjson_text(rjson_get(r, "status")), wanted ? "ok" : "oom") == 0 && value;
    snprintf(what, sizeof what, "%s %s", name, text);
    say(good, "experiment %s", what, r ? rjson_text(rjson_get(r, "message")) : error);
    measured[measured_count++] = experiment_find(name)->measure;
    rjson_free(r);
    unlink(path);
}

#define TINY \
    "block_size=16 n_layer=2 n_head=2 n_embd=64 vocab_size=128 gradient_accumulation_steps=2 "
static void check_experiments()
{
    check_experiment("context", "", "90", "64", "cublaslt_handle_bytes");
    check_experiment("reserve", "", "90", "64", "cuda_total_bytes");
    check_experiment("malloc", "bytes=4097", "90", "64", "device_bytes_for_16");
    check_experiment("bandwidth", "", "90", "8", "copy_rate");
    check_experiment("matmul", "dtype=float16 m=40 n=24 k=16", "90", "64", "cublas_rate");
    check_experiment("attention", "B=1 H=2 D=32 T=40 dtype=bfloat16 attention=tiled", "90", "64",
                     "peak_bytes");
    check_experiment("attention", "B=1 H=2 D=32 T=40 dtype=bfloat16 attention=matrix", "90", "64",
                     "peak_bytes");
    check_experiment("attention", "B=1 H=2 D=32 T=400 dtype=bfloat16 attention=matrix", "90", "40",
                     NULL);
    check_experiment("step", TINY "batch_size=64 vocab_size=50304 mode=framework", "80", "64",
                     NULL);
    check_experiment("step", TINY "batch_size=2 dtype=float16 train_loop=true evaluation=true",
                     "80", "64", "loss_last");
    check_experiment("step", TINY "batch_size=2 dtype=bfloat16 mode=lean checkpointing=block", "90",
                     "128", "loss_last");
    check_experiment(
        "max_batch",
        "block_size=16 n_layer=1 n_head=1 n_embd=32 vocab_size=4096 gradient_accumulation_steps=1 "
        "dtype=float16 mode=framework cap_mib=36",
        "80", "64", "max_batch_size");
    for (const struct experiment *e = experiments; e->name; e++)
        say(is_measured(e->measure), "experiment %s: its function is run", e->name, "add a run");
}

int main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], "--one") == 0)  // of a search, whose tries are processes
        return runs_one(argv[2], argv[3], argv[4], argv[5]);
    check_emulator();
    const char *const cards[] = {"90", "75"};
    for (int i = 0; i < 2; i++) {
        setenv("EMULATED_CAPABILITY", cards[i], 1);
        failed |= kernels_check(argc > 1 ? strtoull(argv[1], NULL, 10) : 1) != 0;
    }
    check_experiments();
    size_t left, total;
    cudaMemGetInfo(&left, &total);
    say(left == total, "%s", "all device memory is given back", "some is not");
    return failed;
}
