// Owns cross-entropy of a chunk at a time. In LitGPT logits, cut in 128 tokens of each sequence
// where adapters are trained, become float32 on their way out of the model; in torchtune a chunk
// does for its loss. SRC: litgpt utils.py (chunked_cross_entropy), lora.py (GPT.forward,
// lm_head_chunk_size), finetune/lora.py and full.py (fit); lightning fabric/wrappers.py
// (_FabricModule.forward: precision.convert_output); torchtune
// modules/loss/ce_chunked_output_loss.py.

#include "calc/trace/loss_output.h"

#include "calc/trace/compiled.h"
#include "calc/trace/layers.h"
#include "calc/trace/layers_llama.h"
#include "calc/trace/linear.h"
#include "calc/trace/parallel.h"
#include "calc/trace/quantized.h"
#include "calc/trace/sequence.h"

// logits = model(input_ids): those of the pass before go when the model has returned, before the
// loss.
static void output_rebind(struct graph *g, struct value logits)
{
    if (g->m->c.keep_logits != KEEP_LOGITS_YES || !graph_ok(g))
        return;
    uint16_t name = g->t->storages[logits.storage].name;
    tape_earlier_goes(g->t, name, VRAM_CAT_LOGITS, logits.dtype, logits.shape, SLOT_LOGITS);
}

// The model has returned: its variable goes before what it made is converted.
static void output_returned(struct graph *g, struct value *normed)
{
    bool gathered = MODEL_IS_WHOLE && sequence_is_gathered(g);
    if (!gathered && !graph_has(g, TRAIT_OUTPUT_IN_FLOAT32))
        return;
    graph_drop(g, *normed);
    *normed = graph_none();
}

struct value loss_output_logits(struct graph *g, struct value *normed)
{
    struct value logits = layer_head(g, *normed);
    if (g->m->features & (HAS_SOFT_CAP | HAS_GLOBAL_HEADS)) {
        struct value capped = layer_soft_cap(g, graph_copy(g, logits));
        graph_drop(g, logits);
        logits = capped;
    }
    output_returned(g, normed);
    struct value wide = graph_has(g, TRAIT_OUTPUT_IN_FLOAT32)
                            ? graph_to(g, logits, DT_F32, PART_UPCAST)
                            : graph_copy(g, logits);
    graph_drop(g, logits);
    if (graph_has(g, TRAIT_OUTPUT_IN_FLOAT32))
        output_rebind(g, wide);
    return wide;
}

// logits[..., :-1, :].reshape(-1, V).split(128): a view of one sequence, else a copy until the loss
// is there.
static struct value output_whole(struct graph *g, struct value logits)
{
    struct value view = layer_view(g, graph_copy(g, logits), NODE_SLICE);
    struct value rows = g->m->c.batch_size == 1 ? graph_copy(g, view) : layer_copy(g, view);
    graph_drop(g, view);
    return layer_view(g, rows, NODE_SPLIT);
}

// What a chunk takes on its way: in LitGPT the last one without its last position, which of several
// sequences is a copy; in torchtune each in float32.
static uint32_t output_chunk(struct graph *g)
{
    bool lit = graph_has(g, TRAIT_OUTPUT_IN_FLOAT32);
    if (lit && (g->m->c.lora_rank == 0 || g->m->c.batch_size == 1))
        return TAPE_NONE;
    return graph_scratch(g, lit ? OP_CLONE : OP_TO_COPY, ROLE_LOGITS, PART_COPY, DT_F32,
                         SHAPE_CHUNK_V);
}

#ifndef VRAM_SMALL
// Autocast keeps no copy of a frozen weight: each chunk has one of its own until it has gone back.
// SRC: pytorch aten/src/ATen/autocast_mode.cpp, cached_cast (requires_grad).
static void output_casts(struct graph *g, struct value logits)
{
    const struct layout_param *row = layout_find(&g->layout, false, layer_head_weight(g));
    bool again = g->autocast && graph_has(g, TRAIT_OUTPUT_IN_FLOAT32) && !quantized_is_head(g);
    if (!again || !graph_ok(g) || row->trained)
        return;
    uint32_t casts =
        graph_scratch(g, OP_TO_COPY, ROLE_HEAD, PART_WEIGHT_CAST, g->compute, SHAPE_W_WTE_AGAIN);
    graph_save(g, logits.node, casts);
    tape_unref(g->t, casts);
}
#endif

// The head's chunks, each with the weight expanded for it where that is quantized, and in LitGPT
// their copies in float32. The copies' gradients are part of node_loss_chunks: *rows is what these
// go to.
static struct value output_cut(struct graph *g, struct value *normed, struct value *rows)
{
    *rows = layer_head(g, *normed);
#ifndef VRAM_SMALL
    output_casts(g, *rows);
#endif
    if (MODEL_IS_WHOLE)  // FSDP2's ends
        *rows = parallel_head_leave(g, *rows);
    quantized_head_once(g);
    if (!graph_has(g, TRAIT_OUTPUT_IN_FLOAT32))
        return graph_copy(g, *rows);
    output_returned(g, normed);
    struct value wide = graph_make(g, OP_TO_COPY, ROLE_LOGITS, PART_UPCAST, DT_F32, SHAPE_NV);
    output_rebind(g, wide);
    return wide;
}

struct value loss_output(struct graph *g, struct value *normed, struct value *logits)
{
    struct value rows;
    bool cut = g->m->c.lora_rank || !graph_has(g, TRAIT_OUTPUT_IN_FLOAT32);
    *logits = cut ? output_cut(g, normed, &rows) : loss_output_logits(g, normed);
    if (cut)
        tape_unref(g->t, rows.storage);
    else
        rows = output_whole(g, *logits);
    bool compiled = compile_is_of_blocks(g);  // it keeps the logits themselves
    uint32_t chunk = compiled ? TAPE_NONE : output_chunk(g);
    struct value log =
        compiled ? graph_copy(g, *logits)
                 : graph_make(g, OP_LOG_SOFTMAX, ROLE_LOGITS, PART_LOG_SOFTMAX, DT_F32, SHAPE_NV);
    struct value loss = graph_make(g, OP_DIV, ROLE_LOSS, PART_SELF, DT_F32, SHAPE_ONE);
    graph_follow_saving(g, NODE_LOSS_CHUNKS, &loss, rows, log.storage);
    graph_drop(g, log);
    tape_unref(g->t, chunk);
    if (!cut)
        graph_drop(g, rows);
    return loss;
}

bool loss_output_sums(const struct graph *g)
{
    return g->m->c.cross_entropy == CROSS_ENTROPY_CHUNKED_OUTPUT &&
           config_loss_chunks(&g->m->c) > 1 && !graph_has(g, TRAIT_OUTPUT_IN_FLOAT32) &&
           graph_has(g, TRAIT_GRADIENT_VIEWS);
}

#ifndef VRAM_SMALL
// torchtune's chunks, of which each makes a gradient of the head's weight.
static bool output_sums(const struct graph *g, int32_t head)
{
    while (g->nodes[head].kind == NODE_GATHER && g->nodes[head].edge_count)  // FSDP2's ends
        head = g->nodes[head].edges[0].to;
    if (g->nodes[head].kind != NODE_MM || g->nodes[head].role != ROLE_LOGITS)
        return false;
    const struct layout_param *row = layout_find(&g->layout, false, layer_head_weight(g));
    return row && row->trained && !g->m->c.cross_entropy_chunk && loss_output_sums(g);
}
#endif

// The gradient of all logits, that of the first two chunks apart if they go before the others.
static uint32_t output_gradient(struct graph *g, const struct edge *head)
{
    uint8_t dtype = head->dtype;
    shape_id shape = SHAPE_NV;
#ifndef VRAM_SMALL
    for (unsigned i = 0; i < 2 && output_sums(g, head->to); i++) {
        g->chunks[i] =
            graph_scratch(g, OP_LOG_SOFTMAX_BACKWARD, ROLE_LOGITS, PART_GRAD, dtype, SHAPE_CHUNK_V);
        shape = SHAPE_CHUNKS_V_REST;
    }
#endif
    uint32_t rest = graph_scratch(g, OP_LOG_SOFTMAX_BACKWARD, ROLE_LOGITS, PART_GRAD, dtype, shape);
    if (graph_ok(g))
        g->t->storages[rest].parts = shape != SHAPE_NV;
    return rest;
}

void loss_output_chunk_goes(struct graph *g, unsigned which)
{
#ifdef VRAM_SMALL
    (void)g, (void)which;
#else
    tape_unref(g->t, g->chunks[which]);
    g->chunks[which] = TAPE_NONE;
#endif
}

// Of each chunk the gradient of nll_loss and that of log_softmax, then its log-probabilities go:
// what is there stays as large as they were. Where the head cuts, each chunk's gradient then goes
// to two bytes.
void node_loss_chunks(struct graph *g, const struct node *n, uint32_t results[])
{
    if (n->edges[0].to == GRAPH_NO_NODE || n->saved[0] == TAPE_NONE)
        return;
    bool compiled = compile_is_of_blocks(g);
    uint8_t dtype = compiled ? g->compute : DT_F32;
    uint32_t nll = graph_scratch(g, OP_NLL_BACKWARD, ROLE_LOGITS, PART_GRAD, dtype, SHAPE_CHUNK_V);
    uint32_t log = compiled ? TAPE_NONE
                            : graph_scratch(g, OP_LOG_SOFTMAX_BACKWARD, ROLE_LOGITS, PART_GRAD,
                                            DT_F32, SHAPE_CHUNK_V);
    tape_unref(g->t, nll);
    tape_unref(g->t, log);
    graph_saved_go(g);
    results[0] = output_gradient(g, &n->edges[0]);
}
