// Sums in two stages through the workspace, so that the order of additions, and the result, is
// always the same.
#include "kernels/cuda/cuda_ops.cuh"

static const int threads = 256;
static const int64_t most_parts = 128;
static const int64_t least_rows = 16;  // of a part

// out[part, n] = sum over the part's rows of in[row, n].
template <class Out, class T>
__global__ void column_sums(Out *out, const T *in, int64_t rows, int64_t columns,
                            int64_t rows_per_part)
{
    int64_t n = (int64_t)blockIdx.x * threads + threadIdx.x;
    if (n >= columns)
        return;
    int64_t first = blockIdx.y * rows_per_part, last = min(rows, first + rows_per_part);
    float sum = 0;
#pragma unroll 4
    for (int64_t row = first; row < last; row++)
        sum += wide(in[row * columns + n]);
    put(out + blockIdx.y * columns + n, sum);
}

template <class T>
__global__ void join_sums(T *out, const float *partial, int64_t parts, int64_t columns)
{
    int64_t n = (int64_t)blockIdx.x * threads + threadIdx.x;
    if (n >= columns)
        return;
    float sum = 0;
#pragma unroll 8
    for (int64_t part = 0; part < parts; part++)
        sum += partial[part * columns + n];
    put(out + n, sum);
}

static void gpu_sum_rows(void *ctx, tensor *out, const tensor *in)
{
    struct cuda_ops *o = ops_of(ctx);
    int64_t columns = out->count, rows = in->count / columns;
    int64_t room = (int64_t)(o->workspace_bytes / sizeof(float)) / columns;
    int64_t parts = rows / least_rows < most_parts ? rows / least_rows : most_parts;
    parts = parts < room ? parts : room;
    unsigned across = blocks_for(columns, threads);
    if (parts < 2) {  // many columns and few rows: one pass is enough
        WITH_TYPE(in->type, T,
                  WITH_TYPE(out->type, Out,
                            column_sums<<<dim3(across, 1), threads>>>(
                                data_of<Out>(out), data_of<const T>(in), rows, columns, rows)))
        LAUNCH_CHECK();
        return;
    }
    float *partial = (float *)o->workspace;
    int64_t rows_per_part = (rows + parts - 1) / parts;
    WITH_TYPE(in->type, T,
              column_sums<<<dim3(across, (unsigned)parts), threads>>>(partial, data_of<const T>(in),
                                                                      rows, columns, rows_per_part))
    WITH_TYPE(out->type, T,
              join_sums<<<across, threads>>>(data_of<T>(out), partial, parts, columns))
    LAUNCH_CHECK();
}

void reduction_install(struct gpt_ops *t)
{
    t->sum_rows = gpu_sum_rows;
}
