// Owns the way from the last hidden state to the loss: whole logits, or one of the kernels that
// avoid them.

#include "calc/trace/loss.h"

#include "calc/model/preference.h"
#include "calc/model/unsloth.h"
#include "calc/trace/block_nanotron.h"
#include "calc/trace/compiled.h"
#include "calc/trace/layers.h"
#include "calc/trace/linear.h"
#include "calc/trace/loss_chunked.h"
#include "calc/trace/loss_inplace.h"
#include "calc/trace/loss_linear.h"
#include "calc/trace/loss_output.h"
#include "calc/trace/loss_reward.h"
#include "calc/trace/loss_tiled.h"
#include "calc/trace/loss_transformers.h"
#include "calc/trace/parallel.h"
#include "calc/trace/sequence.h"

// A compiled loss is one kernel each way, too; torchtune's model, which is not compiled, has made
// its logits float32. SRC: traces titan_compiled_* of tests/calc/truth/frameworks; torchtune
// modules/transformer.py (unembed).
static bool loss_is_compiled(struct graph *g, struct value *logits)
{
    bool widened = graph_has(g, TRAIT_COMPILED_LOSS_OF_CHUNKS);
    if (!compile_is_of_blocks(g) || !(widened || graph_has(g, TRAIT_COMPILED_LOSS)))
        return false;
    struct value wide = graph_to(g, *logits, widened ? DT_F32 : logits->dtype, PART_UPCAST);
    graph_drop(g, *logits);
    *logits = wide;
    return true;
}

// output = self.output(h).float(): what the caller gets, and may hold, has four bytes.
static void loss_widen_returned(struct graph *g, struct value *logits)
{
    if (!graph_has(g, TRAIT_FLOAT_OUTPUT))
        return;
    struct value wide = graph_to(g, *logits, DT_F32, PART_UPCAST);
    graph_drop(g, *logits);
    *logits = wide;
}

static struct value loss_whole(struct graph *g, struct value *normed, uint32_t targets,
                               struct value *logits)
{
    *logits = parallel_head_leave(g, loss_output_logits(g, normed));
    loss_widen_returned(g, logits);
    bool kernel = g->m->c.cross_entropy == CROSS_ENTROPY_INPLACE || compile_is_of_loss(g->m);
#ifndef VRAM_SMALL
    if (sequence_loss_is_divided(g) && (kernel || loss_is_compiled(g, logits)))
        return sequence_loss_compiled(g, *logits);
#endif
    if (kernel || loss_is_compiled(g, logits))
        return loss_inplace(g, *logits, targets, SHAPE_TOKENS);
    return layer_cross_entropy(g, *logits, targets, g->m->c.cross_entropy == CROSS_ENTROPY_UPCAST);
}

#ifndef VRAM_SMALL
// Labels are shifted, not logits, and those stay in the model's format. SRC: unsloth
// models/llama.py, CausalLM_fast_forward (shift_labels, fast_cross_entropy_loss).
static struct value loss_unsloth(struct graph *g, struct value x, struct value *logits)
{
    *logits = layer_head(g, x);
    uint32_t labels = graph_scratch(g, OP_CLONE, ROLE_TARGETS, PART_COPY, DT_I64, SHAPE_TOKENS);
    struct value loss = loss_inplace(g, *logits, labels, SHAPE_TOKENS);
    tape_unref(g->t, labels);
    return loss;
}
#endif

struct value loss_forward(struct graph *g, struct value *normed, uint32_t targets,
                          struct value *logits)
{
    struct value x = *normed;
    if (graph_is_nanotron(g))
        return loss_nanotron(g, x, targets);
#ifndef VRAM_SMALL
    if (preference_scores(&g->m->c))
        return loss_reward(g, x);
#endif
    if (preference_is(&g->m->c) && !preference_tiles(&g->m->c)) {
        *logits = loss_logits(g, x);  // the trainer makes the loss
        return graph_none();
    }
    bool tiled = g->m->c.cross_entropy == CROSS_ENTROPY_TILED;
#ifndef VRAM_SMALL
    if (g->m->c.cross_entropy == CROSS_ENTROPY_LINEAR)
        return loss_linear(g, x);
#endif
    if (MODEL_IS_WHOLE && tiled)
        return loss_tiled(g, x);
    if (tiled || g->m->c.cross_entropy == CROSS_ENTROPY_CHUNKED)
        return loss_chunked(g, x);  // for the small module both
    if (g->m->c.cross_entropy == CROSS_ENTROPY_CCE)
        return loss_cut(g, x, targets);
    if (g->m->c.cross_entropy == CROSS_ENTROPY_CHUNKED_OUTPUT)
        return loss_output(g, normed, logits);
    bool inplace = g->m->c.cross_entropy == CROSS_ENTROPY_INPLACE;
#ifndef VRAM_SMALL
    if (inplace && unsloth_patches(&g->m->c))
        return loss_unsloth(g, x, logits);
#endif
    if ((inplace || g->m->c.cross_entropy == CROSS_ENTROPY_UPCAST) &&
        graph_has(g, TRAIT_INNER_MODEL))
        return loss_transformers(g, x, targets, logits);
    return loss_whole(g, normed, targets, logits);
}
