// Owns a block that torch.compile has made two graphs of, as torchtitan and torchtune do with each
// block by itself: what the forward graph leaves for backward, and the buffers of both.
//
// What the partitioner hands over: without checkpointing every input of a backward product, which
// is not computed again (ban_recompute_materialized_backward), and the products' own results; under
// a policy of operations what the policy keeps, all else is computed again (must_recompute); under
// full checkpointing the block's input alone. Inductor's buffers take each other's place where one
// is dead, and weight gradients come as soon as they free more than they take. SRC: pytorch
// torch/_functorch/partitioners.py, torch/_inductor/memory.py (reorder_for_peak_memory); torchtitan
// models/llama3/infra/parallelize.py (apply_compile); torchtune training/_compile.py,
// training/activations.py; traces titan_* of tests/calc/truth/frameworks, of more tokens than the
// model is wide.

#include "calc/trace/block_compiled.h"

#include "calc/model/scheme.h"
#include "calc/trace/block_heads.h"
#include "calc/trace/block_traced.h"
#include "calc/trace/compiled.h"
#include "calc/trace/layers_lora.h"
#include "calc/trace/pass_compile_kept.h"
#include "calc/trace/pass_compile_whole.h"
#include "calc/trace/sequence.h"

enum buffer_id {
#define BUFFER(id, ...) B_##id,
#include "calc/trace/block_compiled.def"
    BUFFERS,
    B_INCOMING = BUFFERS,  // the gradient of the block's result
    B_INPUT,
    PLACES
};

enum when {
    ALWAYS,
    COMPLEX,
    REPEATED,
    GROUPED,
    WIDE,
    NARROW,
    BITS,
    ADAPTED_Q,
    ADAPTED_K,
    ADAPTED_V,
    ADAPTED_O,
    ADAPTED_GATE,
    ADAPTED_UP,
    ADAPTED_DOWN,
    BARE_INNER,
    BARE_DOWN,
    RING,
    RING_GROUPED,
    RING_REPEATED,
    OTHER_WIDTH,
    CAST,
#ifndef VRAM_SMALL
    PARTS,
#endif
    WHENS
};

static const struct {
    uint8_t op, role, part, format;
    shape_id shape;
    uint8_t when;
} buffers[BUFFERS] = {
#define COMPUTE 0
#define F32 1
#define LOW 2
#define BUFFER(id, op, role, part, dtype, shape, when) \
    {OP_##op, ROLE_##role, PART_##part, dtype, SHAPE_##shape, when},
#include "calc/trace/block_compiled.def"
#undef COMPUTE
#undef F32
#undef LOW
};
enum { KEPT_BUFFERS = B_LOW_0 };  // those that backward can get

// A graph as a list: take a buffer, give it back, make a weight's gradient; what follows an IF is
// left out where it does not hold.
#ifdef VRAM_SMALL
typedef uint8_t list_entry;
enum { GIVE = 103, WEIGHT = 206, CONDITION = 233, END = 255 };
#else
typedef uint16_t list_entry;
enum { GIVE = 200, WEIGHT = 400, CONDITION = 440, END = 500 };
#endif
_Static_assert((int)PLACES <= (int)GIVE, "buffers and what is done with them are numbered apart");
_Static_assert((int)CONDITION + (int)WHENS <= (int)END, "a condition is no end");
#define IF(when) (CONDITION + when)
#define T(id) B_##id
#define G(id) (GIVE + B_##id)

enum { W_LN1, W_Q, W_K, W_V, W_O, W_LN2, W_GATE, W_UP, W_DOWN, WHOLE_WEIGHTS };
enum { WEIGHTS = 3 * WHOLE_WEIGHTS };  // with the two of each adapter
static const uint16_t weights[WHOLE_WEIGHTS] = {P_LN1, P_Q,    P_K,  P_V,   P_O,
                                                P_LN2, P_GATE, P_UP, P_DOWN};
#define D(id) (WEIGHT + W_##id)
#define ADAPTER(id, half) (WEIGHT + WHOLE_WEIGHTS * (half) + W_##id)

// What comes with a weight and is small: its bias, the norm of the heads that it makes.
enum { WITH_WEIGHT = MODEL_IS_WHOLE ? 2 : 0, WITH_WEIGHT_ROOM = 2 };
static const uint16_t with_weights[WHOLE_WEIGHTS][WITH_WEIGHT_ROOM] = {
    [W_Q] = {P_Q + LAYOUT_BIAS, P_Q_NORM},
    [W_K] = {P_K + LAYOUT_BIAS, P_K_NORM},
    [W_V] = {P_V + LAYOUT_BIAS}};

static uint16_t weight_number(unsigned which)
{
    static const uint16_t half[] = {0, LAYOUT_A, LAYOUT_B};
    return (uint16_t)(weights[which % WHOLE_WEIGHTS] + half[which / WHOLE_WEIGHTS]);
}

// Calls fn for each number of the block's weights; norms have no adapters.
static void weights_each(struct graph *g, void (*fn)(struct graph *g, uint16_t number))
{
    unsigned count = g->m->c.lora_rank ? WEIGHTS : WHOLE_WEIGHTS;
    for (unsigned i = 0; i < count && graph_ok(g); i++) {
        unsigned whole = i % WHOLE_WEIGHTS;
        if (i == whole || (whole != W_LN1 && whole != W_LN2))
            fn(g, weight_number(i));
        for (unsigned k = 0; i == whole && k < WITH_WEIGHT && with_weights[i][k]; k++)
            fn(g, with_weights[i][k]);
    }
}

#define PROJECT T(QUERY), T(KEY), T(VALUE)
#define TURN T(QUERY_WIDE), T(KEY_WIDE), T(QUERY_TURNED), G(QUERY_WIDE), T(KEY_TURNED), G(KEY_WIDE)
#define TURN_BACK \
    T(ANGLES), T(KEY_TURNED), G(KEY_WIDE), G(KEY_TURNED), T(QUERY_WIDE), T(QUERY_TURNED), \
        G(ANGLES), G(QUERY_WIDE), G(QUERY_TURNED)
#define FLASH_BACK \
    T(D_QUERY), T(D_KEY), T(D_VALUE), T(ROWS), T(D_SUM), T(D_KEYS), T(D_VALUES), G(D_VALUES), \
        G(D_KEYS), G(D_SUM), G(ROWS), G(SUMS)
#define MLP_BACK \
    D(DOWN), G(PRODUCT), D(GATE), T(D_NORM2), G(D_GATE), D(UP), G(D_UP), T(D_INPUT), G(INCOMING), \
        T(D_ATTENDED)
#define LAST_WEIGHTS \
    D(LN2), D(LN1), D(O), G(ATTENDED), D(V), G(D_VALUE), D(K), G(D_KEY), D(Q), G(NORM1), \
        G(D_QUERY), G(QUERY_LOW), G(D_ATTENDED), G(D_NORM1), G(D_NORM1_QUERY), G(INPUT), G(RSTD1)

static const list_entry own_plain_forward[] = {
    T(RSTD1),    T(NORM1),     PROJECT,   TURN,      G(QUERY_TURNED), G(KEY_TURNED),
    T(KEYS),     IF(REPEATED), G(KEY),    T(VALUES), IF(REPEATED),    G(VALUE),
    T(ATTENDED), T(SUMS),      T(MIDDLE), T(RSTD2),  T(NORM2),        T(GATE),
    T(UP),       T(PRODUCT),   T(RESULT), END};
static const list_entry own_plain_backward[] = {
    D(DOWN),       G(PRODUCT),    T(D_PRODUCT),    T(D_GATE),        G(D_PRODUCT),
    G(GATE),       D(GATE),       T(D_NORM2),      G(D_GATE),        D(UP),
    G(NORM2),      T(D_NORM2_UP), G(UP),           T(D_INPUT),       G(INCOMING),
    T(D_ATTENDED), FLASH_BACK,    G(QUERY),        G(KEY),           G(VALUE),
    G(KEYS),       G(VALUES),     T(KEY_WIDE),     T(ANGLES),        T(KEY_TURNED),
    G(KEY_WIDE),   G(KEY_TURNED), T(D_NORM1),      T(QUERY_WIDE),    T(QUERY_TURNED),
    G(ANGLES),     G(QUERY_WIDE), G(QUERY_TURNED), T(D_NORM1_QUERY), G(D_NORM2),
    G(D_NORM2_UP), G(MIDDLE),     G(RSTD2),        LAST_WEIGHTS,     END};
// The result's buffer is that of the norm, of the turned query and of the output projection before.
static const list_entry own_chosen_forward[] = {
    T(RESULT),   PROJECT,  TURN,    G(QUERY_TURNED), G(KEY_TURNED), T(KEYS),  T(VALUES),
    T(ATTENDED), T(SUMS),  G(KEY),  G(KEYS),         G(VALUES),     T(NORM2), T(GATE),
    T(UP),       G(NORM2), T(DOWN), G(UP),           G(DOWN),       END};
static const list_entry own_chosen_backward[] = {
    T(MIDDLE),     T(RSTD2),        T(NORM2),     T(UP),           T(D_PRODUCT),    T(PRODUCT),
    T(D_GATE),     T(D_UP),         G(UP),        G(D_PRODUCT),    G(GATE),         D(DOWN),
    G(PRODUCT),    D(GATE),         T(D_NORM2),   G(D_GATE),       D(UP),           G(D_UP),
    T(RSTD1),      T(D_INPUT),      T(NORM1),     G(INCOMING),     T(D_ATTENDED),   T(QUERY_WIDE),
    G(QUERY),      T(QUERY_TURNED), T(QUERY_LOW), G(QUERY_TURNED), T(KEY),          T(KEY_WIDE),
    T(KEY_TURNED), G(KEY_TURNED),   T(KEYS),      T(VALUES),       FLASH_BACK,      G(KEY),
    G(KEYS),       G(VALUES),       G(VALUE),     T(ANGLES),       T(KEY_TURNED),   G(KEY_WIDE),
    G(KEY_TURNED), T(QUERY_TURNED), G(ANGLES),    G(QUERY_WIDE),   G(QUERY_TURNED), T(D_NORM1),
    G(MIDDLE),     G(NORM2),        G(D_NORM2),   G(RSTD2),        LAST_WEIGHTS,    END};
static const list_entry own_full_forward[] = {
    T(NORM1),      T(RESULT), T(KEY),    T(VALUE),    G(NORM1), TURN,        G(QUERY_TURNED),
    G(KEY_TURNED), T(KEYS),   T(VALUES), T(ATTENDED), T(SUMS),  G(KEY),      G(VALUE),
    G(KEYS),       G(VALUES), G(SUMS),   T(GATE),     T(UP),    G(ATTENDED), G(UP),
    T(DOWN),       G(GATE),   G(DOWN),   END};
// The query's buffer becomes that of the output projection.
static const list_entry own_full_backward[] = {
    T(RSTD1),    T(NORM1),      PROJECT,    TURN,         T(QUERY_LOW), G(QUERY_TURNED),
    T(KEY_LOW),  G(KEY_TURNED), T(KEYS),    T(VALUES),    T(ATTENDED),  T(SUMS),
    G(KEY),      T(RSTD2),      T(NORM2),   T(D_PRODUCT), T(GATE),      T(UP),
    T(PRODUCT),  T(D_GATE),     T(D_UP),    G(D_PRODUCT), G(GATE),      G(UP),
    MLP_BACK,    FLASH_BACK,    G(VALUE),   G(KEY_LOW),   G(KEYS),      G(VALUES),
    T(KEY_WIDE), TURN_BACK,     T(D_NORM1), G(QUERY),     G(D_NORM2),   G(NORM2),
    G(RSTD2),    LAST_WEIGHTS,  END};

// AROUND: torch.utils.checkpoint is outside of what is compiled, whose graph for training runs both
// times.
enum compiled { PLAIN, CHOSEN, FULL, AROUND, COMPILED_KINDS };

#define GRAPH(name, ...) static const list_entry name[] = {__VA_ARGS__, END};
#include "calc/trace/block_float8.def"
#define GRAPH(name, ...) static const list_entry name[] = {__VA_ARGS__, END};
#include "calc/trace/block_adapted.def"
// The page's build has no room for the others (model_compiles_blocks).
#ifndef VRAM_SMALL
#define GRAPH(name, ...) static const list_entry name[] = {__VA_ARGS__, END};
#include "calc/trace/block_headed.def"
#define GRAPH(name, ...) static const list_entry name[] = {__VA_ARGS__, END};
#include "calc/trace/block_divided.def"
#endif

// By what the products' operands are scaled, if they are cast to float8.
#define GRAPHS(forward, backward) \
    { \
        [PLAIN] = {forward##_plain_forward, NULL, backward##_plain_backward}, \
        [CHOSEN] = {forward##_chosen_forward, NULL, backward##_chosen_backward}, \
        [FULL] = {forward##_full_forward, NULL, backward##_full_backward}, \
        [AROUND] = {forward##_plain_forward, forward##_plain_forward, backward##_plain_backward}, \
    }
enum { ADAPTED = float8_COUNT, HEADED, DIVIDED, DIVIDED_LOW, FORMS };
static const struct compiled_graphs {
    const list_entry *forward, *again, *backward;
} graphs[FORMS][COMPILED_KINDS] = {
    [FLOAT8_NONE] = GRAPHS(own, own),
    [FLOAT8_TENSORWISE] = GRAPHS(low, tensorwise),
    [FLOAT8_ROWWISE] = GRAPHS(low, rowwise),
    [ADAPTED] = {[PLAIN] = {adapted_plain_forward, NULL, adapted_plain_backward},
                 [FULL] = {adapted_plain_forward, NULL, adapted_plain_backward},  // of evaluation
                 [AROUND] = {adapted_plain_forward, adapted_plain_forward, adapted_plain_backward}},
#ifndef VRAM_SMALL
    [HEADED] = GRAPHS(headed, headed),
    [DIVIDED] = GRAPHS(divided, divided),
    [DIVIDED_LOW] = GRAPHS(divided_low, divided_low),
#endif
};

struct run {
    struct graph *g;
    uint32_t at[PLACES];
    bool takes[WHENS];
};

static void run_open(struct run *r, struct graph *g)
{
    static const struct {
        uint8_t when, weight;
    } adapted[] = {{ADAPTED_Q, W_Q},      {ADAPTED_K, W_K},       {ADAPTED_V, W_V},
                   {ADAPTED_O, W_O},      {ADAPTED_GATE, W_GATE}, {ADAPTED_UP, W_UP},
                   {ADAPTED_DOWN, W_DOWN}};
    bool repeated = heads_repeat(g);
    *r = (struct run){.g = g};
    r->takes[ALWAYS] = true;
    r->takes[COMPLEX] = framework_goes(&g->m->c, BY_COMPLEX_ANGLES);
    r->takes[REPEATED] = repeated;
    r->takes[GROUPED] = !repeated;
    r->takes[NARROW] = g->m->c.float8_all_gather;
    r->takes[WIDE] = !r->takes[NARROW];
    r->takes[RING] = g->m->c.context_parallel > 1;
    r->takes[RING_REPEATED] = r->takes[RING] && repeated;
    r->takes[RING_GROUPED] = r->takes[RING] && !repeated;
    r->takes[OTHER_WIDTH] = MODEL_IS_WHOLE && g->m->c.n_head * g->m->c.head_dim != g->m->c.n_embd;
    r->takes[CAST] = MODEL_IS_WHOLE && scheme_divides_weights(&g->m->c);
    r->takes[BITS] = g->m->c.quantization != QUANTIZATION_NONE;
#ifndef VRAM_SMALL
    r->takes[PARTS] = !sequence_in_order(g->m);
#endif
    for (unsigned i = 0; i < sizeof adapted / sizeof *adapted; i++)
        r->takes[adapted[i].when] = lora_is_adapted(g, false, weights[adapted[i].weight]);
    r->takes[BARE_INNER] = !r->takes[ADAPTED_GATE] && !r->takes[ADAPTED_UP];
    r->takes[BARE_DOWN] = !r->takes[ADAPTED_DOWN];
}

static void run_take(struct run *r, unsigned id)
{
    const uint8_t formats[] = {r->g->compute, DT_F32, DT_BYTE};
    if (r->takes[buffers[id].when])
        r->at[id] =
            compile_buffer(r->g, (enum op)buffers[id].op, buffers[id].role, buffers[id].part,
                           formats[buffers[id].format], buffers[id].shape);
}

static void run_gradient(struct run *r, unsigned which)
{
    static const uint8_t parts[] = {PART_WEIGHT_GRAD, PART_A_GRAD, PART_B_GRAD};
    compile_gradient(r->g, false, weight_number(which), OP_MM, parts[which / WHOLE_WEIGHTS]);
    for (unsigned k = 0; which < WHOLE_WEIGHTS && k < WITH_WEIGHT && with_weights[which][k]; k++)
        compile_gradient(r->g, false, with_weights[which][k], OP_TRITON, PART_WEIGHT_GRAD);
}

static void run_entry(struct run *r, list_entry entry)
{
    if (entry >= WEIGHT)
        run_gradient(r, entry - WEIGHT);
    else if (entry >= GIVE)
        compile_release(r->g, &r->at[entry - GIVE]);
    else if (r->at[entry] == TAPE_NONE)
        run_take(r, entry);
}

// Attention over a divided sequence: keys and values of all GPUs in one tensor; the halves of the
// queries that see what came before, and their results, whose sum takes the place of the widened
// query. What a collective made is kept for backward although the block is checkpointed. SRC:
// pytorch torch/distributed/tensor/experimental/_attention.py, _templated_ring_attention and
// _SDPAMerger, of the first rank; PR 147561 (force_save_collectives); traces titan_cp_*.
static const list_entry ring_opens[] = {T(SENT), T(SENT_WHOLE), T(GATHERED), T(GATHERED_WHOLE),
                                        G(SENT), G(SENT_WHOLE), END};
static const list_entry ring_waits[] = {T(HALVES), END};  // for the gradients
static const list_entry ring_closes[] = {G(HALVES), END};
static const list_entry ring_forgets[] = {G(GATHERED), G(GATHERED_WHOLE), G(RING_KEY), END};

static void run_ring(struct run *r, const list_entry *list)
{
    for (; *list != END && graph_ok(r->g); list++)
        run_entry(r, *list);
}

static void run_ring_open(struct run *r)
{
    run_ring(r, ring_opens);
    if (r->g->t->backward)
        run_ring(r, ring_waits);
}

static void run_ring_close(struct run *r)
{
    run_ring(r, ring_closes);
    if (r->g->t->backward || !graph_has(r->g, TRAIT_COLLECTIVES_KEPT))
        run_ring(r, ring_forgets);
}

static void run_list(struct run *r, const list_entry *list)
{
    for (; *list != END && graph_ok(r->g); list++) {
        if (*list >= CONDITION) {
            list += !r->takes[*list - CONDITION];
            continue;
        }
        run_entry(r, *list);
        if (r->takes[RING] && (*list == T(SUMS) || *list == T(D_SUM)))
            run_ring_open(r);
        if (r->takes[RING] && *list == G(SUMS))
            run_ring_close(r);
    }
}

// What lives beside the result goes to the nodes, or is no longer wanted.
static void run_leave(struct run *r, int32_t nodes)
{
    if (r->takes[RING])
        run_ring_close(r);
    for (unsigned id = 0; id < KEPT_BUFFERS; id++)
        if (r->at[id] != TAPE_NONE && id != B_RESULT)
            compile_keep(r->g, nodes, id, r->at[id]);
}

static const struct compiled_graphs *compiled_of(const struct graph *g, enum compiled kind)
{
    const struct vram_config *c = &g->m->c;
    bool headed = MODEL_IS_WHOLE && (g->m->features & HAS_HEAD_NORM);
    if (MODEL_IS_WHOLE && c->tensor_parallel > 1)
        return &graphs[c->float8 ? DIVIDED_LOW : DIVIDED][kind];
    return &graphs[headed ? HEADED : c->lora_rank ? ADAPTED : c->float8][kind];
}

static void weight_use(struct graph *g, uint16_t number)
{
    graph_drop(g, graph_param(g, false, number));
}

static void weight_accumulate(struct graph *g, uint16_t number)
{
    compile_accumulate(g, false, number);
}

// Attention that selective checkpointing does not know: its results go, and come back first of all.
static const list_entry attention_goes[] = {G(ATTENDED), G(SUMS), END};
static const list_entry attention_comes[] = {T(ATTENDED), T(SUMS), END};

static bool compiled_repeats(const struct graph *g, enum compiled kind)
{
    return kind == CHOSEN && model_repeats_attention(g->m);
}

static struct value compiled_forward(struct graph *g, struct value x, enum compiled kind)
{
    struct run r;
    run_open(&r, g);
    weights_each(g, weight_use);
    run_list(&r, compiled_of(g, g->grad ? kind : FULL)->forward);
    if (g->grad && compiled_repeats(g, kind))
        run_list(&r, attention_goes);
    if (g->grad && kind == CHOSEN)
        run_entry(&r, T(RING_KEY));  // the turned one, beside the product that the policy keeps
    struct value out = {r.at[B_RESULT], GRAPH_NO_NODE, 0, x.dtype, SHAPE_U, ROLE_RESID2};
    int32_t n = graph_node(g, NODE_COMPILED_BLOCK, &out, kind);
    graph_save(g, n, x.storage);
    graph_edge(g, n, x);
    bool keeps = n != GRAPH_NO_NODE && !compiled_of(g, kind)->again;
    run_leave(&r, keeps ? compile_kept_nodes(g, (KEPT_BUFFERS + GRAPH_SAVED - 1) / GRAPH_SAVED)
                        : GRAPH_NO_NODE);
    return out;
}

struct value block_compiled(struct graph *g, struct value x)
{
    return compiled_forward(g, x, PLAIN);
}

struct value block_compiled_checkpointed(struct graph *g, struct value x)
{
    bool chosen = g->m->c.checkpointing == CHECKPOINTING_SELECTIVE;
    return compiled_forward(g, x,
                            chosen                                            ? CHOSEN
                            : framework_goes(&g->m->c, BY_CHECKPOINTS_AROUND) ? AROUND
                                                                              : FULL);
}

// The node's own references become the graph's.
static void run_begin_backward(struct run *r, struct node *n, const list_entry *again)
{
    for (unsigned id = 0; id < KEPT_BUFFERS && !again; id++)
        r->at[id] = compile_take(r->g, r->g->running + 1, id);
    r->at[B_INPUT] = n->saved[0];
    r->at[B_INCOMING] = n->gradient[0];
    n->saved[0] = n->gradient[0] = TAPE_NONE;
    if (!again)
        return;
    r->g->recompute = true;
    run_list(r, again);
    compile_release(r->g, &r->at[B_RESULT]);
    r->g->recompute = false;
}

void node_compiled_block(struct graph *g, const struct node *n, uint32_t results[])
{
    struct run r;
#ifndef VRAM_SMALL
    if (compile_is_cut(g->m)) {
        node_traced_block(g, n, results);
        return;
    }
    if (compile_is_traced(g->m)) {
        node_compiled_whole(g, n, results);
        return;
    }
#endif
    enum compiled kind = (enum compiled)n->extra;
    bool wanted = n->edges[0].to != GRAPH_NO_NODE;
    run_open(&r, g);
    run_begin_backward(&r, &g->nodes[g->running], compiled_of(g, kind)->again);
    if (compiled_repeats(g, kind))
        run_list(&r, attention_comes);
    run_list(&r, compiled_of(g, kind)->backward);
    if (wanted)
        results[0] = r.at[B_D_INPUT];
    else
        tape_unref(g->t, r.at[B_D_INPUT]);
    weights_each(g, weight_accumulate);
}
