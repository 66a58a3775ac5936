// Owns which runs under torch.compile are modelled: each block by itself, the whole model, its
// parts between FSDP2's hooks; and which products in float8, compiled or not.

#include "calc/model/family.h"
#include "calc/model/framework.h"
#include "calc/model/layout.h"
#include "calc/model/model.h"
#include "calc/model/model_limits.h"
#include "calc/model/precision.h"
#include "calc/model/scheme.h"

// Adapters as torchtune's LoRALinear has them, over whole weights or torchao's NF4Tensor.
static bool model_compiles_adapters(const struct vram_config *c)
{
    bool bits = c->quantization == QUANTIZATION_NF4 || c->quantization == QUANTIZATION_NF4_DOUBLE;
    return framework_goes(c, BY_CHECKPOINTS_AROUND) && c->adapter == ADAPTER_LORA && !c->float8 &&
           c->adapter_dtype == ADAPTER_DTYPE_BASE && c->lora_dropout == 0 && !c->modules_to_save &&
           !(c->lora_targets & ~(uint64_t)CONFIG_SET_ALL_LINEAR) && (bits || !c->quantization) &&
           (c->checkpointing == CHECKPOINTING_NONE || c->checkpointing == CHECKPOINTING_BLOCK);
}

// A block of Llama, and torchtitan's of Qwen3 without float8 and divided sequences.
static bool model_compiles_family(const struct vram_config *c)
{
    unsigned plain = HAS_ROTARY | HAS_RMS_NORM | HAS_GATE;
    uint64_t has = family_has(c) & ~(uint64_t)(HAS_REPEATED_FLASH | HAS_BARE_OUTPUT);
    return has == plain ||
           (MODEL_IS_WHOLE && has == (plain | HAS_HEAD_NORM) &&
            framework_goes(c, BY_COMPLEX_ANGLES) && !c->float8 && c->context_parallel == 1);
}

// torchtitan's tensor parallelism, whose activations are divided along the sequence, of Llama; in
// float8 with one scale a tensor, whose numbers are gathered as they are multiplied. SRC:
// torchtitan models/llama3/infra/parallelize.py (apply_tp).
static bool model_compiles_divided(const struct vram_config *c)
{
    return MODEL_IS_WHOLE && c->sequence_parallel && framework_goes(c, BY_DTENSOR) &&
           !(family_has(c) & HAS_HEAD_NORM) && c->float8 != FLOAT8_ROWWISE &&
           c->context_parallel == 1;
}

// torch.compile of each block whose numbers are of two bytes. torchtune compiles the whole model up
// to PyTorch 2.4. SRC: its training/_compile.py, compile_model.
bool model_compiles_blocks(const struct vram_config *c)
{
    const struct precision *p = precision_of(c);
    bool here = model_compiles_family(c);
    if (framework_goes(c, BY_CHECKPOINTS_AROUND) && c->torch < 2005)
        return false;
    return here && c->task == TASK_TRAIN && p->compute == DT_LOW && !p->autocast &&
           (!c->lora_rank || model_compiles_adapters(c)) && !c->kernels &&
           (c->tensor_parallel == 1 || model_compiles_divided(c)) && c->pipeline_parallel == 1 &&
           c->attention == ATTENTION_FLASH && c->dropout == 0;
}

// Products in float8 as they are written, in blocks of Llama. With a list of saved operations more
// stays in older versions: a trace of PyTorch 2.6 and torchao 0.8 has one stream a layer more than
// those of 2.15, a run of January 2025 on an H100 (torchtitan's pull request 812) still more.
static bool model_float8_eager(const struct vram_config *c)
{
    const struct precision *p = precision_of(c);
    return MODEL_IS_WHOLE && framework_goes(c, BY_BLOCKS) && model_compiles_family(c) &&
           c->task == TASK_TRAIN && p->compute == DT_LOW && !p->autocast && !c->lora_rank &&
           !c->quantization && !c->kernels && c->tensor_parallel == 1 &&
           c->pipeline_parallel == 1 && c->dropout == 0 &&
           (!checkpointing_chooses(c) || c->torch >= 2015);
}

// Not of pairs, whose loss the trainer makes.
static inline bool model_compiles_answers(const struct vram_config *c)
{
#ifdef VRAM_SMALL
    (void)c;
    return false;
#else
    return c->trainer == TRAINER_SFT;
#endif
}

// What Inductor keeps of scores that are tensors is known where a family has no others.
static bool model_compiles_scores(const struct vram_config *c)
{
    return c->attention != ATTENTION_MATH || (family_has(c) & (HAS_SOFT_CAP | HAS_SINKS));
}

// torch.compile of a whole model, as transformers' Trainer has it, on one GPU.
bool model_compiles_whole(const struct vram_config *c)
{
    bool alone = (c->n_gpu == 1 || c->parallel == PARALLEL_DDP) && c->tensor_parallel == 1 &&
                 c->pipeline_parallel == 1;
    bool here = framework_goes(c, BY_TRANSFORMERS) && c->transformers >= 5000 && c->torch >= 2009;
    bool bits = c->quantization == QUANTIZATION_NF4 || c->quantization == QUANTIZATION_NF4_DOUBLE;
    return MODEL_IS_WHOLE && alone && here && c->task == TASK_TRAIN && model_compiles_answers(c) &&
           (!c->quantization || (bits && !c->n_expert)) && !c->kernels &&
           (!c->lora_rank || c->adapter == ADAPTER_LORA) && c->attention != ATTENTION_FLASH_2 &&
           model_compiles_scores(c);
}

// The same under FSDP2, where each block is compiled by itself.
bool model_compiles_parts(const struct vram_config *c)
{
#ifdef VRAM_SMALL
    (void)c;
    return false;
#else
    bool here = framework_goes(c, BY_TRANSFORMERS) && c->transformers >= 5000 && c->torch >= 2009;
    bool alone = c->tensor_parallel == 1 && c->pipeline_parallel == 1 && c->context_parallel == 1;
    return here && alone && c->parallel == PARALLEL_FSDP && c->task == TASK_TRAIN &&
           model_compiles_answers(c) && !c->quantization && !c->kernels &&
           (!c->lora_rank || c->adapter == ADAPTER_LORA) && c->attention != ATTENTION_FLASH_2 &&
           model_compiles_scores(c) && !(family_has(c) & HAS_ENCODER) && !c->num_kv_shared_layers &&
           c->family != FAMILY_GEMMA3N &&
           (c->checkpointing == CHECKPOINTING_NONE || c->checkpointing == CHECKPOINTING_BLOCK);
#endif
}

// Of the whole model, or of each block.
int model_check_compile(const struct vram_config *c, struct message *e)
{
    bool blocks = c->compile && framework_goes(c, BY_BLOCKS);
    bool compiled = c->compile && !blocks, parts = compiled && model_compiles_parts(c);
    bool whole = compiled && (parts || model_compiles_whole(c));
    bool here = blocks && model_compiles_blocks(c);
    const struct model_limit limits[] = {
#ifndef VRAM_SMALL
        {compiled && c->kernels == KERNELS_LIGER && framework_goes(c, BY_TRANSFORMERS),
         MESSAGE_compile_liger,
         {"compile", "kernels"}},
#endif
        {compiled && !whole && c->attention == ATTENTION_MATH,
         MESSAGE_compile_math,
         {"compile", "attention"}},
        {compiled && !whole && c->family != FAMILY_GPT2,
         MESSAGE_compile_family,
         {"compile", "family"}},
        {compiled && !whole && c->dtype == DTYPE_BFLOAT16_PURE,
         MESSAGE_compile_pure,
         {"compile", "dtype"}},
        {compiled && scheme_divides_weights(c) && !parts,
         MESSAGE_compile_sharded,
         {"compile", "parallel"}},
        {compiled && !whole && c->lora_rank, MESSAGE_compile_lora, {"compile", "lora_rank"}},
        {compiled && c->cross_entropy != CROSS_ENTROPY_EAGER &&
             !(whole && c->cross_entropy == CROSS_ENTROPY_UPCAST) &&
             !(MODEL_IS_WHOLE && whole && !parts && c->cross_entropy == CROSS_ENTROPY_TILED),
         MESSAGE_compile_loss,
         {"compile", "cross_entropy"}},
        {checkpointing_chooses(c) &&
             (compiled || (c->checkpointing > CHECKPOINTING_SELECTIVE
                               ? c->context_parallel > 1
                               : c->n_expert && !framework_goes(c, BY_PERMUTED_EXPERTS))),
         MESSAGE_selective_here,
         {"checkpointing"}},
#ifndef VRAM_SMALL  // it has no room for it, and says one setting after the other
        {c->float8 == FLOAT8_NOCOMPILE && c->compile, MESSAGE_float8_eager, {"float8", "compile"}},
        {c->float8 && !model_compiles_blocks(c) && (blocks || !model_float8_eager(c)),
         MESSAGE_float8_blocks,
         {"float8", "compile"}},
#endif
        {blocks && !here, MESSAGE_compile_blocks, {"compile"}},
        {c->float8 && !blocks && !model_float8_eager(c),
         MESSAGE_float8_here,
         {"float8", "compile"}},
        {c->float8_all_gather &&
             (c->float8 != FLOAT8_TENSORWISE || c->parallel != PARALLEL_FSDP || c->n_gpu == 1),
         MESSAGE_float8_gathered,
         {"float8_all_gather", "float8"}},
    };
    return model_check_limits(limits, sizeof limits / sizeof *limits, e);
}
