// Owns an engine's life and the preparation of a run: model, sizes, reels, state.

#include "calc/replay/engine.h"

#include "calc/base/size.h"
#include "calc/base/text.h"
#include "calc/model/experts.h"
#include "calc/model/model_make.h"
#include "calc/model/stage.h"
#include "calc/model/units.h"
#include "calc/model/wrapped.h"
#include "calc/trace/compiled.h"
#include "calc/trace/loss_chunked.h"
#include "calc/trace/loss_linear.h"
#include "calc/trace/sequence.h"

static void engine_free(void *ptr)
{
    struct engine *e = ptr;
    const struct vram_mem *mem = e->mem;
    for (unsigned i = 0; i < ENGINE_SETS * ENGINE_REELS; i++)
        reel_free(&e->sets[i / ENGINE_REELS].reels[i % ENGINE_REELS]);
    if (MODEL_IS_WHOLE && e->resume.ptr)
        e->resume.free(e->resume.ptr);
    if (MODEL_IS_WHOLE)
        stretch_scratch_free(&e->stretching, mem);
    graph_free(&e->graph);
    allocator_done(&e->allocator);
    mem_arena_free(&e->names);
    mem_arena_free(&e->segments_arena);
    message_list_free(&e->notes);
    mem_free(mem, e->slots, e->slots_cap * sizeof *e->slots);
    mem_free(mem, e->held, e->held_cap * sizeof *e->held);
    mem_free(mem, e->name_cache, ENGINE_NAMES * sizeof *e->name_cache);
    mem_free(mem, e->name_bytes, ENGINE_NAMES * sizeof *e->name_bytes);
    mem_free(mem, e->name_count, ENGINE_NAMES * sizeof *e->name_count);
    mem_free(mem, e->name_op, ENGINE_NAMES);
    mem_free(mem, e->name_category, ENGINE_NAMES);
    mem_free(mem, e, sizeof *e);
}

static void *engine_table(const struct vram_mem *mem, size_t size)
{
    void *p = mem_alloc(mem, ENGINE_NAMES * size);
    if (p)
        mem_zero(p, ENGINE_NAMES * size);
    return p;
}

static bool engine_fill(struct engine *e, const struct vram_mem *mem)
{
    e->mem = mem;
    e->names.mem = e->segments_arena.mem = mem;
    message_list_init(&e->notes, mem);
    for (unsigned i = 0; i < ENGINE_SETS * ENGINE_REELS; i++)
        reel_init(&e->sets[i / ENGINE_REELS].reels[i % ENGINE_REELS], mem);
    e->set = e->sets;
    e->reels = e->set->reels;
    graph_init(&e->graph, mem);
    e->name_cache = engine_table(mem, sizeof *e->name_cache);
    e->name_bytes = engine_table(mem, sizeof *e->name_bytes);
    e->name_count = engine_table(mem, sizeof *e->name_count);
    e->name_op = engine_table(mem, 1);
    e->name_category = engine_table(mem, 1);
    struct allocator_config none = {0};
    return e->name_cache && e->name_bytes && e->name_count && e->name_op && e->name_category &&
           allocator_init(&e->allocator, mem, &none) == VRAM_OK;
}

struct engine *engine_of(struct vram *v)
{
    struct handle_part *part = &v->parts[HANDLE_ENGINE];
    if (part->ptr)
        return part->ptr;
    struct engine *e = mem_alloc(&v->mem, sizeof *e);
    if (e) {
        mem_zero(e, sizeof *e);
        if (engine_fill(e, &v->mem)) {
            *part = (struct handle_part){e, engine_free};
            return e;
        }
        engine_free(e);
    }
    handle_no_memory(v);
    return NULL;
}

// a, between and b as one text that stays.
static const char *engine_join(struct engine *e, const char *a, const char *between, const char *b)
{
    size_t n[3] = {text_len(a), text_len(between), text_len(b)};
    char *text = mem_arena_new(&e->names, n[0] + n[1] + n[2] + 1, 1);
    if (!text)
        return NULL;
    mem_copy(text, a, n[0]);
    mem_copy(text + n[0], between, n[1]);
    mem_copy(text + n[0] + n[1], b, n[2]);
    return text;
}

const char *engine_name(struct engine *e, uint16_t name)
{
    if (name >= ENGINE_NAMES)
        return "";
    if (!e->name_cache[name])
        e->name_cache[name] = engine_join(e, trace_place_name(name), "", trace_part_name(name));
    return e->name_cache[name];
}

const char *engine_saved_name(struct engine *e, uint8_t kind, uint8_t which)
{
    const char **cached = &e->saved_cache[kind][which];
    if (!*cached)
        *cached = engine_join(e, trace_node_name(kind), ".", trace_saved_name(kind, which));
    return *cached;
}

uint32_t engine_micro_steps(const struct model *m)
{
    return m->c.gradient_accumulation_steps > 1 ? 2 : 1;
}

bool engine_evaluates(const struct model *m)
{
    if (m->c.eval_only)
        return true;
    return m->c.mode == MODE_PROCESS && m->c.task == TASK_TRAIN && m->c.evaluation &&
           m->c.pipeline_parallel == 1 && m->c.family == FAMILY_GPT2;
}

#ifndef VRAM_SMALL
// Of dimensions that the module of a page's first number lacks.
static void engine_key_whole(struct vram_config *k, const struct model *m)
{
    if (m->features & HAS_DELTA_RULE)  // the rule goes from chunk to chunk
        k->seq_len += 4 * ((m->c.seq_len + 63) / 64) + 2 * (m->c.seq_len % 64 > 0);
    if (m->c.attention_mask)  // attention.c: eight divides its rows or not
        k->block_size = 1 + (m->c.seq_len % 8 > 0) + 2 * (m->tokens % 8 > 0);
    k->global_head_dim = k->global_head_dim > 256;
    k->hidden_size_per_layer_input = k->hidden_size_per_layer_input > 0;
    k->vocab_size_per_layer_input = k->laurel_rank = 0;
    uint64_t wide_keys = model_global_keys(&m->c);
    k->n_global_kv_head = wide_keys == m->c.n_head ? 2 : wide_keys == 1;
    k->label_tokens = loss_linear_longer(m);
    k->cross_entropy_chunks = loss_linear_chunks(m);
    k->linear_num_key_heads = m->c.linear_num_key_heads == m->c.linear_num_value_heads;
    k->linear_num_value_heads = k->linear_key_head_dim = 0;
    k->linear_value_head_dim = k->linear_conv_kernel_dim = 0;
}
#endif

// What reels depend on: the configuration with its plain dimensions made alike.
static struct vram_config engine_key(const struct model *m)
{
    struct vram_config k = m->c;
    if (MODEL_IS_WHOLE ? k.offload_optimizer || partition_is_there(m) : k.offload_optimizer)
        return k;  // by its size a gradient is copied or not
    k.gpu = 0;
    if (compile_is_traced(m))
        return k;  // by its size a buffer takes another one's place
    struct tape_stack stack = pass_stack(m);
    k.n_layer = reel_folds(&stack) ? stack.lead + 4 * stack.period : k.n_layer;
    k.n_kv_head = k.n_kv_head == k.n_head ? 2 : k.n_kv_head == 1;
    k.head_dim = (k.head_dim <= 256) + (k.head_dim <= 128);
    k.sliding_window = model_masks_windows(m);
    k.sliding_window_pattern = model_layer_kinds(m);
    k.partial_rotary_factor = k.kv_lora_rank = k.qk_nope_head_dim = k.qk_rope_head_dim =
        k.v_head_dim = 0;
    k.q_lora_rank = k.q_lora_rank > 0;
    k.n_shared_experts = k.n_shared_experts > 0;
    k.dropout = k.dropout > 0;
    k.lora_dropout = k.lora_dropout > 0;
    k.lora_rank = k.lora_rank > 0;
    k.n_expert = MODEL_IS_WHOLE && !m->c.n_expert ? 0 : model_expert_runs(m);
    k.seq_lens = 0;
    k.n_head = k.compile && m->c.n_head * m->c.head_dim == m->c.n_embd;  // buffers of one size
    k.n_embd = k.n_inner = k.vocab_size = k.block_size = 0;
    k.seq_len = loss_is_one_chunk(m);
#ifndef VRAM_SMALL
    engine_key_whole(&k, m);
#endif
    k.batch_size = (k.batch_size == 1) +  // loss_transformers.c
                   (MODEL_IS_WHOLE && sequence_in_order(m));
    k.n_expert_active = k.expert_inner = k.grad_clip = 0;
    k.gradient_accumulation_steps = k.gradient_accumulation_steps > 1;  // then the loss is divided
    k.pipeline_parallel = (stage_count(&m->c) > 1) | m->first << 1 | m->last << 2;
    k.device_map = 1;
    k.eval_batch_size = (k.eval_batch_size > 0) + (k.eval_batch_size == 1);
    k.eval_accumulation_steps = k.eval_accumulation_steps > 0;
    k.evaluation = k.optimizer = k.tower_params = k.reduce_bucket_size = 0;
    k.max_new_tokens = k.max_new_tokens > 1;
#ifndef VRAM_SMALL
    k.expert_parallel =
        (k.expert_parallel > 1) + (model_expert_parts(m) == 1) + 4 * (uint64_t)model_sends_rows(m);
    k.tower_params = wrapped_by_names(&m->c);
#endif
    k.n_gpu = k.n_gpu > 1;
    k.expandable_segments = k.max_split_size_mb = k.garbage_collection_threshold =
        k.roundup_power2_divisions = 0;
    k.context_mib = k.workspace_bytes = 0;
    k.torch = m->traits.words[0];
    k.transformers = MODEL_TRAIT_WORDS > 1 ? m->traits.words[MODEL_TRAIT_WORDS - 1] : 0;
    return k;
}

// A generation has a pass for the prompt, which gives the first token, one for the first step and
// one for those after it.
static bool engine_uses(const struct model *m, unsigned reel)
{
    if ((m->c.task == TASK_INFERENCE) != (reel >= ENGINE_PROMPT))
        return false;
    if (reel >= ENGINE_PROMPT)
        return m->c.max_new_tokens >= reel - ENGINE_PROMPT;
    if (reel == ENGINE_EVAL)
        return engine_evaluates(m);
    if (reel == ENGINE_BETWEEN)
        return engine_evaluates_between(m);
    if (m->c.eval_only)
        return false;
    return reel != ENGINE_AGAIN || engine_micro_steps(m) > 1;
}

// The model as an evaluation between steps has it. Liger's fused loss is that of training alone.
// SRC: liger-kernel transformers/model/llama.py (skip_logits).
static struct model engine_evaluated(const struct model *m)
{
    struct model own = *m;
    own.c.batch_size = m->c.eval_batch_size;
    if (m->c.cross_entropy == CROSS_ENTROPY_CHUNKED)
        own.c.cross_entropy = CROSS_ENTROPY_UPCAST;
    return own;
}

static int engine_record_one(struct engine *e, const struct model *m, unsigned reel)
{
    static const struct pass passes[ENGINE_REELS] = {
        [ENGINE_EVAL] = {.train = false},
        [ENGINE_BETWEEN] = {.between = true},
        [ENGINE_NEXT] = {.train = true},
        [ENGINE_AGAIN] = {.train = true, .has_gradients = true},
        [ENGINE_PROMPT] = {.kind = PASS_PROMPT},
        [ENGINE_FIRST_TOKEN] = {.kind = PASS_FIRST_TOKEN},
        [ENGINE_TOKEN] = {.kind = PASS_TOKEN},
    };
    struct reel *r = &e->reels[reel];
    if (MODEL_IS_WHOLE && reel == ENGINE_AGAIN) {
        bool made;
        int rc = reel_again(r, &e->reels[ENGINE_NEXT], &passes[reel], &made);
        if (rc != VRAM_OK || made)
            return rc;
    }
    if (!MODEL_IS_WHOLE || reel != ENGINE_BETWEEN)
        return reel_record(r, &e->graph, m, &passes[reel]);
    struct model own = engine_evaluated(m);
    return reel_record(r, &e->graph, &own, &passes[reel]);
}

static int engine_record(struct engine *e, const struct model *m, bool all)
{
    int rc = VRAM_OK;
    for (unsigned i = 0; i < ENGINE_REELS && rc == VRAM_OK; i++) {
        struct reel *r = &e->reels[i];
        bool used = engine_uses(m, i);
        if (!used && all)
            r->tape.count = 0;
        if (used && (all || r->tape.count == 0 || !reel_serves(r, m)))
            rc = engine_record_one(e, m, i);
    }
    return rc;
}

// Numbers of elements of all shapes.
static int engine_shape(struct engine *e)
{
    dims_make(&e->dims, &e->model);
    int rc = shape_fill(&e->dims, e->elements);
    return rc == VRAM_OK ? units_sums(&e->model, &e->state.layout, e->elements) : rc;
}

// Sizes of all tensors by the model's dimensions.
static int engine_size(struct engine *e, bool play)
{
    e->allocator.config.roundup_divisions = (uint32_t)e->model.c.roundup_power2_divisions;
    int rc = engine_shape(e);
    if (rc == VRAM_OK)
        reel_sizes_make(&e->sizes, e->elements, &e->dims);
    for (unsigned i = 0; i < ENGINE_REELS && rc == VRAM_OK; i++) {
        struct reel *r = &e->reels[i];
        if (!engine_uses(&e->model, i))
            continue;
        reel_aim(r, &e->model);
        if (!play && reel_surely_fits(r, &e->sizes))
            continue;
        rc = MODEL_IS_WHOLE ? reel_unroll(r, &e->graph.spare) : VRAM_OK;
        if (rc == VRAM_OK)
            rc = reel_fit(r, &e->sizes, &e->allocator.config);
    }
    return rc;
}

static int engine_fit(struct engine *e, bool play)
{
    layout_make(&e->state.layout, &e->model);
    int rc = engine_size(e, play);
    return rc == VRAM_OK ? state_make(&e->state, &e->model, e->elements) : rc;
}

int engine_prepare_state(struct vram *v, struct engine *e)
{
    int rc = model_make(&e->model, &v->config, &v->err);
    e->has_run = false;
    if (rc != VRAM_OK)
        return rc;
    stage_narrow(&e->model, 0);
    layout_make(&e->state.layout, &e->model);
    rc = engine_shape(e);
    return rc == VRAM_OK ? state_make(&e->state, &e->model, e->elements) : rc;
}

static int engine_take_length(struct engine *e, uint64_t length)
{
    e->model.c.seq_len = length;
    e->model.tokens = e->model.c.batch_size * length;
    return engine_size(e, true);
}

int engine_take_batch(struct engine *e, uint64_t step)
{
    const struct vram_config *c = &e->model.c;
    if (!c->seq_lens)
        return VRAM_OK;
    uint64_t next = c->lengths[(step + 1) % c->seq_lens];
    int rc = engine_take_length(e, c->lengths[step % c->seq_lens]);
    for (unsigned i = 0; i < ENGINE_REELS && rc == VRAM_OK; i++)
        if (engine_uses(&e->model, i))
            reel_fit_next(&e->reels[i], 8 * c->batch_size * next, &e->allocator.config);
    return rc;
}

int engine_take_longest(struct engine *e)
{
    return e->model.c.seq_lens ? engine_take_length(e, config_longest(&e->model.c)) : VRAM_OK;
}

int engine_take_generated(struct engine *e, uint64_t tokens)
{
    uint64_t all = e->model.c.max_new_tokens;
    e->model.c.max_new_tokens = tokens;
    int rc = engine_size(e, true);
    e->model.c.max_new_tokens = all;
    return rc;
}

int engine_take_evaluation(struct engine *e, bool begins)
{
    struct vram_config *c = &e->model.c;
    uint64_t batch = begins ? c->eval_batch_size : e->batch_size;
    if (begins)
        e->batch_size = c->batch_size;
    c->batch_size = batch;
    return engine_take_length(e, c->seq_lens ? config_longest(c) : c->seq_len);
}

int engine_stretch(struct engine *e)
{
    int rc = VRAM_OK;
    for (unsigned i = 0; i < ENGINE_REELS && rc == VRAM_OK; i++)
        if (engine_uses(&e->model, i))
            rc = stretches_make(&e->reels[i], e->dims.card.workspace, &e->stretching);
    return rc;
}

// What live_peak knows of an evaluation between steps.
static int engine_weigh_evaluation(struct engine *e)
{
    if (!engine_evaluates_between(&e->model))
        return VRAM_OK;
    int rc = engine_take_evaluation(e, true);
    struct reel_rise rise = reel_rise(&e->reels[ENGINE_BETWEEN], &e->sizes, REEL_ALL);
    uint64_t gpus = e->model.c.parallel == PARALLEL_DDP ? e->model.c.n_gpu : 1;
    e->between = (struct engine_between){(uint64_t)rise.peak, (uint64_t)rise.net,
                                         size_mul(gpus, (uint64_t)rise.net)};
    int again = engine_take_evaluation(e, false);
    return rc == VRAM_OK ? again : rc;
}

// Makes the set of a kind of model the current one, or the one that was not used for longest.
// Returns whether it has its reels.
static bool engine_choose(struct engine *e, const struct vram_config *key)
{
    struct engine_set *oldest = e->set, *set = e->sets;
    if (!e->set->used || config_same(key, &e->set->key))
        return e->set->used;
    while (set < e->sets + ENGINE_SETS && !(set->used && config_same(key, &set->key))) {
        oldest = set->used < oldest->used ? set : oldest;
        set++;
    }
    bool found = set < e->sets + ENGINE_SETS;
    e->set = found ? set : oldest;
    e->reels = e->set->reels;
    return found;
}

int engine_prepare(struct vram *v, struct engine *e, bool play)
{
    int rc = model_make(&e->model, &v->config, &v->err);
    e->has_run = false;
    if (rc != VRAM_OK)
        return handle_locate(v);
    stage_narrow(&e->model, e->stage);
    struct vram_config key = engine_key(&e->model);
    bool same = engine_choose(e, &key);
    e->set->used = 0;
    rc = engine_record(e, &e->model, !same);
    if (rc == VRAM_OK)
        rc = engine_fit(e, play);
    if (rc == VRAM_OK)
        rc = engine_weigh_evaluation(e);
    if (rc == VRAM_EOVERFLOW) {
        err_set(&v->err, MESSAGE_tensor_too_large, NO_POS, NO_FIELD, NO_ARGS);
        return handle_locate(v);
    }
    if (rc != VRAM_OK)
        return handle_failed(v, rc);
    e->set->key = key;
    e->set->used = ++e->uses;
    return VRAM_OK;
}
