// The emulated GPU: fibers for threads, guarded memory, the runtime's calls, cuBLASLt's products.
// EMULATED_CAPABILITY (90) and EMULATED_MIB (256) say what kind of card it is.
#include <cublasLt.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <map>
#include <vector>

dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace
{
enum { most_threads = 1024, stack_bytes = 128 << 10, most_shared = 227 << 10, guard_bytes = 512 };
enum state { READY, AT_BARRIER, AT_MEETING, DONE };

struct fiber {
    jmp_buf at;
    ucontext_t first;
    bool started;
    state now;
    unsigned generation;
};

struct warp {
    int arrived, kind;
    unsigned char slots[2][32 * emulator::stride];
};

fiber fibers[most_threads];
warp warps[most_threads / 32];
jmp_buf scheduler;
int current, waiting;
void (*body)(void *);
void *body_context;
size_t shared_allowed = 48 << 10;

void to_scheduler()
{
    if (!_setjmp(fibers[current].at))
        _longjmp(scheduler, 1);
}

void live()
{
    for (;;) {
        body(body_context);
        fibers[current].now = DONE;
        to_scheduler();
    }
}

void resume(int thread)
{
    fiber *f = &fibers[thread];
    current = thread;
    unsigned t = (unsigned)thread;
    threadIdx = dim3(t % blockDim.x, t / blockDim.x % blockDim.y, t / (blockDim.x * blockDim.y));
    if (_setjmp(scheduler))
        return;
    if (f->started)
        _longjmp(f->at, 1);
    f->started = true;
    getcontext(&f->first);
    f->first.uc_stack.ss_sp =
        mmap(NULL, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    f->first.uc_stack.ss_size = stack_bytes;
    makecontext(&f->first, live, 0);
    setcontext(&f->first);
}

// Runs a warp as far as it goes without the others. The number of its threads that came to their
// end.
int run_warp(int first, int last, bool back)
{
    int done = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (int k = 0; k < last - first; k++) {
            int i = back ? last - 1 - k : first + k;
            if (fibers[i].now != READY)
                continue;
            moved = true;
            resume(i);
            done += fibers[i].now == DONE;
        }
    }
    return done;
}

// One warp after the other, each up to its next barrier: whoever reads what another warp has not
// yet written, reads poison. Every other block runs backwards.
void run_block(int threads)
{
    for (int i = 0; i < threads; i++) {
        fibers[i].now = READY;
        fibers[i].generation = 0;
    }
    memset(warps, 0, sizeof warps);
    waiting = 0;
    bool back = (blockIdx.x + blockIdx.y + blockIdx.z) % 2;
    int count = (threads + 31) / 32;
    for (int left = threads; left;) {
        for (int k = 0; k < count; k++) {
            int first = 32 * (back ? count - 1 - k : k);
            left -= run_warp(first, first + 32 < threads ? first + 32 : threads, back);
        }
        if (left && waiting != threads)
            emulator::fail(waiting ? "a barrier that not all threads reach"
                                   : "lanes of a warp that do not meet");
        waiting = 0;
        for (int i = 0; left && i < threads; i++)
            fibers[i].now = READY;
    }
}
}  // namespace

extern unsigned char __start_emulated_shared[] __attribute__((weak));
extern unsigned char __stop_emulated_shared[] __attribute__((weak));
// Dynamic shared memory, under the kernels' name for it.
alignas(128) unsigned char memory[most_shared + guard_bytes];

namespace emulator
{
void fail(const char *what)
{
    fprintf(stderr, "emulated GPU: %s, thread %u of block (%u, %u, %u)\n", what, threadIdx.x,
            blockIdx.x, blockIdx.y, blockIdx.z);
    abort();
}

size_t allow_shared(size_t bytes)
{
    if (bytes > most_shared)
        fail("more dynamic shared memory than the card has");
    shared_allowed = bytes > shared_allowed ? bytes : shared_allowed;
    return shared_allowed;
}

void barrier()
{
    fibers[current].now = AT_BARRIER;
    waiting++;
    to_scheduler();
}

const unsigned char *meet(int kind, const void *data, size_t bytes)
{
    warp *w = &warps[current / 32];
    fiber *f = &fibers[current];
    unsigned char *slots = w->slots[f->generation++ & 1];
    if (w->arrived && w->kind != kind)
        fail("lanes of a warp in different operations");
    w->kind = kind;
    memcpy(slots + (unsigned)current % 32 * stride, data, bytes);
    if (++w->arrived < 32) {
        f->now = AT_MEETING;
        to_scheduler();
        return slots;
    }
    w->arrived = 0;
    for (int lane = 0; lane < 32; lane++)
        fibers[current / 32 * 32 + lane].now = READY;
    return slots;
}

void run(dim3 grid, dim3 block, size_t shared_bytes, void (*what)(void *), void *ctx)
{
    uint64_t threads = (uint64_t)block.x * block.y * block.z;
    if (!threads || threads > most_threads || !grid.x || !grid.y || !grid.z ||
        grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535 || shared_bytes > shared_allowed)
        fail("a launch that CUDA refuses");
    gridDim = grid;
    blockDim = block;
    body = what;
    body_context = ctx;
    for (blockIdx.z = 0; blockIdx.z < grid.z; blockIdx.z++)
        for (blockIdx.y = 0; blockIdx.y < grid.y; blockIdx.y++)
            for (blockIdx.x = 0; blockIdx.x < grid.x; blockIdx.x++) {
                if (__start_emulated_shared)
                    memset(__start_emulated_shared, 0xff,
                           (size_t)(__stop_emulated_shared - __start_emulated_shared));
                memset(memory, 0xff, shared_bytes);
                memset(memory + shared_bytes, 0x5a, guard_bytes);
                run_block((int)threads);
                for (int i = 0; i < guard_bytes; i++)
                    if (memory[shared_bytes + i] != 0x5a)
                        fail("written beyond the dynamic shared memory");
            }
}
}  // namespace emulator

// ---- memory

namespace
{
struct piece {
    void *mapped;
    size_t mapped_bytes, bytes;
};
std::map<void *, piece> pieces;
size_t used;

size_t limit()
{
    const char *mib = getenv("EMULATED_MIB");
    return (size_t)(mib ? atoll(mib) : 256) << 20;
}
}  // namespace

// What is asked for ends, but for alignment, where a page begins that may not be touched.
cudaError_t emulated_malloc(void **p, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), padded = (bytes + 15) / 16 * 16,
           body_bytes = (padded + page - 1) / page * page;
    if (bytes > limit() || used + body_bytes > limit())
        return cudaErrorMemoryAllocation;
    piece m = {mmap(NULL, body_bytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
               body_bytes + 2 * page, bytes};
    unsigned char *start = (unsigned char *)m.mapped + page;
    if (m.mapped == MAP_FAILED || mprotect(start, body_bytes, PROT_READ | PROT_WRITE) != 0)
        return cudaErrorMemoryAllocation;
    *p = start + body_bytes - padded;
    memset(start, 0xff, body_bytes);
    pieces[*p] = m;
    used += body_bytes;
    return cudaSuccess;
}

cudaError_t cudaFree(void *p)
{
    if (!p)
        return cudaSuccess;
    auto at = pieces.find(p);
    if (at == pieces.end())
        emulator::fail("freed what was not allocated");
    for (size_t i = at->second.bytes; i % 16; i++)
        if (((unsigned char *)p)[i] != 0xff)
            emulator::fail("written beyond the end of device memory");
    used -= at->second.mapped_bytes - 2 * (size_t)sysconf(_SC_PAGESIZE);
    munmap(at->second.mapped, at->second.mapped_bytes);
    pieces.erase(at);
    return cudaSuccess;
}

cudaError_t cudaMallocHost(void **p, size_t bytes)
{
    return (*p = malloc(bytes)) ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFreeHost(void *p)
{
    free(p);
    return cudaSuccess;
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind)
{
    memcpy(to, from, bytes);
    return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind k,
                            cudaStream_t)
{
    return cudaMemcpy(to, from, bytes, k);
}
cudaError_t cudaMemset(void *p, int value, size_t bytes)
{
    memset(p, value, bytes);
    return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t)
{
    return cudaMemset(p, value, bytes);
}
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    *total = limit();
    *free_bytes = limit() - used;
    return cudaSuccess;
}

// ---- the device

static double now_s()
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int capability()
{
    const char *text = getenv("EMULATED_CAPABILITY");
    return text ? atoi(text) : 90;
}

cudaError_t cudaEventCreate(cudaEvent_t *e)
{
    *e = new emulated_event{0};
    return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned)
{
    return cudaEventCreate(e);
}
cudaError_t cudaEventDestroy(cudaEvent_t e)
{
    delete e;
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t)
{
    e->s = now_s();
    return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t)
{
    return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t a, cudaEvent_t b)
{
    *ms = (float)((b->s - a->s) * 1000 + 1e-3);
    return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize()
{
    return cudaSuccess;
}
cudaError_t cudaGetLastError()
{
    return cudaSuccess;
}
cudaError_t cudaGetDevice(int *device)
{
    *device = 0;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 1;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
{
    *value = attribute == cudaDevAttrMultiProcessorCount      ? 3
             : attribute == cudaDevAttrL2CacheSize            ? 1 << 20
             : attribute == cudaDevAttrComputeCapabilityMajor ? capability() / 10
                                                              : capability() % 10;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char *out, int size, int)
{
    snprintf(out, (size_t)size, "0000:00:00.0");
    return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int)
{
    *p = {"emulated, nothing is measured", capability() / 10, capability() % 10, 3, 1 << 20};
    return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int *version)
{
    *version = 0;
    return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = 0;
    return cudaSuccess;
}
const char *cudaGetErrorName(cudaError_t code)
{
    return code == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation" : "cudaError";
}
const char *cudaGetErrorString(cudaError_t code)
{
    return code == cudaErrorMemoryAllocation ? "out of memory" : "an error";
}

// ---- cuBLASLt

cublasStatus_t cublasLtCreate(cublasLtHandle_t *h)
{
    *h = new emulated_handle{0};
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t h)
{
    delete h;
    return CUBLAS_STATUS_SUCCESS;
}
size_t cublasLtGetVersion()
{
    return 0;
}
const char *cublasGetStatusString(cublasStatus_t)
{
    return "a status that is not success";
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *l, cudaDataType_t type,
                                          uint64_t rows, uint64_t columns, int64_t leading)
{
    *l = new emulated_layout{type, rows, columns, leading, 1, 0};
    return leading >= (int64_t)rows ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t l)
{
    delete l;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t l,
                                                cublasLtMatrixLayoutAttribute_t a,
                                                const void *value, size_t size)
{
    bool count = a == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT;
    if (size != (count ? sizeof l->batch : sizeof l->stride))
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(count ? (void *)&l->batch : (void *)&l->stride, value, size);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *d, cublasComputeType_t compute,
                                        cudaDataType_t scale)
{
    *d = new emulated_matmul{CUBLAS_OP_N, CUBLAS_OP_N, CUBLASLT_EPILOGUE_DEFAULT, NULL,
                             compute == CUBLAS_COMPUTE_32F_FAST_TF32};
    return scale == CUDA_R_32F ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t d)
{
    delete d;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t d,
                                              cublasLtMatmulDescAttributes_t a, const void *value,
                                              size_t size)
{
    void *to = a == CUBLASLT_MATMUL_DESC_TRANSA     ? (void *)&d->a
               : a == CUBLASLT_MATMUL_DESC_TRANSB   ? (void *)&d->b
               : a == CUBLASLT_MATMUL_DESC_EPILOGUE ? (void *)&d->epilogue
                                                    : (void *)&d->bias;
    if (size != (a == CUBLASLT_MATMUL_DESC_BIAS_POINTER ? sizeof(void *) : 4))
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(to, value, size);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *p)
{
    *p = new emulated_preference{0};
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t p)
{
    delete p;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t p,
                                                    cublasLtMatmulPreferenceAttributes_t,
                                                    const void *value, size_t size)
{
    memcpy(&p->workspace, value, size);
    return size == sizeof p->workspace ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

// Whether op(A) [m, k] times op(B) [k, n] gives out [m, n], for as many matrices each.
static bool fits(const emulated_matmul *d, const emulated_layout *a, const emulated_layout *b,
                 const emulated_layout *out)
{
    uint64_t m = d->a == CUBLAS_OP_N ? a->rows : a->columns,
             k = d->a == CUBLAS_OP_N ? a->columns : a->rows;
    uint64_t k2 = d->b == CUBLAS_OP_N ? b->rows : b->columns,
             n = d->b == CUBLAS_OP_N ? b->columns : b->rows;
    return m == out->rows && n == out->columns && k == k2 && a->batch == b->batch &&
           a->batch == out->batch && a->type == b->type;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t d,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t out,
                                              cublasLtMatmulPreference_t, int wanted,
                                              cublasLtMatmulHeuristicResult_t *found, int *count)
{
    memset(found, 0, sizeof *found);
    *count = fits(d, a, b, out) && wanted > 0;
    return *count ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

static double value_at(const void *p, cudaDataType_t type, int64_t i)
{
    if (type == CUDA_R_32F)
        return ((const float *)p)[i];
    return type == CUDA_R_16F ? __half2float(((const __half *)p)[i])
                              : __bfloat162float(((const __nv_bfloat16 *)p)[i]);
}

static void put_at(void *p, cudaDataType_t type, int64_t i, double v)
{
    if (type == CUDA_R_32F)
        ((float *)p)[i] = (float)v;
    else
        ((uint16_t *)p)[i] =
            type == CUDA_R_16F ? float_to_half((float)v) : float_to_bfloat16((float)v);
}

// What tensor cores see of a float: 10 bits of its mantissa, rounded.
static float to_tf32(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    bits = (bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu;
    memcpy(&v, &bits, sizeof v);
    return v;
}

// A matrix as op() has it, by columns, in floats.
static std::vector<float> values_of(const void *p, const emulated_layout *l, int64_t batch,
                                    bool turned, bool tf32)
{
    std::vector<float> out(l->rows * l->columns);
    for (uint64_t c = 0; c < l->columns; c++)
        for (uint64_t r = 0; r < l->rows; r++)
            out[turned ? c + r * l->columns : r + c * l->rows] = (float)value_at(
                p, l->type, batch * l->stride + (int64_t)r + (int64_t)c * l->leading);
    for (float &v : out)
        v = tf32 && l->type == CUDA_R_32F ? to_tf32(v) : v;
    return out;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t d, const void *alpha,
                              const void *a, cublasLtMatrixLayout_t al, const void *b,
                              cublasLtMatrixLayout_t bl, const void *beta, const void *c,
                              cublasLtMatrixLayout_t cl, void *out, cublasLtMatrixLayout_t ol,
                              const cublasLtMatmulAlgo_t *, void *, size_t, cudaStream_t)
{
    if (!fits(d, al, bl, ol) || cl->rows != ol->rows || cl->leading != ol->leading)
        return CUBLAS_STATUS_INVALID_VALUE;
    int64_t m = (int64_t)ol->rows, n = (int64_t)ol->columns;
    int64_t k = (int64_t)(d->a == CUBLAS_OP_N ? al->columns : al->rows);
    double by = *(const float *)alpha, keep = *(const float *)beta;
    for (int64_t batch = 0; batch < ol->batch; batch++) {
        // A by rows, so that both run along k.
        std::vector<float> x = values_of(a, al, batch, d->a == CUBLAS_OP_N, d->tf32);
        std::vector<float> y = values_of(b, bl, batch, d->b == CUBLAS_OP_T, d->tf32);
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < m; i++) {
                double sum = 0;
                for (int64_t p = 0; p < k; p++)
                    sum += (double)x[(size_t)(i * k + p)] * y[(size_t)(j * k + p)];
                int64_t at = batch * ol->stride + i + j * ol->leading;
                double v = by * sum + (keep != 0 ? keep * value_at(c, ol->type, at) : 0);
                if (d->epilogue == CUBLASLT_EPILOGUE_BIAS)
                    v += value_at(d->bias, ol->type, i);
                put_at(out, ol->type, at, v);
            }
    }
    return CUBLAS_STATUS_SUCCESS;
}
