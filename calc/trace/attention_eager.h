// Attention whose scores are tensors, as transformers writes it out.

#ifndef CALC_ATTENTION_EAGER_H
#define CALC_ATTENTION_EAGER_H

#include "calc/trace/graph.h"

// The masks of full and of windowed attention: made once a forward pass, arguments of every layer.
void attention_masks_open(struct graph *g);

// How an operand of matmul lies in memory.
enum eager_form { EAGER_CONTIGUOUS, EAGER_BY_HEAD, EAGER_PROJECTION };

struct eager_forms {
    enum eager_form q, k, v;
};

// q k' * scaling, capped where the family does, + mask
struct value eager_scores(struct graph *g, struct value q, struct value k,
                          const struct eager_forms *forms);

// q for every position, k and v for every query head; projections as they are, whose heads are
// views, or views by head. They stay the caller's. The layer holds the attention's second result,
// the shares, to its end: g->shares.
struct value layer_attention_eager(struct graph *g, struct value q, struct value k, struct value v,
                                   const struct eager_forms *forms);

#endif
