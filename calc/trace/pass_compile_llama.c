// Owns the pass of a compiled model of Llama's form, as transformers has them (TrainingArguments'
// torch_compile): Inductor's two graphs, each as lists of buffers in the order of its code.
//
// A buffer that is dead stays allocated if a later one of its size and format takes its place, be
// it a layer further on; the others are deleted after their last use. Masks of attention are
// tensors while a model is traced, so that attention is memory-efficient. SRC: pytorch
// torch/_inductor/codegen/wrapper.py (AllocateLine.plan, FreeIfNotReusedLine, buffer_reuse_key),
// torch/_functorch/partitioners.py; transformers masking_utils.py (is_tracing); traces *_whole*.

#include "calc/trace/pass_compile_llama.h"

#include "calc/trace/pass_compile.h"
#include "calc/trace/pass_compile_kept.h"

enum buffer_id {
#define BUFFER(id, ...) B_##id,
#include "calc/trace/pass_compile_llama.def"
    BUFFERS,
    KEPT_BUFFERS = B_RESULT
};

enum when { ALWAYS, CAST };

static const struct {
    uint8_t op, role, part, format, shape, when;
} buffers[BUFFERS] = {
#define COMPUTE 0
#define F32 1
#define STREAM 2
#define BUFFER(id, op, role, part, dtype, shape, when) \
    {OP_##op, ROLE_##role, PART_##part, dtype, SHAPE_##shape, when},
#include "calc/trace/pass_compile_llama.def"
#undef COMPUTE
#undef F32
#undef STREAM
};

// A graph as a list: take a buffer, give it back, make the gradients of a weight.
enum { W_LN1, W_Q, W_K, W_V, W_O, W_LN2, W_GATE, W_UP, W_DOWN, WEIGHTS };
enum { GIVE = BUFFERS, WEIGHT = 2 * BUFFERS, END = 255 };
_Static_assert((int)WEIGHT + 2 * (int)WEIGHTS <= (int)END, "a weight is no end");
#define T(id) B_##id
#define G(id) (GIVE + B_##id)
#define D(id) (WEIGHT + W_##id)
#define W(id) (WEIGHT + WEIGHTS + W_##id)
#define GRAPH(name, ...) static const uint8_t name[] = {__VA_ARGS__, END};
#include "calc/trace/pass_compile_llama.def"
static const struct form {
    const uint8_t *forward, *again, *backward, *again_backward;
} grouped = {grouped_forward, grouped_again, grouped_backward, grouped_again_backward},
  even = {even_forward, even_again, even_backward, even_again_backward};
static const uint8_t nothing[] = {END};
static const uint8_t after_forward[] = {T(RSTD1), T(NORM1), END};  // of the last norm
static const uint8_t before_cast[] = {T(STREAM_LOW), G(D_NORM_F), END};
static const uint8_t before_plain[] = {G(INPUT), END};
static const uint8_t stream_goes[] = {G(STREAM), G(STREAM_LOW), G(MASK), END};

enum { WITH = 2 };  // a weight and its bias
static const uint16_t weights[WEIGHTS][WITH] = {
    [W_LN1] = {P_LN1},
    [W_Q] = {P_Q, P_Q + LAYOUT_BIAS},
    [W_K] = {P_K, P_K + LAYOUT_BIAS},
    [W_V] = {P_V, P_V + LAYOUT_BIAS},
    [W_O] = {P_O, P_O + LAYOUT_BIAS},
    [W_LN2] = {P_LN2},
    [W_GATE] = {P_GATE},
    [W_UP] = {P_UP},
    [W_DOWN] = {P_DOWN},
};

enum { IDLE_ROOM = 64 };

struct whole {
    struct graph *g;
    uint32_t at[BUFFERS];
    struct {
        uint32_t storage;
        uint16_t kind;
    } idle[IDLE_ROOM];  // dead, and waiting for the next of their kind
    unsigned idle_count;
    const uint8_t *list, *next;
};

static bool whole_takes(const struct whole *w, unsigned id)
{
    return buffers[id].when == ALWAYS || w->g->autocast;
}

static uint8_t whole_dtype(const struct whole *w, unsigned id)
{
    const uint8_t formats[] = {w->g->compute, DT_F32, w->g->residual};
    return formats[buffers[id].format];
}

static const struct form *whole_form(const struct graph *g)
{
    return g->m->c.n_kv_head == g->m->c.n_head ? &even : &grouped;
}

// Buffers of one kind take each other's place.
static uint16_t whole_kind(const struct whole *w, unsigned id)
{
    const struct vram_config *c = &w->g->m->c;
    uint8_t shape = buffers[id].shape;
    if (c->n_kv_head == c->n_head)
        shape = shape == SHAPE_KV ? SHAPE_Q : shape == SHAPE_W_KV ? SHAPE_W_Q : shape;
    if (shape == SHAPE_Q && c->n_head * c->head_dim == c->n_embd)
        shape = SHAPE_U;
    return (uint16_t)(whole_dtype(w, id) << 8 | shape);
}

static bool whole_reuses(const struct whole *w, unsigned id, uint16_t kind)
{
    return buffers[id].op != OP_NEW_EMPTY && whole_takes(w, id) && whole_kind(w, id) == kind;
}

// Whether a buffer is an input of the graph whose list this is: nothing but an operation in place
// gets its memory.
static bool whole_is_input(unsigned id, const uint8_t *list)
{
    return id == B_INPUT ||
           (id < KEPT_BUFFERS && (list == grouped_backward || list == even_backward));
}

// Whether a buffer that dies before `rest` is taken once more: the last that died is the first.
static bool whole_wanted(const struct whole *w, const uint8_t *rest, uint16_t kind)
{
    int above = 0;
    for (unsigned k = 0; k < 2; k++, rest = w->next)
        for (; *rest != END; rest++) {
            bool gives = *rest >= GIVE && *rest < WEIGHT;
            unsigned id = gives ? *rest - GIVE : *rest;
            if (*rest >= WEIGHT || !whole_takes(w, id) || whole_kind(w, id) != kind ||
                whole_is_input(id, k ? w->next : w->list))
                continue;
            above += gives ? -1 : whole_reuses(w, id, kind);
            if (above > 0)
                return true;
        }
    return false;
}

static void whole_take(struct whole *w, unsigned id)
{
    uint16_t kind = whole_kind(w, id);
    if (w->at[id] != TAPE_NONE || !whole_takes(w, id))
        return;
    if (id == B_D_UP_INPLACE) {
        w->at[id] = w->at[B_UP];
        w->at[B_UP] = TAPE_NONE;
        return;
    }
    for (unsigned i = w->idle_count; i-- > 0 && whole_reuses(w, id, kind);)
        if (w->idle[i].kind == kind) {
            w->at[id] = w->idle[i].storage;
            w->idle[i] = w->idle[--w->idle_count];
            return;
        }
    w->at[id] = compile_buffer(w->g, (enum op)buffers[id].op, buffers[id].role, buffers[id].part,
                               whole_dtype(w, id), buffers[id].shape);
}

static void whole_give(struct whole *w, unsigned id, const uint8_t *rest)
{
    uint16_t kind = whole_kind(w, id);
    if (w->at[id] != TAPE_NONE && w->idle_count < IDLE_ROOM && !whole_is_input(id, w->list) &&
        whole_wanted(w, rest, kind)) {
        w->idle[w->idle_count].storage = w->at[id];
        w->idle[w->idle_count++].kind = kind;
        w->at[id] = TAPE_NONE;
        return;
    }
    compile_release(w->g, &w->at[id]);
}

static void whole_gradients(struct whole *w, unsigned which)
{
    for (unsigned k = 0; k < WITH && (k == 0 || weights[which][k]); k++)
        compile_gradient(w->g, false, weights[which][k], OP_MM,
                         k ? PART_BIAS_GRAD : PART_WEIGHT_GRAD);
}

static void whole_list(struct whole *w, const uint8_t *list, const uint8_t *next)
{
    w->list = list;
    w->next = next;
    for (; *list != END && graph_ok(w->g); list++) {
        if (*list >= WEIGHT && (*list >= WEIGHT + WEIGHTS) == w->g->autocast)
            whole_gradients(w, (*list - WEIGHT) % WEIGHTS);
        else if (*list >= WEIGHT)
            continue;
        else if (*list >= GIVE)
            whole_give(w, *list - GIVE, list + 1);
        else
            whole_take(w, *list);
    }
}

static void whole_idle_goes(struct whole *w)
{
    while (w->idle_count > 0)
        tape_unref(w->g->t, w->idle[--w->idle_count].storage);
}

// ---- forward -----------------------------------------------------------------------------------

enum { LAYER_NODES = (KEPT_BUFFERS + GRAPH_SAVED - 1) / GRAPH_SAVED };

static const uint8_t *forward_list(const struct graph *g, uint32_t layer)
{
    if (layer >= graph_layers(g))
        return after_forward;
    const struct form *form = whole_form(g);
    return !g->grad || compile_checkpoints(g, layer) ? form->again : form->forward;
}

static void forward_layer(struct whole *w, uint32_t layer)
{
    struct graph *g = w->g;
    graph_enter(g, layer);
    int32_t nodes = compile_kept_nodes(g, LAYER_NODES);
    for (unsigned i = 0; i < WEIGHTS; i++)
        for (unsigned k = 0; k < WITH && (k == 0 || weights[i][k]); k++)
            graph_drop(g, graph_param(g, false, weights[i][k]));
    whole_list(w, forward_list(g, layer), forward_list(g, layer + 1));
    for (unsigned id = 0; id < KEPT_BUFFERS; id++)
        if (w->at[id] != TAPE_NONE) {
            compile_keep(g, g->grad ? nodes : GRAPH_NO_NODE, id, w->at[id]);
            w->at[id] = TAPE_NONE;
        }
    w->at[B_INPUT] = w->at[B_RESULT];
    w->at[B_RESULT] = TAPE_NONE;
    if (layer == 0)
        g->compiled_stride = (int32_t)g->node_count - g->compiled_first;
}

// The last norm's input is not kept where its block is made again.
static uint32_t forward_norm(struct whole *w)
{
    struct graph *g = w->g;
    graph_drop(g, graph_param(g, true, P_LN_F));
    whole_list(w, after_forward, nothing);
    compile_keep(g, g->compiled_end, LNF_RSTD, w->at[B_RSTD1]);
    bool again = compile_checkpoints(g, graph_layers(g) - 1);
    compile_keep(g, again ? GRAPH_NO_NODE : g->compiled_end, LNF_HAT, w->at[B_INPUT]);
    bool all = g->m->c.checkpointing == CHECKPOINTING_BLOCK;
    compile_keep(g, all ? GRAPH_NO_NODE : g->compiled_end, ATTENTION_MASK, w->at[B_MASK]);
    return w->at[B_NORM1];
}

struct value compile_llama_forward(struct graph *g, uint32_t ids, uint32_t targets,
                                   struct value *logits)
{
    struct whole w = {.g = g};
    graph_drop(g, graph_param(g, true, P_WTE));
    w.at[B_INPUT] = compile_buffer(g, OP_TRITON, ROLE_EMBED, PART_SELF, g->residual, SHAPE_U);
    g->compiled_first = (int32_t)g->node_count;
    for (uint32_t layer = 0; layer < graph_layers(g) && graph_ok(g); layer++)
        forward_layer(&w, layer);
    graph_leave(g);
    whole_idle_goes(&w);
    g->compiled_end = compile_kept_nodes(g, KEPT_END_NODES);
    return compile_loss(g, forward_norm(&w), ids, targets, logits);
}

// ---- backward ----------------------------------------------------------------------------------

static const uint8_t *backward_list(const struct graph *g, uint32_t layer)
{
    const struct form *form = whole_form(g);
    return compile_checkpoints(g, layer) ? form->again_backward : form->backward;
}

static void backward_layer(struct whole *w, uint32_t layer)
{
    struct graph *g = w->g;
    int32_t nodes = g->compiled_first + (int32_t)layer * g->compiled_stride;
    graph_enter(g, layer);
    for (unsigned id = 0; id < KEPT_BUFFERS; id++)
        w->at[id] = compile_take(g, nodes, id);
    g->recompute = compile_checkpoints(g, layer);
    whole_list(w, backward_list(g, layer), layer ? backward_list(g, layer - 1) : nothing);
    g->recompute = false;
}

// What the head's gradient waits in: one weight with the embedding, the two are added at the end.
struct head {
    uint32_t logits, low;
};

static uint32_t head_gradient(struct graph *g)
{
    return compile_buffer(g, OP_MM, ROLE_HEAD, PART_WEIGHT_GRAD_LOW, g->compute, SHAPE_W_WTE);
}

static void head_done(struct graph *g, struct head *head)
{
    compile_release(g, &head->logits);
    compile_forget(g, g->compiled_end, LNF_OUT);
    compile_forget(g, g->compiled_end, HEAD_CAST);
}

// The head, and the last norm. Pure two bytes make a tied weight's gradient in one product with the
// sum, at the end.
static struct head backward_end(struct whole *w)
{
    struct graph *g = w->g;
    bool tied = g->m->c.tie_embeddings;
    struct head head = {compile_logits_gradient(g, g->compiled_end), TAPE_NONE};
    if (g->autocast)
        head.low = head_gradient(g);
    else if (!tied)
        compile_gradient(g, true, P_HEAD, OP_MM, PART_WEIGHT_GRAD);
    w->at[B_INPUT] = compile_take(g, g->compiled_end, LNF_HAT);
    w->at[B_MASK] = compile_take(g, g->compiled_end, ATTENTION_MASK);
    whole_take(w, g->autocast ? B_D_NORM_F : B_STREAM);
    if (g->autocast || !tied)
        head_done(g, &head);
    if (g->autocast && !tied) {
        compile_gradient(g, true, P_HEAD, OP_TRITON, PART_WEIGHT_GRAD);
        compile_release(g, &head.low);
    }
    if (g->autocast && w->at[B_INPUT] != TAPE_NONE) {  // in its place
        w->at[B_STREAM] = w->at[B_INPUT];
        w->at[B_INPUT] = TAPE_NONE;
    }
    whole_take(w, B_STREAM);
    whole_list(w, g->autocast ? before_cast : before_plain, backward_list(g, graph_layers(g) - 1));
    compile_gradient(g, true, P_LN_F, OP_TRITON, PART_WEIGHT_GRAD);
    compile_forget(g, g->compiled_end, LNF_RSTD);
    return head;
}

// The embedding's gradient is summed in float32.
static void backward_embedding(struct whole *w, struct head *head)
{
    struct graph *g = w->g;
    bool tied = g->m->c.tie_embeddings;
    whole_idle_goes(w);
    if (!g->autocast || tied)
        whole_take(w, B_D_EMBED);
    else
        compile_gradient(g, true, P_WTE, OP_TRITON, PART_WEIGHT_GRAD);
    whole_list(w, stream_goes, nothing);
    compile_forget(g, g->compiled_end, IDS);
    if (!g->autocast && tied) {
        whole_take(w, B_D_EMBED_LOW);
        compile_release(g, &w->at[B_D_EMBED]);
    }
    if (!g->autocast || tied)
        compile_gradient(g, true, P_WTE, OP_MM, PART_WEIGHT_GRAD);
    compile_release(g, &w->at[B_D_EMBED]);
    compile_release(g, &w->at[B_D_EMBED_LOW]);
    compile_release(g, &head->low);
    if (head->logits != TAPE_NONE)
        head_done(g, head);
}

void compile_llama_backward(struct graph *g)
{
    struct whole w = {.g = g};
    if (!graph_ok(g))
        return;
    struct head head = backward_end(&w);
    for (uint32_t layer = graph_layers(g); layer-- > 0 && graph_ok(g);)
        backward_layer(&w, layer);
    graph_leave(g);
    backward_embedding(&w, &head);
    compile_accumulate_all(g);
}
