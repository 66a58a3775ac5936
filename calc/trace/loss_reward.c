// Owns a reward model's loss: the score of each sequence's last token, from a head of one output.
// SRC: transformers modeling_layers.py, GenericForSequenceClassification.forward; trl
// trainer/reward_trainer.py, compute_loss.

#include "calc/trace/loss_reward.h"

#ifndef VRAM_SMALL
#include "calc/trace/linear.h"

// logits[torch.arange(batch), last token]
struct value loss_reward(struct graph *g, struct value x)
{
    struct value scores = layer_score(g, x);
    struct value loss = graph_make(g, OP_INDEX, ROLE_LOSS, PART_SELF, scores.dtype, SHAPE_ONE);
    graph_follow(g, NODE_GATHER_ROWS, &loss, scores);
    graph_drop(g, scores);
    return loss;
}
#endif
