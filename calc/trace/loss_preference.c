// Owns the way from a batch to its labels' log-probabilities: TRL's fused head hands them out, or
// they are picked from whole logits, by the version in one of four ways. SRC: trl 1.16
// trainer/utils.py (add_fused_lm_head); 0.13 trainer/dpo_trainer.py (concatenated_forward); 0.16
// (the same, with trainer/utils.py selective_log_softmax); 1.0 and 1.13 (_compute_loss, with
// entropy_from_logits).

#include "calc/trace/loss_preference.h"

#ifndef VRAM_SMALL
#include "calc/model/preference.h"
#include "calc/trace/layers.h"
#include "calc/trace/linear.h"
#include "calc/trace/loss_transformers.h"

static bool preference_is_rolled(const struct graph *g)
{
    return g->m->c.cross_entropy == CROSS_ENTROPY_SELECTIVE;
}

// logits[:, :-1]
static struct value preference_slice(struct graph *g, struct value logits)
{
    struct value view = layer_view(g, graph_copy(g, logits), NODE_SLICE);
    for (unsigned i = 0; i < 2 && graph_has(g, TRAIT_SLICE_NODES); i++)
        view = layer_view(g, view, NODE_SLICE);
    view.shape = SHAPE_SHIFTED_V;
    return view;
}

static uint32_t preference_labels(struct graph *g)
{
    return graph_scratch(g, OP_CLONE, ROLE_TARGETS, PART_COPY, DT_I64, SHAPE_SHIFTED);
}

// torch.gather(logits.log_softmax(-1), dim=2, index=labels): the kernel takes a contiguous copy of
// what it reads. Uses the view up.
static struct value preference_gather(struct graph *g, struct value view)
{
    struct value log =
        graph_make(g, OP_LOG_SOFTMAX, ROLE_LOGITS, PART_LOG_SOFTMAX, view.dtype, SHAPE_SHIFTED_V);
    tape_unref(g->t, graph_scratch(g, OP_CLONE, ROLE_LOGITS, PART_COPY, view.dtype, view.shape));
    graph_follow_saving(g, NODE_LOG_SOFTMAX, &log, view, log.storage);
    graph_drop(g, view);
    uint32_t labels = preference_labels(g);
    struct value rows = graph_make(g, OP_SUM, ROLE_LOSS, PART_SELF, log.dtype, SHAPE_ONE);
    graph_follow_saving(g, NODE_GATHER_ROWS, &rows, log, labels);
    tape_unref(g->t, labels);
    graph_drop(g, log);
    return rows;
}

static shape_id preference_row(shape_id shape)
{
    return shape == SHAPE_SHIFTED_V ? SHAPE_SHIFTED_ROW_V : SHAPE_ROW_V;
}

// [log_softmax(row) for row in logits]: autograd keeps all of them, else there are two at a time,
// the one before in its variable.
static uint32_t preference_log_rows(struct graph *g, struct value x)
{
    shape_id row = preference_row(x.shape);
    if (graph_needs(g, x))
        return graph_scratch(g, OP_LOG_SOFTMAX, ROLE_LOGITS, PART_LOG_SOFTMAX, x.dtype, x.shape);
    uint32_t before = graph_scratch(g, OP_LOG_SOFTMAX, ROLE_LOGITS, PART_LOG_SOFTMAX, x.dtype, row);
    tape_unref(g->t, graph_scratch(g, OP_LOG_SOFTMAX, ROLE_LOGITS, PART_LOG_SOFTMAX, x.dtype, row));
    return before;
}

// selective_log_softmax: of float32 each row's logsumexp, which keeps the logits; of two bytes each
// row's log_softmax.
static struct value preference_select(struct graph *g, struct value x)
{
    bool wide = x.dtype == DT_F32;
    uint32_t labels = preference_labels(g), kept = x.storage;
    if (wide) {
        tape_ref(g->t, kept);
        tape_unref(g->t, graph_scratch(g, OP_SUB, ROLE_LOGITS, PART_TEMP, x.dtype,
                                       preference_row(x.shape)));
    } else {
        kept = preference_log_rows(g, x);
    }
    struct value rows = graph_make(g, OP_SUM, ROLE_LOSS, PART_SELF, x.dtype, SHAPE_ONE);
    if (graph_needs(g, x)) {
        int32_t n = graph_node(g, NODE_SELECTIVE, &rows, wide);
        graph_save(g, n, kept);
        graph_save(g, n, labels);
        graph_edge(g, n, x);
    }
    tape_unref(g->t, kept);
    tape_unref(g->t, labels);
    return rows;
}

// logits[:num_examples][loss_mask[:num_examples]].mean(), then those of the rejected answers.
static void preference_means(struct graph *g, struct value logits)
{
    shape_id shape = preference_is_rolled(g) ? SHAPE_CHOSEN_WHOLE_V : SHAPE_CHOSEN_V;
    for (unsigned i = 0; i < 2; i++)
        tape_unref(g->t, graph_scratch(g, OP_INDEX, ROLE_LOGITS, PART_COPY, logits.dtype, shape));
}

// accelerate returns float32 from a model that it runs under autocast. SRC: accelerate
// utils/operations.py, convert_outputs_to_fp32.
static void preference_widen(struct graph *g, struct value *logits)
{
    if (!g->autocast)
        return;
    struct value wide = graph_to(g, *logits, DT_F32, PART_UPCAST);
    if (graph_returns_cache(g) && graph_has(g, TRAIT_CACHE_RETURNED_APART))
        graph_keep_wide(g, SHAPE_KV);
    graph_drop(g, *logits);
    *logits = wide;
}

// concatenated_forward: what it made goes when it returns.
static void preference_return(struct graph *g, struct preference *p)
{
    preference_means(g, p->logits);
    graph_let_go(g);
    graph_drop(g, p->logits);
    graph_drop(g, p->shifted);
    p->logits = p->shifted = graph_none();
}

static void preference_pick(struct graph *g, struct preference *p)
{
    uint64_t how = g->m->c.cross_entropy;
    if (how == CROSS_ENTROPY_EAGER) {
        p->rows = preference_gather(g, preference_slice(g, p->logits));
    } else if (preference_is_rolled(g)) {
        p->rows = preference_select(g, p->logits);
    } else {
        p->shifted = preference_slice(g, p->logits);
        struct value copy = how == CROSS_ENTROPY_SELECTIVE_COPIED ? layer_copy(g, p->shifted)
                                                                  : graph_copy(g, p->shifted);
        graph_drop(g, p->shifted);
        p->shifted = copy;
        p->rows = preference_select(g, p->shifted);
    }
}

// Over bitsandbytes' four bits the whole loss is under a second autocast, and the casts stay.
// SRC: trl 0.13 trainer/dpo_trainer.py, compute_loss (_peft_has_been_casted_to_bf16).
static bool preference_stays_in_autocast(const struct vram_config *c)
{
    return c->prepare_kbit == PREPARE_KBIT_TRL && !preference_tiles(c);
}

struct preference loss_preference(struct graph *g, uint32_t ids, uint32_t targets,
                                  pass_forward_fn *forward)
{
    struct preference p = {graph_none(), graph_none(), graph_none()};
    p.rows = forward(g, ids, targets, &p.logits);
    if (!preference_stays_in_autocast(&g->m->c))
        graph_autocast_exit(g);
    if (preference_tiles(&g->m->c))
        return p;
    preference_widen(g, &p.logits);
    preference_pick(g, &p);
    if (p.shifted.storage == TAPE_NONE)
        preference_return(g, &p);
    return p;
}

// logps = log_softmax(chunk); -(exp(logps) * logps).sum(-1)
void loss_preference_logged(struct graph *g, const struct preference *p)
{
    enum { TOGETHER = 3 };
    uint32_t chunk[TOGETHER], flat = TAPE_NONE;
    if (p->shifted.storage == TAPE_NONE)
        return;
    uint8_t dtype = p->shifted.dtype;
    if (p->shifted.storage == p->logits.storage)
        flat = graph_scratch(g, OP_CLONE, ROLE_LOGITS, PART_COPY, dtype, SHAPE_SHIFTED_V);
    for (unsigned i = 0; i < TOGETHER; i++)
        chunk[i] = graph_scratch(g, OP_MUL, ROLE_LOGITS, PART_TEMP, dtype, SHAPE_ENTROPY_V);
    for (unsigned i = TOGETHER; i-- > 0;)
        tape_unref(g->t, chunk[i]);
    tape_unref(g->t, flat);
    preference_means(g, p->shifted);
}

// zeros.scatter_add_
void node_gather_rows(struct graph *g, const struct node *n, uint32_t results[])
{
    if (n->edges[0].to == GRAPH_NO_NODE)
        return;
    results[0] =
        graph_scratch(g, OP_ZEROS, ROLE_LOGITS, PART_GRAD, n->edges[0].dtype, n->edges[0].shape);
}

static uint32_t selective_gradient(struct graph *g, const struct node *n, enum op op,
                                   shape_id shape)
{
    return graph_scratch(g, op, ROLE_LOGITS, PART_GRAD, n->edges[0].dtype, shape);
}

// Each row's gradient, those of all but the last one as one tensor here, then all in one; of
// float32 also what gather() gives.
void node_selective(struct graph *g, const struct node *n, uint32_t results[])
{
    shape_id whole = n->edges[0].shape, row = preference_row(whole);
    bool sliced = whole == SHAPE_SHIFTED_V, wide = n->extra;
    if (n->edges[0].to == GRAPH_NO_NODE)
        return;
    if (!wide)
        graph_saved_go(g);  // each row's with its gradient
    uint32_t others = selective_gradient(g, n, wide ? OP_MUL : OP_LOG_SOFTMAX_BACKWARD,
                                         sliced ? SHAPE_SHIFTED_OTHERS_V : SHAPE_OTHERS_V);
    uint32_t less = selective_gradient(g, n, OP_SUB, row);
    uint32_t shares = wide ? selective_gradient(g, n, OP_MUL, row) : TAPE_NONE;
    uint32_t last = selective_gradient(g, n, wide ? OP_MUL : OP_LOG_SOFTMAX_BACKWARD, row);
    tape_unref(g->t, shares);
    tape_unref(g->t, less);
    results[0] = selective_gradient(g, n, OP_CAT, whole);
    tape_unref(g->t, last);
    tape_unref(g->t, others);
    if (!wide)
        return;
    uint32_t gathered = selective_gradient(g, n, OP_ZEROS, whole);
    graph_saved_go(g);
    tape_unref(g->t, gathered);
}
#endif
