// Owns cross-entropy in place: a loss and a logsumexp for each row in forward, the gradient over
// the logits in backward. SRC: unsloth kernels/cross_entropy_loss.py (Fast_CrossEntropyLoss), as
// fms-acceleration plugins/fused-ops-and-kernels/.../kernels/unsloth/cross_entropy_loss.py puts it
// into transformers (FastForCausalLMLoss).

#include "calc/trace/compiled.h"
#include "calc/trace/loss_inplace.h"

struct value loss_inplace(struct graph *g, struct value logits, uint32_t labels, shape_id rows)
{
    struct value losses = graph_make(g, OP_TRITON, ROLE_LOSS, PART_SCRATCH, DT_F32, rows);
    uint32_t lse = graph_scratch(g, OP_TRITON, ROLE_LOSS, PART_LSE, DT_F32, rows);
    if (graph_needs(g, logits)) {
        int32_t n = graph_node(g, NODE_INPLACE, &losses, 0);
        graph_save(g, n, logits.storage);
        graph_save(g, n, lse);
        graph_save(g, n, labels);
        graph_edge(g, n, logits);
    }
    tape_unref(g->t, lse);
    struct value loss = graph_make(g, OP_DIV, ROLE_LOSS, PART_SELF, DT_F32, SHAPE_ONE);
    graph_follow(g, NODE_MEAN, &loss, losses);
    graph_drop(g, losses);
    return loss;
}

bool loss_inplace_has_head(const struct graph *g)
{
#ifndef VRAM_SMALL
    return compile_is_of_blocks(g) && g->m->c.cross_entropy == CROSS_ENTROPY_LINEAR;
#else
    (void)g;
    return false;
#endif
}

void node_inplace(struct graph *g, const struct node *n, uint32_t results[])
{
    if (n->edges[0].to == GRAPH_NO_NODE || n->saved[0] == TAPE_NONE)
        return;
    bool apart = compile_is_of_blocks(g) && !loss_inplace_has_head(g);
    if (apart || compile_is_cut(g->m) || compile_is_of_loss(g->m)) {
        uint8_t dtype = n->edges[0].dtype;
        shape_id shape = n->edges[0].shape;
        uint32_t tangent = TAPE_NONE;  // of capped logits: no gradient arrives for them
        if (MODEL_IS_WHOLE && n->saved_count > 3)
            tangent = graph_scratch(g, OP_ZEROS, ROLE_LOGITS, PART_TEMP, dtype, shape);
        results[0] = graph_scratch(g, OP_TRITON, ROLE_LOGITS, PART_GRAD, dtype, shape);
        tape_unref(g->t, tangent);
        return;
    }
    tape_ref(g->t, n->saved[0]);
    results[0] = n->saved[0];
}
