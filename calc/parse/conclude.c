// Owns what follows for the fields from all that the files so far have said of formats, engines and
// batches.

#include "calc/parse/conclude.h"

#include "calc/base/text.h"
#include "calc/model/framework.h"
#include "calc/model/masks.h"
#include "calc/model/model.h"
#include "calc/model/preference.h"
#include "calc/model/resolve.h"
#include "calc/model/scheme.h"
#include "calc/model/unsloth.h"
#include "calc/parse/actions.h"
#include "calc/parse/conclude_checkpoints.h"
#include "calc/parse/conclude_compile.h"
#include "calc/parse/conclude_formats.h"
#include "calc/parse/conclude_fsdp.h"
#include "calc/parse/lookup.h"
#include "calc/parse/targets.h"

// The words of facts.def, by number.
enum { SAID = 1 };
enum { ENGINE_NONE = 1, ENGINE_DDP, ENGINE_FSDP, ENGINE_DEEPSPEED };

static void note(struct parse *p, message_id id)
{
    message_list_add(&p->v->notes, id, NO_FIELD, NO_ARGS);
}

// ---- what divides the work -------------------------------------------------------------------

static void own_ways_missing(struct parse *p)
{
    static const char *const keys[] = {"distributed_config.fsdp_size",
                                       "model_init_kwargs.distributed_config.fsdp_size"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct vram_pair *own = pair_find(p, keys[i]);
        if (own)
            parse_warn(p, MESSAGE_takes_less,
                       (struct err_pos){p->file, own->value_line, own->value_col},
                       ARGS(arg_text("key", own->key), arg_text("value", own->value)));
    }
}

// A model that divides itself; FSDP2 without experts is cut otherwise than accelerate's. SRC:
// transformers distributed/configuration_utils.py, DistributedConfig.
static void conclude_own_ways(struct parse *p)
{
    const struct facts *f = &p->v->facts;
    struct vram_config *c = &p->v->config;
    if (f->model_ways < 2 || c->expert_shared_batch)
        return;
    c->parallel = PARALLEL_FSDP;
    c->n_gpu = f->model_ways;
    if (c->expert_parallel == 1)
        own_ways_missing(p);
}

// Of the processes that a launcher starts those that share a layer, a sequence, a batch or the
// layers are one way of the data; nanotron's file has the ways themselves. transformers'
// enable_expert_parallel makes of tp_size GPUs that share experts and nothing else.
static void conclude_ways(struct parse *p)
{
    const struct facts *f = &p->v->facts;
    struct vram_config *c = &p->v->config;
    if (c->expert_shared_batch && c->expert_parallel == 1) {
        c->expert_parallel = c->tensor_parallel;
        c->tensor_parallel = 1;
    }
    uint64_t shared = c->tensor_parallel * c->pipeline_parallel * c->context_parallel;
    shared *= c->expert_shared_batch ? c->expert_parallel : 1;
    shared *= fsdp_machines(f) * (f->replicas ? f->replicas : 1);
    if (f->processes && c->n_gpu == f->processes && f->processes % shared == 0 &&
        !framework_goes(c, BY_NANOTRON))
        c->n_gpu = f->processes / shared;
}

// torchtitan shards over the GPUs that there are, of which nothing has to be said: one that is said
// has the whole model. SRC: torchtitan distributed/parallel_dims.py, fsdp_enabled.
static bool shards_alone(const struct parse *p)
{
    return framework_goes(&p->v->config, BY_MESH) && !p->v->places[FIELD_n_gpu].line;
}

static int conclude_parallel(struct parse *p)
{
    const struct facts *f = &p->v->facts;
    struct vram_config *c = &p->v->config;
    const struct framework *own = framework_of(c);
    if (f->engine == ENGINE_FSDP)
        c->parallel = fsdp_of(p);
    else if (f->zero_stage)
        c->parallel = f->zero_stage == 1 ? PARALLEL_DDP : PARALLEL_ZERO1 + f->zero_stage - 2;
    else if (f->engine == ENGINE_DDP)
        c->parallel = PARALLEL_DDP;
    else if (f->engine == ENGINE_NONE)
        c->parallel = PARALLEL_NONE;
    else if (own->sharding != PARALLEL_NONE && (scheme_many(c) || shards_alone(p)))
        c->parallel = own->sharding;
    int rc = f->engine == ENGINE_FSDP ? conclude_units(p) : VRAM_OK;
    if (c->parallel != PARALLEL_NONE && !scheme_many(c) && c->parallel != PARALLEL_DDP)
        note(p, MESSAGE_gpus_unsaid);
    c->offload_optimizer &= c->parallel != PARALLEL_DDP;
    c->offload_params &= c->parallel >= PARALLEL_ZERO3;  // DeepSpeed's other stages have no such
    if (c->tensor_parallel == 1)
        c->sequence_parallel = 0;
    return rc;
}

// ---- batches ---------------------------------------------------------------------------------

// Sequences of a step on all GPUs, into micro-steps.
static int conclude_accumulation(struct parse *p)
{
    const struct facts *f = &p->v->facts;
    struct vram_config *c = &p->v->config;
    uint64_t micro = f->micro ? f->micro : c->batch_size, one = micro * c->n_gpu;
    if (!f->global_batch || p->v->places[FIELD_gradient_accumulation_steps].line)
        return VRAM_OK;
    if (f->global_batch < one)
        return err_set(&p->v->err, MESSAGE_batches_do_not_divide, NO_POS, NO_FIELD,
                       ARGS(arg_u64("sequences", f->global_batch), arg_u64("micro", micro),
                            arg_u64("gpus", c->n_gpu)));
    c->gradient_accumulation_steps = f->global_batch / one;
    return VRAM_OK;
}

// DeepSpeed divides the step's sequences itself where its file says no micro-batch. SRC: deepspeed
// runtime/config.py, _set_batch_related_parameters.
static void conclude_micro(struct parse *p)
{
    const struct facts *f = &p->v->facts;
    struct vram_config *c = &p->v->config;
    const struct handle_place *said = p->v->places;
    if (!f->global_batch || !f->zero_stage || f->trainer || f->micro || said[FIELD_batch_size].line)
        return;
    c->batch_size = f->global_batch / c->n_gpu;
    if (said[FIELD_gradient_accumulation_steps].line)
        c->batch_size /= c->gradient_accumulation_steps;
    c->batch_size += c->batch_size == 0;
}

// Packed texts are one row of the whole micro-batch; axolotl's only where the kernel knows the ends
// of texts. SRC: axolotl 0.19 core/builders/causal.py (multipack_real_batches),
// utils/schemas/config.py (attn_supports_packing).
static void conclude_rows(struct parse *p)
{
    const struct facts *f = &p->v->facts;
    struct vram_config *c = &p->v->config;
    bool rows =
        f->packed > SAID_YES && (c->attention == ATTENTION_FLASH || c->attention == ATTENTION_MATH);
    bool packed = f->packed >= SAID_YES && !rows;
    if (f->micro)
        c->batch_size = packed ? 1 : f->micro;
    if (f->length)
        c->seq_len = packed && f->micro ? f->length * f->micro : f->length;
}

// A collator pads rows up to a multiple, past the length that texts are cut to; rows that are one
// end up as that one does. SRC: transformers tokenization_utils_base.py, pad; trl trainer/utils.py.
static void conclude_padding(struct parse *p)
{
    struct vram_config *c = &p->v->config;
    uint64_t by = p->v->facts.multiple;
    if (by && p->v->facts.flat != SAID_YES)
        c->seq_len = (c->seq_len + by - 1) / by * by;
}

// Texts that must not see each other in a row that is one for the kernel; Unsloth's attention has
// their ends, as a mask of blocks. SRC: unsloth utils/packing.py, utils/attention_dispatch.py.
static void conclude_masks(struct parse *p)
{
    const struct facts *f = &p->v->facts;
    struct vram_config *c = &p->v->config, resolved = *c;
    bool flat = f->flat == SAID_YES && f->wrapped != SAID_YES;
    bool own = f->neat == SAID_YES || f->packed > SAID_YES;  // for each row
    if (p->v->places[FIELD_attention_mask].line || !(flat || own) || unsloth_patches(c) ||
        c->attention != ATTENTION_FLASH)
        return;
    resolve_auto(&resolved);
    resolved.attention_mask = flat                  ? ATTENTION_MASK_PACKED
                              : f->neat == SAID_YES ? ATTENTION_MASK_GIVEN
                                                    : ATTENTION_MASK_PADDED;
    if (model_takes_masks(&resolved))
        c->attention_mask = resolved.attention_mask;
    else
        note(p, MESSAGE_masks_unsaid);
}

// The experts' balancing loss, of which the estimate has nothing.
static void conclude_router_loss(struct parse *p)
{
    const struct vram_config *c = &p->v->config;
    if (c->n_expert && c->task == TASK_TRAIN && p->v->facts.router_loss == SAID_YES)
        note(p, MESSAGE_router_loss);
}

// ---- what is not modelled together -----------------------------------------------------------

// A file of `llamafactory-cli chat` or `export` trains nothing. SRC: LLaMA-Factory
// src/llamafactory/hparams/parser.py, _INFER_ARGS, which has none of these; transformers
// training_args.py, do_train.
static void conclude_inference(struct parse *p)
{
    static const char *const training[] = {
        "stage", "do_train", "dataset", "output_dir", "do_predict", "per_device_train_batch_size"};
    const struct vram_pair *own = pair_find(p, "finetuning_type");
    bool trains = !own;
    for (size_t i = 0; i < sizeof training / sizeof *training; i++)
        trains = trains || pair_find(p, training[i]);
    // what only predicts or evaluates says no do_train, whose default is false
    const struct vram_pair *does = pair_find(p, "do_predict");
    does = does ? does : pair_find(p, "do_eval");
    if (own && does && value_is_true(span_of(does->value)) && !pair_find(p, "do_train"))
        trains = false;
    if (!trains)
        parse_warn(p, MESSAGE_takes_less, (struct err_pos){p->file, own->key_line, own->key_col},
                   ARGS(arg_text("key", "do_train"), arg_text("value", "false")));
}

// axolotl itself has no fused functions for eight bits and FSDP1.
static int conclude_adapters(struct parse *p)
{
    int rc = conclude_targets(p);
    conclude_inference(p);
    struct vram_config *c = &p->v->config;
    conclude_prepared(p);
    if (!c->lora_kernels || model_fuses_adapters(c))
        return rc;
    if (c->lora_rank && c->quantization != QUANTIZATION_INT8 &&
        !(c->parallel == PARALLEL_FSDP1 && scheme_many(c)))
        note(p, MESSAGE_adapters_unfused);
    c->lora_kernels = 0;
    return rc;
}

// transformers takes the cache away where it checkpoints blocks itself, with a warning.
static void conclude_cache(struct parse *p)
{
    struct vram_config *c = &p->v->config, resolved = *c;
    bool asked = p->v->places[FIELD_use_cache].line;
    resolve_auto(&resolved);
    if ((c->checkpointing && !preference_copies(&resolved)) ||
        (p->v->facts.cached == SAID_NO && !asked))
        c->use_cache = 0;
    if (!c->use_cache || model_returns_cache(&resolved))
        return;
    if (asked)
        note(p, MESSAGE_use_cache_here);
    c->use_cache = 0;
}

// ms-swift hands the model the positions whose logits the loss needs, which is its default.
static void conclude_kept_logits(struct parse *p)
{
    if (p->v->facts.kept == SAID_YES)
        message_list_add(&p->v->notes, MESSAGE_takes_less, NO_FIELD,
                         ARGS(arg_text("key", "use_logits_to_keep"), arg_text("value", "true")));
}

// TRL's own loss; where it is not modelled, Liger's is nearest.
static void conclude_loss(struct parse *p)
{
    struct vram_config *c = &p->v->config;
    if (p->v->facts.fused_head != SAID_YES || c->cross_entropy == CROSS_ENTROPY_INPLACE ||
        !model_fuses_head(c))
        return;
    bool here = c->tensor_parallel == 1 && !scheme_divides_weights(c);
    c->cross_entropy = here ? CROSS_ENTROPY_TILED : CROSS_ENTROPY_CHUNKED;
}

// TRL's way to log-probabilities, and the dropout that it takes away.
static void conclude_pairs(struct parse *p)
{
    static const uint64_t losses[] = {
        [0] = CROSS_ENTROPY_AUTO,       CROSS_ENTROPY_EAGER,
        CROSS_ENTROPY_SELECTIVE,        CROSS_ENTROPY_SELECTIVE_COPIED,
        CROSS_ENTROPY_SELECTIVE_SLICED, CROSS_ENTROPY_TILED};
    struct vram_config *c = &p->v->config;
    if (c->trainer == TRAINER_SFT)
        return;
    c->cross_entropy = losses[p->v->facts.dpo_loss];
    if (p->v->facts.no_dropout == SAID_YES)
        c->dropout = c->lora_dropout = 0;
    if (!p->v->places[FIELD_lora_kernels].line)
        c->lora_kernels = 0;
}

// An evaluation of transformers' Trainer between steps; packed rows are rows of a whole batch.
static void conclude_evaluation(struct parse *p)
{
    const struct facts *f = &p->v->facts;
    struct vram_config *c = &p->v->config, resolved = *c;
    bool keeps = f->metrics == SAID_YES && f->reduced != SAID_YES;
    uint64_t rows = f->packed >= SAID_YES && f->micro > 1 ? (f->eval_rows + f->micro - 1) / f->micro
                                                          : f->eval_rows;
    bool chunks = c->cross_entropy == CROSS_ENTROPY_CHUNKED && c->kernels != KERNELS_LIGER;
    if (!p->v->places[FIELD_eval_batch_size].line)
        c->eval_batch_size = c->eval_accumulation_steps = 0;  // concluded from fewer files
    if (unsloth_patches(c)) {
        bool more = unsloth_evaluates_whole(c, keeps) || rows > c->batch_size;
        if (f->evaluates == SAID_YES && rows && more)
            note(p, MESSAGE_unsloth_eval);
        return;
    }
    if (f->evaluates != SAID_YES || !rows || chunks)
        return;  // TRL's loss has no logits in an evaluation either
    resolve_auto(&resolved);
    if (!model_evaluates(&resolved)) {
        if (keeps || rows > c->batch_size)
            note(p, MESSAGE_eval_here);
        return;
    }
    c->eval_batch_size = rows;
    c->eval_accumulation_steps = keeps ? f->eval_kept : 0;
    if (keeps && !f->eval_kept)
        note(p, MESSAGE_eval_all_kept);
}

// Unsloth's fast path is of some families, and of adapters.
static void conclude_unsloth(struct parse *p)
{
    struct vram_config *c = &p->v->config, resolved = *c;
    bool compiled = p->v->facts.compiled_layers == SAID || p->v->facts.whole == SAID_YES;
    if (!unsloth_patches(c))
        return;
    unsloth_saves(c);
    if (!p->v->places[FIELD_cross_entropy].line)
        c->cross_entropy = resolved.cross_entropy = CROSS_ENTROPY_AUTO;
    resolve_auto(&resolved);
    if (p->v->places[FIELD_kernels].line || (!compiled && model_runs_unsloth(&resolved)))
        return;
    message_list_add(&p->v->notes, compiled ? MESSAGE_unsloth_compiled : MESSAGE_unsloth_plain,
                     ABOUT("kernels"), NO_ARGS);
    c->kernels = KERNELS_NONE;
}

static void conclude_form(struct parse *p)
{
    struct vram_config *c = &p->v->config;
    if (p->v->facts.checkpointed == SAID_YES && scheme_divides_weights(c))
        c->checkpointing = CHECKPOINTING_BLOCK;
    if (c->offload_activations && !model_offloads_form(c)) {
        note(p, MESSAGE_activations_stay);
        c->offload_activations = OFFLOAD_NONE;
    }
    if (c->parallel != PARALLEL_FSDP || !scheme_many(c))
        c->float8_all_gather = 0;  // there is nothing to gather
    conclude_compile(p);
}

int conclude(struct parse *p)
{
    conclude_rows(p);
    conclude_padding(p);
    conclude_ways(p);
    conclude_micro(p);
    int rc = conclude_parallel(p);
    if (rc != VRAM_OK)
        return rc;
    conclude_own_ways(p);
    conclude_whole(p);
    conclude_dtype(p);
    rc = conclude_checkpoints(p);
    conclude_form(p);
    rc = rc == VRAM_OK ? conclude_adapters(p) : rc;
    conclude_unsloth(p);
    conclude_cache(p);
    conclude_loss(p);
    conclude_kept_logits(p);
    conclude_masks(p);
    conclude_router_loss(p);
    conclude_pairs(p);
    conclude_evaluation(p);
    if (p->v->facts.model)
        parse_choose_length(p);
    return rc == VRAM_OK ? conclude_accumulation(p) : rc;
}

void conclude_command(struct parse *p, enum format_id format)
{
    if (pair_find(p, "launch._script"))
        note(p, MESSAGE_script_assumed);
    if (format == FORMAT_VLLM || format == FORMAT_LLAMACPP)
        note(p, MESSAGE_server_command);
}
