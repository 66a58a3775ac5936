// Owns the check of a configuration as a whole and the sizes that follow from it.

#include "calc/model/model_make.h"

#include "calc/base/mem.h"
#include "calc/base/size.h"
#include "calc/model/layout.h"

static const unsigned model_features[family_COUNT] = {
#define FAMILY_ROW(id, features) [FAMILY_##id] = features,
#include "calc/model/families.def"
};

#define MODEL_BAD(e, ...) err_set(e, VRAM_EMODEL, (struct err_pos){0}, __VA_ARGS__)

// The smallest change of n_head that divides n_embd, for the message.
static uint64_t model_near_heads(uint64_t width, uint64_t heads)
{
    for (uint64_t by = 1; by <= heads; by++) {
        if (by < heads && width % (heads - by) == 0)
            return heads - by;
        if (heads + by <= width && width % (heads + by) == 0)
            return heads + by;
    }
    return 1;
}

static int model_check_heads(struct vram_config *c, struct err *e)
{
    if (c->n_kv_head == 0)
        c->n_kv_head = c->n_head;
    if (c->head_dim == 0 && c->n_embd % c->n_head != 0)
        return MODEL_BAD(e,
                         "n_embd = %u cannot be divided among n_head = %u heads: take n_head = %u, "
                         "or n_embd = %u",
                         c->n_embd, c->n_head, model_near_heads(c->n_embd, c->n_head),
                         (c->n_embd + c->n_head / 2) / c->n_head
                             ? (c->n_embd + c->n_head / 2) / c->n_head * c->n_head
                             : c->n_head);
    if (c->head_dim == 0)
        c->head_dim = c->n_embd / c->n_head;
    if (c->n_kv_head > c->n_head || c->n_head % c->n_kv_head != 0)
        return MODEL_BAD(e, "n_head = %u is not a multiple of n_kv_head = %u", c->n_head,
                         c->n_kv_head);
    if (c->family == FAMILY_GPT2 && c->n_kv_head != c->n_head)
        return MODEL_BAD(e, "n_kv_head = %u: gpt2 has as many key heads as heads (%u)",
                         c->n_kv_head, c->n_head);
    if (c->head_dim % 2 != 0 && (model_features[c->family] & HAS_ROTARY))
        return MODEL_BAD(e, "head_dim = %u is odd: rotary positions turn pairs", c->head_dim);
    return VRAM_OK;
}

// What "auto" means for the family's own code.
static void model_resolve(struct vram_config *c)
{
    bool gpt = c->family == FAMILY_GPT2;
    if (c->cross_entropy == CROSS_ENTROPY_AUTO)
        c->cross_entropy = gpt ? CROSS_ENTROPY_EAGER : CROSS_ENTROPY_UPCAST;
    if (c->keep_logits == KEEP_LOGITS_AUTO)
        c->keep_logits = gpt ? KEEP_LOGITS_YES : KEEP_LOGITS_NO;
    if (model_lacks_flash(c) && c->attention == ATTENTION_FLASH)
        c->attention = ATTENTION_MEM_EFFICIENT;
    bool whole =
        c->cross_entropy == CROSS_ENTROPY_EAGER || c->cross_entropy == CROSS_ENTROPY_UPCAST;
    if (!whole || (c->compile && !c->compile_logits))
        c->keep_logits = KEEP_LOGITS_NO;  // there are none
}

static int model_check_run(struct vram_config *c, struct err *e)
{
    if (c->seq_len == 0)
        c->seq_len = c->block_size;
    if (c->seq_len > c->block_size && (model_features[c->family] & HAS_POSITIONS))
        return MODEL_BAD(
            e,
            "seq_len = %u is longer than block_size = %u, the number of positions that are learned",
            c->seq_len, c->block_size);
    if (c->n_inner == 0)
        c->n_inner = 4 * c->n_embd;
    if (c->expert_inner == 0)
        c->expert_inner = c->n_inner;
    if (c->n_expert && !(model_features[c->family] & HAS_EXPERTS))
        return MODEL_BAD(e, "n_expert = %u: this family has no experts", c->n_expert);
    if (c->n_expert && c->n_expert_active > c->n_expert)
        return MODEL_BAD(e, "n_expert_active = %u is more than n_expert = %u", c->n_expert_active,
                         c->n_expert);
    if (c->quantization && c->lora_rank == 0 && c->task == TASK_TRAIN)
        return MODEL_BAD(e, "quantization: quantized weights are frozen, training needs lora_rank");
    if (c->eval_only && (c->family != FAMILY_GPT2 || c->task != TASK_TRAIN || c->pipeline_parallel > 1))
        return MODEL_BAD(e, "eval_only: it is nanoGPT's, for family=gpt2 and task=train on whole models");
    if (c->max_split_size_mb && c->max_split_size_mb <= 20)
        return MODEL_BAD(e, "max_split_size_mb = %u: PyTorch accepts more than 20",
                         c->max_split_size_mb);
    if (c->roundup_power2_divisions & (c->roundup_power2_divisions - 1))
        return MODEL_BAD(e, "roundup_power2_divisions = %u is not a power of two",
                         c->roundup_power2_divisions);
    return VRAM_OK;
}

static int model_check_parallel(const struct vram_config *c, struct err *e)
{
    uint64_t tp = c->tensor_parallel;
    bool plain =
        !c->compile && !c->n_expert && c->task == TASK_TRAIN &&
        (c->cross_entropy == CROSS_ENTROPY_EAGER || c->cross_entropy == CROSS_ENTROPY_UPCAST);
    if (c->sequence_parallel && tp == 1)
        return MODEL_BAD(
            e, "sequence_parallel: it divides among the GPUs of tensor_parallel, which is 1");
    if (c->sequence_parallel && !plain)
        return err_set(e, VRAM_EUNSUPPORTED, (struct err_pos){0},
                       "sequence_parallel is modelled for dense models with whole logits in eager "
                       "training only");
    if (c->n_head % tp != 0 || c->n_inner % tp != 0)
        return MODEL_BAD(e, "tensor_parallel = %u does not divide n_head = %u and n_inner = %u", tp,
                         c->n_head, c->n_inner);
    if (c->pipeline_parallel > c->n_layer)
        return MODEL_BAD(e, "pipeline_parallel = %u: there are only %u layers",
                         c->pipeline_parallel, c->n_layer);
    return VRAM_OK;
}

// What a run of one kind cannot be combined with.
static int model_check_support(const struct vram_config *c, struct err *e)
{
    struct err_pos none = {0};
    if (c->compile && c->checkpointing)
        return err_set(e, VRAM_EUNSUPPORTED, none,
                       "compile with checkpointing is not modelled: set one of them to none");
    if (c->compile && c->dtype == DTYPE_BFLOAT16_PURE)
        return err_set(e, VRAM_EUNSUPPORTED, none,
                       "compile with dtype=bfloat16_pure is not modelled: set compile=none");
    if (c->compile && c->n_gpu > 1 && c->parallel >= PARALLEL_ZERO3)
        return err_set(e, VRAM_EUNSUPPORTED, none, "compile with zero3 or fsdp is not modelled: set compile=none");
    if (c->compile && c->family != FAMILY_GPT2)
        return err_set(e, VRAM_EUNSUPPORTED, none, "compile is modelled for family=gpt2 only: set compile=none");
    if (c->compile && c->lora_rank)
        return err_set(e, VRAM_EUNSUPPORTED, none, "compile with lora_rank is not modelled: set compile=none");
    if (c->compile && c->cross_entropy != CROSS_ENTROPY_EAGER)
        return err_set(e, VRAM_EUNSUPPORTED, none,
                       "compile is modelled with cross_entropy=eager only: set one of them to none or eager");
    if (c->pipeline_parallel > 1 && (c->compile || c->parallel >= PARALLEL_ZERO2))
        return err_set(e, VRAM_EUNSUPPORTED, none,
                       "pipeline_parallel with compile, zero2, zero3 or fsdp is not modelled");
    bool gathers = c->n_gpu > 1 && c->parallel >= PARALLEL_ZERO3;
    if (c->checkpointing && !c->use_reentrant && (c->pipeline_parallel > 1 || gathers))
        return err_set(e, VRAM_EUNSUPPORTED, none,
                       "use_reentrant=false with pipeline_parallel, zero3 or fsdp is not modelled: set use_reentrant=true");
    if (c->pipeline_parallel > 1 && c->task == TASK_INFERENCE)
        return err_set(e, VRAM_EUNSUPPORTED, none,
                       "pipeline_parallel in inference is not modelled");
    if (c->compile && c->attention == ATTENTION_MATH)
        return err_set(e, VRAM_EUNSUPPORTED, none, "compile with attention=math is not modelled: set compile=none");
    return VRAM_OK;
}

static void model_add(struct model *m, const struct layout_param *p, uint64_t times)
{
    uint64_t n = size_mul(times, size_mul(p->rows, p->cols ? p->cols : 1));
    m->params = size_add(m->params, n);
    m->tensors += times;
    if (p->trained)
        m->trained_params = size_add(m->trained_params, n);
    if (p->matrix) {
        m->decayed_params = size_add(m->decayed_params, n);
        m->decayed_tensors += times;
    } else {
        m->nodecay_params = size_add(m->nodecay_params, n);
        m->nodecay_tensors += times;
    }
}

static void model_count(struct model *m)
{
    struct layout l;
    layout_make(&l, m);
    for (unsigned i = 0; i < l.before_count; i++)
        model_add(m, &l.before[i], 1);
    for (unsigned i = 0; i < l.block_count; i++)
        model_add(m, &l.block[i], m->c.n_layer);
    for (unsigned i = 0; i < l.after_count; i++)
        model_add(m, &l.after[i], 1);
    m->block_tensors = l.block_count;
    m->reported_params = m->params;
    if (m->features & HAS_POSITIONS)
        m->reported_params -= m->c.block_size * m->c.n_embd;
    if (m->c.attention == ATTENTION_MATH &&
        m->c.family == FAMILY_GPT2)  // nanoGPT registers a mask in every block
        m->buffer_bytes = size_mul3(4 * m->c.n_layer, m->c.block_size, m->c.block_size);
}

int model_make(struct model *m, const struct vram_config *c, struct err *e)
{
    mem_zero(m, sizeof *m);
    m->c = *c;
    m->features = model_features[c->family];
    m->first = m->last = true;
    m->in_flight = 1;
    model_resolve(&m->c);
    int rc = model_check_heads(&m->c, e);
    if (rc == VRAM_OK)
        rc = model_check_run(&m->c, e);
    if (rc == VRAM_OK)
        rc = model_check_parallel(&m->c, e);
    if (rc == VRAM_OK)
        rc = model_check_support(&m->c, e);
    if (rc != VRAM_OK)
        return rc;
    m->tokens = size_mul(m->c.batch_size, m->c.seq_len);
    model_count(m);
    if (!size_ok(m->params) || !size_ok(m->tokens) || m->params > SIZE_LIMIT / 64 ||
        !size_ok(m->buffer_bytes))
        return err_set(e, VRAM_EOVERFLOW, (struct err_pos){0},
                       "the model is larger than any memory: more than 2^53 bytes");
    return VRAM_OK;
}

static bool model_param_from(const struct layout_param *p, int32_t block, struct model_param *out)
{
    *out = (struct model_param){(uint16_t)(p->role << 6 | p->part), block, p->rows, p->cols,
                                p->trained};
    return true;
}

bool model_param_at(const struct model *m, uint64_t index, struct model_param *out)
{
    struct layout l;
    layout_make(&l, m);
    if (index < l.before_count)
        return model_param_from(&l.before[index], -1, out);
    index -= l.before_count;
    if (index < l.block_count * m->c.n_layer)
        return model_param_from(&l.block[index % l.block_count], (int32_t)(index / l.block_count),
                                out);
    index -= l.block_count * m->c.n_layer;
    return index < l.after_count && model_param_from(&l.after[index], -1, out);
}
