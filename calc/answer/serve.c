// Owns vram_serve: how long a context and how many sequences a server of the model has room for.

#include "calc/answer/serve.h"

#include "calc/answer/answers.h"
#include "calc/base/size.h"
#include "calc/model/capacities.h"
#include "calc/model/contexts.h"
#include "calc/model/family.h"
#include "calc/model/gguf.h"
#include "calc/model/gpus.h"
#include "calc/model/model_make.h"

enum { VLLM_BLOCK = 16, LLAMA_BLOCK = 256 };  // tokens

// What vLLM takes a step when nothing is said, by the size of the card.
struct step_size {
    uint32_t from_gib, tokens, sequences;
    bool unless_slow;  // not for an A100, nor a GB10, which has the memory but not the speed
};

// SRC: vllm 0.33 engine/arg_utils.py, get_batch_defaults, for the API server.
static const struct step_size steps[] = {
    {160, 16384, 1024, false}, {70, 8192, 1024, true}, {0, 2048, 256, false}};

static const struct step_size *step_of(const struct vram_config *c,
                                       const struct vram_capacity *card)
{
    const struct vram_gpu *gpu = c->gpu < 0 ? NULL : vram_gpu_at((size_t)c->gpu);
    bool slow = gpu && (gpu->compute_capability == 80 || gpu->compute_capability == 121);
    const struct step_size *step = steps;
    while (card->cuda_bytes >> 30 < step->from_gib || (step->unless_slow && slow))
        step++;
    return step;
}

static bool is_llama(const struct vram_config *c)
{
    return gguf_is(c->quantization) || c->kv_dtype > KV_DTYPE_INT8;
}

// The model itself, whatever format it is kept in.
static int make_model(struct vram *v, struct model *m)
{
    struct vram_config c = v->config;
    c.task = TASK_INFERENCE;
    c.lora_rank = c.modules_to_save = 0;
    c.eval_batch_size = c.eval_accumulation_steps = 0;
    c.compile = c.prepare_kbit = 0;
    c.adapter = ADAPTER_LORA;
    c.framework = FRAMEWORK_AUTO;
    c.n_gpu = c.pipeline_parallel = 1;
    c.sequence_parallel = c.optimizer_in_backward = c.eval_only = 0;
    c.quantization = QUANTIZATION_NONE;
    c.kv_dtype = KV_DTYPE_AUTO;
#ifndef VRAM_SMALL
    if (family_has(&c) & HAS_LATENT) {  // what an engine keeps of latents is its own
        const char *name = vram_field_at(FIELD_family)->values[c.family];
        err_set(&v->err, MESSAGE_latent_here, NO_POS, ABOUT("family"),
                ARGS(arg_text("family", name)));
        return handle_locate(v);
    }
#endif
    return model_make(m, &c, &v->err) == VRAM_OK ? VRAM_OK : handle_locate(v);
}

// SRC: vllm v1/worker/gpu_worker.py, determine_available_memory: the part of the card's total, less
// what is allocated at the peak of the profile run and what is taken outside of PyTorch, other
// processes included.
static uint64_t pool_of(const struct vram_config *c, const struct vram_serving *s, bool vllm)
{
    uint64_t total = s->capacity.cuda_bytes, others = c->other_memory << 20;
    uint64_t share =
        vllm ? (uint64_t)((double)total * (double)c->gpu_memory_utilization / 1e6) : total;
    uint64_t taken =
        size_add(size_add(s->weights_bytes, s->work_bytes), size_add(s->context_bytes, others));
    return taken < share ? share - taken : 0;
}

static void count(struct vram_serving *s, const struct model *m)
{
    uint64_t block = s->block_tokens * s->token_bytes;
    s->blocks = block ? s->pool_bytes / block : 0;
    s->tokens = s->blocks * s->block_tokens;
    s->longest = s->tokens < m->c.block_size ? s->tokens : m->c.block_size;
    uint64_t needed = (s->length + s->block_tokens - 1) / s->block_tokens;
    s->sequences = needed ? s->blocks / needed : 0;
}

// Where nothing can be served: why.
static void judge(struct answers *a, const struct vram_config *c, bool vllm)
{
    struct vram_serving *s = &a->serving;
    uint64_t free = capacity_left(c), total = s->capacity.cuda_bytes;
    uint64_t wanted = (uint64_t)((double)total * (double)c->gpu_memory_utilization / 1e6);
    if (vllm && wanted > free)
        message_set(&a->serve_refusal, MESSAGE_serve_refuses, ABOUT("gpu_memory_utilization"),
                    ARGS(arg_u64("utilization", c->gpu_memory_utilization / 10000),
                         arg_u64("wanted", wanted >> 20), arg_u64("free", free >> 20)));
    else if (!s->blocks)
        message_set(&a->serve_refusal, MESSAGE_serve_no_room, ABOUT("quantization"),
                    ARGS(arg_text("gpu", s->gpu_name)));
    else if (!s->sequences)
        message_set(&a->serve_refusal, MESSAGE_serve_too_short, ABOUT("seq_len"),
                    ARGS(arg_u64("length", s->length), arg_u64("longest", s->longest)));
    else
        return;
    s->refusal = &a->serve_refusal.out;
}

static void fill(struct answers *a, const struct vram_config *c, const struct model *m)
{
    struct vram_serving *s = &a->serving;
    struct vram_figure context;
    bool vllm = !is_llama(c);
    *s = (struct vram_serving){
        .server = vllm ? "vllm" : "llama.cpp", .gpu_name = gpu_name(c), .params = m->params};
    capacity_of(c, &s->capacity);
    context_figure(c, &context);
    const struct step_size *step = step_of(c, &s->capacity);
    s->batched_tokens = !vllm                       ? 0
                        : c->max_num_batched_tokens ? c->max_num_batched_tokens
                                                    : step->tokens;
    s->most_sequences = !vllm ? 0 : c->max_num_seqs ? c->max_num_seqs : step->sequences;
    s->weights_bytes = serve_weights(m, c->quantization);
    s->token_bytes = serve_token_bytes(m, c->kv_dtype);
    s->work_bytes = serve_work(m, vllm, s->batched_tokens, s->most_sequences);
    s->context_bytes = context.bytes;
    s->block_tokens = vllm ? VLLM_BLOCK : LLAMA_BLOCK;
    s->length = m->c.seq_len + c->max_new_tokens;
    s->gpu_bytes = capacity_left(c);
    s->pool_bytes = pool_of(c, s, vllm);
    s->note = vllm ? MESSAGE_serve_vllm : MESSAGE_serve_llama;
    count(s, m);
    judge(a, c, vllm);
}

int vram_serve(vram *v, const struct vram_serving **out)
{
    struct model m;
    message_clear(&v->err);
    int rc = capacity_left(&v->config)
                 ? make_model(v, &m)
                 : err_set(&v->err, MESSAGE_no_gpu, NO_POS, ABOUT("gpu"), NO_ARGS);
    struct answers *a = rc == VRAM_OK ? answers_of(v) : NULL;
    if (!a)
        return v->err.out.code;
    fill(a, &v->config, &m);
    a->has_serving = true;
    *out = &a->serving;
    return VRAM_OK;
}
