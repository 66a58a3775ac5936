// Owns the parameter tensors of attention, in its forms, and of what some layers have in its place.

#include "calc/model/layout.h"

#include "calc/model/names.h"

// A norm within attention.
static void layout_inner_norm(struct layout *l, const struct model *m, uint16_t number,
                              uint8_t role, shape_id shape, uint64_t rows)
{
    layout_block(l, layout_norm_trained(m),
                 (struct layout_row){number, role, PART_WEIGHT, shape, rows, 0});
}

// Multi-head latent attention. SRC: transformers models/deepseek_v3/modeling_deepseek_v3.py,
// DeepseekV3Attention.
static void layout_latent(struct layout *l, const struct model *m)
{
    const struct vram_config *v = &m->c;
    uint64_t c = v->n_embd, q = v->n_head * v->head_dim, values = v->n_head * v->v_head_dim, in = c;
    uint64_t wide = v->n_head * (v->qk_nope_head_dim + v->v_head_dim);
    if (v->q_lora_rank) {
        in = v->q_lora_rank;
        layout_linear(l, m, (struct layout_row){P_Q_A, ROLE_Q_A, PART_WEIGHT, SHAPE_W_Q_A, in, c},
                      0);
        layout_inner_norm(l, m, P_Q_A_NORM, ROLE_Q_A_NORM, SHAPE_Q_A, in);
    }
    layout_linear(l, m,
                  (struct layout_row){P_Q, ROLE_Q, PART_WEIGHT,
                                      v->q_lora_rank ? SHAPE_W_Q_B : SHAPE_W_Q, q, in},
                  0);
    layout_linear(l, m,
                  (struct layout_row){P_KV_A, ROLE_KV_A, PART_WEIGHT, SHAPE_W_KV_A,
                                      v->kv_lora_rank + v->qk_rope_head_dim, c},
                  0);
    layout_inner_norm(l, m, P_KV_A_NORM, ROLE_KV_A_NORM, SHAPE_KV_A, v->kv_lora_rank);
    layout_linear(
        l, m,
        (struct layout_row){P_KV_B, ROLE_KV_B, PART_WEIGHT, SHAPE_W_KV_B, wide, v->kv_lora_rank},
        0);
    layout_linear(
        l, m, (struct layout_row){P_O, ROLE_ATTN_PROJ, PART_WEIGHT, SHAPE_W_VALUES, c, values}, 0);
}

// With gates of attention's result beside them, or alone.
static struct layout_row layout_queries(const struct model *m, uint64_t q, uint64_t c)
{
#ifndef VRAM_SMALL
    if (m->features & HAS_DELTA_RULE)
        return (struct layout_row){P_Q, ROLE_Q, PART_WEIGHT, SHAPE_W_Q_GATED, 2 * q, c};
#endif
    (void)m;
    return (struct layout_row){P_Q, ROLE_Q, PART_WEIGHT, SHAPE_W_Q, q, c};
}

void layout_attention(struct layout *l, const struct model *m)
{
    if (m->features & HAS_LATENT) {
        layout_latent(l, m);
        return;
    }
    uint64_t q = m->c.n_head * m->c.head_dim, k = m->c.n_kv_head * m->c.head_dim, c = m->c.n_embd;
    bool all = m->c.bias || (m->features & HAS_ALL_BIASES);
    bool bare = m->features & HAS_BARE_ATTENTION;
    bool some = (all && !bare) || m->c.attention_bias || (m->features & HAS_QKV_BIAS);
    if (m->features & HAS_FUSED_QKV) {
        layout_linear(
            l, m, (struct layout_row){P_QKV, ROLE_ATTN_QKV, PART_WEIGHT, SHAPE_W_QKV, q + 2 * k, c},
            some ? SHAPE_B_QKV : 0);
    } else {
        layout_linear(l, m, layout_queries(m, q, c), some ? SHAPE_B_Q : 0);
        layout_linear(l, m, (struct layout_row){P_K, ROLE_K, PART_WEIGHT, SHAPE_W_KV, k, c},
                      some ? SHAPE_B_KV : 0);
        layout_linear(l, m, (struct layout_row){P_V, ROLE_V, PART_WEIGHT, SHAPE_W_KV, k, c},
                      some ? SHAPE_B_KV : 0);
    }
    if (m->features & HAS_WIDE_NORM) {
        layout_inner_norm(l, m, P_Q_NORM, ROLE_Q_NORM, SHAPE_B_Q, q);
        layout_inner_norm(l, m, P_K_NORM, ROLE_K_NORM, SHAPE_B_KV, k);
    }
    if (m->features & HAS_HEAD_NORM) {
        layout_inner_norm(l, m, P_Q_NORM, ROLE_Q_NORM, SHAPE_HEAD, m->c.head_dim);
        layout_inner_norm(l, m, P_K_NORM, ROLE_K_NORM, SHAPE_HEAD, m->c.head_dim);
    }
    bool sinks = m->features & HAS_SINKS;
    bool output = m->c.attention_bias && !(m->features & HAS_BARE_OUTPUT);
    layout_linear(l, m, (struct layout_row){P_O, ROLE_ATTN_PROJ, PART_WEIGHT, SHAPE_W_Q, c, q},
                  (all && !(bare && (m->features & HAS_BARE_OUTPUT))) || sinks || output ? SHAPE_C
                                                                                         : 0);
    if (sinks)
        layout_block(
            l, m->c.lora_rank == 0,
            (struct layout_row){P_SINKS, ROLE_SINKS, PART_WEIGHT, SHAPE_HEADS, m->c.n_head, 0});
}

#ifndef VRAM_SMALL
// The delta rule's projections: four, or two of them by groups of heads.
static void layout_delta_linear(struct layout *l, const struct model *m)
{
    uint64_t c = m->c.n_embd, h = m->c.linear_num_value_heads, v = h * m->c.linear_value_head_dim;
    uint64_t k = m->c.linear_num_key_heads * m->c.linear_key_head_dim;
    const struct layout_row apart[] = {
        {P_DELTA_OUT, ROLE_ATTN_PROJ, PART_WEIGHT, SHAPE_W_DELTA_V, c, v},
        {P_DELTA_QKV, ROLE_ATTN_QKV, PART_WEIGHT, SHAPE_W_DELTA_QKV, 2 * k + v, c},
        {P_DELTA_Z, ROLE_DELTA_GATE, PART_WEIGHT, SHAPE_W_DELTA_V, v, c},
        {P_DELTA_B, ROLE_DELTA_RATE, PART_WEIGHT, SHAPE_W_DELTA_H, h, c},
        {P_DELTA_A, ROLE_DELTA_DECAY, PART_WEIGHT, SHAPE_W_DELTA_H, h, c},
    };
    const struct layout_row joined[] = {
        {P_DELTA_QKV, ROLE_ATTN_QKV, PART_WEIGHT, SHAPE_W_DELTA_QKVZ, 2 * (k + v), c},
        {P_DELTA_B, ROLE_DELTA_RATE, PART_WEIGHT, SHAPE_W_DELTA_BA, 2 * h, c},
        {P_DELTA_OUT, ROLE_ATTN_PROJ, PART_WEIGHT, SHAPE_W_DELTA_V, c, v},
    };
    bool join = model_joins_delta(m);
    size_t count = join ? sizeof joined / sizeof *joined : sizeof apart / sizeof *apart;
    for (size_t i = 0; i < count; i++)
        layout_linear(l, m, join ? joined[i] : apart[i], 0);
}

// SRC: transformers models/{qwen3_5,qwen3_next}/modeling_*.py, GatedDeltaNet.__init__.
static void layout_delta(struct layout *l, const struct model *m)
{
    bool full = m->c.lora_rank == 0;
    uint64_t h = m->c.linear_num_value_heads, all = h * m->c.linear_value_head_dim;
    all += 2 * m->c.linear_num_key_heads * m->c.linear_key_head_dim;
    const struct layout_row own[] = {
        {P_DELTA_CONV, ROLE_DELTA_CONV, PART_WEIGHT, SHAPE_W_DELTA_CONV, all,
         m->c.linear_conv_kernel_dim},
        {P_DELTA_DT, ROLE_DELTA_DECAY, PART_BIAS, SHAPE_DELTA_HEADS, h, 0},
        {P_DELTA_LOG, ROLE_DELTA_DECAY, PART_WEIGHT, SHAPE_DELTA_HEADS, h, 0},
        {P_DELTA_NORM, ROLE_DELTA_NORM, PART_WEIGHT, SHAPE_DELTA_HEAD, m->c.linear_value_head_dim,
         0},
    };
    for (unsigned i = 0; i < sizeof own / sizeof *own; i++)
        layout_block(l, full, own[i]);
    layout_delta_linear(l, m);
}
#endif

#ifndef VRAM_SMALL
// Of layers with a window, or of the others. SRC: transformers models/gemma4/modeling_gemma4.py,
// Gemma4TextAttention.__init__.
static void layout_attention_of(struct layout *l, const struct model *m, bool global)
{
    uint64_t c = m->c.n_embd, d = global ? m->c.global_head_dim : m->c.head_dim;
    uint64_t q = m->c.n_head * d, k = (global ? model_global_keys(&m->c) : m->c.n_kv_head) * d;
    shape_id head = global ? SHAPE_G_HEAD : SHAPE_HEAD;
    shape_id wide = global ? SHAPE_W_G_Q : SHAPE_W_Q, narrow = global ? SHAPE_W_G_KV : SHAPE_W_KV;
    const struct layout_row row[] = {
        {global ? P_GLOBAL_Q : P_Q, ROLE_Q, PART_WEIGHT, wide, q, c},
        {global ? P_GLOBAL_K : P_K, ROLE_K, PART_WEIGHT, narrow, k, c},
        {global ? P_GLOBAL_V : P_V, ROLE_V, PART_WEIGHT, narrow, k, c},
        {global ? P_GLOBAL_O : P_O, ROLE_ATTN_PROJ, PART_WEIGHT, wide, c, q},
    };
    uint8_t all = global ? LAYERS_ATTENDING : LAYERS_DELTA;
    uint8_t own = global ? LAYERS_ATTENDING_OWN : LAYERS_DELTA_OWN;
    for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
        l->layers = i == 1 || i == 2 ? own : all;
        if (!(global && i == 2 && model_keys_are_values(&m->c)))
            layout_linear(l, m, row[i], 0);
        if (i > 0)
            continue;
        layout_inner_norm(l, m, global ? P_GLOBAL_Q_NORM : P_Q_NORM, ROLE_Q_NORM, head, d);
        l->layers = own;
        layout_inner_norm(l, m, global ? P_GLOBAL_K_NORM : P_K_NORM, ROLE_K_NORM, head, d);
    }
    l->layers = LAYERS_ALL;
}
#endif

// Attention, beside what other layers have in its place.
void layout_mixers(struct layout *l, const struct model *m)
{
#ifndef VRAM_SMALL
    if (m->features & HAS_GLOBAL_HEADS) {
        layout_attention_of(l, m, false);
        layout_attention_of(l, m, true);
        return;
    }
    if (m->features & HAS_DELTA_RULE) {
        l->layers = LAYERS_DELTA;
        layout_delta(l, m);
        l->layers = LAYERS_ATTENDING;
    }
#endif
    layout_attention(l, m);
    l->layers = LAYERS_ALL;
}
