// Ranked changes: each is tried on a second handle, so every number is that of a whole estimate.

#include "calc/advise.h"

#include "calc/cost.h"
#include "calc/emit.h"
#include "calc/fit.h"
#include "calc/text.h"

// What a change did to the configuration.
enum applied { NOT_HERE, APPLIED, REFUSED };

struct change {
    struct vram_config *c;
    struct writer *what;     // "key=value key=value"
    struct writer *refusal;
};

static void say(struct change *k, const char *key, uint64_t n)
{
    if (k->what->len)
        writer_char(k->what, ' ');
    int field = config_field(key, text_len(key));
    config_put(k->c, (size_t)field, n);
    writer_f(k->what, "%s=", key);
    config_write(k->what, k->c, (size_t)field);
}

// Divides the micro-batch and multiplies accumulation, so that a step sees the same sequences.
static enum applied micro_batch(struct change *k, uint64_t divide)
{
    if (k->c->batch_size < divide || divide < 2)
        return NOT_HERE;
    uint64_t sequences = k->c->batch_size * k->c->gradient_accumulation_steps;
    uint64_t batch = k->c->batch_size / divide;
    while (sequences % batch)
        batch--;
    say(k, "batch_size", batch);
    if (sequences / batch > 1000000)
        return NOT_HERE;
    say(k, "gradient_accumulation_steps", sequences / batch);
    return APPLIED;
}

static enum applied change_MICRO_BATCH(struct change *k)
{
    return micro_batch(k, 2);
}

static enum applied change_MICRO_BATCH_4(struct change *k)
{
    return k->c->batch_size >= 8 ? micro_batch(k, 4) : NOT_HERE;
}

static enum applied change_MICRO_BATCH_1(struct change *k)
{
    return k->c->batch_size > 3 ? micro_batch(k, k->c->batch_size) : NOT_HERE;
}

static bool whole_logits(const struct vram_config *c)
{
    return c->cross_entropy != CROSS_ENTROPY_CHUNKED && c->cross_entropy != CROSS_ENTROPY_CCE;
}

static enum applied change_CHUNKED(struct change *k)
{
    if (!whole_logits(k->c))
        return NOT_HERE;
    say(k, "cross_entropy", CROSS_ENTROPY_CHUNKED);
    return APPLIED;
}

static enum applied change_CCE(struct change *k)
{
    if (!whole_logits(k->c))
        return NOT_HERE;
    say(k, "cross_entropy", CROSS_ENTROPY_CCE);
    return APPLIED;
}

static enum applied change_COMPILE(struct change *k)
{
    if (k->c->compile == COMPILE_TORCH25 || k->c->family != FAMILY_GPT2 || k->c->lora_rank)
        return NOT_HERE;
    say(k, "compile", COMPILE_TORCH25);
    return APPLIED;
}

static enum applied change_LOSS_ONLY(struct change *k)
{
    if (k->c->compile == COMPILE_NONE || !k->c->compile_logits || !whole_logits(k->c))
        return NOT_HERE;
    say(k, "compile_logits", 0);
    return APPLIED;
}

static enum applied change_DROP_LOGITS(struct change *k)
{
    bool kept = k->c->keep_logits == KEEP_LOGITS_YES || (k->c->keep_logits == KEEP_LOGITS_AUTO && k->c->family == FAMILY_GPT2);
    if (!kept || !whole_logits(k->c))
        return NOT_HERE;
    say(k, "keep_logits", KEEP_LOGITS_NO);
    return APPLIED;
}

static enum applied change_FLASH(struct change *k)
{
    if (k->c->attention != ATTENTION_MATH)
        return NOT_HERE;
    say(k, "attention", ATTENTION_FLASH);
    return APPLIED;
}

static enum applied change_FUSED(struct change *k)
{
    if (k->c->optimizer != OPTIMIZER_ADAMW_FOREACH)
        return NOT_HERE;
    say(k, "optimizer", OPTIMIZER_ADAMW_FUSED);
    return APPLIED;
}

static enum applied change_CHECKPOINT(struct change *k)
{
    if (k->c->checkpointing == CHECKPOINTING_BLOCK || k->c->compile != COMPILE_NONE)
        return NOT_HERE;
    say(k, "checkpointing", CHECKPOINTING_BLOCK);
    return APPLIED;
}

static enum applied change_CHECKPOINT_HALF(struct change *k)
{
    if (k->c->checkpointing != CHECKPOINTING_NONE || k->c->compile != COMPILE_NONE || k->c->n_layer < 2)
        return NOT_HERE;
    say(k, "checkpointing", CHECKPOINTING_EVERY);
    say(k, "checkpoint_every", 2);
    return APPLIED;
}

static enum applied change_EXPANDABLE(struct change *k)
{
    if (k->c->expandable_segments)
        return NOT_HERE;
    say(k, "expandable_segments", 1);
    return APPLIED;
}

static enum applied change_BFLOAT16(struct change *k)
{
    if (k->c->dtype != DTYPE_FLOAT32)
        return NOT_HERE;
    say(k, "dtype", DTYPE_BFLOAT16);
    return APPLIED;
}

static enum applied change_ADAM_8BIT(struct change *k)
{
    if (k->c->optimizer != OPTIMIZER_ADAMW_FUSED && k->c->optimizer != OPTIMIZER_ADAMW_FOREACH)
        return NOT_HERE;
    say(k, "optimizer", OPTIMIZER_ADAMW_8BIT);
    return APPLIED;
}

static enum applied change_BFLOAT16_PURE(struct change *k)
{
    if (k->c->dtype == DTYPE_BFLOAT16_PURE || k->c->lora_rank || k->c->compile != COMPILE_NONE)
        return NOT_HERE;
    say(k, "dtype", DTYPE_BFLOAT16_PURE);
    return APPLIED;
}

static enum applied change_BLOCK_SIZE(struct change *k)
{
    uint64_t seq = k->c->seq_len ? k->c->seq_len : k->c->block_size;
    if (seq < 128 || k->c->gradient_accumulation_steps > 500000)
        return NOT_HERE;
    if (k->c->seq_len)
        say(k, "seq_len", seq / 2);
    else
        say(k, "block_size", seq / 2);
    say(k, "gradient_accumulation_steps", k->c->gradient_accumulation_steps * 2);
    return APPLIED;
}

static enum applied change_VOCABULARY(struct change *k)
{
    static const uint64_t sizes[] = {128256, 65536, 50304, 32768, 16384, 8192};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i] * 10 < k->c->vocab_size * 8) {
            say(k, "vocab_size", sizes[i]);
            return APPLIED;
        }
    return NOT_HERE;
}

static enum applied change_LAYERS(struct change *k)
{
    if (k->c->n_layer < 4)
        return NOT_HERE;
    say(k, "n_layer", k->c->n_layer * 3 / 4);
    return APPLIED;
}

// Two thirds of the width, a multiple of 64; only if the heads divide it.
static enum applied change_WIDTH(struct change *k)
{
    uint64_t width = k->c->n_embd * 2 / 3 / 64 * 64;
    if (k->c->family != FAMILY_GPT2 || width < 64)
        return NOT_HERE;
    uint64_t heads = k->c->n_head;
    if (width % heads == 0) {
        say(k, "n_embd", width);
        return APPLIED;
    }
    writer_f(k->what, "n_embd=%u", width);
    writer_f(k->refusal, "%u is not divisible by n_head = %u; with n_head=%u it would be", width, heads, width / 64);
    return REFUSED;
}

static const struct row {
    enum advice_effect effect;
    const char *result, *basis;
    enum applied (*apply)(struct change *k);
} ROWS[] = {
#define CHANGE(id, effect, result, basis) {ADVICE_##effect, result, basis, change_##id},
#include "calc/advise.def"
#undef CHANGE
};

enum { ROW_COUNT = sizeof ROWS / sizeof *ROWS };

static void *no_memory(void *ctx, size_t bytes)
{
    (void)ctx;
    (void)bytes;
    return NULL;
}

// A writer into a fixed array; what does not fit is cut.
static struct writer fixed(struct vram_mem *mem, char *text, size_t cap)
{
    *mem = (struct vram_mem){no_memory, NULL, NULL};
    text[0] = 0;
    return (struct writer){.mem = mem, .text = text, .cap = cap};
}

static double seconds(const struct vram_config *c)
{
    struct model m;
    struct err e;
    struct cost cost;
    err_clear(&e);
    if (model_make(&m, c, &e) != VRAM_OK)
        return 0;
    cost_of(&cost, &m);
    return cost_seconds(&cost, c);
}

static int64_t permille(double before, double after)
{
    double d = before > 0 ? (after / before - 1) * 1000 : 0;
    return d > 1e6 ? 1000000 : (int64_t)(d < 0 ? d - 0.5 : d + 0.5);
}

// Time per token, where a change alters how many tokens an iteration has.
static int64_t cost_permille(const struct vram_config *before, const struct vram_config *after, enum advice_effect effect)
{
    double a = seconds(before), b = seconds(after);
    if (effect == ADVICE_DIFFERENT) {
        double seq_a = (double)(before->seq_len ? before->seq_len : before->block_size);
        double seq_b = (double)(after->seq_len ? after->seq_len : after->block_size);
        a /= seq_a * (double)(before->batch_size * before->gradient_accumulation_steps);
        b /= seq_b * (double)(after->batch_size * after->gradient_accumulation_steps);
        a *= 1e6;
        b *= 1e6;
    }
    if (after->compile == COMPILE_TORCH25 && before->compile == COMPILE_NONE)
        return -460;  // SRC: nanoGPT README, 250 -> 135 ms
    return permille(a, b);
}

// Applies row `number` to *config; true if it applies. The text goes into *a where a is not NULL.
static enum applied apply(size_t number, struct vram_config *config, struct advice *a)
{
    char what[ADVICE_WHAT], refusal[ADVICE_WHY];
    struct vram_mem mem, mem2;
    struct writer w = fixed(&mem, a ? a->what : what, ADVICE_WHAT);
    struct writer r = fixed(&mem2, a ? a->refusal : refusal, ADVICE_WHY);
    struct change k = {config, &w, &r};
    return ROWS[number].apply(&k);
}

static int try_row(struct vram *v, struct vram *probe, struct advice_list *list, size_t number)
{
    struct advice *a = &list->row[list->count];
    a->config = v->config;
    enum applied applied = apply(number, &a->config, a);
    if (applied == NOT_HERE)
        return VRAM_OK;
    a->effect = ROWS[number].effect;
    a->effect_text = ROWS[number].result;
    struct vram_mem mem;
    struct writer why = fixed(&mem, a->cost_why, ADVICE_WHY);
    writer_str(&why, ROWS[number].basis);
    a->refused = applied == REFUSED ? a->refusal : NULL;
    list->row_number[list->count++] = number;
    if (applied == REFUSED)
        return VRAM_OK;
    probe->config = a->config;
    probe->has_result = false;
    int rc = fit_try(probe, &a->process, &a->fits);
    if (rc == VRAM_ENOMEM)
        return rc;
    if (rc != VRAM_OK) {
        struct vram_mem mem2;
        struct writer r = fixed(&mem2, a->refusal, ADVICE_WHY);
        writer_str(&r, vram_error(probe)->text);
        a->refused = a->refusal;
        err_clear(&probe->err);
        return VRAM_OK;
    }
    a->saved = list->process > a->process ? list->process - a->process : 0;
    a->cost_permille = cost_permille(&v->config, &a->config, a->effect);
    return VRAM_OK;
}

// Free or nearly so, up to a tenth of the time, more.
static unsigned dearness(const struct advice *a)
{
    return a->cost_permille <= 20 ? 0 : a->cost_permille <= 100 ? 1 : 2;
}

// Group by effect; in a group what is enough by itself comes first, then what costs little, then the most bytes.
// What is refused comes last.
static bool before(const struct advice *a, const struct advice *b)
{
    if (a->effect != b->effect)
        return a->effect < b->effect;
    if (!a->refused != !b->refused)
        return !a->refused;
    if (a->fits != b->fits)
        return a->fits;
    if (dearness(a) != dearness(b))
        return dearness(a) < dearness(b);
    return a->saved > b->saved;
}

static void sort(struct advice_list *list)
{
    for (size_t i = 1; i < list->count; i++)
        for (size_t k = i; k > 0 && before(&list->row[k], &list->row[k - 1]); k--) {
            struct advice swap = list->row[k];
            size_t number = list->row_number[k];
            list->row[k] = list->row[k - 1];
            list->row_number[k] = list->row_number[k - 1];
            list->row[k - 1] = swap;
            list->row_number[k - 1] = number;
        }
}

// Adds changes to the plan until it fits: cheap ones that keep the training as it is, then the dear ones among
// them, then the rest. Two that set the same field (micro-batches) replace one another.
static int make_plan(struct vram *v, struct vram *probe, struct advice_list *list)
{
    list->best = v->config;
    list->best_process = list->process;
    for (int round = 0; round < 3 && !list->found; round++)
        for (size_t i = 0; i < list->count && !list->found; i++) {
            const struct advice *a = &list->row[i];
            bool same = a->effect == ADVICE_SAME;
            bool turn = round == 0 ? same && !dearness(a) : round == 1 ? same && dearness(a) : !same;
            struct vram_config next = list->best;
            if (!turn || a->refused || a->saved == 0 || apply(list->row_number[i], &next, NULL) != APPLIED)
                continue;
            bool fits = false;
            uint64_t process = 0;
            probe->config = next;
            probe->has_result = false;
            int rc = fit_try(probe, &process, &fits);
            if (rc == VRAM_ENOMEM)
                return rc;
            err_clear(&probe->err);
            if (rc != VRAM_OK || process >= list->best_process)
                continue;
            list->best = next;
            list->best_process = process;
            list->used[i] = true;
            list->found = fits;
        }
    list->best_cost_permille = cost_permille(&v->config, &list->best, ADVICE_DIFFERENT);
    return VRAM_OK;
}

// One change that fits alone beats a pile of them.
static bool plan_of_one(struct vram *v, struct advice_list *list)
{
    const struct advice *best = NULL;
    size_t at = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct advice *a = &list->row[i];
        if (a->effect == ADVICE_SAME && a->fits && !a->refused && (!best || a->cost_permille < best->cost_permille)) {
            best = a;
            at = i;
        }
    }
    if (!best)
        return false;
    list->found = true;
    list->best = best->config;
    list->best_process = best->process;
    list->best_cost_permille = cost_permille(&v->config, &list->best, ADVICE_DIFFERENT);
    list->used[at] = true;
    return true;
}

int advise_make(struct vram *v, struct advice_list *list)
{
    struct vram *probe = fit_probe(v);
    if (!probe)
        return VRAM_ENOMEM;
    mem_zero(list, sizeof *list);
    int rc = fit_try(probe, &list->process, &list->fits);
    list->gpu_bytes = rc == VRAM_OK ? probe->result.gpu_bytes : 0;
    list->fits = list->fits && list->gpu_bytes;
    for (size_t i = 0; i < ROW_COUNT && rc == VRAM_OK && v->config.task == TASK_TRAIN; i++)
        rc = try_row(v, probe, list, i);
    if (rc == VRAM_OK) {
        sort(list);
        if (list->gpu_bytes && !list->fits && !plan_of_one(v, list))
            rc = make_plan(v, probe, list);
    }
    if (rc != VRAM_OK)
        fit_error(v, probe);
    vram_free(probe);
    return rc;
}
