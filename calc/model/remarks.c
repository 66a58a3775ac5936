// Owns what is said of a configuration beside its figures.

#include "calc/model/remarks.h"

#include "calc/model/framework.h"
#include "calc/model/kernels_of_card.h"
#include "calc/model/model.h"
#include "calc/model/precision.h"
#include "calc/model/resolve.h"
#include "calc/model/unsloth.h"
#include "calc/model/wrapped.h"

// SRC: see model_lacks_flash. The tensors of memory-efficient attention are those of its source:
// log-sum-exp rows in multiples of 32, dq added up in tiles of float32.
static message_id attention_remark(const struct vram_config *c)
{
    (void)c;
#ifndef VRAM_SMALL
    if (card_lacks_attention(c))
        return MESSAGE_attention_exact;
    if (c->dtype == DTYPE_BFLOAT16_PURE)
        return MESSAGE_attention_in_half;
#endif
    return MESSAGE_attention_falls_back;
}

// Before what is said of the card: kernels of groups are missed on new cards, too.
static bool remark_groups(struct message_list *notes, const struct vram_config *c)
{
#ifdef VRAM_SMALL
    (void)notes;
    (void)c;
    return false;
#else
    struct vram_config resolved = *c;
    resolve_auto(&resolved);
    resolved.attention = c->attention;
    if (!resolved.n_kv_head || !kernels_lack_groups(&resolved, resolved.dtype != DTYPE_FLOAT32))
        return false;
    message_list_add(notes, MESSAGE_attention_groups, ABOUT("attention"), NO_ARGS);
    return true;
#endif
}

static void remark_attention(struct message_list *notes, const struct vram_config *c)
{
    if (remark_groups(notes, c))
        return;
    if (!model_lacks_flash(c) || c->attention == ATTENTION_MATH || c->task != TASK_TRAIN)
        return;
    const struct vram_gpu *gpu = vram_gpu_at((size_t)c->gpu);
    message_id id = attention_remark(c);
    message_list_add(notes, id, ABOUT("attention"),
                     ARGS(arg_text("gpu", gpu->name),
                          arg_u64("major", gpu->compute_capability / 10),
                          arg_u64("minor", gpu->compute_capability % 10)));
    uint64_t width = c->head_dim ? c->head_dim : c->n_embd / c->n_head;
    if (width % 8 && id != MESSAGE_attention_exact)
        message_list_add(notes, MESSAGE_heads_are_padded, ABOUT("head_dim"),
                         ARGS(arg_u64("width", width)));
}

// SRC: pytorch torch/cuda/__init__.py: is_bf16_supported(including_emulation=True) since 2.4,
// compute capability 8.0 before; nanoGPT train.py: dtype = 'bfloat16' if ... is_bf16_supported()
// else 'float16'.
static void remark_bfloat16(struct message_list *notes, const struct vram_config *c)
{
    if (!model_lacks_bfloat16(c) || c->dtype == DTYPE_FLOAT32 || precision_is_float16(c))
        return;
    message_list_add(notes, MESSAGE_bfloat16_emulated, ABOUT("dtype"),
                     ARGS(arg_text("gpu", vram_gpu_at((size_t)c->gpu)->name)));
}

// Several GPUs of which one does all: what their framework would take is named.
static void remark_idle_gpus(struct message_list *notes, const struct vram_config *c)
{
    const struct framework *own = framework_of(c);
    message_id id = own->sharding != PARALLEL_NONE    ? MESSAGE_idle_gpus_sharded
                    : framework_goes(c, BY_DDP_ALONE) ? MESSAGE_idle_gpus_ddp
                                                      : MESSAGE_idle_gpus;
    const char *name = vram_field_at(FIELD_framework)->values[framework_id(c)];
    message_list_add(notes, id, ABOUT("n_gpu"),
                     ARGS(arg_u64("n_gpu", c->n_gpu), arg_text("framework", name),
                          arg_text("own", vram_field_at(FIELD_parallel)->values[own->sharding])));
}

#ifndef VRAM_SMALL
// A version that came out after this one of the program.
static void remark_newer(struct message_list *notes, const struct vram_config *c, size_t field)
{
    const struct vram_field *f = vram_field_at(field);
    char have[24], newest[24];
    if (config_get(c, field) > f->initial)
        message_list_add(notes, MESSAGE_newer_version, ABOUT(f->key),
                         ARGS(arg_text("field", f->key),
                              arg_text("value", config_version(config_get(c, field), have)),
                              arg_text("newest", config_version(f->initial, newest))));
}
#endif

// Settings that do nothing as they are.
static void remark_idle(struct message_list *notes, const struct vram *v)
{
    const struct vram_config *c = &v->config;
    bool divided =
        c->parallel != PARALLEL_NONE || c->tensor_parallel > 1 || c->pipeline_parallel > 1;
    if (v->last.line == 0 && !v->facts.model)
        message_list_add(notes, MESSAGE_nothing_set, NO_FIELD, NO_ARGS);
    if (c->n_gpu > 1 && !divided)
        remark_idle_gpus(notes, c);
#ifndef VRAM_SMALL
    bool every = c->checkpoint_every != vram_field_at(FIELD_checkpoint_every)->initial;
    if (every && c->checkpointing != CHECKPOINTING_EVERY)
        message_list_add(notes, MESSAGE_every_idle, ABOUT("checkpoint_every"), NO_ARGS);
    remark_newer(notes, c, FIELD_torch);
    remark_newer(notes, c, FIELD_transformers);
#endif
}

// SRC: peft 0.20 and 0.21 tuners/lora/layer.py (ParamWrapper); traces mixtral_lora_all*.
static void remark_experts(struct message_list *notes, const struct vram_config *c)
{
    (void)notes;
    (void)c;
#ifndef VRAM_SMALL
    if (c->lora_rank && wrapped_modelled(c) && (wrapped_up_rank(c) || wrapped_down_rank(c)))
        message_list_add(notes, MESSAGE_experts_written_out, ABOUT("lora_targets"), NO_ARGS);
#endif
}

// What Unsloth does with modules_to_save that is not modelled. SRC: unsloth models/llama.py,
// get_peft_model (offload_input_embeddings, _drop_tied_output_module), new_dtype.
static void remark_unsloth(struct message_list *notes, const struct vram_config *c)
{
    (void)notes;
    (void)c;
#ifndef VRAM_SMALL
    struct vram_config resolved = *c;
    unsloth_saves(&resolved);
    if (!unsloth_patches(c) || !resolved.modules_to_save)
        return;
    if (c->offload_activations == OFFLOAD_INPUTS || c->tie_embeddings)
        message_list_add(notes, MESSAGE_unsloth_frozen, ABOUT("modules_to_save"), NO_ARGS);
    if (precision_is_float16(c))
        message_list_add(notes, MESSAGE_unsloth_wide, ABOUT("modules_to_save"), NO_ARGS);
#endif
}

// Of the losses that take positions whose label counts. In Cut Cross-Entropy a position has a dozen
// bytes, which no one needs to be told of.
static void remark_labels(struct message_list *notes, const struct vram *v)
{
    (void)notes;
    (void)v;
#ifndef VRAM_SMALL
    enum { SAID_YES = 2 };  // facts.def
    struct vram_config resolved = v->config;
    resolve_auto(&resolved);
    bool follows = model_takes_labels(&resolved);
    if (resolved.task != TASK_TRAIN)
        return;
    if (resolved.label_tokens && !follows)
        message_list_add(notes, MESSAGE_labels_unused, ABOUT("label_tokens"), NO_ARGS);
    if (!resolved.label_tokens && follows && v->facts.masked == SAID_YES)
        message_list_add(notes, MESSAGE_labels_unsaid, ABOUT("label_tokens"), NO_ARGS);
#endif
}

void remarks_add(struct message_list *notes, const struct vram *v)
{
    const struct vram_config *c = &v->config;
    remark_idle(notes, v);
    remark_attention(notes, c);
    remark_bfloat16(notes, c);
    remark_unsloth(notes, c);
    remark_experts(notes, c);
    remark_labels(notes, v);
    if (c->eval_only)
        message_list_add(notes, MESSAGE_evaluation_alone, ABOUT("eval_only"), NO_ARGS);
}
