// Owns the passes: one micro-step of a training loop, one evaluation batch, with the variables of
// the loop. SRC: nanoGPT train.py (training loop, estimate_loss) and model.py GPT.forward.

#include "calc/trace/pass.h"

#include "calc/model/precision.h"
#include "calc/model/preference.h"
#include "calc/trace/backward.h"
#include "calc/trace/block_traced.h"
#include "calc/trace/cache.h"
#include "calc/trace/checkpoint.h"
#include "calc/trace/compiled.h"
#include "calc/trace/forward.h"
#include "calc/trace/graph.h"
#include "calc/trace/layers_llama.h"
#include "calc/trace/layers_rotary.h"
#include "calc/trace/parallel.h"
#include "calc/trace/pass_compile.h"
#include "calc/trace/pass_compile_whole.h"
#include "calc/trace/pass_preference.h"
#include "calc/trace/pass_stage.h"

// Adapters' first layer has an input without a gradient, unless a hook gives it one
// (forward_needs_gradient).
static bool pass_first_differs(const struct model *m)
{
    return m->c.task == TASK_TRAIN && m->c.lora_rank && !m->c.checkpointing && m->first;
}

struct tape_stack pass_stack(const struct model *m)
{
    uint32_t every =
        m->c.checkpointing == CHECKPOINTING_EVERY ? (uint32_t)m->c.checkpoint_every : 1;
    uint32_t kinds = model_layer_kinds(m), period = every, differ = (uint32_t)model_dense_layers(m);
    if (pass_first_differs(m) && differ == 0)
        differ = 1;
    while (period % kinds != 0)
        period += every;
#ifndef VRAM_SMALL
    if (m->c.num_kv_shared_layers)  // layers hold what others have made
        return (struct tape_stack){(uint32_t)m->c.n_layer, 0, 1};
#endif
    uint32_t rest = (uint32_t)m->c.n_layer - differ;
    return (struct tape_stack){differ + rest % period, rest / period, period};
}

static struct value pass_forward(struct graph *g, uint32_t ids, uint32_t targets,
                                 struct value *logits)
{
    struct value local[3] = {graph_none(), graph_none(), graph_none()}, normed;
    parallel_open(g);
    bool rotary = g->m->features & HAS_ROTARY;
    if (compile_is_whole(g))
        return compile_is_traced(g->m) ? compile_whole_forward(g, ids, targets, logits)
                                       : compile_forward(g, ids, targets, logits);
    bool inside = graph_has(g, TRAIT_INNER_MODEL);  // the model's forward function makes the loss
    struct value embedded = forward_embed(g, ids, local);
#ifndef VRAM_SMALL
    traced_open(g);
#endif
    struct value x = forward_layers(g, parallel_embedded(g, embedded));
    if (!inside && !parallel_apart(g))
        parallel_forward_end(g);
    x = parallel_head_enter(g, x);
    struct value loss = forward_head(g, x, targets, local, &normed, logits);
    for (unsigned k = 0; k < 3; k++)
        graph_drop(g, local[k]);
    graph_drop(g, normed);
    if (inside || parallel_apart(g))
        parallel_forward_end(g);
    if (rotary && !(g->grad && (g->m->c.checkpointing || compile_is_cut(g->m))))
        layer_rope_close(g);
    return loss;
}

static struct value pass_losses(struct graph *g, uint32_t ids, uint32_t targets,
                                struct value *logits)
{
#ifndef VRAM_SMALL
    if (preference_is(&g->m->c))
        return pass_preference(g, ids, targets, pass_forward);
#endif
    return pass_forward(g, ids, targets, logits);
}

#ifndef VRAM_SMALL
shape_id pass_rows(const struct model *m)
{
    bool cut = m->c.context_parallel > 1 && model_has_trait(m, TRAIT_INNER_MODEL);
    return cut ? SHAPE_CUT_ROWS : SHAPE_TOKENS;
}
#endif

static shape_id pass_shape(const struct graph *g, bool targets)
{
#ifndef VRAM_SMALL
    return targets ? pass_rows(g->m) : SHAPE_TOKENS;
#else
    (void)g;
    (void)targets;
    return SHAPE_TOKENS;
#endif
}

static uint32_t pass_batch(struct graph *g, enum graph_slot slot, uint16_t name)
{
    return tape_existing(g->t, name, VRAM_CAT_INPUT, DT_I64, pass_shape(g, slot == SLOT_Y),
                         HOME_PERSIST, (uint16_t)slot);
}

#ifndef VRAM_SMALL
// A collator's mask of numbers, an argument of the model. SRC: LLaMA-Factory data/collator.py,
// SFTDataCollatorWith4DAttentionMask (compute_dtype); traces llama_given*.
static uint32_t pass_mask(struct graph *g)
{
    if (!model_gets_mask(g->m))
        return TAPE_NONE;
    uint8_t dtype = precision_of(&g->m->c)->compute;
    uint32_t mask = tape_existing(g->t, NAME(SCORES, MASK), VRAM_CAT_INPUT, dtype, SHAPE_MASKS,
                                  HOME_PERSIST, SLOT_MASK);
    tape_ref(g->t, mask);
    g->masks[0] = mask;
    return mask;
}

static void pass_next_mask(struct graph *g, uint32_t mask)
{
    if (mask == TAPE_NONE)
        return;
    uint32_t next = graph_scratch(g, OP_X, ROLE_SCORES, PART_MASK, precision_of(&g->m->c)->compute,
                                  SHAPE_MASKS);
    tape_unref(g->t, mask);
    tape_move(g->t, next, TAPE_GLOBAL, SLOT_MASK);
}
#endif

static uint32_t pass_fetch(struct graph *g, enum op op, uint8_t role)
{
    return graph_scratch(g, op, role, PART_SELF, DT_I64, pass_shape(g, op == OP_Y));
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
    uint8_t category = fresh.shape == SHAPE_NV ? VRAM_CAT_LOGITS : VRAM_CAT_ACT;
    tape_earlier_goes(g->t, name, category, fresh.dtype, fresh.shape, (uint16_t)slot);
}

// logits, loss = model(X, Y)
static void pass_rebind(struct graph *g, const struct pass *p, struct value logits,
                        struct value loss)
{
    if (g->m->c.keep_logits == KEEP_LOGITS_YES && !graph_has(g, TRAIT_OUTPUT_IN_FLOAT32))
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

// accelerate returns a model's results in float32 where it runs it under autocast; its Trainer lets
// go of them. SRC: accelerate utils/operations.py, convert_outputs_to_fp32; accelerator.py,
// prepare_model.
static void pass_widen(struct graph *g, struct value *logits)
{
    uint64_t dtype = g->m->c.dtype;
    bool wraps = dtype == DTYPE_BFLOAT16_LOADED || dtype == DTYPE_FLOAT16_LOADED ||
                 precision_is_accelerate(&g->m->c);
    bool dropped = g->m->c.keep_logits == KEEP_LOGITS_NO;
    if (!wraps || !dropped || compile_is_cut(g->m) || !graph_has(g, TRAIT_INNER_MODEL) ||
        logits->storage == TAPE_NONE)
        return;
    struct value wide = graph_to(g, *logits, DT_F32, PART_UPCAST);
    if (graph_returns_cache(g) && graph_has(g, TRAIT_CACHE_RETURNED_APART))
        graph_keep_wide(g, SHAPE_KV);
    graph_drop(g, *logits);
    *logits = wide;
}

#ifndef VRAM_SMALL
// DDP that looks for parameters without a gradient hands its results through a node, as copies: the
// Trainer's without checkpoints. SRC: pytorch torch/nn/parallel/distributed.py (_DDPSink);
// transformers trainer.py (find_unused_parameters); traces llama_trainer_ddp*.
static void pass_sink(struct graph *g, struct value *logits)
{
    const struct vram_config *c = &g->m->c;
    if (c->parallel != PARALLEL_DDP || !scheme_many(c) || !framework_goes(c, BY_TRANSFORMERS) ||
        c->keep_logits != KEEP_LOGITS_NO || c->checkpointing != CHECKPOINTING_NONE || !g->grad ||
        logits->storage == TAPE_NONE)
        return;
    struct value copy =
        graph_make(g, OP_CLONE, ROLE_LOGITS, PART_COPY, logits->dtype, logits->shape);
    graph_drop(g, *logits);
    *logits = copy;
}
#endif

// The variables logits and loss keep what the pass made.
static void pass_keep(struct graph *g, struct value *logits, struct value *loss)
{
    if (logits->storage != TAPE_NONE && g->m->c.keep_logits == KEEP_LOGITS_YES) {
        logits->storage = tape_move(g->t, logits->storage, TAPE_GLOBAL, SLOT_LOGITS);
    } else if (g->m->c.keep_logits != KEEP_LOGITS_BACKWARD || !g->grad) {
        graph_drop(g, *logits);
        *logits = graph_none();
    }
    loss->storage = tape_move(g->t, loss->storage, TAPE_GLOBAL, SLOT_LOSS);
}

// scaler.scale(loss): the scale itself lives from the first step on.
static struct value pass_scale(struct graph *g, struct value loss)
{
    if (g->m->c.mode != MODE_PROCESS || !precision_of(&g->m->c)->scaler)
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
    if (compile_is_whole(g) && !(MODEL_IS_WHOLE && compile_leaves_loss(g->m))) {
        (compile_is_traced(g->m) ? compile_whole_backward : compile_backward)(g);
    } else if (graph_ok(g)) {
        tape_ref(g->t, one);  // backward()'s own variable
        graph_offload_stash_go(g);
        parallel_begin_backward(g);
        backward_run(g, root.node, one, 0);
    }
#ifndef VRAM_SMALL
    compile_whole_end(g);
#endif
    graph_leave(g);
    checkpoint_end(g);
    graph_offload_stash_go(g);
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
    uint32_t ids = pass_batch(g, SLOT_X, NAME(BATCH, SELF));
    uint32_t targets = pass_batch(g, SLOT_Y, NAME(TARGETS, SELF));
#ifndef VRAM_SMALL
    uint32_t mask = pass_mask(g);
#endif
    struct value logits = graph_none();
    bool keeps = g->m->c.keep_logits == KEEP_LOGITS_BACKWARD;
    cache_open(g);
    struct value loss = pass_losses(g, ids, targets, &logits);
    pass_widen(g, &logits);
#ifndef VRAM_SMALL
    pass_sink(g, &logits);
#endif
    if (!keeps || !graph_returns_cache(g))
        graph_let_go(g);
    pass_rebind(g, p, logits, loss);
    graph_outlived_go(g);
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
    if (keeps)
        graph_drop(g, logits);
    graph_let_go(g);
    if (!early)
        pass_next_batch(g, ids, targets, next);
#ifndef VRAM_SMALL
    pass_next_mask(g, mask);
#endif
    tape_move(g->t, next[0], TAPE_GLOBAL, SLOT_X);
    tape_move(g->t, next[1], TAPE_GLOBAL, SLOT_Y);
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

// One batch of Trainer.evaluation_loop. The logits outlive it where eval_accumulation_steps says
// so. SRC: transformers trainer.py, prediction_step.
static void pass_evaluate_between(struct graph *g)
{
    g->grad = g->training = false;
    uint32_t ids = pass_fetch(g, OP_X, ROLE_BATCH), targets = pass_fetch(g, OP_Y, ROLE_TARGETS);
    struct value logits = graph_none();
    struct value loss = pass_losses(g, ids, targets, &logits);
    graph_autocast_exit(g);
    pass_widen(g, &logits);
    if (g->m->c.eval_accumulation_steps && logits.storage != TAPE_NONE)
        logits.storage = tape_move(g->t, logits.storage, TAPE_GLOBAL, SLOT_LOGITS);
    else
        graph_drop(g, logits);
    graph_drop(g, loss);
    parallel_close(g);
    tape_unref(g->t, ids);
    tape_unref(g->t, targets);
}

void pass_write(struct graph *g, const struct pass *p, graph_saved_fn *saved, void *ctx)
{
    if (!graph_ok(g))
        return;
    g->calls = &checkpoint_calls;
    g->has_gradients = p->has_gradients;
    if (MODEL_IS_WHOLE) {
        g->t->left_alone = !g->keeps_whole;
        tape_expect(g->t, g->last_storages, g->last_instructions);
    }
    if (p->kind != PASS_TRAINING)
        pass_infer(g, (enum pass_kind)p->kind);
    else if (g->m->c.pipeline_parallel > 1)
        pass_stage(g, saved, ctx);
    else if (p->train)
        pass_train(g, p, saved, ctx);
    else if (MODEL_IS_WHOLE && p->between)
        pass_evaluate_between(g);
    else
        pass_evaluate(g, p);
#ifndef VRAM_SMALL
    traced_close(g);
#endif
    if (!graph_ok(g))
        return;
    tape_finish(g->t);
    if (MODEL_IS_WHOLE) {
        g->last_storages = g->t->count;
        g->last_instructions = g->t->code_count;
    }
}
