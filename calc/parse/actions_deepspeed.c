// Owns the limits of DeepSpeed's third stage: what is gathered ahead, and what stays gathered.

#include "calc/parse/actions_deepspeed.h"

#include "calc/base/text.h"
#include "calc/parse/lookup.h"

// In its own file, or within a trainer's.
static bool third_stage(const struct parse *p)
{
    const struct vram_pair *own = pair_find(p, "zero_optimization.stage"),
                           *stage = own ? own : pair_find(p, "deepspeed.zero_optimization.stage");
    return stage && span_is(span_of(stage->value), "3");
}

// A number as JSON has it, 1e9 too; false for a word.
static bool number_of(struct span s, uint64_t *millionths)
{
    bool overflow;
    return text_to_millionths(s.at, s.len, millionths, &overflow);
}

// "LOW HIGH": DeepSpeed's own limit is modelled. With less than LOW the run takes less, with more
// than HIGH it takes more.
int action_limit(struct parse *p, const char *map, const struct entry *e, struct delegate *as)
{
    struct span low = {map, span_find(span_of(map), " ")};
    struct arg key = arg_part("key", e->key.at, e->key.len),
               value = arg_part("value", e->value.at, e->value.len);
    uint64_t least, most, n;
    (void)as;
    if (!third_stage(p) || !number_of(e->value, &n) || !number_of(low, &least) ||
        !number_of(span_of(map + low.len + 1), &most))
        return VRAM_OK;
    if (n > most)
        return err_set(&p->v->err, MESSAGE_not_modelled, e->value_pos, NO_FIELD, ARGS(key, value));
    if (n < least)
        parse_warn(p, MESSAGE_takes_less, e->value_pos, ARGS(key, value));
    return VRAM_OK;
}
