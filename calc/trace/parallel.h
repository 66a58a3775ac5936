// Data parallel schemes: what each GPU keeps whole, what in parts, and when weights are gathered.

#ifndef CALC_PARALLEL_H
#define CALC_PARALLEL_H

#include "calc/model/precision.h"
#include "calc/trace/graph.h"

// A whole gradient becomes this GPU's part of it.
void parallel_divide(struct graph *g, struct node *n, uint32_t gradient);

// Around a pass: the weights outside of layers are gathered as long as it lasts.
void parallel_open(struct graph *g);
void parallel_forward_end(struct graph *g);  // the model's forward function has returned
void parallel_root_goes(struct graph *g);  // what is outside of the layers, where FSDP reshards it
void parallel_begin_backward(struct graph *g);  // the gradient of what it returned is there
void parallel_close(struct graph *g);

// A layer, with its weights gathered as long as body runs, and once more for its backward.
struct value parallel_layer(struct graph *g, struct value x, block_fn *body);
// A checkpointed block has run backward: its input and that one's gradient.
void parallel_keep_input(struct graph *g, uint32_t input, uint32_t gradient);
node_fn node_gather, node_reshard;

// fully_shard is called for the embedding, and for the last norm with the head, whose weights stay;
// with tied weights all of it is one unit: accelerate's pull request 4015 (1.14, June 2026), later
// than transformers 5.11. SRC: accelerate utils/fsdp_utils.py, fsdp2_prepare_model; traces
// *_trainer_fsdp2 of tests/calc/truth/frameworks.
static inline bool parallel_has_tail(const struct graph *g)
{
#ifndef VRAM_SMALL
    // of its mixed precision: others are of loops of one's own, or of a model that divides itself
    bool own = g->m->c.expert_parallel > 1 || precision_is_accelerate(&g->m->c);
    return g->gathered && g->m->c.parallel == PARALLEL_FSDP && own &&
           framework_goes(&g->m->c, BY_TRANSFORMERS) && g->m->c.transformers >= 5012;
#else
    (void)g;
    return false;
#endif
}

// Where embedding and head are units by themselves: around both of them. The argument is used up.
bool parallel_apart(const struct graph *g);
struct value parallel_embedded(struct graph *g, struct value x);
struct value parallel_head_enter(struct graph *g, struct value x);
struct value parallel_head_leave(struct graph *g, struct value logits);

#ifndef VRAM_SMALL
// Around experts that are a unit by themselves, with their weights gathered; x stays the caller's,
// y is used up.
struct experts_unit {
    uint32_t gathered, weights;
    bool apart;
};
struct value experts_enter(struct graph *g, struct value x, struct experts_unit *u);
struct value experts_leave(struct graph *g, struct value y, const struct experts_unit *u);

node_fn node_experts_gather, node_experts_reshard;
#endif

// Of the files parallel*.c alone.
static inline struct unit *parallel_unit(struct graph *g)
{
    return &g->shards[graph_layer(g)];
}
// The unit of a layer.
#ifndef VRAM_SMALL
shape_id parallel_layer_shape(const struct graph *g, uint32_t layer);
#else
#define parallel_layer_shape(g, layer) ((shape_id)SHAPE_LAYER)
#endif

uint32_t parallel_take_forward(struct graph *g, shape_id shape);
// When a backward pass gathers the unit that comes next: before or behind a unit's own backward, at
// the end of which its gradients are divided; after them, its weights gone.
enum parallel_prefetch { PREFETCH_NOTHING, PREFETCH_FIRST, PREFETCH_LAST, PREFETCH_BEHIND };
enum parallel_prefetch parallel_prefetch(const struct graph *g);
void parallel_gather_ahead(struct graph *g, uint32_t layer);
void parallel_gather_next(struct graph *g);
void parallel_gather_end(struct graph *g, const struct node *n);
#ifndef VRAM_SMALL
void parallel_gather_before(struct graph *g);  // what ran before the layer, where it is asked for
// Whether a forward pass gathers a layer while the unit before it runs, and that of `layer`.
bool parallel_gathers_forward(const struct graph *g);
void parallel_gather_forward(struct graph *g, uint32_t layer);

// A unit that is some of a layer's weights has run backward.
void parallel_reduce_some(struct graph *g, uint32_t *weights, const uint16_t *numbers,
                          unsigned count, shape_id shape);

// Gathers what comes next where experts are shared: after the embedding's weights are there, after
// a layer's, and in backward.
void experts_prefetch_first(struct graph *g);
void experts_prefetch(struct graph *g);
void experts_prefetch_behind(struct graph *g);

// Whether experts are the unit that ran before the layer's: its backward asks for them first.
bool experts_ran_last(const struct graph *g);

// What was gathered ahead, which is there no more, or TAPE_NONE.
uint32_t experts_taken(uint32_t *gathered);

// Copies of the angles that a block gets, and who keeps them to the end of its backward pass.
void parallel_angles(struct graph *g);
void parallel_angles_keep(struct graph *g, struct value x, bool again);
void parallel_angles_go(struct graph *g);
#endif

#endif
