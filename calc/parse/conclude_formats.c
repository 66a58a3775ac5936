// Owns what files say together of number formats: how weights are loaded, cast, and prepared.

#include "calc/parse/conclude_formats.h"

#include "calc/model/framework.h"
#include "calc/model/model.h"
#include "calc/model/quantization.h"
#include "calc/model/scheme.h"
#include "calc/parse/lookup.h"

// The words of facts.def, by number.
enum { SAID = 1, SAID_YES };
enum { IS_FLOAT32 = 1, IS_BFLOAT16, IS_FLOAT16, AS_CHECKPOINT, AS_LIBRARY };
enum { MIXED_NONE = 1, MIXED_BFLOAT16, MIXED_FLOAT16 };
enum { ENGINE_NONE = 1, ENGINE_DDP, ENGINE_FSDP, ENGINE_DEEPSPEED };
enum { TRAINED_FLOAT32 = 2, STORAGE_FLOATS = 2 };
enum { PREPARES_NO = 1, PREPARES_ADAPTERS, PREPARES_PEFT, PREPARES_OWN };

static bool is_half(uint64_t format)
{
    return format == IS_BFLOAT16 || format == IS_FLOAT16;
}

// What transformers loads without dtype: torch's default up to 4.57, under its quantizers
// float16. SRC: transformers 4.57 modeling_utils.py, _get_dtype; quantizers/quantizer_bnb_4bit.py,
// quantizer_gptq.py, quantizer_awq.py, quantizer_finegrained_fp8.py, update_dtype.
static uint64_t library_loads(const struct parse *p)
{
    enum { FIVE = 5000 };
    const struct vram_config *c = &p->v->config;
    bool said = p->v->places[FIELD_transformers].line;
    if (c->transformers >= FIVE && (said || p->v->facts.of_four != SAID))
        return AS_CHECKPOINT;
    return c->quantization && c->quantization != QUANTIZATION_FP8 ? IS_FLOAT16 : IS_FLOAT32;
}

// How the weights are in memory when training begins.
static uint64_t loaded_as(const struct parse *p)
{
    const struct facts *f = &p->v->facts;
    uint64_t loaded = f->loaded ? f->loaded : AS_CHECKPOINT;
    if (loaded == AS_LIBRARY)
        loaded = library_loads(p);
    if (loaded == AS_CHECKPOINT)
        loaded = f->checkpoint ? f->checkpoint : IS_BFLOAT16;
    return loaded;
}

static bool is_deepspeed(const struct facts *f)
{
    return f->zero_stage || f->engine == ENGINE_DEEPSPEED;
}

// DeepSpeed keeps float32 copies beside weights in two bytes, in every stage where it is told of a
// precision. Told of none, it leaves the weights as they were loaded: its stages keep the copies
// all the same, but for 0, and the third one loads float32. SRC: deepspeed 0.19 runtime/engine.py,
// _configure_distributed_model, _do_optimizer_sanity_check; fp16/fused_optimizer.py,
// fp32_groups_flat; zero/stage_1_and_2.py, single_partition_of_fp32_groups;
// zero/partition_parameters.py, _set_dtype.
static uint64_t deepspeed_dtype(const struct facts *f, uint64_t loaded)
{
    enum { STAGE_0 = 1, STAGE_3 = 4 };
    bool told = f->mixed >= MIXED_BFLOAT16;
    bool half = told ? f->mixed == MIXED_FLOAT16 : loaded == IS_FLOAT16;
    if (!told && (f->zero_stage == STAGE_3 || !is_half(loaded)))
        return DTYPE_FLOAT32;
    if (!told && f->zero_stage == STAGE_0)
        return DTYPE_BFLOAT16_PURE;
    return half ? DTYPE_FLOAT16_DEEPSPEED : DTYPE_BFLOAT16_DEEPSPEED;
}

// Frozen weights are divided as they are loaded. SRC: accelerate utils/fsdp_utils.py,
// fsdp2_prepare_model (upcasts what is trained); accelerator.py, prepare_model.
static uint64_t accelerate_dtype(bool half, bool wide)
{
#ifndef VRAM_SMALL
    if (wide)
        return half ? DTYPE_FLOAT16_ACCELERATE_WIDE : DTYPE_BFLOAT16_ACCELERATE_WIDE;
#else
    (void)wide;
#endif
    return half ? DTYPE_FLOAT16_ACCELERATE : DTYPE_BFLOAT16_ACCELERATE;
}

// torchtitan's mixed precision is FSDP's; without it one GPU has autocast, and GPUs that share a
// model or its layers have none. SRC: torchtitan distributed/utils.py, maybe_enable_amp; traces
// titan_amp.
static uint64_t mesh_dtype(const struct vram_config *c, uint64_t loaded, bool mixed)
{
    bool shared = c->tensor_parallel > 1 || c->pipeline_parallel > 1;
    if (loaded == IS_BFLOAT16)
        return DTYPE_BFLOAT16_PURE;
    if (c->parallel == PARALLEL_FSDP)
        return mixed ? DTYPE_BFLOAT16_FSDP : DTYPE_FLOAT32;
    return mixed && !shared ? DTYPE_BFLOAT16 : DTYPE_FLOAT32;
}

// SRC: what each value keeps in which format is calc/model/precision.def.
static uint64_t dtype_of(const struct parse *p)
{
    const struct facts *f = &p->v->facts;
    const struct vram_config *c = &p->v->config;
    uint64_t loaded = loaded_as(p);
    bool mixed = f->mixed >= MIXED_BFLOAT16, half = f->mixed == MIXED_FLOAT16;
    bool upcast = f->trained == TRAINED_FLOAT32 || (f->whole == SAID_YES && loaded == IS_FLOAT16);
    bool casts = upcast && !c->lora_rank && !scheme_divides_weights(c);
    if (framework_goes(c, BY_MESH))
        return mesh_dtype(c, loaded, mixed);
    if (is_deepspeed(f))
        return deepspeed_dtype(f, loaded);
    if (f->engine == ENGINE_FSDP && mixed &&
        (c->n_gpu * c->context_parallel > 1 || c->offload_params))
        return accelerate_dtype(half, c->lora_rank && !is_half(loaded));
    if (!is_half(loaded) || casts)
        return !mixed ? DTYPE_FLOAT32 : half ? DTYPE_FLOAT16 : DTYPE_BFLOAT16;
    return !mixed ? DTYPE_BFLOAT16_PURE : half ? DTYPE_FLOAT16_LOADED : DTYPE_BFLOAT16_LOADED;
}

void conclude_dtype(struct parse *p)
{
    const struct facts *f = &p->v->facts;
    if (framework_goes(&p->v->config, BY_NANOTRON) ||
        !(f->trainer || f->mixed || f->loaded || f->zero_stage > 1))
        return;
    p->v->config.dtype = dtype_of(p);
    message_list_drop(&p->v->notes, "dtype");
}

void conclude_whole(struct parse *p)
{
    struct vram_config *c = &p->v->config;
    if (p->v->facts.whole != SAID_YES)
        return;
    c->quantization = QUANTIZATION_NONE;
    c->adapter = ADAPTER_LORA;
    c->prepare_kbit = PREPARE_KBIT_NO;
    c->lora_rank = c->modules_to_save = 0;
}

// Adapters over weights of whole numbers are float32 all the same. SRC: peft
// tuners/tuners_utils.py, _move_adapter_to_device_of_base_layer, cast_adapter_dtype.
static void conclude_adapters_cast(struct parse *p)
{
    struct vram_config *c = &p->v->config;
    const struct facts *f = &p->v->facts;
    bool floats = !c->quantization || f->storage == STORAGE_FLOATS;
    if (f->adapters_cast == SAID && floats && c->adapter_dtype == ADAPTER_DTYPE_AUTO)
        c->adapter_dtype = ADAPTER_DTYPE_BASE;
}

// SRC: accelerate utils/fsdp_utils.py, fsdp2_prepare_model (incompatible_params4bit).
static void conclude_storage(struct parse *p)
{
    const struct vram_config *c = &p->v->config;
    bool fsdp = c->parallel == PARALLEL_FSDP || c->parallel == PARALLEL_FSDP1;
    if (fsdp && scheme_many(c) && quantization_is_4bit(c->quantization) &&
        pair_find(p, "quantization_config.load_in_4bit") && p->v->facts.storage != STORAGE_FLOATS)
        message_list_add(&p->v->notes, MESSAGE_bits_undivided, NO_FIELD, NO_ARGS);
}

// A script's trainer prepares what it makes adapters for itself: a PeftModel it leaves as it is.
static bool trainer_is_given(const struct parse *p)
{
    bool made = pair_is_there(p, "_SFTTrainer") || pair_is_there(p, "_DPOTrainer") ||
                pair_is_there(p, "_RewardTrainer");
    return made && !pair_find(p, "peft_config");
}

// TRL's trainers before 0.26 (DPO's before 0.29): PEFT's function first, then with bf16 head and
// embeddings of a model in four bits back to two bytes. One whose weights are on the host until
// FSDP or ZeRO-3 divides them is left as it is, and its adapters are made as it. SRC: trl 0.13
// trainer/sft_trainer.py (is_sharded_qlora), 0.25 models/utils.py, prepare_model_for_kbit_training.
static void trainer_prepares(struct parse *p, uint64_t how)
{
    struct vram_config *c = &p->v->config;
    bool four = quantization_is_4bit(c->quantization),
         low = four && p->v->facts.mixed == MIXED_BFLOAT16;
    if (four && scheme_divides_weights(c)) {
        c->prepare_kbit = PREPARE_KBIT_NO;
        c->adapter_dtype = ADAPTER_DTYPE_BASE;
        return;
    }
    c->prepare_kbit = low || how == PREPARES_OWN ? PREPARE_KBIT_TRL : PREPARE_KBIT_PEFT;
    if (low && how == PREPARES_ADAPTERS)
        c->adapter_dtype = ADAPTER_DTYPE_BASE;
}

void conclude_prepared(struct parse *p)
{
    struct vram_config *c = &p->v->config;
    struct facts *f = &p->v->facts;
    if (f->prepares && trainer_is_given(p))
        f->prepares = PREPARES_NO;
    conclude_adapters_cast(p);
    conclude_storage(p);
    if (!c->lora_rank || !c->quantization)
        return;
    if (f->low_adapters == SAID_YES && c->adapter_dtype == ADAPTER_DTYPE_AUTO &&
        c->adapter == ADAPTER_LORA)
        c->adapter_dtype = ADAPTER_DTYPE_BASE;
    if (f->prepares > PREPARES_NO && quantization_is_bitsandbytes(c->quantization))
        trainer_prepares(p, f->prepares);
}
