// Owns what the forward graph of a compiled model hands to the backward one.
//
// What a call of a library takes or makes is handed over if the gradient needs it; so are the
// residual stream's sums and what a reduction gives. All else is computed again from what is
// cheapest to keep. Of a checkpointed block its input alone is kept. SRC: pytorch
// torch/_functorch/partitioners.py, min_cut_rematerialization_partition (should_ban_recomputation:
// ban_recompute_not_in_allowlist, ban_recompute_reductions, ban_recompute_materialized_backward,
// ban_recompute_long_fusible_chains; get_node_weight), cleanup_recompute_tags.

#include "calc/trace/inductor.h"

#ifndef VRAM_SMALL

bool inductor_checkpoints(const struct inductor *d, uint32_t layer)
{
    const struct vram_config *c = &d->g->m->c;
    return layer < d->layers && d->g->grad &&
           (c->checkpointing == CHECKPOINTING_BLOCK ||
            (c->checkpointing == CHECKPOINTING_EVERY && layer % c->checkpoint_every == 0));
}

static const struct node *maker(const struct inductor *d, uint32_t value)
{
    int32_t node = d->values[value].node;
    return node == GRAPH_NO_NODE ? NULL : &d->joint.nodes[node];
}

static uint64_t value_bytes(const struct inductor *d, uint32_t value)
{
    const struct storage *s = inductor_storage(d, value);
    return inductor_bytes(d, s->dtype, s->shape);
}

// What all layers share, such as a mask, is added once more in none but the first: one user may be
// computed again, those behind the next call of a library may not. SRC: find_first_unfusible,
// ban_if_long_fusible_chains.
static bool is_used_far_apart(const struct inductor *d, const struct node *n)
{
    return n->kind == NODE_ADD && n->role == ROLE_SCORES && d->layer > 0;
}

// Copies of whole tensors are in no list of what may be computed again; those of heads are views
// that are expanded. SRC: get_default_op_list.
static bool is_repeated(const struct node *n)
{
    return n->kind == NODE_REPEAT && n->shape == SHAPE_EVERY_U;
}

// Whether it is a buffer whatever is kept.
static bool is_made(const struct inductor *d, uint32_t value)
{
    const struct node *n = maker(d, value);
    return d->values[value].begins || !n || inductor_is_extern(n) || inductor_reduces(n) ||
           n->kind == NODE_EMBEDDING || inductor_is_cut(d, n) || is_repeated(n) ||
           is_used_far_apart(d, n);
}

// A sum on the residual stream.
static bool is_stream(const struct node *n)
{
    return n->kind == NODE_ADD && (n->role == ROLE_RESID1 || n->role == ROLE_RESID2);
}

// What it costs to keep a value: twice its bytes, if it would not be a buffer else. SRC:
// get_node_weight.
static uint64_t weight_of(const struct inductor *d, uint32_t value)
{
    return value_bytes(d, value) << !(is_made(d, value) || d->values[value].called);
}

// What it costs to have a value in the backward graph.
static uint64_t cost_of(const struct inductor *d, uint32_t value, unsigned depth)
{
    enum { DEEP = 24 };
    if (value == TAPE_NONE || d->values[value].kept ||
        inductor_storage(d, value)->home != HOME_TAPE)
        return 0;
    const struct node *n = maker(d, value);
    uint64_t itself = weight_of(d, value), parts = 0;
    if (is_made(d, value) || is_stream(n) || depth == DEEP)
        return itself;
    for (unsigned k = 0; k < n->edge_count; k++)
        parts += cost_of(d, inductor_argument(d, &n->edges[k]), depth + 1);
    return parts < itself ? parts : itself;
}

// A chain of sums is not computed again. The first sum may be, from what is added, if that costs
// less and the words alone are what it is added to, which nothing is fused with.
static bool is_sum_that_stays(const struct inductor *d, const struct node *n)
{
    if (!is_stream(n) || n->edge_count != 2)
        return false;
    uint32_t a = inductor_argument(d, &n->edges[0]), b = inductor_argument(d, &n->edges[1]);
    uint32_t other = a == d->layer_input ? b : a;
    if (d->block && (a == d->layer_input || b == d->layer_input))
        // which is kept in any case: of two cuts alike the earlier one
        return cost_of(d, other, 0) > inductor_bytes(d, n->dtype, n->shape);
    const struct node *begin = maker(d, d->layer_input);
    bool words = d->layer == 0 && (a == d->layer_input || b == d->layer_input) && begin &&
                 (begin->kind == NODE_EMBEDDING || begin->edge_count == 0);
    return !(words && cost_of(d, other, 0) < inductor_bytes(d, n->dtype, n->shape));
}

static void keep(struct inductor *d, uint32_t value);

// An adapter's sum costs as much as both products that it is made of, and is nearer to the backward
// pass by their views and the factor. SRC: get_node_weight (dist_from_bw).
static bool is_nearer(const struct inductor *d, const struct node *n)
{
    return d->g->m->c.lora_rank && n->kind == NODE_ADD && !is_stream(n);
}

// In a buffer, or what it is made of.
static void keep_cheaply(struct inductor *d, uint32_t value)
{
    const struct node *n = maker(d, value);
    uint64_t parts = 0, itself = weight_of(d, value);
    for (unsigned k = 0; k < n->edge_count; k++)
        parts += cost_of(d, inductor_argument(d, &n->edges[k]), 0);
    if (parts > itself || (parts == itself && is_nearer(d, n))) {
        d->values[value].kept = true;
        return;
    }
    for (unsigned k = 0; k < n->edge_count; k++)
        keep(d, inductor_argument(d, &n->edges[k]));
}

static void keep(struct inductor *d, uint32_t value)
{
    if (value == TAPE_NONE || d->values[value].kept ||
        inductor_storage(d, value)->home != HOME_TAPE ||
        inductor_is_mask(inductor_storage(d, value)))
        return;
    const struct node *n = maker(d, value);
    if (is_made(d, value) || is_sum_that_stays(d, n))
        d->values[value].kept = true;
    else
        keep_cheaply(d, value);
}

// Of the two arguments of a product each is saved for the gradient of the other.
static bool saved_is_used(const struct inductor *d, const struct node *n, unsigned which)
{
    bool product = n->kind == NODE_MM || n->kind == NODE_ADDMM || n->kind == NODE_MUL ||
                   n->kind == NODE_BMM || n->kind == NODE_GROUPED_MM;
    return !product || which > 1 ||
           (n->edge_count > 1 && inductor_needs(d, n->edges[1 - which].to));
}

static void partition_node(struct inductor *d, int32_t i)
{
    const struct node *n = &d->joint.nodes[i];
    for (unsigned k = 0; n->waiting && k < n->saved_count; k++) {
        uint32_t value = n->saved[k];
        if (!saved_is_used(d, n, k))
            continue;
        bool taken = inductor_is_extern_backward(n) && value != TAPE_NONE &&
                     inductor_storage(d, value)->home == HOME_TAPE &&
                     !inductor_is_mask(inductor_storage(d, value));
        if (taken)
            d->values[value].kept = true;
        else
            keep(d, value);
    }
}

static void partition_called(struct inductor *d)
{
    for (size_t i = 0; i < d->joint.node_count; i++) {
        const struct node *n = &d->joint.nodes[i];
        for (unsigned k = 0; inductor_is_extern(n) && k < n->edge_count; k++)
            d->values[inductor_argument(d, &n->edges[k])].called = true;
    }
}

void inductor_partition(struct inductor *d)
{
    partition_called(d);
    inductor_find_cuts(d);
    uint32_t input = d->begin, first = inductor_first_layer(d);
    int32_t i = inductor_layer_begin(d, first);
    d->values[input].kept = inductor_checkpoints(d, 0);
    for (uint32_t layer = first; layer <= inductor_last_layer(d); layer++) {
        d->layer = layer;
        d->layer_input = input;
        d->values[input].begins = true;
        for (; i < d->layer_end[layer]; i++)
            partition_node(d, i);
        if (layer < d->layers && !d->block)
            input = d->streams[layer];
        d->values[input].kept |= inductor_checkpoints(d, layer + 1);
    }
    // The last norm's argument is there when its block has been computed again.
    if (inductor_checkpoints(d, d->layers - 1))
        d->values[input].kept = false;
    if (d->block)
        d->values[input].kept = true;
}
#endif
