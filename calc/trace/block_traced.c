// Owns a part of a transformers model that is compiled by itself, a block or the last norm: its two
// graphs, as inductor.h finds them in the eager code, and what runs of them when. A checkpointed
// block's second run is a part of its backward graph. SRC: as compile_is_cut; transformers
// modeling_layers.py, GradientCheckpointingLayer.

#include "calc/trace/block_traced.h"

#ifndef VRAM_SMALL

#include "calc/trace/attention.h"
#include "calc/trace/compiled.h"
#include "calc/trace/inductor.h"
#include "calc/trace/layers_llama.h"
#include "calc/trace/layers_rotary.h"
#include "calc/trace/pass_compile_kept.h"

// Two sums over the rows of what both read are one kernel: the gradients of a block's norms. SRC:
// pytorch torch/_inductor/scheduler.py (score_fusion_memory, can_fusion_increase_peak_memory).
static bool sums_share(const struct inductor *d, const struct inductor_kernel *a,
                       const struct inductor_kernel *b)
{
    bool shares = false;
    for (uint32_t u = a->begin; u < a->end; u++)
        for (uint32_t v = b->begin; v < b->end; v++) {
            const struct inductor_buffer *x = &d->buffers[inductor_used(d->uses[u])];
            const struct inductor_buffer *y = &d->buffers[inductor_used(d->uses[v])];
            shares |= x == y;
            bool made = (d->uses[u] & d->uses[v] & INDUCTOR_MADE) != 0;
            if (made && d->elements[x->shape] != d->elements[y->shape])
                return false;
        }
    return shares;
}

static void sums_join(struct inductor *d, struct inductor_kernel *into,
                      const struct inductor_kernel *from)
{
    size_t begin = d->use_count;
    for (uint32_t u = from->begin; u < from->end; u++)
        inductor_use(d, d->uses[u]);
    for (uint32_t u = into->begin; u < into->end; u++)
        inductor_use(d, d->uses[u]);
    into->begin = (uint32_t)begin;
    into->end = (uint32_t)d->use_count;
}

static void sums_fuse(struct inductor *d)
{
    for (uint32_t k = d->backward; k < d->kernel_count; k++)
        for (uint32_t j = k + 1; j < d->kernel_count && d->kernels[k].sums; j++)
            if (d->kernels[j].sums && sums_share(d, &d->kernels[k], &d->kernels[j])) {
                sums_join(d, &d->kernels[j], &d->kernels[k]);
                d->kernel_count--;
                for (uint32_t i = k; i < d->kernel_count; i++)
                    d->kernels[i] = d->kernels[i + 1];
                k--;
                break;
            }
}

static void part_plan(struct inductor *d)
{
    d->input =
        inductor_buffer(d, (struct inductor_buffer){.dtype = inductor_storage(d, d->begin)->dtype,
                                                    .shape = inductor_storage(d, d->begin)->shape,
                                                    .weight = GRAPH_NO_PARAM,
                                                    .given = true});
    d->values[d->begin].buffer = d->input;
    inductor_partition(d);
    inductor_forward(d);
    if (d->g->grad && !d->failed) {
        inductor_backward(d);
        sums_fuse(d);
    }
    if (!d->failed)
        inductor_plan(d);
}

// The part's graphs. NULL: no memory, and the graph has failed.
static struct inductor *part_open(struct graph *g, uint32_t which, bool needs)
{
    size_t parts = graph_layers(g) + 1;
    bool fresh = !g->blocks;
    if (!graph_grow(g, &g->blocks, &g->block_cap, parts, sizeof(struct inductor *)))
        return NULL;
    if (fresh)
        mem_zero(g->blocks, g->block_cap * sizeof(struct inductor *));
    if (g->blocks[which])
        return g->blocks[which];
    struct inductor *d = mem_alloc(g->mem, sizeof *d);
    g->failed |= !d;
    if (!d)
        return NULL;
    mem_zero(d, sizeof *d);
    g->blocks[which] = d;
    if (inductor_trace_block(d, g, which, needs))
        part_plan(d);
    else
        d->failed = true;
    inductor_forget_trace(d);
    g->failed |= d->failed;
    return d;
}

void traced_close(struct graph *g)
{
    if (compile_is_cut(g->m))
        attention_masks_close(g);
    for (size_t i = 0; g->blocks && i <= graph_layers(g); i++)
        if (g->blocks[i]) {
            inductor_free(g->blocks[i]);
            mem_free(g->mem, g->blocks[i], sizeof *g->blocks[i]);
        }
    mem_free(g->mem, g->blocks, g->block_cap * sizeof(struct inductor *));
    g->blocks = NULL;
    g->block_cap = 0;
}

// One of booleans for each kind of layer: while a model is traced it is there, whatever the batch
// holds. SRC: transformers masking_utils.py, _ignore_causal_mask_sdpa (is_tracing).
void traced_open(struct graph *g)
{
    const struct vram_config *c = &g->m->c;
    unsigned kinds = 1 + (c->sliding_window && c->sliding_window_pattern > 1);
    if (!compile_is_cut(g->m) || c->attention == ATTENTION_FLASH_2)
        return;
    for (unsigned i = 0; i < kinds; i++)
        if (g->masks[i] == TAPE_NONE)
            g->masks[i] = graph_scratch(g, OP_TRITON, ROLE_SCORES, PART_MASK, DT_BYTE, SHAPE_MASKS);
}

static uint32_t part_of(const struct graph *g)
{
    return g->t->unit < 0 ? graph_layers(g) : graph_layer(g);
}

// The part's weights.
static void part_weights(struct graph *g, void (*fn)(struct graph *g, bool global, uint16_t number))
{
    const struct layout *l = &g->layout;
    uint32_t part = part_of(g);
    if (part == graph_layers(g)) {
        fn(g, true, P_LN_F);
        fn(g, true, P_LN_F + LAYOUT_BIAS);
        return;
    }
    for (unsigned i = 0; i < l->block_count; i++)
        if (layout_here(&l->block[i], g->m, part))
            fn(g, false, l->block[i].number);
}

static void weight_use(struct graph *g, bool global, uint16_t number)
{
    graph_drop(g, graph_param(g, global, number));
}

// Runs one of the graphs in the place where the tape is.
static void part_run(struct graph *g, struct inductor *d, bool backward)
{
    int32_t unit = g->t->unit;
    uint8_t sub = g->t->sub;
    inductor_run(d, backward);
    g->t->unit = unit;
    g->t->sub = sub;
}

// The backward graph reads it.
static bool part_holds_input(const struct inductor *d)
{
    uint32_t last = d->buffers[d->input].last;
    return last >= d->backward && last < d->kernel_count;
}

static void part_show(struct graph *g, const struct inductor *d)
{
    int32_t node = GRAPH_NO_NODE;
    for (size_t i = 1; i < d->buffer_count; i++) {
        const struct inductor_buffer *b = &d->buffers[i];
        bool waits = b->handed && b->first < d->backward && b->last >= d->backward;
        if (!waits || b->given || b->leaves)
            continue;
        if (node == GRAPH_NO_NODE || g->nodes[node].saved_count == GRAPH_SAVED)
            node = graph_bare_node(g, NODE_COMPILED, ROLE_RESID2);
        if (node == GRAPH_NO_NODE)
            return;
        g->nodes[node].saved[g->nodes[node].saved_count++] = b->storage;
    }
}

struct value block_traced(struct graph *g, struct value x)
{
    struct inductor *d = part_open(g, part_of(g), graph_needs(g, x));
    if (!d || !graph_ok(g))
        return graph_none();
    part_weights(g, weight_use);
    d->buffers[d->input].storage = x.storage;
    part_run(g, d, false);
    const struct inductor_buffer *result = &d->buffers[d->result];
    struct value out = {result->storage, GRAPH_NO_NODE, 0, result->dtype, result->shape, x.role};
    int32_t n = graph_node(g, NODE_COMPILED_BLOCK, &out, 0);
    if (part_holds_input(d))
        graph_save(g, n, x.storage);
    graph_edge(g, n, x);
    part_show(g, d);
    return out;
}

struct value traced_last_norm(struct graph *g, struct value x)
{
    struct value out = block_traced(g, x);
    graph_drop(g, x);
    return out;
}

// Gemma's embedding, which scales, is a class of transformers and so it is compiled; nn.Embedding
// is not. SRC: models/gemma2/modeling_gemma2.py, Gemma2TextScaledWordEmbedding; pytorch
// torch/_dynamo/trace_rules.py (torch.nn); traces gemma*_trainer_fsdp2_compiled.
uint32_t traced_words(struct graph *g, const struct node *n, uint32_t other)
{
    bool scales = (g->m->features & HAS_EMBEDDING_SCALE) && !(g->m->features & HAS_BRANCH_SCALE);
    if (!compile_is_cut(g->m) || !scales)
        return other;
    return graph_scratch(g, OP_TRITON, n->role, PART_SCRATCH, DT_F32, n->edges[0].shape);
}

void node_traced_block(struct graph *g, const struct node *n, uint32_t results[])
{
    struct inductor *d = part_open(g, part_of(g), false);
    bool wanted = n->edges[0].to != GRAPH_NO_NODE;
    if (!d || !graph_ok(g))
        return;
    struct node *own = &g->nodes[g->running];
    if (part_holds_input(d)) {
        d->buffers[d->input].storage = own->saved[0];
        own->saved[0] = TAPE_NONE;
    }
    d->buffers[d->incoming].storage = own->gradient[0];
    own->gradient[0] = TAPE_NONE;
    part_run(g, d, true);
    if (wanted && d->stream)
        results[0] = d->buffers[d->stream].storage;
    part_weights(g, compile_accumulate);
    if (part_of(g) == 0) {  // which have been arguments of every block
        layer_rope_close(g);
        attention_masks_close(g);
    }
}
#endif
