// Owns what follows from files that say torch.compile: what of a run is compiled here, and what is
// estimated as it is without.

#include "calc/parse/conclude_compile.h"

#include "calc/model/framework.h"
#include "calc/model/masks.h"
#include "calc/model/model.h"
#include "calc/model/resolve.h"

// Liger's kernels are functions of autograd within torch.cuda.device, at which Dynamo ends with an
// InternalTorchDynamoError. SRC: Liger 0.8.5 ops/utils.py, device_context, with PyTorch 2.15.
static void compile_note(struct parse *p)
{
    bool liger = p->v->config.kernels == KERNELS_LIGER;
    message_list_add(&p->v->notes, liger ? MESSAGE_compiled_liger : MESSAGE_compiled_as_eager,
                     NO_FIELD, NO_ARGS);
}

// The words of facts.def, by number.
enum { COMPILES_LOSS = 2, COMPILES_MODEL };
enum { BACKEND_NO = 1, BACKEND_DYNAMO = 3 };

static bool compiles_model(const struct parse *p)
{
    return p->v->facts.compiles == COMPILES_MODEL;
}

// torchtitan's loss is compiled by itself since its blocks are. SRC: torchtitan components/loss.py.
static void compile_loss_alone(struct parse *p)
{
    struct vram_config *c = &p->v->config;
    if (framework_goes(c, BY_COMPLEX_ANGLES) && c->torch >= 2008 && c->tensor_parallel == 1 &&
        c->pipeline_parallel == 1)
        c->cross_entropy = CROSS_ENTROPY_COMPILED;
}

// Whether nothing else of it is.
static bool conclude_compiled_loss(struct parse *p)
{
    if (p->v->facts.compiles != COMPILES_LOSS)
        return false;
    compile_loss_alone(p);
    if (p->v->config.cross_entropy != CROSS_ENTROPY_COMPILED)
        compile_note(p);
    return true;
}

// The backend eager runs the eager operations, and autograd keeps what it keeps without. While a
// model is traced its mask is there, whatever the batch holds. SRC: transformers masking_utils.py,
// _ignore_causal_mask_sdpa (is_tracing); traces llama_dynamo*.
static void conclude_dynamo(struct parse *p)
{
    struct vram_config *c = &p->v->config, resolved = *c;
    resolve_auto(&resolved);
    if (!framework_goes(&resolved, BY_TRANSFORMERS) || resolved.attention != ATTENTION_FLASH ||
        p->v->places[FIELD_attention_mask].line)
        return;
    resolved.attention_mask = ATTENTION_MASK_PADDED;
    if (model_takes_masks(&resolved))
        c->attention_mask = ATTENTION_MASK_PADDED;
    else
        message_list_add(&p->v->notes, MESSAGE_traced_mask, NO_FIELD, NO_ARGS);
}

static bool is_compiled(const struct facts *f)
{
    return (f->compiled >= SAID_YES || f->asks_compile) && f->compiled_by != BACKEND_NO;
}

// Of a whole model what transformers runs on one GPU or under FSDP2, and nanoGPT's; the blocks of
// some. Regional: accelerate compiles nothing but the layers, and so neither last norm nor loss.
void conclude_compile(struct parse *p)
{
    struct vram_config *c = &p->v->config, resolved = *c;
    if (!is_compiled(&p->v->facts))
        return;
    if (p->v->facts.compiled_by == BACKEND_DYNAMO) {
        conclude_dynamo(p);
        return;
    }
    if (conclude_compiled_loss(p))
        return;
    bool regional = p->v->facts.compiled > SAID_YES;
    resolve_auto(&resolved);
    bool blocks = framework_goes(&resolved, BY_BLOCKS);
    bool on_host = c->offload_optimizer ||
                   (c->offload_activations && (c->checkpointing != CHECKPOINTING_BLOCK ||
                                               !framework_goes(&resolved, BY_CHECKPOINTS_AROUND)));
    bool fused = p->v->facts.fused_head == SAID_YES && model_fuses_head(&resolved);
    bool logits = !fused && (resolved.cross_entropy == CROSS_ENTROPY_EAGER ||
                             resolved.cross_entropy == CROSS_ENTROPY_UPCAST);
    bool tiles = fused || resolved.cross_entropy == CROSS_ENTROPY_TILED;  // TRL's
    bool ours = MODEL_IS_WHOLE && framework_goes(&resolved, BY_TRANSFORMERS);
    bool whole = ours ? ((logits || tiles) && model_compiles_whole(&resolved)) ||
                            (logits && model_compiles_parts(&resolved))
                      : c->family == FAMILY_GPT2;  // nanoGPT's
    bool here = blocks ? model_compiles_blocks(&resolved) : whole;
    if (!on_host && !regional && here && !compiles_model(p)) {
        c->compile = COMPILE_TORCH25;
        return;
    }
    if (!compiles_model(p))
        compile_loss_alone(p);
    compile_note(p);
}
