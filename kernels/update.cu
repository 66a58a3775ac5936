// AdamW (Loshchilov and Hutter, arXiv 1711.05101) as torch.optim.AdamW applies it, one pass over a weight's four arrays.
#include <math.h>

#include "kernels/cuda_ops.cuh"

static const int threads = 256;

struct step {
    float lr, beta1, beta2, epsilon, keep, correct1, correct2;
};

__global__ void update(float *p, float *m, float *v, const float *g, int64_t n, step s)
{
    int64_t i = (int64_t)blockIdx.x * threads + threadIdx.x;
    if (i >= n)
        return;
    float first = s.beta1 * m[i] + (1 - s.beta1) * g[i];
    float second = s.beta2 * v[i] + (1 - s.beta2) * g[i] * g[i];
    m[i] = first;
    v[i] = second;
    p[i] = p[i] * s.keep - s.lr * (first / s.correct1) / (sqrtf(second / s.correct2) + s.epsilon);
}

static void gpu_adamw(void *, tensor *p, tensor *m, tensor *v, const tensor *g, const struct adamw_settings *a)
{
    step s = {(float)a->lr,
              (float)a->beta1,
              (float)a->beta2,
              (float)a->epsilon,
              (float)(1 - a->lr * a->weight_decay),
              (float)(1 - pow(a->beta1, (double)a->step)),
              (float)(1 - pow(a->beta2, (double)a->step))};
    update<<<blocks_for(p->count, threads), threads>>>(data_of<float>(p), data_of<float>(m), data_of<float>(v),
                                                       data_of<const float>(g), p->count, s);
    LAUNCH_CHECK();
}

void adamw_install(struct gpt_ops *t)
{
    t->adamw = gpu_adamw;
}
