// Owns what files mean that say FSDP: its version, what is divided among which GPUs, what is
// gathered together and when.

#include "calc/parse/conclude_fsdp.h"

#include "calc/base/text.h"
#include "calc/parse/lookup.h"

// The words of facts.def, by number.
enum {
    SHARDING_FULL = 1,
    SHARDING_GRADIENTS,
    SHARDING_NONE,
    SHARDING_HYBRID,
    SHARDING_HYBRID_GRADIENTS
};
enum { WRAP_SAID_LAYERS = 1, WRAP_SAID_NO };
enum { PREFETCH_SAID_PRE = 1, PREFETCH_SAID_POST };

enum { BY_TRAINER = 1, SECOND = 5010 };

// SRC: transformers 5.10 training_args.py, _process_fsdp_args (version 2, before it 1); accelerate
// utils/launch.py, FSDP_VERSION.
static uint64_t fsdp_version(const struct parse *p)
{
    const struct facts *f = &p->v->facts;
    bool second = f->fsdp_by == BY_TRAINER && p->v->config.transformers >= SECOND;
    return f->fsdp_version ? f->fsdp_version : second ? 2 : 1;
}

// Where no file says what is gathered together, accelerate's launcher takes the whole model, and so
// does the Trainer up to 5.9. SRC: accelerate utils/dataclasses.py (AUTO_WRAP_POLICY, NO_WRAP);
// transformers training_args.py, _process_fsdp_args.
static bool fsdp_wraps_nothing(const struct parse *p)
{
    const struct facts *f = &p->v->facts;
    if (f->wrap)
        return f->wrap == WRAP_SAID_NO;
    return f->fsdp_by == BY_TRAINER ? p->v->config.transformers < SECOND : f->launched;
}

static struct err_pos place_of(const struct parse *p, const struct vram_pair *pair)
{
    return pair ? (struct err_pos){p->file, pair->value_line, pair->value_col} : NO_POS;
}

// The first of some keys that a file has, or NULL.
static const struct vram_pair *said(const struct parse *p, const char *const *keys, size_t count)
{
    const struct vram_pair *pair = NULL;
    for (size_t i = 0; i < count && !pair; i++)
        pair = pair_find(p, keys[i]);
    return pair;
}

// ---- classes of layers -----------------------------------------------------------------------

static bool ends_in(struct span word, const char *end)
{
    size_t n = text_len(end);
    return word.len > n && text_equal(word.at + word.len - n, n, end);
}

// Whether a family's name begins with the letters of a class: gpt_neox and GPTNeoX.
static bool begins_as(const char *family, struct span word, bool whole)
{
    size_t at = 0;
    for (; *family && at < word.len; family++)
        if (*family != '_' && !text_equal_nocase(family, 1, (char[2]){word.at[at++], 0}))
            return false;
    return at == word.len && (!whole || !*family);
}

// Classes are called as their model's type, which is a family's name.
static bool is_of_another(const struct parse *p, struct span class)
{
    const char *const *names = vram_field_at(FIELD_family)->values;
    if (!p->v->facts.model || begins_as(names[p->v->config.family], class, false))
        return false;
    for (size_t i = 0; names[i]; i++)
        if (begins_as(names[i], class, true))
            return true;
    return false;
}

// A decoder's layer in transformers' names; what has experts in it is a part of one.
static bool is_layer(const struct parse *p, struct span word)
{
    static const char *const ends[] = {"DecoderLayer", "EncoderLayer", "Layer", "Block"};
    if (ends_in(word, "MoeBlock"))
        return false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_in(word, ends[i]))
            return !is_of_another(p, (struct span){word.at, word.len - text_len(ends[i])});
    return false;
}

// What is a unit besides is another cut than the modelled one; a class that the model has not is an
// error in the run. SRC: accelerate utils/fsdp_utils.py, fsdp2_prepare_auto_wrap_policy;
// utils/dataclasses.py, set_auto_wrap_policy.
static int check_classes(struct parse *p)
{
    static const char *const keys[] = {"fsdp_config.fsdp_transformer_layer_cls_to_wrap",
                                       "fsdp_config.transformer_layer_cls_to_wrap",
                                       "fsdp_transformer_layer_cls_to_wrap"};
    const struct vram_pair *pair = said(p, keys, sizeof keys / sizeof *keys);
    for (struct span rest = span_of(pair ? pair->value : ""); rest.len;) {
        size_t n = span_find(rest, ",");
        struct span word = span_trim((struct span){rest.at, n});
        rest = span_skip(rest, n + 1);
        if (word.len && !span_is(word, "null") && !is_layer(p, word))
            return err_set(&p->v->err, MESSAGE_units_are_layers, place_of(p, pair), NO_FIELD,
                           ARGS(arg_text("key", pair->key), arg_part("value", word.at, word.len)));
    }
    return VRAM_OK;
}

// ---- units -----------------------------------------------------------------------------------

// All layers are one unit of FSDP2, gathered and copied out at once.
static int refuse_one_unit(struct parse *p)
{
    static const char *const keys[] = {"fsdp_config.fsdp_auto_wrap_policy",
                                       "fsdp_config.auto_wrap_policy",
                                       "fsdp_auto_wrap_policy",
                                       "fsdp_config.fsdp_version",
                                       "fsdp_config.version",
                                       "fsdp_version",
                                       "distributed_type",
                                       "fsdp"};
    return err_set(&p->v->err, MESSAGE_no_wrap_second,
                   place_of(p, said(p, keys, sizeof keys / sizeof *keys)), NO_FIELD, NO_ARGS);
}

// accelerate gathers nothing ahead where it is not told to. SRC: accelerate utils/dataclasses.py
// (BACKWARD_PREFETCH).
int conclude_units(struct parse *p)
{
    const struct facts *f = &p->v->facts;
    struct vram_config *c = &p->v->config;
    bool alone = fsdp_wraps_nothing(p);
    if (c->parallel == PARALLEL_FSDP && alone)
        return refuse_one_unit(p);
    if (c->parallel == PARALLEL_FSDP1) {
        c->backward_prefetch = f->prefetch == PREFETCH_SAID_PRE    ? PREFETCH_PRE
                               : f->prefetch == PREFETCH_SAID_POST ? PREFETCH_POST
                                                                   : PREFETCH_NO;
        c->auto_wrap_policy = alone ? WRAP_NO : WRAP_TRANSFORMER;
    }
    return alone ? VRAM_OK : check_classes(p);
}

uint64_t fsdp_of(struct parse *p)
{
    const struct facts *f = &p->v->facts;
    bool second = fsdp_version(p) == 2;
    if (f->sharding == SHARDING_NONE && second)
        return PARALLEL_DDP;
    bool gradients = f->sharding == SHARDING_GRADIENTS || f->sharding == SHARDING_HYBRID_GRADIENTS;
    p->v->config.reshard_after_forward = f->sharding == SHARDING_NONE ? RESHARD_NO_SHARD
                                         : gradients                  ? RESHARD_NO
                                                                      : RESHARD_YES;
    return second ? PARALLEL_FSDP : PARALLEL_FSDP1;
}

// SRC: pytorch torch/distributed/fsdp/_init_utils.py, _init_process_group_state_for_hybrid_shard;
// trace llama_fsdp1_hybrid.
uint64_t fsdp_machines(const struct facts *f)
{
    return f->sharding >= SHARDING_HYBRID && f->machines ? f->machines : 1;
}
