// Owns torchtune's loss that takes the positions whose label counts, cuts them into chunks, and
// makes the logits of each for its loss alone: their log-probabilities are kept. SRC: torchtune 0.7
// modules/loss/cross_entropy_loss.py (LinearCrossEntropyLoss: mask_inputs, compute_cross_entropy,
// forward); recipes/full_finetune_single_device.py, _loss_step; traces tune_linear*.

#include "calc/trace/loss_linear.h"

#include "calc/trace/compiled.h"
#include "calc/trace/layers.h"
#include "calc/trace/linear.h"
#include "calc/trace/loss_inplace.h"

#ifndef VRAM_SMALL
enum { LONGER, LATER };      // chunks
enum { LINEAR_MOST = 256 };  // fields.def

static void linear_dims(struct dims *d, const struct model *m)
{
    *d = (struct dims){.pieces = 0};
    if (m->c.cross_entropy == CROSS_ENTROPY_LINEAR)
        dims_make(d, m);
}

uint64_t loss_linear_chunks(const struct model *m)
{
    struct dims d;
    linear_dims(&d, m);
    if (m->c.cross_entropy == CROSS_ENTROPY_CHUNKED_OUTPUT)
        return config_loss_chunks(&m->c) > 1;  // loss_output.c
    return d.pieces;
}

uint64_t loss_linear_longer(const struct model *m)
{
    struct dims d;
    linear_dims(&d, m);
    return d.pieces ? d.labels % d.pieces : 0;
}

// hidden.index_select(0, indices): a copy, with the rows that it took.
static struct value linear_selected(struct graph *g, struct value x)
{
    uint32_t rows = graph_scratch(g, OP_INDEX, ROLE_LOSS, PART_SCRATCH, DT_I64, SHAPE_LABELS);
    struct value out = graph_make(g, OP_INDEX, ROLE_HEAD, PART_INPUT, x.dtype, SHAPE_LABELS_U);
    if (graph_needs(g, x)) {
        int32_t n = graph_node(g, NODE_INDEX, &out, 0);
        graph_save(g, n, rows);
        graph_edge(g, n, x);
    }
    tape_unref(g->t, rows);
    return out;
}

// A compiled loss is one kernel each way over the logits as they are.
static struct value linear_chunk(struct graph *g, struct value part, uint32_t targets,
                                 unsigned kind)
{
    static const shape_id logits_shape[] = {SHAPE_LINEAR_V, SHAPE_LINEAR_LAST_V};
    static const shape_id rows[] = {SHAPE_LINEAR, SHAPE_LINEAR_LAST};
    struct value logits = layer_head_chunk(g, part, logits_shape[kind]);
    struct value loss = compile_is_of_blocks(g) ? loss_inplace(g, logits, targets, rows[kind])
                                                : layer_cross_entropy(g, logits, targets, true);
    graph_drop(g, logits);
    return loss;
}

// total_loss += loss
static void linear_add(struct graph *g, struct value *total, struct value loss)
{
    struct value sum = graph_copy(g, *total);
    if (graph_needs(g, loss)) {
        int32_t n = graph_node(g, NODE_ADD, &sum, 0);
        graph_edge(g, n, *total);
        graph_edge(g, n, loss);
    }
    graph_drop(g, *total);
    graph_drop(g, loss);
    *total = sum;
}

// tensor_split: all are cut before the first is taken, and the longer ones come first.
static void linear_cut(struct graph *g, struct value selected, const struct dims *d,
                       struct value parts[])
{
    for (uint64_t k = 0; k < d->pieces; k++) {
        parts[k] = layer_view(g, graph_copy(g, selected), NODE_SLICE);
        parts[k].shape = k < d->labels % d->pieces ? SHAPE_LINEAR_U : SHAPE_LINEAR_LAST_U;
    }
}

struct value loss_linear(struct graph *g, struct value x)
{
    struct value parts[LINEAR_MOST];
    struct dims d;
    dims_make(&d, g->m);
    struct value selected = linear_selected(g, x);
    uint32_t targets = graph_scratch(g, OP_INDEX, ROLE_TARGETS, PART_COPY, DT_I64, SHAPE_LABELS);
    struct value total = graph_make(g, OP_ZEROS, ROLE_LOSS, PART_SELF, DT_F32, SHAPE_ONE);
    linear_cut(g, selected, &d, parts);
    graph_drop(g, selected);
    for (uint64_t k = 0; k < d.pieces; k++) {
        unsigned kind = parts[k].shape == SHAPE_LINEAR_U ? LONGER : LATER;
        linear_add(g, &total, linear_chunk(g, parts[k], targets, kind));
        graph_drop(g, parts[k]);
    }
    tape_unref(g->t, targets);
    struct value loss = graph_make(g, OP_DIV, ROLE_LOSS, PART_SELF, DT_F32, SHAPE_ONE);
    graph_follow(g, NODE_DIV, &loss, total);
    graph_drop(g, total);
    return loss;
}
#endif
