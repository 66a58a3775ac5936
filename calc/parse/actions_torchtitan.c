// Owns the keys of torchtitan's configuration that mean more than one field: sizes by name,
// checkpointing, pipelines, and the slots for tokens that count since 0.3.

#include "calc/parse/actions_torchtitan.h"

#include "calc/base/text.h"
#include "calc/parse/lookup.h"
#include "calc/parse/model_by_name.h"

static const char SLOTS[] = "training.num_tokens_per_microbatch_per_dp_rank",
                  STEP[] = "training.num_tokens_per_train_step",
                  CONTEXT[] = "training.max_context_length";

static int set(struct parse *p, const struct entry *e, const char *field, struct span value)
{
    return handle_set(p->v, e->value_pos, field, text_len(field), value.at, value.len);
}

static int set_word(struct parse *p, const struct entry *e, const char *field, const char *value)
{
    return set(p, e, field, span_of(value));
}

// Sizes by model.name and model.flavor: llama3 and 8B.
int action_flavor(struct parse *p, const char *map, const struct entry *e, struct delegate *as)
{
    const struct vram_pair *family = pair_find(p, "model.name");
    struct text_line name = {{0}, 0};
    struct entry named = *e;
    char flavor[32];
    size_t n = span_find(e->value, "_");
    (void)map;
    (void)as;
    text_append(&name, family ? family->value : "llama3");
    if (text_equal(name.text, name.len, "llama3"))
        text_append(&name, ".1");
    n = n < sizeof flavor - 1 ? n : sizeof flavor - 1;
    mem_copy(flavor, e->value.at, n);
    flavor[n] = 0;
    text_append(&name, "-");
    text_append(&name, flavor);
    if (text_equal(name.text, name.len, "llama3.1-debugmodel"))
        return parse_model_fields(p, "family=llama n_layer=6 n_embd=256 n_head=16 n_inner=768 "
                                     "vocab_size=2048 tie_embeddings=0");
    named.value = (struct span){name.text, name.len};
    return model_by_name(p, &named);
}

// Every n-th block, or by operations, as it is where a file of 0.3 says nothing.
int action_selective(struct parse *p, const char *map, const struct entry *e, struct delegate *as)
{
    const struct vram_pair *mode = pair_find(p, "activation_checkpoint.mode");
    bool silent = !e->value_pos.line && pair_find(p, SLOTS);
    (void)map;
    (void)as;
    if (mode && !span_is(span_of(mode->value), "selective"))
        return VRAM_OK;
    if (span_is(e->value, "op") || silent)
        return set_word(p, e, "checkpointing", "selective");
    int rc = set(p, e, "checkpoint_every", e->value);
    return rc ? rc : set_word(p, e, "checkpointing", "every");
}

// Are there several ways of this kind?
static bool has_ways(const struct parse *p, const char *degree)
{
    const struct vram_pair *pair = pair_find(p, degree);
    return pair && !span_is(span_of(pair->value), "1");
}

static int not_modelled(struct parse *p, const struct entry *e)
{
    struct arg key = arg_part("key", e->key.at, e->key.len),
               value = arg_part("value", e->value.at, e->value.len);
    return err_set(&p->v->err, MESSAGE_not_modelled, e->value_pos, NO_FIELD, ARGS(key, value));
}

// The schedule of a pipeline counts where there is one.
int action_schedule(struct parse *p, const char *map, const struct entry *e, struct delegate *as)
{
    (void)map;
    (void)as;
    if (!has_ways(p, "parallelism.pipeline_parallel_degree"))
        return VRAM_OK;
    if (text_equal_nocase(e->value.at, e->value.len, "1F1B") ||
        text_equal_nocase(e->value.at, e->value.len, "GPipe"))
        return set(p, e, "pipeline_schedule", e->value);
    return err_set(&p->v->err, MESSAGE_not_modelled_but, e->value_pos, NO_FIELD,
                   ARGS(arg_part("key", e->key.at, e->key.len),
                        arg_part("value", e->value.at, e->value.len),
                        arg_text("values", "1F1B, GPipe")));
}

// Replicas of what is divided; where nothing is, they are DDP's with buckets of its own. SRC:
// torchtitan models/llama3/infra/parallelize.py, apply_ddp (bucket_cap_mb).
int action_replicas(struct parse *p, const char *map, const struct entry *e, struct delegate *as)
{
    static const char *const degrees[] = {"parallelism.data_parallel_shard_degree",
                                          "training.data_parallel_shard_degree"};
    (void)map;
    (void)as;
    for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++) {
        const struct vram_pair *shard = pair_find(p, degrees[i]);
        if (shard && span_is(span_of(shard->value), "1") && !span_is(e->value, "1"))
            return not_modelled(p, e);
    }
    if (facts_set(&p->v->facts, FACT_replicas, e->value.at, e->value.len))
        return VRAM_OK;
    return not_modelled(p, e);
}

// "DEGREE VALUE": this value alone is modelled where the degree is more than one.
int action_among(struct parse *p, const char *map, const struct entry *e, struct delegate *as)
{
    char degree[64];
    size_t n = span_find(span_of(map), " ");
    (void)as;
    n = n < sizeof degree - 1 ? n : sizeof degree - 1;
    mem_copy(degree, map, n);
    degree[n] = 0;
    bool modelled = span_is(e->value, map + n + 1) || !has_ways(p, degree);
    return modelled ? VRAM_OK : not_modelled(p, e);
}

// A count that the file has under a key, else the other one.
static uint64_t count_of(const struct parse *p, const char *key, uint64_t fallback)
{
    const struct vram_pair *pair = pair_find(p, key);
    uint64_t n;
    bool overflow;
    bool count = pair && text_to_u64(pair->value, text_len(pair->value), &n, &overflow);
    return count && n > 0 && n <= UINT32_MAX ? n : fallback;
}

// A micro-step has slots for tokens, and texts have a largest length: rows of that length, enough
// for all slots. A step's slots on all GPUs are counted in such rows. SRC: torchtitan
// config/configs.py, TrainingConfig; trainer.py, gradient_accumulation_steps.
int action_slots(struct parse *p, const char *map, const struct entry *e, struct delegate *as)
{
    enum { TOKENS = 16384, LENGTH = 2048 };  // SRC: TrainingConfig's own
    uint64_t tokens = count_of(p, SLOTS, TOKENS), length = count_of(p, CONTEXT, LENGTH);
    (void)map;
    (void)as;
    length = length < tokens ? length : tokens;
    p->v->facts.micro = (tokens + length - 1) / length;
    p->v->facts.length = length;
    p->v->facts.global_batch = count_of(p, STEP, 0) / length;
    const struct vram_pair *off = pair_find(p, "training.disable_cuda_graphs");
    if (span_is(e->key, SLOTS) && !(off && value_is_true(span_of(off->value))))
        message_list_add(&p->v->notes, MESSAGE_graphs_outside, NO_FIELD, NO_ARGS);
    return VRAM_OK;
}
