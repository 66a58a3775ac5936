// Owns the way from the last hidden state to the loss: whole logits, or one of the kernels that
// avoid them.

#include "calc/trace/loss.h"

#include "calc/trace/block_nanotron.h"
#include "calc/trace/layers.h"
#include "calc/trace/layers_llama.h"
#include "calc/trace/linear.h"
#include "calc/trace/loss_chunked.h"
#include "calc/trace/loss_inplace.h"
#include "calc/trace/loss_transformers.h"

static struct value loss_whole(struct graph *g, struct value x, uint32_t targets,
                               struct value *logits)
{
    *logits = layer_head(g, x);
    if (g->m->features & HAS_SOFT_CAP) {
        struct value capped = layer_soft_cap(g, *logits);
        graph_drop(g, *logits);
        *logits = capped;
    }
    if (g->m->c.cross_entropy == CROSS_ENTROPY_INPLACE)
        return loss_inplace(g, *logits, targets, SHAPE_TOKENS);
    return layer_cross_entropy(g, *logits, targets, g->m->c.cross_entropy == CROSS_ENTROPY_UPCAST);
}

struct value loss_forward(struct graph *g, struct value x, uint32_t targets, struct value *logits)
{
    if (graph_is_nanotron(g))
        return loss_nanotron(g, x, targets);
    if (g->m->c.cross_entropy == CROSS_ENTROPY_CHUNKED)
        return loss_chunked(g, x);
    if (g->m->c.cross_entropy == CROSS_ENTROPY_CCE)
        return loss_cut(g, x, targets);
    bool inplace = g->m->c.cross_entropy == CROSS_ENTROPY_INPLACE;
    if ((inplace || g->m->c.cross_entropy == CROSS_ENTROPY_UPCAST) && graph_has(g, TRAIT_INNER_MODEL))
        return loss_transformers(g, x, targets, logits);
    return loss_whole(g, x, targets, logits);
}
