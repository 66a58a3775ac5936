// The same configuration by other people's formulas, beside the step that is run here.

#include "calc/answer/answers.h"
#include "calc/base/size.h"
#include "calc/model/model_make.h"

enum { GIB_HUNDREDTH = 100 };

// What the formulas are made of.
struct sizes {
    uint64_t P, decayed, B, T, C, L, H, K, D, F, V;
    bool low;    // mixed precision
    bool gated;  // three matrices in the feed-forward part
    bool rms;    // norms without bias
    bool tied;
};

static struct sizes sizes_of(const struct model *m)
{
    const struct vram_config *c = &m->c;
    bool plain = c->family == FAMILY_GPT2 || c->family == FAMILY_GPT_NEOX;
    struct sizes s = {m->params,
                      m->decayed_params,
                      c->batch_size,
                      config_longest(c),
                      c->n_embd,
                      c->n_layer,
                      c->n_head,
                      c->n_kv_head ? c->n_kv_head : c->n_head,
                      c->head_dim ? c->head_dim : c->n_embd / c->n_head,
                      c->n_inner ? c->n_inner : 4 * c->n_embd,
                      c->vocab_size,
                      c->dtype != DTYPE_FLOAT32,
                      !plain,
                      !plain,
                      c->tie_embeddings != 0};
    return s;
}

// The documents' rule: two bytes a parameter, two for its gradient, eight for Adam, and 160 times
// batch x sequence x width x layers in two bytes, a factor fitted to one total of nvidia-smi.
static uint64_t rule_x160(const struct sizes *s)
{
    uint64_t state = size_add(size_mul(4, s->P), size_mul(8, s->decayed));
    return size_add(state, size_mul(320, size_mul3(size_mul(s->B, s->T), s->C, s->L)));
}

// SRC: EleutherAI/cookbook, calc/calc_transformer_mem.py at 827ee3b, with --misc-mem-gib 0. Two
// embeddings, 2 (or 4) + 4 + 12 bytes a parameter, 34 bytes a token and channel and 5 a score of
// attention; printed to 0.01 GiB.
static uint64_t rule_eleuther(const struct sizes *s)
{
    uint64_t matrix = size_mul(s->C, s->C), tokens = size_mul(s->B, s->T);
    uint64_t attention = size_mul3(2, s->L, matrix);
    uint64_t params = size_mul3(2, s->V, s->C);
    params = size_add(params, size_mul(s->C, s->T));
    params = size_add(params, size_add(size_mul3(8, s->C, s->L), 2 * s->C));
    params =
        size_add(params, size_ok(attention) ? size_mul(attention, s->H + s->K) / s->H : SIZE_BAD);
    params = size_add(params, size_mul(s->gated ? 3 : 2, size_mul3(s->L, s->C, s->F)));
    uint64_t bytes = size_mul(params, s->low ? 18 : 20);
    uint64_t channel = size_add(size_mul(34, s->C), size_mul3(5, s->H, s->T));
    bytes = size_add(bytes, size_mul3(tokens, s->L, channel));
    if (!size_ok(bytes))
        return SIZE_BAD;
    const uint64_t gib = (uint64_t)1 << 30;
    uint64_t whole = bytes / gib, hundredths = (bytes % gib * GIB_HUNDREDTH + gib / 2) / gib;
    return whole * gib + hundredths * gib / GIB_HUNDREDTH;
}

// SRC: huggingface/accelerate at 16cb6eb8, estimate_training_usage: the largest of what loading,
// backward and the optimizer's step hold, for a batch of one without activations: 8 bytes a
// parameter in half precision, else 16.
static uint64_t rule_accelerate(const struct sizes *s)
{
    return size_mul(s->low ? 8 : 16, s->P);
}

// SRC: NVIDIA/Megatron-LM at d98e8a64, theoretical_memory_usage.py with sequence parallelism: 18
// bytes a parameter, 18 + 4 F / C bytes a token, channel and layer, 4 a logit once. No position
// table.
static uint64_t rule_megatron(const struct sizes *s)
{
    uint64_t norm = s->rms ? 1 : 2, tokens = size_mul(s->B, s->T);
    uint64_t layer = size_add(size_mul3(s->C, s->F, s->gated ? 3 : 2), 2 * s->C * norm);
    layer = size_add(layer, size_mul3(2 * s->C, s->D, s->H + s->K));
    uint64_t params = size_add(size_mul(layer, s->L), norm * s->C);
    params = size_add(params, size_mul3(s->tied ? 1 : 2, s->V, s->C));
    uint64_t token = size_mul(s->L, size_add(18 * s->C, 4 * s->F));
    token = size_add(token, 8 + s->C);
    token = size_add(token, size_mul(4, s->C + s->V));
    return size_add(size_mul(18, params), size_mul(tokens, token));
}

static const struct rule {
    const char *id, *name;
    message_id because;
    uint64_t (*bytes)(const struct sizes *s);
} RULES[COMPARE_FORMULAS] = {
    {"x160", "rule of thumb, x160", MESSAGE_formula_x160, rule_x160},
    {"eleutherai", "EleutherAI cookbook", MESSAGE_formula_eleutherai, rule_eleuther},
    {"accelerate", "accelerate estimate-memory", MESSAGE_formula_accelerate, rule_accelerate},
    {"megatron", "Megatron-LM report", MESSAGE_formula_megatron, rule_megatron},
};

// (theirs - ours) / ours in tenths of a percent, rounded away from zero at the half.
static int64_t difference(uint64_t theirs, uint64_t ours)
{
    bool more = theirs >= ours;
    uint64_t gap = more ? theirs - ours : ours - theirs;
    uint64_t n = ours ? (gap * 1000 + ours / 2) / ours : 0;  // gap is below 2^53
    return more ? (int64_t)n : -(int64_t)n;
}

static struct vram_formula formula_of(const struct rule *r, const struct sizes *s, uint64_t ours)
{
    uint64_t bytes = r->bytes(s);
    bool fits = size_ok(bytes);
    return (struct vram_formula){
        r->id, r->name, !fits, fits ? bytes : 0, fits ? difference(bytes, ours) : 0, r->because};
}

int vram_compare(vram *v, const struct vram_comparison **out)
{
    struct model m;
    int rc = vram_check(v) == VRAM_OK ? model_make(&m, &v->config, &v->err) : v->err.out.code;
    if (rc == VRAM_OK && !v->has_result)
        rc = vram_run(v);
    struct answers *a = rc == VRAM_OK ? answers_of(v) : NULL;
    if (!a)
        return v->err.out.code;
    struct sizes s = sizes_of(&m);
    for (size_t i = 0; i < COMPARE_FORMULAS; i++)
        a->formulas[i] = formula_of(&RULES[i], &s, v->result.peak_live.bytes);
    a->comparison =
        (struct vram_comparison){v->result.peak_live.bytes, a->formulas, COMPARE_FORMULAS, NULL, 0};
    rc = answers_note(a, VRAM_ANSWER_COMPARISON, v, &a->comparison);
    a->has_comparison = rc == VRAM_OK;
    *out = &a->comparison;
    return rc;
}
