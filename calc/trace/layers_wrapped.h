// Adapters over parameters of experts. In the small module none have any.

#ifndef CALC_LAYERS_WRAPPED_H
#define CALC_LAYERS_WRAPPED_H

#include "calc/trace/graph.h"
#include "calc/trace/linear.h"

#ifndef VRAM_SMALL

// What a wrapper's context holds of its parameter: the adapter's halves and the sum, once it was
// asked for.
struct wrapped {
    struct value half[2], whole;
    uint16_t number;
    bool there;
};

struct wrapped_experts {
    struct wrapped down, up;
};

// Around the experts' forward function; their weights in it, P_EXPERTS_UP and P_EXPERTS_DOWN.
struct wrapped_experts wrapped_open(struct graph *g);
struct value wrapped_weight(struct graph *g, uint16_t number, struct wrapped_experts *w);
void wrapped_close(struct graph *g, struct wrapped_experts *w);

// Around the router's: the adapter's product and the sum.
struct wrapped wrapped_router_open(struct graph *g);
struct value wrapped_router_weight(struct graph *g, struct wrapped *w);
struct value wrapped_router_linear(struct graph *g, struct value x, struct wrapped *w);
void wrapped_router_close(struct graph *g, struct wrapped *w);

#else

struct wrapped_experts {
    char none;
};
struct wrapped {
    char none;
};

static inline struct wrapped_experts wrapped_open(struct graph *g)
{
    (void)g;
    return (struct wrapped_experts){0};
}

static inline struct value wrapped_weight(struct graph *g, uint16_t number,
                                          struct wrapped_experts *w)
{
    (void)w;
    return graph_param(g, false, number);
}

static inline void wrapped_close(struct graph *g, struct wrapped_experts *w)
{
    (void)g;
    (void)w;
}

static inline struct wrapped wrapped_router_open(struct graph *g)
{
    (void)g;
    return (struct wrapped){0};
}

static inline struct value wrapped_router_weight(struct graph *g, struct wrapped *w)
{
    (void)w;
    return graph_param(g, false, P_ROUTER);
}

static inline struct value wrapped_router_linear(struct graph *g, struct value x, struct wrapped *w)
{
    (void)w;
    return layer_linear(g, x, P_ROUTER, SHAPE_ROUTER);
}

static inline void wrapped_router_close(struct graph *g, struct wrapped *w)
{
    (void)g;
    (void)w;
}
#endif

node_fn node_fold;

#endif
