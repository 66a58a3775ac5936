// Owns what is said beside the figures: choices that PyTorch makes for the chosen card, and figures that rest on source
// code alone. The remarks of the parsers come before them.

#include "calc/answer/remarks.h"

#include "calc/model/model.h"

static uint64_t capability(const struct vram_config *c)
{
    return vram_gpu_at((size_t)c->gpu)->compute_capability;
}

// SRC: see model_lacks_flash. The tensors of memory-efficient attention are those of its source: log-sum-exp rows in
// multiples of 32, no accumulator in float32 in backward.
static void remark_attention(struct writer *w, const struct vram_config *c)
{
    if (!model_lacks_flash(c) || c->attention == ATTENTION_MATH || c->task != TASK_TRAIN)
        return;
    writer_f(w,
             "PyTorch's flash attention needs compute capability 8.0, the %s has %u.%u: memory-efficient attention is "
             "counted, as scaled_dot_product_attention chooses it, by its source and not by a measurement\n",
             vram_gpu_at((size_t)c->gpu)->name, capability(c) / 10, capability(c) % 10);
    uint64_t width = c->head_dim ? c->head_dim : c->n_embd / c->n_head;
    if (width % 8)
        writer_f(w, "heads of %u are no multiple of 8: the padded copies that this kernel makes of q, k and v are not counted\n",
                 width);
}

// SRC: pytorch torch/cuda/__init__.py: is_bf16_supported(including_emulation=True) since 2.4, compute capability 8.0
// before; nanoGPT train.py: dtype = 'bfloat16' if ... is_bf16_supported() else 'float16'.
static void remark_bfloat16(struct writer *w, const struct vram_config *c)
{
    if (!model_lacks_bfloat16(c) || (c->dtype != DTYPE_BFLOAT16 && c->dtype != DTYPE_BFLOAT16_PURE))
        return;
    writer_f(w,
             "the %s has no bfloat16 arithmetic: it is emulated, slowly. nanoGPT's default is bfloat16 there from PyTorch 2.4 "
             "on and float16 before; float16 takes as many bytes but for a gradient scaler's few\n",
             vram_gpu_at((size_t)c->gpu)->name);
}

// Settings that do nothing as they stand.
static void remark_idle(struct writer *w, const struct vram *v)
{
    const struct vram_config *c = &v->config;
    bool divided = c->parallel != PARALLEL_NONE || c->tensor_parallel > 1 || c->pipeline_parallel > 1;
    if (v->last.line == 0)
        writer_str(w, "nothing was set: these are the figures of GPT-2 124M with the defaults of this program\n");
    if (c->n_gpu > 1 && !divided)
        writer_f(w, "n_gpu = %u changes nothing without parallel=ddp, zero1, zero2, zero3 or fsdp: the figures are of one GPU "
                    "that does all; under ddp nanoGPT divides gradient_accumulation_steps by the number of GPUs\n",
                 c->n_gpu);
}

void remarks_write(struct writer *w, const struct vram *v)
{
    const struct vram_config *c = &v->config;
    writer_str(w, vram_notes(v));
    remark_idle(w, v);
    remark_attention(w, c);
    remark_bfloat16(w, c);
    if (c->checkpointing && !c->use_reentrant && c->task == TASK_TRAIN)
        writer_str(w, "use_reentrant=false: recomputation stops early, as in torch/utils/checkpoint.py; not yet compared with a "
                      "measurement\n");
    if (c->eval_only)
        writer_str(w, "eval_only: the figures are of the evaluation alone, with no gradients; nanoGPT makes its optimizer, but "
                      "AdamW's moments come with the first step\n");
}
