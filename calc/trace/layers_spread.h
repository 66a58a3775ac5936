// Experts of transformers' grouped products that GPUs share. In the page nothing is.

#ifndef CALC_LAYERS_SPREAD_H
#define CALC_LAYERS_SPREAD_H

#include "calc/model/experts.h"
#include "calc/trace/graph.h"

#ifndef VRAM_SMALL
// The experts on x, by what a router has chosen: its shares and their experts' numbers, which where
// experts are divided can be others afterwards. run: the experts of a GPU on rows.
typedef struct value spread_fn(struct graph *g, struct value x, struct value weights);
struct value spread_experts(struct graph *g, struct value x, struct value *weights,
                            uint32_t *chosen, spread_fn *run);

// The mask of rows of others' experts, which are zeros in *rows from then on; TAPE_NONE where there
// is none. y without them: uses y up.
uint32_t spread_mask(struct graph *g, struct value *rows);
struct value spread_masked(struct graph *g, struct value y, uint32_t mask);

#else
#define spread_experts(g, x, weights, chosen, run) run(g, x, *(weights))
#define spread_mask(g, rows) TAPE_NONE
#endif

// Shapes of a number a row, of the rows, and of what comes out of the experts: where rows are sent,
// each has one expert by then.
#ifdef VRAM_SMALL
#define GROUPED_LIST(g) SHAPE_TOPK
#define GROUPED_ROWS(g) SHAPE_ROUTED_U
#define GROUPED_OUT(g) SHAPE_U
#define GROUPED_SUM(g) NODE_SUM
#define grouped_masked(g, y, mask) ((void)(mask), (y))
#else
#define GROUPED_LIST(g) (model_sends_rows((g)->m) ? SHAPE_ROWS : SHAPE_TOPK)
#define GROUPED_ROWS(g) (model_sends_rows((g)->m) ? SHAPE_GROUPED_U : SHAPE_ROUTED_U)
#define GROUPED_OUT(g) (model_sends_rows((g)->m) ? SHAPE_GROUPED_U : SHAPE_U)
#define GROUPED_SUM(g) (model_sends_rows((g)->m) ? NODE_PASS : NODE_SUM)
#define grouped_masked(g, y, mask) spread_masked(g, y, mask)
#endif

#endif
