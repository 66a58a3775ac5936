// The experiments: what each measures, its protocol, its time, and the configs it runs.
#include <string.h>

#include "kernels/probe/probe.h"

// The run on an RTX 4070 whose process takes 4464 MiB, and the 124M run that does not fit 12 GB:
// both are cited by pages.
#define SMALL "block_size=512 n_layer=6 n_head=6 n_embd=384 vocab_size=50304 "
#define GPT2 "block_size=1024 n_layer=12 n_head=12 n_embd=768 vocab_size=50304 "

static const char *const once[] = {"", NULL};

static const char *const malloc_runs[] = {
    "bytes=512",      "bytes=1048576",   "bytes=2097152",    "bytes=2097153",
    "bytes=20971520", "bytes=104857600", "bytes=1073741824", NULL};

static const char *const matmul_runs[] = {
    "dtype=bfloat16 m=8192 n=8192 k=8192", "dtype=float16 m=8192 n=8192 k=8192",
    "dtype=float32 m=8192 n=8192 k=8192",  "dtype=bfloat16 m=16384 n=50304 k=768",
    "dtype=bfloat16 m=16384 n=3072 k=768", NULL};

static const char *const step_runs[] = {
    SMALL "batch_size=16 gradient_accumulation_steps=4 dtype=float16 mode=framework",
    SMALL "batch_size=16 gradient_accumulation_steps=4 dtype=float16 mode=lean",
    SMALL "batch_size=16 gradient_accumulation_steps=4 dtype=bfloat16 mode=framework",
    SMALL "batch_size=16 gradient_accumulation_steps=4 dtype=bfloat16 mode=lean",
    SMALL "batch_size=16 gradient_accumulation_steps=4 dtype=float32 mode=framework",
    SMALL "batch_size=16 gradient_accumulation_steps=4 dtype=float16 mode=framework attention=math",
    SMALL
    "batch_size=16 gradient_accumulation_steps=4 dtype=float16 mode=framework checkpointing=block",
    SMALL "batch_size=8 gradient_accumulation_steps=8 dtype=float16 mode=framework",
    SMALL "batch_size=16 seq_len=256 gradient_accumulation_steps=4 dtype=float16 mode=framework",
    SMALL "batch_size=8 seq_len=256 gradient_accumulation_steps=8 dtype=float16 mode=framework",
    GPT2 "batch_size=16 gradient_accumulation_steps=32 dtype=float16 mode=framework",
    GPT2 "batch_size=16 gradient_accumulation_steps=32 dtype=float16 mode=lean",
    GPT2 "batch_size=8 gradient_accumulation_steps=64 dtype=float16 mode=framework",
    GPT2 "batch_size=8 gradient_accumulation_steps=64 dtype=bfloat16 mode=framework",
    GPT2 "batch_size=8 gradient_accumulation_steps=64 dtype=bfloat16 mode=lean",
    GPT2 "batch_size=4 gradient_accumulation_steps=128 dtype=float16 mode=framework",
    GPT2 "batch_size=2 gradient_accumulation_steps=256 dtype=float16 mode=framework",
    GPT2
    "batch_size=16 gradient_accumulation_steps=32 dtype=float16 mode=framework checkpointing=block",
    SMALL "batch_size=16 gradient_accumulation_steps=4 dtype=float16 mode=framework "
          "train_loop=true evaluation=true",
    SMALL "batch_size=16 gradient_accumulation_steps=4 dtype=float16 mode=lean train_loop=true "
          "evaluation=true",
    GPT2 "batch_size=8 gradient_accumulation_steps=32 dtype=bfloat16 mode=framework "
         "train_loop=true evaluation=true",
    GPT2 "batch_size=16 gradient_accumulation_steps=32 dtype=bfloat16 mode=framework",
    "block_size=1024 n_layer=9 n_head=12 n_embd=768 vocab_size=50304 batch_size=16 "
    "gradient_accumulation_steps=32 "
    "dtype=float16 mode=framework",
    "block_size=1024 n_layer=12 n_head=8 n_embd=512 vocab_size=50304 batch_size=16 "
    "gradient_accumulation_steps=32 "
    "dtype=float16 mode=framework",
    NULL};

static const char *const accumulation_runs[] = {
    SMALL "batch_size=16 gradient_accumulation_steps=1 dtype=float16 mode=framework",
    SMALL "batch_size=16 gradient_accumulation_steps=2 dtype=float16 mode=framework",
    SMALL "batch_size=16 gradient_accumulation_steps=8 dtype=float16 mode=framework",
    SMALL "batch_size=16 gradient_accumulation_steps=16 dtype=float16 mode=framework", NULL};

static const char *const cross_entropy_runs[] = {
    "block_size=1024 n_layer=1 n_head=1 n_embd=64 vocab_size=50304 batch_size=8 "
    "gradient_accumulation_steps=2 "
    "dtype=bfloat16 mode=framework",
    "block_size=1024 n_layer=1 n_head=1 n_embd=64 vocab_size=50304 batch_size=8 "
    "gradient_accumulation_steps=2 "
    "dtype=float32 mode=framework",
    "block_size=1024 n_layer=1 n_head=1 n_embd=64 vocab_size=50304 batch_size=8 "
    "gradient_accumulation_steps=2 "
    "dtype=bfloat16 mode=lean",
    NULL};

static const char *const attention_runs[] = {"B=8 H=12 D=64 T=256 dtype=bfloat16 attention=tiled",
                                             "B=8 H=12 D=64 T=256 dtype=bfloat16 attention=matrix",
                                             "B=8 H=12 D=64 T=1024 dtype=bfloat16 attention=tiled",
                                             "B=8 H=12 D=64 T=1024 dtype=bfloat16 attention=matrix",
                                             "B=8 H=12 D=64 T=4096 dtype=bfloat16 attention=tiled",
                                             "B=8 H=12 D=64 T=4096 dtype=bfloat16 attention=matrix",
                                             NULL};

static const char *const sweep_runs[] = {
    GPT2 "batch_size=1 gradient_accumulation_steps=2 dtype=bfloat16 mode=framework",
    GPT2 "batch_size=2 gradient_accumulation_steps=2 dtype=bfloat16 mode=framework",
    GPT2 "batch_size=4 gradient_accumulation_steps=2 dtype=bfloat16 mode=framework",
    GPT2 "batch_size=6 gradient_accumulation_steps=2 dtype=bfloat16 mode=framework",
    GPT2 "batch_size=8 gradient_accumulation_steps=2 dtype=bfloat16 mode=framework",
    GPT2 "batch_size=12 gradient_accumulation_steps=2 dtype=bfloat16 mode=framework",
    GPT2 "batch_size=8 seq_len=256 gradient_accumulation_steps=2 dtype=bfloat16 mode=framework",
    GPT2 "batch_size=8 seq_len=512 gradient_accumulation_steps=2 dtype=bfloat16 mode=framework",
    NULL};

static const char *const max_batch_runs[] = {
    SMALL "gradient_accumulation_steps=2 dtype=float16 mode=framework cap_mib=12282",
    SMALL "gradient_accumulation_steps=2 dtype=float16 mode=lean cap_mib=12282",
    GPT2 "gradient_accumulation_steps=2 dtype=float16 mode=framework cap_mib=12282",
    GPT2 "gradient_accumulation_steps=2 dtype=float16 mode=lean cap_mib=12282", NULL};

const struct experiment experiments[] = {
    {"context", 1, 30, "what a CUDA context and a cuBLASLt handle take", once, measure_context},
    {"reserve", 1, 30, "what the driver keeps of the card", once, measure_reserve},
    {"malloc", 1, 30, "what cudaMalloc rounds a size to, and how long it takes", malloc_runs,
     measure_malloc},
    {"bandwidth", 1, 60, "copy, read and write rates of device memory", once, measure_bandwidth},
    {"matmul", 1, 60, "rates of matrix products by type, ours and cuBLAS's own", matmul_runs,
     measure_matmul},
    {"attention", 1, 60, "memory and time of attention, with its matrices and by tiles",
     attention_runs, measure_attention},
    {"step", 1, 120, "a training step: memory by category at the peak, and its time", step_runs,
     measure_step},
    {"accumulation", 1, 60, "that gradient accumulation changes nothing in memory",
     accumulation_runs, measure_step},
    {"cross_entropy", 1, 60, "bytes per logit at the peak, in both modes", cross_entropy_runs,
     measure_step},
    {"sweep", 1, 60, "memory against batch and length", sweep_runs, measure_step},
    {"max_batch", 1, 180,
     "the largest micro-batch that trains when a ballast leaves what a smaller card has",
     max_batch_runs, measure_max_batch},
    {0}};

const struct experiment *experiment_find(const char *name)
{
    for (const struct experiment *e = experiments; e->name; e++)
        if (strcmp(e->name, name) == 0)
            return e;
    return NULL;
}
