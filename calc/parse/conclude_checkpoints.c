// Owns what files mean that say checkpoints of activations: their form by the trainer's own rule,
// what of a block is kept, which blocks, and FSDP's beside the trainer's.

#include "calc/parse/conclude_checkpoints.h"

#include "calc/model/scheme.h"
#include "calc/parse/conclude_compile.h"
#include "calc/parse/lookup.h"

// The words of facts.def, by number.
enum { FORM_TRL = 1, FORM_SWIFT, FORM_AXOLOTL, FORM_LLAMAFACTORY };
enum { ENGINE_FSDP = 3 };

// PEFT's adapters under ZeRO-3. SRC: trl 1.16 trainer/sft_trainer.py.
static bool adapters_in_parts(const struct vram_config *c)
{
    return c->lora_rank && c->parallel == PARALLEL_ZERO3 && scheme_many(c);
}

// What the file says stands but for two rules. SRC: LLaMA-Factory
// model/model_utils/checkpointing.py (fsdp2); axolotl utils/config/__init__.py, normalize_config
// (cfg.rl), loaders/model.py, _apply_activation_checkpointing (whole weights, by PyTorch's
// wrapper); ms-swift swift/trainers/mixin.py, _fix_gradient_checkpointing.
static uint64_t form_of(const struct parse *p)
{
    const struct vram_config *c = &p->v->config;
    bool said = p->v->places[FIELD_use_reentrant].line;
    bool wrapped = c->offload_activations == OFFLOAD_SAVED && !c->lora_rank;
    bool alone = c->parallel == PARALLEL_DDP && scheme_many(c);
    if (p->v->facts.kept_again)
        return REENTRANT_NO;
    switch (p->v->facts.form) {
    case FORM_TRL: return adapters_in_parts(c) ? REENTRANT_YES : c->use_reentrant;
    case FORM_LLAMAFACTORY:
        return c->parallel == PARALLEL_FSDP && scheme_many(c) ? REENTRANT_NO : c->use_reentrant;
    case FORM_SWIFT: return said ? c->use_reentrant : alone ? REENTRANT_NO : REENTRANT_YES;
    case FORM_AXOLOTL:
        return said                                   ? c->use_reentrant
               : c->trainer != TRAINER_SFT || wrapped ? REENTRANT_NO
                                                      : REENTRANT_YES;
    default: return c->use_reentrant;
    }
}

static struct err_pos place_of(const struct parse *p, const char *keys)
{
    const struct vram_pair *pair = pair_among(p, span_of(keys));
    return pair ? (struct err_pos){p->file, pair->value_line, pair->value_col} : NO_POS;
}

// SRC: transformers trainer.py, create_accelerator_and_postprocess; trl 1.16 trainer/sft_trainer.py
// (PEFT + DeepSpeed ZeRO-3).
static int checkpoints_clash(struct parse *p)
{
    const struct facts *f = &p->v->facts;
    if (f->fsdp_checkpoints == SAID_YES && f->trainer_checkpoints == SAID_YES &&
        f->engine == ENGINE_FSDP)
        return err_set(&p->v->err, MESSAGE_checkpoints_twice,
                       place_of(p, "fsdp_config.activation_checkpointing "
                                   "fsdp_config.fsdp_activation_checkpointing"),
                       ABOUT("checkpointing"), NO_ARGS);
    if (f->kept_again && f->form == FORM_TRL && adapters_in_parts(&p->v->config))
        return err_set(&p->v->err, MESSAGE_kept_in_parts,
                       place_of(p, "gradient_checkpointing_kwargs.selective"),
                       ABOUT("checkpointing"), NO_ARGS);
    return VRAM_OK;
}

int conclude_checkpoints(struct parse *p)
{
    const struct facts *f = &p->v->facts;
    struct vram_config *c = &p->v->config;
    c->use_reentrant = form_of(p);
    if (f->kept_again && c->checkpointing == CHECKPOINTING_BLOCK)
        c->checkpointing = CHECKPOINTING_ATTENTION;
    if (f->every > 1 && c->checkpointing == CHECKPOINTING_BLOCK) {
        c->checkpointing = CHECKPOINTING_EVERY;
        c->checkpoint_every = f->every;
    }
    return checkpoints_clash(p);
}
