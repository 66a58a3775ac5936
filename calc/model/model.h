// What follows from a configuration before anything runs: the family's features and derived sizes.

#ifndef CALC_MODEL_H
#define CALC_MODEL_H

#include "calc/model/config.h"

// False in the small module, which has no room for all that is modelled.
#ifdef VRAM_SMALL
enum { MODEL_IS_WHOLE = false };
#else
enum { MODEL_IS_WHOLE = true };
#endif

// What a family has; families.def says which.
enum model_feature {
    HAS_POSITIONS = 1 << 0,  // learned position embedding
    HAS_ROTARY = 1 << 1,
    HAS_FUSED_QKV = 1 << 2,
    HAS_RMS_NORM = 1 << 3,
    HAS_GATE = 1 << 4,       // feed-forward part with a gate
    HAS_GELU_GATE = 1 << 5,  // its activation is GELU, not SiLU
    HAS_QKV_BIAS = 1 << 6,
    HAS_ALL_BIASES = 1 << 7,
    HAS_HEAD_NORM = 1 << 8,  // norms over each head of q and k
    HAS_POST_NORM = 1 << 9,  // norms after attention and after the feed-forward part
    HAS_EMBEDDING_SCALE = 1 << 10,
    HAS_SOFT_CAP = 1 << 11,
    HAS_EXPERTS = 1 << 12,
    HAS_PARALLEL_RESIDUAL = 1 << 13,
    HAS_GEMMA_NORM = 1 << 14,    // RMSNorm by weight + 1, in float32 to its end
    HAS_FUSED_GATE = 1 << 15,    // gate and up are one projection
    HAS_SLICED_QKV = 1 << 16,    // q, k, v are slices of their projection, not a split of it
    HAS_NO_PRE_NORM = 1 << 17,   // branches take the residual stream as it is
    HAS_WIDE_NORM = 1 << 18,     // norms over the whole of q and k
    HAS_BRANCH_SCALE = 1 << 19,  // branches times a number
    HAS_LOGIT_SCALE = 1 << 20,   // logits divided by a number
    HAS_OWN_LOSS = 1 << 21,      // before the common loss function: logits in their own format
    HAS_REPEATED_FLASH =
        1 << 22,  // before 4.48 flash-attn's kernels got a key and a value for every query head
    HAS_FOURTH_PLAIN = 1 << 23,  // every fourth layer has no positions
    HAS_PART_ROTARY = 1 << 24,   // a part of each head is rotated, the rest put behind it
    HAS_PAIR_ROTARY =
        1 << 25,  // neighbours are rotated, by cosines and sines that each layer spreads out
    HAS_SPLIT_ROTARY = 1 << 26,  // the halves of a head are rotated apart and joined
    HAS_SINKS = 1 << 27,       // a score of each head beside those of the positions; biases on all
                               // projections, of experts too
    HAS_WIDE_SCALE = 1 << 28,  // RMSNorm's weight is applied in float32
    HAS_LATENT = 1 << 29,      // queries, keys and values out of latents
    HAS_ENCODER = 1 << 30  // no causal mask; norms on the residual stream, kinds of tokens, a head
                           // of two layers (BERT)
};

// More of them than an enumerator holds.
#define HAS_PICKED_KEYS \
    (UINT64_C(1) \
     << 32)  // keys and values by index out of one projection, a mask beside them (Falcon)
#define HAS_SHARED_NORM (UINT64_C(1) << 33)  // parallel branches take the result of one norm
#define HAS_NORM_BIASES (UINT64_C(1) << 34)  // of its layers the norms alone have biases
#define HAS_HEAD_BIAS (UINT64_C(1) << 35)
#define HAS_SIGMOID_ROUTER (UINT64_C(1) << 36)  // each expert's own share, in float32
#define HAS_SHARED_EXPERTS (UINT64_C(1) << 37)  // beside those chosen; first layers may have none
#define HAS_WIDE_ANGLES (UINT64_C(1) << 38)     // queries and keys are rotated in float32
#define HAS_BARE_OUTPUT \
    (UINT64_C(1) << 39)  // attention_bias does not mean the projection of attention's output

// Of families that the small module has no room for: none has them there.
#define HAS_IN_WHOLE(bit) ((uint64_t)MODEL_IS_WHOLE << (bit))
#define HAS_GLOBAL_HEADS \
    HAS_IN_WHOLE(31)  // layers without a window have heads of a width of their own (Gemma 4)
#define HAS_RAW_SHARES HAS_IN_WHOLE(40)  // those of the chosen experts need not add up to one
#define HAS_SHARED_GATE \
    HAS_IN_WHOLE(41)  // the shared experts run first, and are weighed by a sigmoid of their own
#define HAS_BRANCH_DROPOUT HAS_IN_WHOLE(42)
#define HAS_HELD_NORM \
    HAS_IN_WHOLE(43)  // the first norm's result and attention's are variables to a layer's end
#define HAS_LATE_NORM \
    HAS_IN_WHOLE(44)  // norms over each head of q and k come behind all projections
#define HAS_UNUSED_MASK HAS_IN_WHOLE(45)  // for windows, made although no layer has one
#define HAS_COUNTED_POSITIONS \
    HAS_IN_WHOLE(46)  // counted along a mask; the table has two rows before the first (OPT)
#define HAS_ALIBI \
    HAS_IN_WHOLE(47)  // biases of scores by distance in place of positions, a norm of the embedding
#define HAS_CENTERED_NORM \
    HAS_IN_WHOLE(48)  // LayerNorm without a bias by single operations; q and k turned in float32
#define HAS_NARROW_EMBEDDING \
    HAS_IN_WHOLE( \
        49)  // projections from and to a narrower embedding; norms behind the sums (OPT 350M)
#define HAS_RETURNED_SHARES \
    HAS_IN_WHOLE( \
        60)  // a layer returns its shares, which the model holds until the next has returned
#define HAS_OLD_SCORES \
    HAS_IN_WHOLE(62)  // shares are returned by code that knows no kernel of attention
#define HAS_DELTA_RULE \
    HAS_IN_WHOLE(63)  // most layers have a gated delta rule, the others a gate on attention
#define HAS_BARE_ATTENTION \
    HAS_IN_WHOLE(61)                   // no biases on q, k and v although other layers have some
#define HAS_NEW_CODE HAS_IN_WHOLE(50)  // modelled as transformers has it from 5.0 on alone
#define HAS_COMPLEX_ROTARY \
    HAS_IN_WHOLE(51)  // queries and keys are turned as complex numbers, in float32
#define HAS_WIDE_SHARES HAS_IN_WHOLE(52)   // the router in float32, its shares times a number
#define HAS_SHARE_GROUPS HAS_IN_WHOLE(53)  // experts outside of the best groups have no share
#define HAS_TURNED_NORM \
    HAS_IN_WHOLE(54)  // norms over each head of q and k come behind the rotation
#define HAS_TURNED_COPY HAS_IN_WHOLE(55)   // copies of q and k in float32 are rotated
#define HAS_WIDE_WEIGHT HAS_IN_WHOLE(56)   // RMSNorm's weight has a copy in float32
#define HAS_SQUARED_RELU HAS_IN_WHOLE(57)  // the activation of a feed-forward part without a gate
#define HAS_EVERY_TOKEN \
    HAS_IN_WHOLE(59)  // each expert gets all tokens, times their shares (Llama 4)
#define HAS_BEST_SHARES HAS_IN_WHOLE(58)  // shares among the chosen experts alone, in float32

// What a version of a framework does; traits.def says which.
enum model_trait {
#define TRAIT(id, framework, torch_from, torch_before, transformers_from, transformers_before) \
    TRAIT_##id,
#define TRAIT_OF(id, framework, torch_from, torch_before, from, before) TRAIT_##id,
#include "calc/model/traits.def"
    TRAIT_COUNT
};

// Of a configuration whose "auto" may stand.
bool config_has_trait(const struct vram_config *c, enum model_trait trait);

// A bit for each, the first 64 in the first word; the small module's are in one.
enum { MODEL_TRAIT_WORDS = (TRAIT_COUNT + 63) / 64 };
struct model_traits {
    uint64_t words[MODEL_TRAIT_WORDS];
};
_Static_assert(MODEL_TRAIT_WORDS <= 2, "engine.c has room for two");

// Derived sizes; every product fits (size_ok).
struct model {
    struct vram_config c;  // with every "0 = derived" filled in
    uint64_t features;     // HAS_*
    struct model_traits traits;
    uint64_t tokens;  // batch_size * seq_len
    uint64_t params, reported_params, trained_params;
    uint64_t decayed_params, decayed_tensors, nodecay_params, nodecay_tensors;
    uint64_t tensors;        // parameter tensors
    uint64_t block_tensors;  // of one layer
    bool first, last;    // stage of a pipeline: it has the embedding; it has the head and the loss
    uint64_t in_flight;  // micro-batches whose activations it holds at once
    uint64_t buffer_bytes;  // registered buffers (causal mask of attention=math)
    bool lacks_groups[2];   // of kernels: of float32, of numbers of two bytes (kernels_of_card.h)
    bool repeats_groups;    // for a kernel that is asked for and has none
};

static inline bool model_has_trait(const struct model *m, enum model_trait trait)
{
    return m->traits.words[trait / 64] >> trait % 64 & 1;
}

// How often the experts' part runs: one expert after the other where their weights are frozen, up
// to a number that keeps a trace short; all as one where each weight has a gradient of its own.
enum { MODEL_EXPERT_RUNS = 8 };
uint64_t model_expert_runs(const struct model *m);

// Layers at the start that have no experts although the others do.
static inline uint64_t model_dense_layers(const struct model *m)
{
    uint64_t dense = m->c.n_expert ? m->c.first_k_dense_replace : 0;
    return dense < m->c.n_layer ? dense : m->c.n_layer;
}

// Layers without experts of a model that has some, and whether one is such a layer: the first ones,
// or all but every so manieth.
static inline uint64_t model_dense_count(const struct model *m)
{
#ifndef VRAM_SMALL
    if (m->c.n_expert && m->c.moe_layer_step > 1)
        return m->c.n_layer - m->c.n_layer / m->c.moe_layer_step;
#endif
    return model_dense_layers(m);
}

// Of an encoder: its embedding knows kinds of tokens, and dropout is behind attention (DistilBERT
// has neither).
static inline bool model_has_kinds(const struct model *m)
{
#ifndef VRAM_SMALL
    return m->c.family != FAMILY_DISTILBERT;
#else
    (void)m;
    return true;
#endif
}

// The router's weight is in float32 whatever the others are in, and shared experts run before it.
static inline bool model_routes_wide(const struct model *m)
{
#ifndef VRAM_SMALL
    return m->c.family == FAMILY_ERNIE_MOE || m->c.family == FAMILY_HUNYUAN_MOE;
#else
    (void)m;
    return false;
#endif
}

// LayerNorm without weights (OLMo).
static inline bool model_norms_bare(const struct model *m)
{
#ifndef VRAM_SMALL
    return m->c.family == FAMILY_OLMO || m->c.family == FAMILY_OLMO_CLIP;
#else
    (void)m;
    return false;
#endif
}

// Of the layers that take turns the first has no window, where in others the last has none (CWM).
static inline bool model_opens_whole(const struct model *m)
{
#ifndef VRAM_SMALL
    return m->c.family == FAMILY_CWM;
#else
    (void)m;
    return false;
#endif
}

static inline bool model_layer_is_dense(const struct model *m, uint64_t layer)
{
#ifndef VRAM_SMALL
    if (m->c.n_expert && m->c.moe_layer_step > 1)
        return (layer + 1) % m->c.moe_layer_step != 0;
#endif
    return layer < model_dense_layers(m);
}

// Of a family with a delta rule, whether a layer has that in place of attention.
static inline bool model_layer_is_delta(const struct model *m, uint64_t layer)
{
#ifndef VRAM_SMALL
    return (m->features & HAS_DELTA_RULE) && (layer + 1) % m->c.full_attention_interval != 0;
#else
    (void)m;
    (void)layer;
    return false;
#endif
}

// Of a family whose layers without a window have heads of their own width, whether a layer is one.
static inline bool model_layer_is_global(const struct model *m, uint64_t layer)
{
    uint64_t pattern = m->c.sliding_window_pattern;
    return (m->features & HAS_GLOBAL_HEADS) && pattern && (layer + 1) % pattern == 0;
}

#ifndef VRAM_SMALL
// Streams of the residual in each layer, of which the first goes through the branches. SRC:
// transformers models/gemma3n/configuration_gemma3n.py (altup_num_inputs).
enum { MODEL_STREAMS = 4 };

static inline bool model_has_streams(const struct model *m)
{
    return m->c.family == FAMILY_GEMMA3N;
}

// In such a family keys and values are out of one projection there, of fewer heads. SRC:
// transformers models/gemma4/configuration_gemma4.py, Gemma4TextConfig.__post_init__.
static inline bool model_keys_are_values(const struct vram_config *c)
{
    return c->family == FAMILY_GEMMA4_KEYS;
}

static inline uint64_t model_global_keys(const struct vram_config *c)
{
    return model_keys_are_values(c) && c->n_global_kv_head ? c->n_global_kv_head : c->n_kv_head;
}

// Whether a layer takes the keys and values of one before it, the last of its kind with some of its
// own. SRC: transformers models/gemma4/configuration_gemma4.py, Gemma4TextConfig.kv_sharing_modes.
static inline bool model_layer_shares(const struct model *m, uint64_t layer)
{
    return layer + m->c.num_kv_shared_layers >= m->c.n_layer;
}

static inline bool model_layer_is_first(const struct model *m, uint64_t layer)
{
    return m->features & HAS_GLOBAL_HEADS ? !model_layer_is_global(m, layer)
                                          : model_layer_is_delta(m, layer);
}
#endif

// Whether the delta rule's projections are two. SRC: transformers
// models/qwen3_next/modeling_qwen3_next.py, Qwen3NextGatedDeltaNet (in_proj_qkvz, in_proj_ba).
static inline bool model_joins_delta(const struct model *m)
{
#ifndef VRAM_SMALL
    return m->c.family == FAMILY_QWEN3_NEXT;
#else
    (void)m;
    return false;
#endif
}

// Width of a token's row of the embedding.
static inline uint64_t model_embedding_width(const struct model *m)
{
#ifndef VRAM_SMALL
    if (m->features & HAS_NARROW_EMBEDDING && m->c.word_embed_proj_dim)
        return m->c.word_embed_proj_dim;
#endif
    return m->c.n_embd;
}

// Rows of the table of positions.
static inline uint64_t model_position_rows(const struct model *m)
{
    return m->c.block_size + (m->features & HAS_COUNTED_POSITIONS ? 2 : 0);
}

// How many kinds of layers take turns in what they attend to.
uint32_t model_layer_kinds(const struct model *m);

// The family's scores are tensors whatever kernel is asked for: a sink or a soft cap, but for
// flash-attn's kernel, which knows a cap, and sinks that are frozen (vllm-flash-attn3, s_aux). SRC:
// transformers modeling_gpt_oss.py, modeling_gemma2.py, _supports_sdpa = False.
bool model_has_eager_scores(const struct model *m);

// Layers with a window get a mask beside query, key and value: the kernel has no window of its own.
bool model_masks_windows(const struct model *m);

// Every layer gets a mask of T x T, of each sequence its own.
bool model_masks_rows(const struct model *m);

// The batch has the mask of every layer.
bool model_gets_mask(const struct model *m);

// How many masks a forward pass makes where every layer gets one: those of layers that see all and
// of layers with a window are two. SRC: transformers 5.23 masking_utils.py
// (create_masks_for_generate), models/gemma3/modeling_gemma3.py (causal_mask_mapping).
uint32_t model_mask_kinds(const struct model *m);

// A forward pass makes a mask of booleans, for its layers or for none of them.
bool model_makes_mask(const struct model *m);

// All experts' products are one operation over a tensor of all their weights.
bool model_groups_experts(const struct model *m);

// Of query, key and value in one projection: how many have adapters, and how wide they are
// together.
uint64_t model_adapted_parts(const struct vram_config *c);
uint64_t model_adapted_width(const struct vram_config *c);

// Whether offload_activations is modelled with this checkpointing: the inputs of checkpointed
// blocks, or what forward saves, of eager blocks without checkpointing, too.
bool model_offloads_form(const struct vram_config *c);

// Whether axolotl's fused functions for adapters are modelled for such a run: lora_kernels. Never
// in the small module.
bool model_fuses_adapters(const struct vram_config *c);

// Whether Unsloth's layers are modelled for such a run: kernels=unsloth. Not in the small module.
bool model_runs_unsloth(const struct vram_config *c);

// Whether use_cache is modelled for such a run. Never in the small module.
bool model_returns_cache(const struct vram_config *c);

// Whether head and loss in one are modelled for such a run.
bool model_fuses_head(const struct vram_config *c);

// Whether the loss takes only positions whose label counts. Not in the small module.
bool model_takes_labels(const struct vram_config *c);

// Whether the evaluation of eval_batch_size is modelled for such a run. Never in the small module.
bool model_evaluates(const struct vram_config *c);

// Whether torch.compile of each block by itself is modelled for a configuration without "auto". In
// the small module never where heads are normalized.
bool model_compiles_whole(const struct vram_config *c);
bool model_compiles_parts(const struct vram_config *c);
bool model_compiles_blocks(const struct vram_config *c);

// Selective checkpointing runs attention again: its operation is on no list.
bool model_repeats_attention(const struct model *m);

// What a card that is chosen cannot do: run PyTorch's flash attention kernels; compute in bfloat16
// natively.
bool model_lacks_flash(const struct vram_config *c);
bool model_lacks_bfloat16(const struct vram_config *c);

#endif
