// Owns what "auto" means.

#include "calc/model/resolve.h"

#include "calc/model/family.h"
#include "calc/model/framework.h"
#include "calc/model/model.h"
#include "calc/model/preference.h"
#include "calc/model/scheme.h"
#include "calc/model/unsloth.h"

// SRC: nanoGPT train.py (dtype); accelerate utils/fsdp_utils.py, DeepSpeed runtime/engine.py;
// transformers 5 modeling_utils.py (from_pretrained takes the checkpoint's format).
static uint64_t resolve_dtype(const struct vram_config *c)
{
    if (framework_goes(c, BY_AUTOCAST))
        return DTYPE_BFLOAT16;
    if (scheme_divides_weights(c) && c->parallel >= PARALLEL_FSDP)
        return c->lora_rank ? DTYPE_BFLOAT16_ACCELERATE : DTYPE_BFLOAT16_FSDP;
    if (scheme_divides_state(c))
        return DTYPE_BFLOAT16_DEEPSPEED;
    return DTYPE_BFLOAT16_PURE;
}

// torch.compile's two forms are those of a version: compile=2.4 with a newer torch means that one.
static void resolve_versions(struct vram_config *c)
{
    if (c->compile == COMPILE_TORCH25 && c->torch < 2005)
        c->compile = COMPILE_TORCH24;
    if (c->compile == COMPILE_TORCH24 && c->torch > 2004)
        c->torch = 2004;
}

// PyTorch's own default is the form with a Function, and of pipelines it alone is modelled.
static uint64_t resolve_reentrant(const struct vram_config *c)
{
    bool other = config_has_trait(c, TRAIT_NO_REENTRANT);
    return other && c->pipeline_parallel == 1 ? REENTRANT_NO : REENTRANT_YES;
}

void resolve_auto(struct vram_config *c)
{
    c->framework = framework_id(c);
    const struct framework *f = framework_of(c);
    c->offload_optimizer |= c->offload_params;
    if (c->dtype == DTYPE_AUTO)
        c->dtype = resolve_dtype(c);
#ifndef VRAM_SMALL
    preference_resolve(c);
    if (unsloth_patches(c))
        unsloth_resolve(c);
#endif
    if (c->cross_entropy == CROSS_ENTROPY_AUTO)
        c->cross_entropy = f->loss;
    if (c->keep_logits == KEEP_LOGITS_AUTO)
        c->keep_logits = f->keep_logits;
    if (model_lacks_flash(c) &&
        (c->attention == ATTENTION_FLASH || c->attention == ATTENTION_FLASH_2))
        c->attention = ATTENTION_MEM_EFFICIENT;
    bool whole = c->cross_entropy == CROSS_ENTROPY_EAGER ||
                 c->cross_entropy == CROSS_ENTROPY_UPCAST ||
                 c->cross_entropy == CROSS_ENTROPY_INPLACE ||
                 c->cross_entropy == CROSS_ENTROPY_CHUNKED_OUTPUT || config_compiles_loss(c);
    if ((!whole && !c->use_cache) || (c->compile && !c->compile_logits))
        c->keep_logits = KEEP_LOGITS_NO;  // there is nothing to hold
    resolve_versions(c);
    if (c->use_reentrant == REENTRANT_AUTO)
        c->use_reentrant = resolve_reentrant(c);
    if (checkpointing_chooses(c))
        c->use_reentrant = REENTRANT_NO;  // the other form knows no policy
#ifndef VRAM_SMALL
    if ((family_has(c) & HAS_GLOBAL_HEADS) &&
        (c->num_kv_shared_layers || c->hidden_size_per_layer_input))
        c->use_reentrant = REENTRANT_NO;  // gradients come by other ways than a block's input
#endif
}
