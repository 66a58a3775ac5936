// Owns the way from the last hidden state to the loss in transformers' models: which copies of the
// logits there are, and who holds them until when. SRC: transformers
// src/transformers/loss/loss_utils.py (ForCausalLMLoss, from 4.46; labels padded from 4.49),
// models/llama/modeling_llama.py (LlamaForCausalLM.forward, its own loss before 4.46).

#include "calc/trace/loss_transformers.h"

#include "calc/trace/compiled.h"
#include "calc/trace/layers.h"
#include "calc/trace/layers_llama.h"
#include "calc/trace/linear.h"
#include "calc/trace/loss_inplace.h"
#include "calc/trace/parallel.h"

// hidden_states[:, slice_indices, :]: three slices, each a node in the versions that make one for a
// whole dimension.
static struct value loss_sliced(struct graph *g, struct value x)
{
    bool nodes = graph_has(g, TRAIT_LOGITS_TO_KEEP) && graph_has(g, TRAIT_SLICE_NODES);
    for (unsigned i = 0; i < 3 && nodes; i++)
        x = layer_view(g, x, NODE_SLICE);
    return x;
}

struct value loss_logits(struct graph *g, struct value x)
{
    struct value in = loss_sliced(g, graph_copy(g, x)), logits = layer_head(g, in);
    graph_drop(g, in);
    if (parallel_has_tail(g))
        logits = parallel_head_leave(g, logits);
    if ((g->m->features & (HAS_SOFT_CAP | HAS_GLOBAL_HEADS)) && !compile_is_cut(g->m))
        logits = layer_soft_cap(g, logits);
    if (g->m->features & HAS_LOGIT_SCALE) {
        struct value scaled = layer_divide(g, logits);
        graph_drop(g, logits);
        logits = scaled;
    }
    if (!graph_has(g, TRAIT_FLOAT_LOGITS) || (g->m->features & HAS_OWN_LOSS))
        return logits;
    struct value wide = graph_to(g, logits, DT_F32, PART_UPCAST);
    graph_drop(g, logits);
    return wide;
}

static uint32_t loss_labels(struct graph *g, enum op op, shape_id shape)
{
    return graph_scratch(g, op, ROLE_TARGETS, PART_COPY, DT_I64, shape);
}

static struct value loss_kernel(struct graph *g, struct value logits, uint32_t labels,
                                shape_id rows)
{
    bool inplace = g->m->c.cross_entropy == CROSS_ENTROPY_INPLACE;
    return inplace ? loss_inplace(g, logits, labels, rows)
                   : layer_cross_entropy(g, logits, labels, false);
}

// labels = nn.functional.pad(labels, (0, 1))[..., 1:].contiguous()
static struct value loss_padded(struct graph *g, struct value logits)
{
    uint32_t padded = loss_labels(g, OP_PAD, SHAPE_PADDED);
    uint32_t labels = loss_labels(g, OP_CLONE, SHAPE_TOKENS);
    struct value loss = loss_kernel(g, logits, labels, SHAPE_TOKENS);
    tape_unref(g->t, padded);
    tape_unref(g->t, labels);
    return loss;
}

// shift_logits = logits[..., :-1, :].contiguous(), shift_labels = labels[..., 1:].contiguous(): of
// one sequence both are contiguous already.
static struct value loss_shifted(struct graph *g, struct value logits)
{
    struct value view = layer_view(g, graph_copy(g, logits), NODE_SLICE);
    view.shape = SHAPE_SHIFTED_V;
    if (graph_has(g, TRAIT_SLICE_NODES))
        view = layer_view(g, view, NODE_SLICE);
    bool one = g->m->c.batch_size == 1;
    struct value shifted = one ? graph_copy(g, view) : layer_copy(g, view);
    uint32_t labels = one ? TAPE_NONE : loss_labels(g, OP_CLONE, SHAPE_SHIFTED);
    struct value loss = loss_kernel(g, shifted, labels, SHAPE_SHIFTED);
    tape_unref(g->t, labels);
    graph_drop(g, shifted);
    graph_drop(g, view);
    return loss;
}

#ifndef VRAM_SMALL
// What follows the head is compiled: the logits are read as they are. Capped ones are a result of
// the graph beside them. SRC: traces *_trainer_fsdp2_compiled of tests/calc/truth/frameworks.
static struct value loss_traced(struct graph *g, struct value *logits)
{
    bool caps = g->m->features & (HAS_SOFT_CAP | HAS_GLOBAL_HEADS);
    uint32_t labels = loss_labels(g, OP_TRITON, SHAPE_PADDED);
    struct value capped = graph_none();
    if (caps)
        capped = graph_make(g, OP_TRITON, ROLE_LOGITS, PART_SCALED, logits->dtype, logits->shape);
    int32_t node = (int32_t)g->node_count;
    struct value loss = loss_inplace(g, *logits, labels, SHAPE_TOKENS);
    tape_unref(g->t, labels);
    if (caps && loss.node != GRAPH_NO_NODE)
        graph_save(g, node, capped.storage);
    if (caps) {
        graph_drop(g, *logits);
        *logits = capped;
    }
    return loss;
}
#endif

struct value loss_transformers(struct graph *g, struct value x, uint32_t targets,
                               struct value *logits)
{
    (void)targets;  // shifted copies of them are what is saved
    *logits = loss_logits(g, x);
#ifndef VRAM_SMALL
    if (compile_is_cut(g->m))
        return loss_traced(g, logits);
#endif
    bool own = (g->m->features & HAS_OWN_LOSS) && !graph_has(g, TRAIT_PADDED_LABELS);
    struct value wide = own ? graph_copy(g, *logits) : graph_to(g, *logits, DT_F32, PART_UPCAST);
    bool padded = graph_has(g, TRAIT_PADDED_LABELS) &&
                  g->m->c.kernels != KERNELS_FOAK;  // FastForCausalLMLoss
    struct value loss = padded ? loss_padded(g, wide) : loss_shifted(g, wide);
    graph_drop(g, wide);
    return loss;
}
