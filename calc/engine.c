// Owns the run as a whole: which passes follow each other, and the preparation of everything they need.

#include "calc/engine.h"

#include "calc/parallel.h"
#include "calc/size.h"
#include "calc/text.h"

static void engine_delete(struct engine *e)
{
    const struct vram_mem *mem = e->mem;
    for (unsigned i = 0; i < ENGINE_REELS; i++)
        reel_free(&e->reels[i]);
    graph_free(&e->graph);
    allocator_done(&e->allocator);
    mem_arena_free(&e->names);
    mem_free(mem, e->slots, e->slots_cap * sizeof *e->slots);
    mem_free(mem, e->name_cache, ENGINE_NAMES * sizeof *e->name_cache);
    mem_free(mem, e->name_bytes, ENGINE_NAMES * sizeof *e->name_bytes);
    mem_free(mem, e->name_count, ENGINE_NAMES * sizeof *e->name_count);
    mem_free(mem, e->name_op, ENGINE_NAMES);
    mem_free(mem, e->name_category, ENGINE_NAMES);
    mem_free(mem, e, sizeof *e);
}

void engine_free(struct vram *v)
{
    if (v->engine)
        engine_delete(v->engine);
    v->engine = NULL;
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
    e->names.mem = mem;
    for (unsigned i = 0; i < ENGINE_REELS; i++)
        reel_init(&e->reels[i], mem);
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

static int engine_no_memory(struct vram *v)
{
    return err_set(&v->err, VRAM_ENOMEM, (struct err_pos){0}, "out of memory");
}

struct engine *engine_of(struct vram *v)
{
    if (v->engine)
        return v->engine;
    struct engine *e = mem_alloc(&v->mem, sizeof *e);
    if (e) {
        mem_zero(e, sizeof *e);
        if (engine_fill(e, &v->mem)) {
            v->engine = e;
            return e;
        }
        engine_delete(e);
    }
    engine_no_memory(v);
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
    return m->c.mode == MODE_PROCESS && m->c.evaluation && m->c.family == FAMILY_GPT2;
}

// What reels depend on: the configuration with its plain dimensions made alike.
static struct vram_config engine_key(const struct model *m)
{
    struct vram_config k = m->c;
    k.gpu = 0;
    k.n_layer = k.n_layer / pass_period(m) > 3 && k.n_layer % pass_period(m) == 0 ? 4 : k.n_layer;
    k.n_kv_head = k.n_kv_head == k.n_head;
    k.head_dim = k.head_dim <= 256;
    k.dropout = k.dropout > 0;
    k.lora_dropout = k.lora_dropout > 0;
    k.lora_rank = k.lora_rank > 0;
    k.n_expert = k.n_expert > 0;
    k.n_head = k.n_embd = k.n_inner = k.vocab_size = k.block_size = k.batch_size = k.seq_len = 0;
    k.n_expert_active = k.expert_inner = k.gradient_accumulation_steps = k.grad_clip = 0;
    k.evaluation = k.optimizer = 0;
    k.n_gpu = k.n_gpu > 1;
    k.expandable_segments = k.max_split_size_mb = k.garbage_collection_threshold = k.roundup_power2_divisions = 0;
    k.context_mib = k.workspace_bytes = 0;
    return k;
}

static bool engine_same(const struct vram_config *a, const struct vram_config *b)
{
#define FIELD(type, ident, initial, min, max, unit, group, aliases, help) \
    if (a->ident != b->ident) \
        return false;
#include "calc/fields.def"
    return true;
}

static bool engine_uses(const struct model *m, unsigned reel)
{
    if (reel == ENGINE_EVAL_FIRST || reel == ENGINE_EVAL)
        return engine_evaluates(m);
    return reel != ENGINE_AGAIN || engine_micro_steps(m) > 1;
}

static int engine_record(struct engine *e, const struct model *m, bool all)
{
    static const struct pass passes[ENGINE_REELS] = {
        [ENGINE_EVAL_FIRST] = {false, false, false}, [ENGINE_EVAL] = {false, false, true},
        [ENGINE_FIRST] = {true, false, false},       [ENGINE_NEXT] = {true, false, true},
        [ENGINE_AGAIN] = {true, true, true},
    };
    for (unsigned i = 0; i < ENGINE_REELS; i++) {
        struct reel *r = &e->reels[i];
        if (!engine_uses(m, i) && all)
            r->tape.count = 0;
        if (!engine_uses(m, i) || (!all && r->tape.count > 0 && reel_serves(r, m)))
            continue;
        int rc = reel_record(r, &e->graph, m, &passes[i]);
        if (rc != VRAM_OK)
            return rc;
    }
    return VRAM_OK;
}

static int engine_fit(struct engine *e, bool play)
{
    dims_make(&e->dims, &e->model);
    layout_make(&e->state.layout, &e->model);
    int rc = shape_fill(&e->dims, e->elements);
    if (rc == VRAM_OK)
        rc = layout_sums(&e->state.layout, e->elements);
    if (rc == VRAM_OK)
        reel_sizes_make(&e->sizes, e->elements, e->dims.parts);
    for (unsigned i = 0; i < ENGINE_REELS && rc == VRAM_OK; i++) {
        struct reel *r = &e->reels[i];
        if (!engine_uses(&e->model, i))
            continue;
        reel_aim(r, &e->model);
        if (play || !reel_surely_fits(r, &e->sizes))
            rc = reel_fit(r, &e->sizes);
    }
    return rc == VRAM_OK ? state_make(&e->state, &e->model, e->elements) : rc;
}

int engine_prepare(struct vram *v, struct engine *e, bool play)
{
    int rc = model_make(&e->model, &v->config, &v->err);
    if (rc != VRAM_OK)
        return rc;
    struct vram_config key = engine_key(&e->model);
    bool same = e->recorded && engine_same(&key, &e->key);
    e->recorded = false;
    rc = engine_record(e, &e->model, !same);
    if (rc == VRAM_OK)
        rc = engine_fit(e, play);
    if (rc == VRAM_EOVERFLOW)
        return err_set(&v->err, rc, (struct err_pos){0}, "a tensor or their sum is larger than 2^53 bytes");
    if (rc != VRAM_OK)
        return engine_no_memory(v);
    e->key = key;
    e->recorded = true;
    return VRAM_OK;
}

static const struct storage engine_batch[2] = {
    {.name = NAME(BATCH, SELF), .op = OP_X, .category = VRAM_CAT_INPUT},
    {.name = NAME(TARGETS, SELF), .op = OP_Y, .category = VRAM_CAT_INPUT},
};

static int engine_first_batch(struct engine *e, struct player *p)
{
    player_phase(p, trace_phase(TRACE_DATA, 0, 0));
    int rc = player_alloc(p, SLOT_X, &engine_batch[0], 8 * e->model.tokens, -1);
    return rc == VRAM_OK ? player_alloc(p, SLOT_Y, &engine_batch[1], 8 * e->model.tokens, -1) : rc;
}

// estimate_loss returns: its variables go.
static int engine_end_evaluation(struct engine *e, struct player *p)
{
    const struct reel *r = &e->reels[ENGINE_EVAL];
    int rc = VRAM_OK;
    for (uint16_t slot = SLOT_LOGITS; slot <= SLOT_LOSS && rc == VRAM_OK; slot++) {
        uint32_t kept = reel_kept(r, slot);
        if (kept != TAPE_NONE)
            rc = player_free(p, slot, &r->tape.storages[kept], r->bytes[kept], -1);
    }
    return rc;
}

static int engine_evaluate(struct engine *e, struct player *p)
{
    int rc = VRAM_OK;
    for (uint32_t i = 0; i < ENGINE_EVALS && rc == VRAM_OK; i++) {
        uint32_t phase = trace_phase(TRACE_EVAL, 0, i);
        rc = player_reel(p, &e->reels[i ? ENGINE_EVAL : ENGINE_EVAL_FIRST], phase, phase);
    }
    return rc == VRAM_OK ? engine_end_evaluation(e, p) : rc;
}

static int engine_iteration(struct engine *e, struct player *p, uint32_t it)
{
    int rc = VRAM_OK;
    for (uint32_t micro = 0; micro < engine_micro_steps(&e->model) && rc == VRAM_OK; micro++) {
        unsigned reel = micro ? ENGINE_AGAIN : it ? ENGINE_NEXT : ENGINE_FIRST;
        rc = player_reel(p, &e->reels[reel], trace_phase(TRACE_FORWARD, it, micro), trace_phase(TRACE_BACKWARD, it, micro));
    }
    if (rc != VRAM_OK)
        return rc;
    player_phase(p, trace_phase(TRACE_STEP, it, 0));
    return state_step(p, &e->state, it == 0);
}

// The largest peak of the phases from number `from` on.
static uint64_t engine_phase_peak(const struct player *p, uint32_t from)
{
    uint64_t most = p->phase_peak;
    for (uint32_t i = from; i + 1 < p->phase_count; i++)
        most = size_max(most, p->phases[i].peak);
    return most;
}

static int engine_iterations(struct engine *e, struct player *p, uint32_t iterations)
{
    uint64_t reserved = 0;
    for (uint32_t it = 0; it < ENGINE_MOST_ITERATIONS; it++) {
        uint32_t from = p->phase_count;
        int rc = engine_iteration(e, p, it);
        if (rc != VRAM_OK)
            return rc;
        if (it == 0)
            p->first_step_peak = engine_phase_peak(p, from);
        p->iterations = it + 1;
        bool stable = p->allocator && it > 0 && p->allocator->stats.reserved.peak == reserved;
        if (iterations ? it + 1 == iterations : stable)
            break;
        reserved = p->allocator ? p->allocator->stats.reserved.peak : 0;
    }
    return VRAM_OK;
}

int engine_play(struct engine *e, struct player *p, uint32_t iterations)
{
    player_phase(p, trace_phase(TRACE_PARAMS, 0, 0));
    int rc = state_build(p, &e->state);
    if (rc == VRAM_OK)
        rc = engine_first_batch(e, p);
    p->eval_peak = 0;
    if (rc == VRAM_OK && engine_evaluates(&e->model)) {
        uint32_t from = p->phase_count;
        rc = engine_evaluate(e, p);
        p->eval_peak = engine_phase_peak(p, from);
    }
    if (rc == VRAM_OK)
        rc = engine_iterations(e, p, iterations);
    if (p->phase_count)
        p->phases[p->phase_count - 1].peak = p->phase_peak;
    p->steady_end = p->live;
    return rc;
}

// One reel after the sum `live`; raises *peak.
static uint64_t engine_after(const struct engine *e, enum engine_reel reel, uint64_t live, uint64_t *peak)
{
    struct reel_rise rise = reel_rise(&e->reels[reel], &e->sizes);
    *peak = size_max(*peak, live + (uint64_t)rise.peak);
    return live + (uint64_t)rise.net;
}

static uint64_t engine_live_iteration(const struct engine *e, uint64_t live, bool first, uint64_t *peak)
{
    int64_t net;
    live = engine_after(e, first ? ENGINE_FIRST : ENGINE_NEXT, live, peak);
    if (engine_micro_steps(&e->model) > 1)
        live = engine_after(e, ENGINE_AGAIN, live, peak);
    *peak = size_max(*peak, live + state_step_rise(&e->state, first, &net));
    return live + (uint64_t)net;
}

uint64_t engine_live_peak(const struct engine *e)
{
    uint64_t live = e->state.param_bytes + e->state.buffer_bytes + parallel_bucket_bytes(&e->state), peak;
    live += 16 * e->model.tokens;
    peak = live;
    if (engine_evaluates(&e->model)) {
        uint64_t inside = engine_after(e, ENGINE_EVAL_FIRST, live, &peak);
        engine_after(e, ENGINE_EVAL, inside, &peak);
    }
    live = engine_live_iteration(e, live, true, &peak);
    engine_live_iteration(e, live, false, &peak);
    return peak;
}
