// Owns what keys of a config.json say together, or of one family alone, once all have been read.

#include "calc/parse/hf_conclude.h"

#include "calc/base/text.h"
#include "calc/model/model.h"

int hf_not_modelled(struct parse *p, const struct entry *e)
{
    return err_set(
        &p->v->err, MESSAGE_not_modelled, e->value_pos, NO_FIELD,
        ARGS(arg_part("key", e->key.at, e->key.len), arg_part("value", e->value.at, e->value.len)));
}

// What Falcon's three keys say of heads and norms together: num_kv_heads counts with
// new_decoder_architecture or without multi_query, two norms come with the former. SRC:
// transformers models/falcon/modeling_falcon.py, FalconAttention, FalconDecoderLayer;
// configuration_falcon.py.
static void conclude_falcon(struct parse *p)
{
    struct vram_config *c = &p->v->config;
    struct entry e;
    bool grouped = false, one = true, said = false, norms = false;
    parse_rewind(p);
    while (parse_entry(p, &e)) {
        if (span_is(e.key, "new_decoder_architecture"))
            grouped = span_is(e.value, "true");
        if (span_is(e.key, "multi_query"))
            one = span_is(e.value, "true");
        said = said || (span_is(e.key, "num_kv_heads") && !span_is(e.value, "null"));
        norms = norms || (span_is(e.key, "num_ln_in_parallel_attn") && !span_is(e.value, "null"));
    }
    if (!grouped)
        c->n_kv_head = one ? 1 : c->n_head;
    else if (!said)
        c->n_kv_head = c->n_head;
    if (!norms)
        c->parallel_norms = grouped ? 2 : 1;
}

// The width of all shared experts together, in experts. SRC: transformers
// models/qwen2_moe/modeling_qwen2_moe.py, Qwen2MoeSparseMoeBlock.
static int conclude_shared(struct parse *p)
{
    struct vram_config *c = &p->v->config;
    struct entry e;
    parse_rewind(p);
    while (parse_entry(p, &e)) {
        uint64_t width;
        bool overflow;
        if (!span_is(hf_inner(e.key), "shared_expert_intermediate_size"))
            continue;
        if (!text_to_u64(e.value.at, e.value.len, &width, &overflow) || c->expert_inner == 0 ||
            width % c->expert_inner != 0)
            return hf_not_modelled(p, &e);
        c->n_shared_experts = width / c->expert_inner;
    }
    return VRAM_OK;
}

// OPT 350M has an embedding of half the width and projections behind it and before its head; with
// norms before the branches no published model has one. SRC: transformers
// models/opt/modeling_opt.py, OPTDecoder (project_in, project_out).
static int conclude_width(struct parse *p)
{
    struct entry e;
    if (p->v->config.family == FAMILY_OPT_LATE)
        return VRAM_OK;
    parse_rewind(p);
    while (parse_entry(p, &e)) {
        uint64_t width;
        bool overflow;
        if (span_is(e.key, "word_embed_proj_dim") && !span_is(e.value, "null") &&
            !(text_to_u64(e.value.at, e.value.len, &width, &overflow) &&
              width == p->v->config.n_embd))
            return hf_not_modelled(p, &e);
    }
    return VRAM_OK;
}

// GPT-J's, CodeGen's and MiniMax-M2's file says how many numbers of a head are turned.
static int conclude_turned(struct parse *p)
{
    struct vram_config *c = &p->v->config;
    struct entry e;
    uint64_t turned;
    bool overflow;
    if ((c->family != FAMILY_GPTJ && c->family != FAMILY_CODEGEN &&
         c->family != FAMILY_MINIMAX_M2) ||
        !c->n_head)
        return VRAM_OK;
    uint64_t head = c->head_dim ? c->head_dim : c->n_embd / c->n_head;
    parse_rewind(p);
    while (parse_entry(p, &e)) {
        if (!span_is(e.key, "rotary_dim"))
            continue;
        if (!text_to_u64(e.value.at, e.value.len, &turned, &overflow) || turned == 0 ||
            turned > head)
            return hf_not_modelled(p, &e);
        c->partial_rotary_factor = (turned * 1000000 + head - 1) / head;
    }
    return VRAM_OK;
}

// How many layers of a list of their kinds are of one kind; *all: how many there are.
static uint64_t count_kind(struct span list, const char *kind, uint64_t *all)
{
    uint64_t found = 0;
    for (*all = 0; list.len; ++*all) {
        size_t comma = span_find(list, ",");
        found +=
            span_is(span_trim((struct span){list.at, comma < list.len ? comma : list.len}), kind);
        list = span_skip(list, comma < list.len ? comma + 1 : list.len);
    }
    return found;
}

static bool attention_alone(struct span list)
{
    uint64_t all, some = count_kind(list, "attention", &all);
    return all > 0 && some + count_kind(list, "full_attention", &all) == all;
}

// Where the file lists its layers: none has a window, each has one, or all but every so manieth.
// SRC: transformers 5.23 models/{ministral,cwm,mellum}/modular_*.py, layer_types.
static void conclude_layers(struct parse *p)
{
    struct vram_config *c = &p->v->config;
    struct entry e;
    parse_rewind(p);
    while (parse_entry(p, &e)) {
        uint64_t all, windows = count_kind(e.value, "sliding_attention", &all),
                      whole = all - windows;
        if (!span_is(hf_inner(e.key), "layer_types") || all == 0)
            continue;
        if (windows == 0 && count_kind(e.value, "full_attention", &all) == all)
            c->sliding_window = 0;
        else if (whole == 0)
            c->sliding_window_pattern = 0;
        else if (windows && all / (all / whole) == whole)
            c->sliding_window_pattern = all / whole;
    }
}

// Of Mellum every layer has experts. What guesses a second token is not loaded. SRC: transformers
// 5.23 models/mellum/modeling_mellum.py (_keys_to_ignore_on_load_unexpected).
static int conclude_mellum(struct parse *p)
{
    struct entry e;
    bool mellum = false;
    uint64_t all;
    parse_rewind(p);
    while (parse_entry(p, &e))
        mellum = mellum || (span_is(e.key, "model_type") && span_is(e.value, "mellum"));
    parse_rewind(p);
    while (mellum && parse_entry(p, &e)) {
        if (span_is(e.key, "mlp_layer_types") && count_kind(e.value, "sparse", &all) != all)
            return hf_not_modelled(p, &e);
    }
    return VRAM_OK;
}

// Of Granite 4.0 those whose layers are all attention, with positions, are modelled; without a list
// no layer is. SRC: transformers 5.23 models/granitemoehybrid/configuration_granitemoehybrid.py,
// GraniteMoeHybridConfig.__post_init__.
static int conclude_granite(struct parse *p)
{
    struct entry e, type = {{NULL, 0}, {NULL, 0}, NO_POS, NO_POS}, inner = type;
    bool attention = false, positions = false;
    if (p->v->config.family != FAMILY_GRANITE4)
        return VRAM_OK;
    parse_rewind(p);
    while (parse_entry(p, &e)) {
        if (span_is(e.key, "model_type"))
            type = e;
        if (span_is(e.key, "shared_intermediate_size"))
            inner = e;
        positions =
            positions || (span_is(e.key, "position_embedding_type") && span_is(e.value, "rope"));
        if (!span_is(e.key, "layer_types"))
            continue;
        attention = attention_alone(e.value);
    }
    inner.key = span_of("n_inner");
    if (!attention || !positions)
        return hf_not_modelled(p, &type);
    return inner.value.len ? parse_set_entry(p, &inner) : VRAM_OK;
}

// Whether of a list of layers' kinds every so manieth sees all, and no other.
static bool ends_whole(struct span list, uint64_t pattern)
{
    bool fits = true;
    for (uint64_t layer = 1; list.len && fits; layer++) {
        size_t comma = span_find(list, ",");
        struct span one = span_trim((struct span){list.at, comma < list.len ? comma : list.len});
        fits = span_is(one, "full_attention") == (layer % pattern == 0);
        list = span_skip(list, comma < list.len ? comma + 1 : list.len);
    }
    return fits;
}

// Gemma 4's class has no cap on its logits unless a file says one, and its last layer sees all.
// SRC: transformers 5.23 models/gemma4/configuration_gemma4.py, Gemma4TextConfig.
static int conclude_gemma4(struct parse *p)
{
    struct vram_config *c = &p->v->config;
    struct entry e, type = {{NULL, 0}, {NULL, 0}, NO_POS, NO_POS};
    bool capped = false, experts = false;
    bool whole = c->sliding_window && c->sliding_window_pattern > 1 &&
                 c->n_layer % c->sliding_window_pattern == 0;
    if (c->family != FAMILY_GEMMA4 && c->family != FAMILY_GEMMA4_KEYS)
        return VRAM_OK;
    parse_rewind(p);
    while (parse_entry(p, &e)) {
        struct span key = hf_inner(e.key);
        if (span_is(key, "model_type"))
            type = e;
        if (span_is(key, "layer_types"))
            whole = whole && ends_whole(e.value, c->sliding_window_pattern);
        experts = experts || (span_is(key, "enable_moe_block") && span_is(e.value, "true"));
        capped = capped || (span_is(key, "final_logit_softcapping") && !span_is(e.value, "null"));
    }
    if (!experts)
        c->n_expert = 0;
    return capped && whole ? VRAM_OK : hf_not_modelled(p, &type);
}

// Which layers' gates let few activations pass: the first ones of a list, or of those of the class.
// SRC: transformers 5.23 models/gemma3n/configuration_gemma3n.py, Gemma3nTextConfig.__post_init__.
static int conclude_gemma3n(struct parse *p)
{
    enum { SPARSE = 10 };
    struct vram_config *c = &p->v->config;
    struct entry e;
    if (c->family != FAMILY_GEMMA3N)
        return VRAM_OK;
    c->n_sparse_layers = c->n_layer > SPARSE ? SPARSE : 0;
    parse_rewind(p);
    while (parse_entry(p, &e)) {
        struct span key = hf_inner(e.key), list = e.value;
        uint64_t layer = 0, few = 0;
        if (span_is(key, "final_logit_softcapping") && span_is(e.value, "null"))
            return hf_not_modelled(p, &e);
        if (!span_is(key, "activation_sparsity_pattern") || span_is(e.value, "null"))
            continue;
        for (; list.len; layer++) {
            size_t comma = span_find(list, ",");
            struct span one = span_trim((struct span){list.at, comma});
            bool dense = span_is(one, "0.0") || span_is(one, "0");
            if (!dense && few++ < layer)
                return hf_not_modelled(p, &e);
            list = span_skip(list, comma < list.len ? comma + 1 : list.len);
        }
        c->n_sparse_layers = few;
    }
    return VRAM_OK;
}

// Of ERNIE 4.5's mixtures the last layers have experts, too. SRC: transformers 5.23
// models/ernie4_5_moe/modeling_ernie4_5_moe.py, Ernie4_5_MoeDecoderLayer.__init__.
static int conclude_ernie(struct parse *p)
{
    struct entry e;
    uint64_t last;
    bool overflow;
    parse_rewind(p);
    while (p->v->config.family == FAMILY_ERNIE_MOE && parse_entry(p, &e))
        if (span_is(e.key, "moe_layer_end_index") && !span_is(e.value, "-1") &&
            !(text_to_u64(e.value.at, e.value.len, &last, &overflow) &&
              last + 1 >= p->v->config.n_layer))
            return hf_not_modelled(p, &e);
    return VRAM_OK;
}

// The experts' balancing loss: since 5.16 shares of two bytes and routers' logits that stay, before
// one-hot choices in int64 and float32. SRC: transformers models/qwen3_moe/modeling_qwen3_moe.py,
// load_balancing_loss_func (5.15 and 5.16, 5.23).
static void conclude_balance(struct parse *p)
{
    struct entry e;
    parse_rewind(p);
    while (p->v->config.n_expert && parse_entry(p, &e))
        if (span_is(hf_inner(e.key), "output_router_logits") && span_is(e.value, "true"))
            message_list_add(&p->v->notes, MESSAGE_router_loss, NO_FIELD, NO_ARGS);
}

// A window that the file does not turn on. SRC: transformers models/qwen2/configuration_qwen2.py,
// qwen3, qwen3_moe, smollm3: use_sliding_window.
static void conclude_window(struct parse *p)
{
    static const uint8_t asked[] = {
        FAMILY_QWEN2,   FAMILY_QWEN3,     FAMILY_QWEN3_MOE,
        FAMILY_SMOLLM3, FAMILY_QWEN2_MOE, FAMILY_DOTS1,
    };
    struct vram_config *c = &p->v->config;
    struct entry e;
    bool on = true, mellum = false, listed = false;
    for (size_t i = 0; i < sizeof asked; i++)
        on = on && c->family != asked[i];
    parse_rewind(p);
    while (parse_entry(p, &e)) {
        if (span_is(hf_inner(e.key), "use_sliding_window"))
            on = span_is(e.value, "true");
        mellum = mellum || (span_is(e.key, "model_type") && span_is(e.value, "mellum"));
        listed = listed || span_is(e.key, "layer_types");
    }
    if (!(mellum ? listed : on))  // without a list Mellum's layers see all
        c->sliding_window = 0;
}

int hf_conclude(struct parse *p)
{
    if (p->v->config.family == FAMILY_FALCON)
        conclude_falcon(p);
    conclude_window(p);
    int rc = conclude_shared(p);
    conclude_balance(p);
    conclude_layers(p);
    if (rc == VRAM_OK)
        rc = conclude_turned(p);
    if (rc == VRAM_OK)
        rc = conclude_granite(p);
    if (rc == VRAM_OK)
        rc = conclude_mellum(p);
    if (rc == VRAM_OK)
        rc = conclude_gemma4(p);
    if (rc == VRAM_OK)
        rc = conclude_gemma3n(p);
    if (rc == VRAM_OK)
        rc = conclude_ernie(p);
    return rc == VRAM_OK ? conclude_width(p) : rc;
}
