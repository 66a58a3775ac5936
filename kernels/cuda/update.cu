// The end of a step on all weights at once: the norm of the gradients, clipping, unscaling, AdamW.
// Pointers travel as a kernel's argument, many tensors a launch, and scalars go from kernel to
// kernel without the host.
#include <math.h>
#include <string.h>

#include "kernels/cuda/cuda_ops.cuh"

static const int threads = 256;
static const int64_t per_block = 64 * threads;  // elements; each thread takes four at a time
static const int most_tensors = 64;             // of a launch: 4 KiB of arguments are allowed

// LISTS arrays for each tensor; a block works on a part of one tensor.
template <int LISTS> struct table {
    float *data[LISTS][most_tensors];
    int64_t count[most_tensors];
    unsigned first_block[most_tensors + 1];
    int tensors;
};

// Begin and end of a block's part, and its tensor.
struct part {
    int tensor;
    int64_t first, last;
};

template <int LISTS> __device__ static part part_of(const table<LISTS> &t)
{
    part p = {0, 0, 0};
    while (blockIdx.x >= t.first_block[p.tensor + 1])
        p.tensor++;
    p.first = (int64_t)(blockIdx.x - t.first_block[p.tensor]) * per_block;
    p.last = min(t.count[p.tensor], p.first + per_block);
    return p;
}

// f(i) for every i of the part, four(i) for four elements from i on where four are left.
template <class Four, class One> __device__ static void each_of(part p, Four four, One one)
{
    for (int64_t i = p.first + 4 * threadIdx.x; i < p.last; i += 4 * threads) {
        if (i + 4 <= p.last)
            four(i);
        else
            for (int64_t k = i; k < p.last; k++)
                one(k);
    }
}

// Launches over lists of tensors, as many tensors at a time as a table holds. add(table, slot, i)
// fills in tensor i.
template <int LISTS, class Count, class Add, class Launch>
static void launch_all(int count, Count count_of, Add add, Launch launch)
{
    table<LISTS> t;
    memset(&t, 0, sizeof t);
    for (int i = 0; i < count; i++) {
        add(t, t.tensors, i);
        t.count[t.tensors] = count_of(i);
        t.first_block[t.tensors + 1] =
            t.first_block[t.tensors] + blocks_for(count_of(i), per_block);
        if (++t.tensors == most_tensors || i + 1 == count) {
            launch(t, t.first_block[t.tensors]);
            memset(&t, 0, sizeof t);
        }
    }
    LAUNCH_CHECK();
}

template <class Launch> static void launch_list(tensor *const *list, int count, Launch launch)
{
    launch_all<1>(
        count, [=](int i) { return list[i]->count; },
        [=](table<1> &t, int slot, int i) { t.data[0][slot] = data_of<float>(list[i]); }, launch);
}

__global__ void squares(float *partial, table<1> t)
{
    part p = part_of(t);
    const float *in = t.data[0][p.tensor];
    float sum = 0;
    each_of(
        p,
        [&](int64_t i) {
            float4 v = *(const float4 *)(in + i);
            sum += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
        },
        [&](int64_t i) { sum += in[i] * in[i]; });
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = sum;
}

__global__ void add_parts(float *out, const float *partial, int64_t parts)
{
    float sum = 0;
    for (int64_t i = threadIdx.x; i < parts; i += threads)
        sum += partial[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        *out = sum;
}

static void gpu_sum_squares(void *ctx, tensor *out, tensor *const *list, int count)
{
    struct cuda_ops *o = ops_of(ctx);
    float *partial = (float *)o->workspace;
    int64_t parts = 0;
    launch_list(list, count, [&](const table<1> &t, unsigned blocks) {
        need_workspace(o, (parts + blocks) * sizeof(float));
        squares<<<blocks, threads>>>(partial + parts, t);
        parts += blocks;
    });
    add_parts<<<1, threads>>>(data_of<float>(out), partial, parts);
    LAUNCH_CHECK();
}

__device__ static void multiply_part(float *data, part p, float factor)
{
    each_of(
        p,
        [&](int64_t i) {
            float4 v = *(float4 *)(data + i);
            *(float4 *)(data + i) =
                make_float4(v.x * factor, v.y * factor, v.z * factor, v.w * factor);
        },
        [&](int64_t i) { data[i] *= factor; });
}

// A norm that is not a number makes all gradients so, as in PyTorch.
__global__ void clip(table<1> t, const float *sum, float most)
{
    float factor = most / (sqrtf(*sum) + 1e-6f);
    if (factor >= 1)
        return;
    part p = part_of(t);
    multiply_part(t.data[0][p.tensor], p, factor);
}

static void gpu_clip(void *, tensor *const *list, int count, const tensor *sum, double most)
{
    const float *s = data_of<const float>(sum);
    launch_list(list, count, [=](const table<1> &t, unsigned blocks) {
        clip<<<blocks, threads>>>(t, s, (float)most);
    });
}

__global__ void unscale(table<1> t, float *found, const float *scale)
{
    part p = part_of(t);
    float *data = t.data[0][p.tensor], by = 1 / *scale;
    bool bad = false;
    each_of(
        p,
        [&](int64_t i) {
            float4 v = *(float4 *)(data + i);
            bad = bad || !(isfinite(v.x) && isfinite(v.y) && isfinite(v.z) && isfinite(v.w));
            *(float4 *)(data + i) = make_float4(v.x * by, v.y * by, v.z * by, v.w * by);
        },
        [&](int64_t i) {
            bad = bad || !isfinite(data[i]);
            data[i] *= by;
        });
    if (bad)
        *found = 1;  // all threads write the same value
}

static void gpu_unscale(void *, tensor *const *list, int count, tensor *found, const tensor *scale)
{
    float *f = data_of<float>(found);
    const float *s = data_of<const float>(scale);
    launch_list(list, count,
                [=](const table<1> &t, unsigned blocks) { unscale<<<blocks, threads>>>(t, f, s); });
}

__global__ void count_steps(table<1> t, const float *found)
{
    int i = threadIdx.x;
    if (i < t.tensors && !(found && *found != 0))
        *t.data[0][i] += 1;
}

static void gpu_count_steps(void *, tensor *const *steps, int count, const tensor *found)
{
    const float *f = found ? data_of<const float>(found) : nullptr;
    launch_list(steps, count,
                [=](const table<1> &t, unsigned) { count_steps<<<1, most_tensors>>>(t, f); });
}

// Logarithms of the betas: 1 - beta^n is -expm1(n * log(beta)), exact for small n too.
struct adamw_numbers {
    float lr, beta1, beta2, epsilon, keep_decayed, log_beta1, log_beta2, step;
    uint64_t decays;  // one bit for each tensor
};

enum { P, M, V, G, STEP, ADAMW_LISTS };

struct adamw_scales {
    float keep, correct1, correct2;
};

__device__ static inline void update(float &p, float &m, float &v, float g, const adamw_numbers &s,
                                     adamw_scales c)
{
    m = s.beta1 * m + (1 - s.beta1) * g;
    v = s.beta2 * v + (1 - s.beta2) * g * g;
    p = p * c.keep - s.lr * (m / c.correct1) / (sqrtf(v / c.correct2) + s.epsilon);
}

// AdamW (Loshchilov and Hutter, arXiv 1711.05101) as torch.optim.AdamW applies it.
__global__ void adamw(table<ADAMW_LISTS> t, adamw_numbers s, const float *found)
{
    if (found && *found != 0)
        return;
    part where = part_of(t);
    float *p = t.data[P][where.tensor], *m = t.data[M][where.tensor], *v = t.data[V][where.tensor];
    const float *g = t.data[G][where.tensor], *own = t.data[STEP][where.tensor];
    float step = own ? *own : s.step;
    adamw_scales c = {s.decays >> where.tensor & 1 ? s.keep_decayed : 1.0f,
                      -expm1f(step * s.log_beta1), -expm1f(step * s.log_beta2)};
    each_of(
        where,
        [&](int64_t i) {
            float4 weight = *(float4 *)(p + i), first = *(float4 *)(m + i),
                   second = *(float4 *)(v + i);
            float4 slope = *(const float4 *)(g + i);
            update(weight.x, first.x, second.x, slope.x, s, c);
            update(weight.y, first.y, second.y, slope.y, s, c);
            update(weight.z, first.z, second.z, slope.z, s, c);
            update(weight.w, first.w, second.w, slope.w, s, c);
            *(float4 *)(p + i) = weight;
            *(float4 *)(m + i) = first;
            *(float4 *)(v + i) = second;
        },
        [&](int64_t i) { update(p[i], m[i], v[i], g[i], s, c); });
}

static void gpu_adamw(void *, const struct adamw_lists *l, const struct adamw_settings *a,
                      const tensor *found)
{
    adamw_numbers s = {(float)a->lr,
                       (float)a->beta1,
                       (float)a->beta2,
                       (float)a->epsilon,
                       (float)(1 - a->lr * a->weight_decay),
                       (float)log(a->beta1),
                       (float)log(a->beta2),
                       (float)a->step,
                       0};
    const float *f = found ? data_of<const float>(found) : nullptr;
    launch_all<ADAMW_LISTS>(
        l->count, [=](int i) { return l->p[i]->count; },
        [&](table<ADAMW_LISTS> &t, int slot, int i) {
            tensor *const *lists[ADAMW_LISTS] = {l->p, l->m, l->v, l->g, l->steps};
            for (int k = 0; k < ADAMW_LISTS; k++)
                t.data[k][slot] = lists[k] ? data_of<float>(lists[k][i]) : nullptr;
            s.decays |= (uint64_t)l->decays[i] << slot;
        },
        [&](const table<ADAMW_LISTS> &t, unsigned blocks) {
            adamw<<<blocks, threads>>>(t, s, f);
            s.decays = 0;
        });
}

// torch.amp.GradScaler.update with its defaults: growth_factor 2, backoff_factor 0.5,
// growth_interval 2000.
__global__ void adjust(float *scale, float *growth, const float *found)
{
    bool missed = *found != 0;
    float steps = missed ? 0 : *growth + 1;
    if (missed)
        *scale *= 0.5f;
    else if (steps >= 2000) {
        *scale *= 2;
        steps = 0;
    }
    *growth = steps;
}

static void gpu_adjust_scale(void *, tensor *scale, tensor *growth, const tensor *found)
{
    adjust<<<1, 1>>>(data_of<float>(scale), data_of<float>(growth), data_of<const float>(found));
    LAUNCH_CHECK();
}

void update_install(struct gpt_ops *t)
{
    t->sum_squares = gpu_sum_squares;
    t->clip = gpu_clip;
    t->unscale = gpu_unscale;
    t->count_steps = gpu_count_steps;
    t->adamw = gpu_adamw;
    t->adjust_scale = gpu_adjust_scale;
}
