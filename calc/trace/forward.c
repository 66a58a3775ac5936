// Owns the parts of a model's forward function: embedding, layers, last norm and head.
// SRC: nanoGPT model.py GPT.forward.

#include "calc/trace/forward.h"

#include "calc/model/units.h"
#include "calc/model/unsloth.h"
#include "calc/trace/attention.h"
#include "calc/trace/attention_eager.h"
#include "calc/trace/block.h"
#include "calc/trace/block_bloom.h"
#include "calc/trace/block_compiled.h"
#include "calc/trace/block_encoder.h"
#include "calc/trace/block_falcon.h"
#include "calc/trace/block_gemma3n.h"
#include "calc/trace/block_nanotron.h"
#include "calc/trace/block_opt.h"
#include "calc/trace/block_shares.h"
#include "calc/trace/block_traced.h"
#include "calc/trace/checkpoint.h"
#include "calc/trace/compiled.h"
#include "calc/trace/inductor.h"
#include "calc/trace/layers.h"
#include "calc/trace/layers_inputs.h"
#include "calc/trace/layers_llama.h"
#include "calc/trace/layers_lora.h"
#include "calc/trace/layers_rotary.h"
#include "calc/trace/loss.h"
#include "calc/trace/parallel.h"
#include "calc/trace/sequence.h"

// torchtitan's count of layers is one more when it is looked at: of two the second. SRC: torchtitan
// distributed/activation_checkpoint.py, _apply_layer_sac.
static uint64_t forward_first_checkpointed(const struct graph *g)
{
    bool late = MODEL_IS_WHOLE && framework_goes(&g->m->c, BY_COMPLEX_ANGLES);
    return late ? g->m->c.checkpoint_every - 1 : 0;
}

static bool forward_checkpoints(const struct graph *g)
{
    uint64_t layer = graph_layer(g), kind = g->m->c.checkpointing;
    uint64_t first = forward_first_checkpointed(g), of = g->m->c.checkpoint_every;
    bool every = kind == CHECKPOINTING_EVERY && layer % of == first % of;
    return g->grad && !graph_is_traced(g) &&
           (every || kind == CHECKPOINTING_SELECTIVE || checkpointing_is_of_all(&g->m->c));
}

static block_fn *forward_body(const struct graph *g, bool checkpoints)
{
#ifndef VRAM_SMALL
    if (compile_is_cut(g->m))
        return block_traced;
#endif
    if (compile_is_of_blocks(g))
        return checkpoints ? block_compiled_checkpointed : block_compiled;
    return checkpoints ? checkpoint_block : block_forward;
}

// The layer with the weights that it needs.
static struct value forward_layer(struct graph *g, struct value x)
{
    bool checkpoints = forward_checkpoints(g);
    block_fn *body = forward_body(g, checkpoints);
    if (!g->gathered || (checkpoints && g->around) || units_are_one(g->m))
        return body(g, x);
    return parallel_layer(g, x, body);
}

// for block in self.transformer.h: x = block(x). Uses x up.
struct value forward_layers(struct graph *g, struct value x)
{
    for (uint32_t layer = 0; layer < graph_layers(g) && graph_ok(g); layer++) {
        graph_enter(g, layer);
        x.role = ROLE_RESID2;  // its gradient is called alike in every layer
#ifndef VRAM_SMALL
        inputs_choose(g);
#endif
        struct value next = forward_layer(g, x);
#ifndef VRAM_SMALL
        inputs_left(g);
        if (g->traced)
            inductor_layer_ends(g->inductor, layer, next.storage);
#endif
        graph_drop(g, x);
        x = next;
    }
    graph_leave(g);
    return x;
}

// x = drop(wte(idx) + wpe(pos)); the two embeddings are variables of forward() and live until it
// returns.
static struct value forward_embed_gpt(struct graph *g, uint32_t ids, struct value local[3])
{
    struct value pos = graph_make(g, OP_ARANGE, ROLE_POSITIONS, PART_SELF, DT_I64, SHAPE_T);
    local[0] = lora_embed(g, ids, layer_embedding(g, ids, P_WTE, SHAPE_U));
    local[1] = layer_embedding(g, pos.storage, P_WPE, SHAPE_TC);
    local[2] = pos;
    struct value sum = layer_add(g, local[0], local[1], ROLE_EMBED);
#ifndef VRAM_SMALL
    bool adds = g->m->c.attention == ATTENTION_MATH && framework_goes(&g->m->c, BY_TRANSFORMERS);
    if (adds && g->m->c.task == TASK_TRAIN && !compile_is_cut(g->m))
        attention_masks_open(g);
#endif
    struct value x = layer_dropout(g, sum, ROLE_EMBED);
    graph_drop(g, sum);
    return x;
}

// The page has no room for the other order, of transformers before 5.0.
static bool forward_scales_first(const struct graph *g)
{
#ifdef VRAM_SMALL
    (void)g;
    return true;
#else
    return graph_has(g, TRAIT_SCALED_NAME);
#endif
}

// Uses x up.
static struct value forward_scaled(struct graph *g, struct value x)
{
    struct value scaled = layer_scale(g, x, ROLE_EMBED);
    graph_drop(g, x);
    return scaled;
}

static struct value forward_rows(struct graph *g, uint32_t ids)
{
    if (!MODEL_IS_WHOLE || !sequence_is_gathered(g))
        return layer_embedding(g, ids, P_WTE, SHAPE_U);
    uint32_t held[2];
    sequence_rows(g, held);
    struct value out = layer_embedding(g, ids, P_WTE, SHAPE_U);
    tape_unref(g->t, held[0]);
    tape_unref(g->t, held[1]);
    return out;
}

// The last block's input, which Unsloth leaves on the card beside the buffer of the others: held by
// the leaf to the end of backward, of whose later micro-steps that block is the peak, or, where
// gradients of the others are not there yet, to its beginning.
static void forward_keeps_input(struct graph *g, struct value normed)
{
#ifndef VRAM_SMALL
    enum { LEAF = 0 };  // the first node
    bool stays = unsloth_patches(&g->m->c) && g->m->c.offload_activations &&
                 graph_has(g, TRAIT_UNSLOTH_RETURN);
    if (!stays || normed.node == GRAPH_NO_NODE)
        return;
    uint32_t kept = graph_scratch(g, OP_ADD, ROLE_RESID2, PART_INPUT, normed.dtype, normed.shape);
    graph_save(g, g->m->c.gradient_accumulation_steps > 1 ? LEAF : normed.node, kept);
    tape_unref(g->t, kept);
#else
    (void)g;
    (void)normed;
#endif
}

// model.enable_input_require_grads(): with frozen embeddings a checkpointed block has no other way
// to a gradient.
static void forward_needs_gradient(struct graph *g, struct value *x)
{
    bool leaf = unsloth_patches(&g->m->c);  // asks for it always; its node holds it
    if (!g->grad || (!g->m->c.checkpointing && !leaf) || graph_needs(g, *x))
        return;
    int32_t n = graph_node(g, NODE_PASS, x, 0);
    if (leaf)
        graph_save(g, n, x->storage);
}

// Rotary families: the token embedding alone; cosines and sines of the positions are made once.
static struct value forward_embed_rotary(struct graph *g, uint32_t ids, struct value local[3])
{
    if (graph_is_nanotron(g))
        return nanotron_embedding(g, ids);
    struct value x = lora_embed(g, ids, forward_rows(g, ids));
    bool scales = g->m->features & HAS_EMBEDDING_SCALE, first = forward_scales_first(g);
    if (scales && first)
        x = forward_scaled(g, x);
#ifndef VRAM_SMALL
    if (g->m->c.hidden_size_per_layer_input)
        forward_needs_gradient(g, &x);
    inputs_open(g, ids, x);
#endif
    if (graph_has(
            g,
            TRAIT_INNER_MODEL)) {  // inputs_embeds and position_ids, until the inner model returns
        local[1] = graph_copy(g, x);
        local[0] = graph_make(g, OP_ARANGE, ROLE_POSITIONS, PART_SELF, DT_I64, SHAPE_T);
#ifndef VRAM_SMALL
        if ((g->m->features & HAS_GLOBAL_HEADS) && g->m->c.checkpointing)
            g->positions = graph_copy(g, local[0]);
#endif
    }
    if (scales && !first)
        x = forward_scaled(g, x);
    if (model_has_eager_scores(g->m))
        attention_masks_open(g);
    if (model_makes_mask(g->m))
        attention_mask_open(g);
#ifndef VRAM_SMALL
    if (model_has_streams(g->m))
        x = gemma3n_open(g, x);
#endif
    layer_rope_open(g);
    return x;
}

// Uses x up.
struct value forward_last_norm(struct graph *g, struct value x)
{
#ifndef VRAM_SMALL
    if (model_has_streams(g->m))
        x = gemma3n_join(g, x);
#endif
    if (g->m->features & HAS_CENTERED_NORM) {
        struct value out = layer_centered_norm(g, x, true, P_LN_F, SHAPE_TOKENS);
        graph_drop(g, x);
        return out;
    }
    if (g->m->features & HAS_NARROW_EMBEDDING)
        return opt_last(g, x);
    bool rms = g->m->features & HAS_RMS_NORM;
    struct value normed = graph_is_nanotron(g) ? nanotron_norm(g, x, true, P_LN_F)
                          : rms ? layer_rms_norm(g, x, true, P_LN_F, SHAPE_TOKENS_SHARE)
                                : layer_norm(g, x, true, P_LN_F);
    graph_drop(g, x);
    return normed;
}

// What the last layer has returned beside its result.
static void forward_shares_go(struct graph *g)
{
    if (!(g->m->features & HAS_RETURNED_SHARES))
        return;
    graph_drop(g, g->shares);
    g->shares = graph_none();
}

// The last norm, the head and the loss. x is used up; normed stays a variable of forward(), and so
// do the embedding's where one function does it all.
struct value forward_head(struct graph *g, struct value x, uint32_t targets, struct value local[3],
                          struct value *normed, struct value *logits)
{
    bool encoder = g->m->features & HAS_ENCODER;
#ifndef VRAM_SMALL
    if (compile_is_cut(g->m))
        *normed = traced_last_norm(g, x);
    else
#endif
        *normed = encoder ? x : forward_last_norm(g, x);
    forward_keeps_input(g, *normed);
    for (unsigned k = 0; k < 3 && graph_has(g, TRAIT_INNER_MODEL); k++) {
        graph_drop(g, local[k]);
        local[k] = graph_none();
    }
    forward_shares_go(g);
#ifndef VRAM_SMALL
    gemma3n_return(g);
#endif
    bool unused =
        (g->m->features & HAS_UNUSED_MASK) && !model_masks_windows(g->m) && !model_masks_rows(g->m);
    bool goes = compile_is_cut(g->m) && !(g->grad && g->m->c.checkpointing);
    if (graph_has(g, TRAIT_INNER_MODEL) && (unused || goes))
        attention_masks_close(g);  // no block has it as an argument
    bool kept = g->m->c.kernels || compile_is_cut(g->m) ||
                (g->grad && g->m->c.checkpointing);  // by fused rotations, as arguments of blocks
    if (graph_has(g, TRAIT_INNER_MODEL) && !kept)
        layer_rope_close(g);
    return encoder ? encoder_loss(g, *normed, targets, logits)
                   : loss_forward(g, normed, targets, logits);
}

// hidden_states and position_embeddings of a card's blocks, sent from the card before. SRC:
// accelerate hooks.py, AlignDevicesHook.
static struct value forward_arrived(struct graph *g)
{
    if (g->m->features & HAS_ROTARY)
        layer_rope_open(g);
    return graph_make(g, OP_RECEIVE, ROLE_RESID2, PART_INPUT, g->residual, SHAPE_U);
}

struct value forward_embed(struct graph *g, uint32_t ids, struct value local[3])
{
    struct value x = g->m->features & HAS_ENCODER             ? encoder_embedding(g, ids, local)
                     : g->m->features & HAS_ALIBI             ? bloom_embedding(g, ids, local)
                     : g->m->features & HAS_COUNTED_POSITIONS ? opt_embedding(g, ids, local)
                     : g->m->features & HAS_RETURNED_SHARES   ? shares_embedding(g, ids, local)
                     : g->m->features & HAS_ROTARY            ? forward_embed_rotary(g, ids, local)
                                                              : forward_embed_gpt(g, ids, local);
    forward_needs_gradient(g, &x);
    return x;
}

struct value forward_hidden(struct graph *g, uint32_t ids)
{
    struct value local[3] = {graph_none(), graph_none(), graph_none()};
    parallel_open(g);
    struct value x = g->m->first ? forward_embed(g, ids, local) : forward_arrived(g);
    x = forward_layers(g, x);
    struct value normed = g->m->last ? forward_last_norm(g, x) : x;
    for (unsigned k = 0; k < 3; k++)
        graph_drop(g, local[k]);
    forward_shares_go(g);
#ifndef VRAM_SMALL
    gemma3n_return(g);
#endif
    layer_rope_close(g);
    return normed;
}
