// Owns the parameter tensors that Gemma 3n's and Gemma 4's layers have beside attention:
// feed-forward parts of two widths, what an embedding of its own gives to a layer, several streams.
#ifndef VRAM_SMALL

#include "calc/model/layout.h"

#include "calc/model/names.h"

// Layers without keys and values of their own may have wider ones. SRC: transformers
// models/gemma4/modeling_gemma4.py, Gemma4TextMLP.__init__.
void layout_mlps(struct layout *l, const struct model *m)
{
    uint64_t c = m->c.n_embd, f = 2 * m->c.n_inner;
    const struct layout_row wide[] = {
        {P_WIDE_GATE, ROLE_GATE, PART_WEIGHT, SHAPE_W_FF2, f, c},
        {P_WIDE_UP, ROLE_UP, PART_WEIGHT, SHAPE_W_FF2, f, c},
        {P_WIDE_DOWN, ROLE_MLP_PROJ, PART_WEIGHT, SHAPE_W_FF2, c, f},
    };
    bool two = m->c.num_kv_shared_layers && m->c.use_double_wide_mlp;
    l->layers = two ? LAYERS_OWN : LAYERS_ALL;
    layout_mlp(l, m);
    l->layers = LAYERS_SHARING;
    for (unsigned i = 0; two && i < sizeof wide / sizeof *wide; i++)
        layout_linear(l, m, wide[i], 0);
    l->layers = LAYERS_ALL;
}

// SRC: transformers models/gemma4/modeling_gemma4.py, Gemma4TextDecoderLayer.__init__.
void layout_layer_input(struct layout *l, const struct model *m)
{
    uint64_t c = m->c.n_embd, p = m->c.hidden_size_per_layer_input;
    const struct layout_row row[] = {
        {P_INPUT_GATE, ROLE_LAYER_INPUT, PART_WEIGHT, SHAPE_W_LAYER_INPUT, p, c},
        {P_INPUT_PROJECT, ROLE_LAYER_INPUT, PART_WEIGHT, SHAPE_W_LAYER_INPUT, c, p},
    };
    for (unsigned i = 0; p && i < sizeof row / sizeof *row; i++)
        layout_linear(l, m, row[i], 0);
    if (p)
        layout_norm(l, m, P_INPUT_NORM, ROLE_LAYER_INPUT);
}

// Experts beside a dense part. SRC: transformers models/gemma4/modeling_gemma4.py
// (Gemma4TextRouter, Gemma4TextExperts, Gemma4TextDecoderLayer.__init__).
void layout_beside(struct layout *l, const struct model *m)
{
    static const uint16_t norms[] = {P_DENSE_POST, P_EXPERTS_PRE, P_EXPERTS_POST};
    bool full = m->c.lora_rank == 0;
    uint64_t e = m->c.n_expert, c = m->c.n_embd;
    if (!e)
        return;
    layout_linear(l, m,
                  (struct layout_row){P_ROUTER, ROLE_ROUTER, PART_WEIGHT, SHAPE_W_ROUTER, e, c}, 0);
    layout_block(l, full,
                 (struct layout_row){P_ROUTER_SCALE, ROLE_ROUTER, PART_WEIGHT, SHAPE_C, c, 0});
    layout_block(
        l, full,
        (struct layout_row){P_EXPERT_SCALE, ROLE_ROUTER, PART_WEIGHT, SHAPE_EXPERTS, e, 0});
    layout_experts_grouped(l, m);
    for (unsigned i = 0; i < sizeof norms / sizeof *norms; i++)
        layout_norm(l, m, norms[i], ROLE_EXPERTS);
}

// SRC: transformers models/gemma3n/modeling_gemma3n.py (Gemma3nTextAltUp, Gemma3nTextLaurelBlock).
void layout_streams(struct layout *l, const struct model *m)
{
    uint64_t c = m->c.n_embd, n = MODEL_STREAMS, r = m->c.laurel_rank;
    const struct layout_row row[] = {
        {P_STREAM_CORRECT, ROLE_STREAMS, PART_WEIGHT, SHAPE_W_STREAM, n, n},
        {P_STREAM_PREDICT, ROLE_STREAMS, PART_WEIGHT, SHAPE_W_STREAMS, n * n, n},
        {P_STREAM_ROUTER, ROLE_STREAMS, PART_WEIGHT, SHAPE_W_ROUTER, n, c},
        {P_LAUREL_LEFT, ROLE_LAUREL, PART_WEIGHT, SHAPE_W_LAUREL, r, c},
        {P_LAUREL_RIGHT, ROLE_LAUREL, PART_WEIGHT, SHAPE_W_LAUREL, c, r},
    };
    if (!model_has_streams(m))
        return;
    for (unsigned i = 0; i < sizeof row / sizeof *row; i++)
        layout_linear(l, m, row[i], 0);
    layout_block(l, m->c.lora_rank == 0,
                 (struct layout_row){P_STREAM_SCALE, ROLE_STREAMS, PART_WEIGHT, SHAPE_C, c, 0});
    layout_norm(l, m, P_STREAM_NORM, ROLE_STREAMS);
    layout_norm(l, m, P_LAUREL_NORM, ROLE_LAUREL);
}

#endif
