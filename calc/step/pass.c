// Owns the passes: one micro-step of a training loop, one evaluation batch, with the variables of
// the loop. SRC: nanoGPT train.py (training loop, estimate_loss) and model.py GPT.forward.

#include "calc/step/pass.h"

#include "calc/step/layers.h"
#include "calc/step/layers_llama.h"
#include "calc/step/parallel.h"

uint32_t pass_period(const struct model *m)
{
    return m->c.checkpointing == CHECKPOINTING_EVERY ? (uint32_t)m->c.checkpoint_every : 1;
}

struct value block_forward(struct graph *g, struct value x)
{
    return (g->m->features & HAS_GATE) || (g->m->features & HAS_ROTARY) ? block_llama(g, x)
                                                                        : block_gpt(g, x);
}

static struct value pass_layer(struct graph *g, struct value x)
{
    uint64_t layer = (uint64_t)g->t->unit * g->period + g->t->sub;
    bool every =
        g->m->c.checkpointing == CHECKPOINTING_EVERY && layer % g->m->c.checkpoint_every == 0;
    if (g->grad && (every || g->m->c.checkpointing == CHECKPOINTING_BLOCK))
        return checkpoint_block(g, x);
    return block_forward(g, x);
}

// The layer with the weights that it needs.
static struct value pass_layer_of(struct graph *g, struct value x)
{
    if (!g->gathered)
        return pass_layer(g, x);
    struct value in = parallel_enter(g, x);
    struct value inside = pass_layer(g, in);
    struct value out = parallel_leave(g, inside);
    graph_drop(g, in);
    graph_drop(g, inside);
    return out;
}

// for block in self.transformer.h: x = block(x). Uses x up.
struct value pass_layers(struct graph *g, struct value x)
{
    for (uint32_t layer = 0; layer < g->units * g->period && graph_ok(g); layer++) {
        g->t->unit = (int32_t)(layer / g->period);
        g->t->sub = (uint8_t)(layer % g->period);
        x.role = ROLE_RESID2;  // its gradient is called alike in every layer
        struct value next = pass_layer_of(g, x);
        graph_drop(g, x);
        x = next;
    }
    g->t->unit = TAPE_GLOBAL;
    g->t->sub = 0;
    return x;
}

// x = drop(wte(idx) + wpe(pos)); the two embeddings are variables of forward() and live until it
// returns.
static struct value pass_embed_gpt(struct graph *g, uint32_t ids, struct value local[3])
{
    struct value pos = graph_make(g, OP_ARANGE, ROLE_POSITIONS, PART_SELF, DT_I64, SHAPE_T);
    local[0] = layer_embedding(g, ids, P_WTE, SHAPE_U);
    local[1] = layer_embedding(g, pos.storage, P_WPE, SHAPE_TC);
    local[2] = pos;
    struct value sum = layer_add(g, local[0], local[1], ROLE_EMBED);
    struct value x = layer_dropout(g, sum, ROLE_EMBED);
    graph_drop(g, sum);
    return x;
}

// Rotary families: the token embedding alone; cosines and sines of the positions are made once.
static struct value pass_embed_rotary(struct graph *g, uint32_t ids)
{
    struct value x = layer_embedding(g, ids, P_WTE, SHAPE_U);
    if (g->m->features & HAS_EMBEDDING_SCALE) {
        struct value scaled = layer_scale(g, x, ROLE_EMBED);
        graph_drop(g, x);
        x = scaled;
    }
    layer_rope_open(g);
    return x;
}

// Uses x up.
static struct value pass_last_norm(struct graph *g, struct value x)
{
    bool rms = g->m->features & HAS_RMS_NORM;
    struct value normed =
        rms ? layer_rms_norm(g, x, true, P_LN_F, SHAPE_TOKENS) : layer_norm(g, x, true, P_LN_F);
    graph_drop(g, x);
    return normed;
}

// The last norm, the head and the loss. x is used up; normed stays a variable of forward().
struct value pass_head(struct graph *g, struct value x, uint32_t targets, struct value *normed,
                       struct value *logits)
{
    *normed = pass_last_norm(g, x);
    return loss_forward(g, *normed, targets, logits);
}

struct value pass_hidden(struct graph *g, uint32_t ids)
{
    struct value local[3] = {graph_none(), graph_none(), graph_none()};
    bool rotary = g->m->features & HAS_ROTARY;
    parallel_open(g);
    struct value x = rotary ? pass_embed_rotary(g, ids) : pass_embed_gpt(g, ids, local);
    struct value normed = pass_last_norm(g, pass_layers(g, x));
    for (unsigned k = 0; k < 3; k++)
        graph_drop(g, local[k]);
    if (rotary)
        layer_rope_close(g);
    return normed;
}

// model.enable_input_require_grads(): with frozen embeddings a checkpointed block has no other way
// to a gradient.
static void pass_needs_gradient(struct graph *g, struct value *x)
{
    if (g->grad && g->m->c.checkpointing && !graph_needs(g, *x))
        graph_node(g, NODE_PASS, x, 0);
}

struct value pass_embed(struct graph *g, uint32_t ids, struct value local[3])
{
    bool rotary = g->m->features & HAS_ROTARY;
    struct value x = rotary ? pass_embed_rotary(g, ids) : pass_embed_gpt(g, ids, local);
    pass_needs_gradient(g, &x);
    return x;
}

static struct value pass_forward(struct graph *g, uint32_t ids, uint32_t targets,
                                 struct value *logits)
{
    struct value local[3] = {graph_none(), graph_none(), graph_none()}, normed;
    parallel_open(g);
    bool rotary = g->m->features & HAS_ROTARY;
    if (g->m->c.compile)
        return compile_forward(g, ids, targets, logits);
    struct value x = pass_layers(g, pass_embed(g, ids, local));
    struct value loss = pass_head(g, x, targets, &normed, logits);
    for (unsigned k = 0; k < 3; k++)
        graph_drop(g, local[k]);
    graph_drop(g, normed);
    if (rotary && !(g->grad && g->m->c.checkpointing))
        layer_rope_close(g);
    return loss;
}

static uint32_t pass_slot(struct graph *g, enum graph_slot slot, uint16_t name, uint8_t dtype,
                          uint8_t shape)
{
    uint8_t category = shape == SHAPE_NV       ? VRAM_CAT_LOGITS
                       : shape == SHAPE_TOKENS ? VRAM_CAT_INPUT
                                               : VRAM_CAT_ACT;
    return tape_existing(g->t, name, category, dtype, shape, HOME_PERSIST, (uint16_t)slot);
}

static uint32_t pass_fetch(struct graph *g, enum op op, uint8_t role)
{
    return graph_scratch(g, op, role, PART_SELF, DT_I64, SHAPE_TOKENS);
}

static bool pass_divides(const struct model *m)
{
    return m->c.family == FAMILY_GPT2 ||
           (m->c.mode == MODE_PROCESS && m->c.gradient_accumulation_steps > 1);
}

// A variable gets a new tensor: the old one, of an earlier pass of this kind, goes.
static void pass_rebind_one(struct graph *g, enum graph_slot slot, struct value fresh, uint8_t part)
{
    if (!graph_ok(g) || fresh.storage == TAPE_NONE)
        return;
    const struct storage *s = &g->t->storages[fresh.storage];
    uint16_t name = part == PART_SELF ? s->name : name_of((uint8_t)(s->name >> 6), part);
    tape_unref(g->t, pass_slot(g, slot, name, fresh.dtype, fresh.shape));
}

// logits, loss = model(X, Y)
static void pass_rebind(struct graph *g, const struct pass *p, struct value logits,
                        struct value loss)
{
    if (!p->has_logits)
        return;
    if (g->m->c.keep_logits == KEEP_LOGITS_YES)
        pass_rebind_one(g, SLOT_LOGITS, logits, PART_SELF);
    pass_rebind_one(g, SLOT_LOSS, loss, p->train && pass_divides(g->m) ? PART_SCALED : PART_SELF);
}

// loss = loss / gradient_accumulation_steps; the divisor is an int64 on the CPU.
static struct value pass_divide(struct graph *g, struct value loss)
{
    struct value out = graph_make(g, OP_DIV, ROLE_LOSS, PART_SCALED, loss.dtype, SHAPE_ONE);
    if (graph_needs(g, loss)) {
        int32_t n = graph_node(g, NODE_DIV, &out, 0);
        graph_save_cpu(g, n, DT_I64);
        graph_edge(g, n, loss);
    }
    graph_drop(g, loss);
    return out;
}

// The variables logits and loss keep what the pass made.
static void pass_keep(struct graph *g, struct value *logits, struct value *loss)
{
    if (logits->storage != TAPE_NONE && g->m->c.keep_logits == KEEP_LOGITS_YES)
        logits->storage = tape_move(g->t, logits->storage, SLOT_LOGITS);
    else
        graph_drop(g, *logits);
    loss->storage = tape_move(g->t, loss->storage, SLOT_LOSS);
}

// scaler.scale(loss): the scale itself lives from the first step on.
static struct value pass_scale(struct graph *g, struct value loss)
{
    if (g->m->c.mode != MODE_PROCESS || g->m->c.dtype != DTYPE_FLOAT16)
        return graph_copy(g, loss);
    struct value out = graph_make(g, OP_MUL, ROLE_SCALER, PART_SCALED, loss.dtype, SHAPE_ONE);
    graph_edge(g, graph_node(g, NODE_SCALE, &out, 0), loss);
    return out;
}

static void pass_backward(struct graph *g, struct value loss)
{
    struct value root = pass_scale(g, loss);
    g->t->backward = true;
    uint32_t one = graph_scratch(g, OP_ONES_LIKE, ROLE_LOSS, PART_GRAD, root.dtype, SHAPE_ONE);
    if (g->m->c.compile) {
        compile_backward(g);
    } else if (graph_ok(g)) {
        tape_ref(g->t, one);  // backward()'s own variable
        graph_backward(g, root.node, one, 0);
    }
    g->t->unit = TAPE_GLOBAL;
    g->t->sub = 0;
    checkpoint_end(g);
    tape_unref(g->t, one);
    graph_drop(g, root);
    layer_rope_close(g);  // checkpointed blocks have kept them
    parallel_close(g);
}

// The next batch takes the names X and Y.
static void pass_next_batch(struct graph *g, uint32_t ids, uint32_t targets, uint32_t next[2])
{
    next[0] = pass_fetch(g, OP_X, ROLE_BATCH);
    next[1] = pass_fetch(g, OP_Y, ROLE_TARGETS);
    tape_unref(g->t, ids);
    tape_unref(g->t, targets);
}

// One micro-step of the training loop. train.py fetches the next batch between forward and
// backward, a loop over a data loader after both.
static void pass_train(struct graph *g, const struct pass *p, graph_saved_fn *saved, void *ctx)
{
    uint32_t ids = pass_slot(g, SLOT_X, NAME(BATCH, SELF), DT_I64, SHAPE_TOKENS);
    uint32_t targets = pass_slot(g, SLOT_Y, NAME(TARGETS, SELF), DT_I64, SHAPE_TOKENS);
    struct value logits = graph_none();
    struct value loss = pass_forward(g, ids, targets, &logits);
    pass_rebind(g, p, logits, loss);
    if (pass_divides(g->m))
        loss = pass_divide(g, loss);
    pass_keep(g, &logits, &loss);
    graph_autocast_exit(g);
    if (saved && graph_ok(g))
        graph_saved(g, saved, ctx);
    bool early = g->m->c.family == FAMILY_GPT2;
    uint32_t next[2];
    if (early)
        pass_next_batch(g, ids, targets, next);
    pass_backward(g, loss);
    if (!early)
        pass_next_batch(g, ids, targets, next);
    tape_move(g->t, next[0], SLOT_X);
    tape_move(g->t, next[1], SLOT_Y);
}

// One batch of estimate_loss: no gradients, model.eval().
static void pass_evaluate(struct graph *g, const struct pass *p)
{
    g->grad = g->training = false;
    uint32_t ids = pass_fetch(g, OP_X, ROLE_BATCH), targets = pass_fetch(g, OP_Y, ROLE_TARGETS);
    struct value logits = graph_none();
    struct value loss = pass_forward(g, ids, targets, &logits);
    pass_rebind(g, p, logits, loss);
    pass_keep(g, &logits, &loss);
    graph_autocast_exit(g);
    parallel_close(g);
    tape_unref(g->t, ids);
    tape_unref(g->t, targets);
}

void pass_write(struct graph *g, const struct pass *p, graph_saved_fn *saved, void *ctx)
{
    if (!graph_ok(g))
        return;
    g->has_gradients = p->has_gradients;
    if (p->kind != PASS_TRAINING)
        pass_infer(g, p);
    else if (g->m->c.pipeline_parallel > 1)
        pass_stage(g, saved, ctx);
    else if (p->train)
        pass_train(g, p, saved, ctx);
    else
        pass_evaluate(g, p);
    if (graph_ok(g))
        tape_finish(g->t);
}
