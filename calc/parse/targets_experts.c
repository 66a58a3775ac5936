// Owns what files with adapters say of a mixture's experts: their parameters, lists of the names of
// all linear layers, and names that no expert has. SRC: peft 0.21 tuners/tuners_utils.py
// (_inject_parameters), tuners/lora/model.py (_prepare_adapter_config); axolotl 0.19
// loaders/adapter.py (find_all_linear_names); LLaMA-Factory 0.9.5 model/model_utils/misc.py
// (find_all_linear_modules); ms-swift 4.6 pipelines/train/tuner.py (get_target_modules).
#ifndef VRAM_SMALL

#include "calc/parse/targets.h"

#include "calc/base/text.h"
#include "calc/model/family.h"
#include "calc/model/model.h"
#include "calc/model/wrapped.h"
#include "calc/parse/lookup.h"

enum {
    ATTENTION = 1 << TARGET_Q | 1 << TARGET_K | 1 << TARGET_V | 1 << TARGET_O,
    INNER = 1 << TARGET_GATE | 1 << TARGET_UP | 1 << TARGET_DOWN
};

static const char MODULES_OF_FILES[] =
    "target_modules lora_config.target_modules lora_target_modules lora_target";

// ---- target_parameters --------------------------------------------------------------------------

// The member for one of the parameters, by the end of its name behind a point; 0: it is another.
static uint64_t parameter_of(struct span name)
{
    static const struct {
        const char *name;
        uint64_t member;
    } names[] = {
        {"gate_up_proj", CONFIG_BIT(TARGET_EXPERTS_UP)},
        {"experts.gate_up_proj", CONFIG_BIT(TARGET_EXPERTS_UP)},
        {"mlp.experts.gate_up_proj", CONFIG_BIT(TARGET_EXPERTS_UP)},
        {"down_proj", CONFIG_BIT(TARGET_EXPERTS_DOWN)},
        {"experts.down_proj", CONFIG_BIT(TARGET_EXPERTS_DOWN)},
        {"mlp.experts.down_proj", CONFIG_BIT(TARGET_EXPERTS_DOWN)},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (span_is(name, names[i].name))
            return names[i].member;
    return 0;
}

// Without target_modules PEFT takes its own of the family, or none.
static int conclude_parameters(struct parse *p)
{
    struct vram_config *c = &p->v->config;
    const struct vram_pair *pair = pair_among(
        p, span_of("target_parameters lora_config.target_parameters lora_target_parameters"));
    if (!pair || value_is_nothing(span_of(pair->value)))
        return VRAM_OK;
    uint64_t members = 0;
    for (struct span rest = span_of(pair->value); rest.len > 0;) {
        struct span name = {rest.at, span_find(rest, ",")};
        uint64_t member = parameter_of(span_trim(name));
        rest = span_skip(rest, name.len + 1);
        if (!member || !c->n_expert)
            return err_set(&p->v->err, MESSAGE_not_modelled,
                           (struct err_pos){p->file, pair->value_line, pair->value_col}, NO_FIELD,
                           ARGS(arg_text("key", pair->key), arg_text("value", pair->value)));
        members |= member;
    }
    bool named = p->v->places[FIELD_lora_targets].line || c->family == FAMILY_MIXTRAL;
    return targets_set(p, pair, (named ? c->lora_targets : 0) | members);
}

// ---- target_modules -----------------------------------------------------------------------------

// What PEFT is given is the names of all linear layers, which experts are none of; those of shared
// experts and of dense layers it takes for the experts' parameters.
static uint64_t linear_names(const struct vram_config *c)
{
    bool inner = c->n_shared_experts || c->first_k_dense_replace;
    return inner ? ATTENTION | CONFIG_BIT(TARGET_EXPERTS) : ATTENTION;
}

static bool lists_linear(const struct parse *p)
{
    const struct vram_pair *linear = pair_find(p, "lora_target_linear");
    return (linear && value_is_true(span_of(linear->value))) ||
           pair_among(p, span_of("finetuning_type tuner_type train_type sft_type"));
}

static bool list_has(const struct vram_pair *pair, const char *name)
{
    for (struct span rest = span_of(pair->value); rest.len > 0;) {
        struct span item = {rest.at, span_find(rest, ",")};
        rest = span_skip(rest, item.len + 1);
        item = span_trim(item);
        size_t len = text_len(name);
        struct span end = span_skip(item, item.len < len ? item.len : item.len - len);
        if (span_is(end, name) && (end.at == item.at || end.at[-1] == '.'))
            return true;
    }
    return false;
}

// Of a list of names: experts have w1, w3 and w2, or the others.
static uint64_t list_names(const struct vram_config *c, const struct vram_pair *pair)
{
    static const char *const names[][2] = {
        {"gate_proj", "w1"}, {"up_proj", "w3"}, {"down_proj", "w2"}};
    uint64_t targets = c->lora_targets;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        bool w = wrapped_names_are_w(c);
        if (list_has(pair, names[i][!w]) && !list_has(pair, names[i][w]))
            targets &= ~CONFIG_BIT(TARGET_GATE + i);
    }
    // the router is not among them
    if ((targets & CONFIG_SET_ALL_LINEAR) == CONFIG_SET_ALL_LINEAR && wrapped_by_names(c))
        targets = (targets & ~(uint64_t)INNER) | CONFIG_BIT(TARGET_EXPERTS);
    return targets;
}

static int conclude_names(struct parse *p)
{
    const struct vram_config *c = &p->v->config;
    const struct vram_pair *pair = pair_among(p, span_of(MODULES_OF_FILES));
    bool all = (c->lora_targets & CONFIG_SET_ALL_LINEAR) == CONFIG_SET_ALL_LINEAR;
    uint64_t outside = c->lora_targets & ~(uint64_t)CONFIG_SET_ALL_LINEAR,
             targets = c->lora_targets;
    if (!c->n_expert || !c->lora_rank || c->adapter == ADAPTER_IA3)
        return VRAM_OK;
    if (all && lists_linear(p) && wrapped_by_names(c))
        targets = linear_names(c) | outside;
    else if (pair && !list_has(pair, "all-linear") && !list_has(pair, "all"))
        targets = list_names(c, pair);
    if (targets == c->lora_targets)
        return VRAM_OK;
    static const struct vram_pair nowhere = {.key = ""};
    return targets_set(p, pair ? pair : &nowhere, targets);
}

int conclude_experts(struct parse *p)
{
    int rc = conclude_names(p);
    return rc == VRAM_OK ? conclude_parameters(p) : rc;
}
#endif
