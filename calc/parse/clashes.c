// Owns the search for settings that a framework refuses together: the run would end before its
// first step.

#include "calc/parse/clashes.h"

#include "calc/base/text.h"
#include "calc/parse/lookup.h"

static const struct clash {
    enum format_id format;
    uint32_t since, before;
    const char *key, *values, *other, *with;
} CLASHES[] = {
#define CLASH(format, since, before, key, values, other, with) \
    {FORMAT_##format, since, before, key, values, other, with},
#include "calc/parse/clashes.def"
};

// In Python's, YAML's or a shell's way of writing it; nothing is "-".
static bool is_among(const char *words, const struct vram_pair *pair)
{
    struct span value = pair ? span_of(pair->value) : span_of("-");
    value = value_is_nothing(value) ? span_of("-") : value;
    value = value_is_true(value) ? span_of("true") : value;
    value = value_is_false(value) ? span_of("false") : value;
    return text_has_word(words, value.at, value.len);
}

int check_clashes(struct parse *p, enum format_id format)
{
    uint64_t said = config_own_version(&p->v->config), own = said ? said : UINT32_MAX;
    for (size_t i = 0; i < sizeof CLASHES / sizeof *CLASHES; i++) {
        const struct clash *c = &CLASHES[i];
        const struct vram_pair *one = pair_find(p, c->key), *other = pair_find(p, c->other);
        bool here = c->format == format && own >= c->since &&
                    (own < c->before || (!said && c->before > 90000));
        if (here && one && is_among(c->values, one) && is_among(c->with, other))
            return err_set(&p->v->err, MESSAGE_run_ends,
                           (struct err_pos){p->file, one->value_line, one->value_col}, NO_FIELD,
                           ARGS(arg_text("key", one->key), arg_text("value", one->value),
                                arg_text("other", c->other),
                                arg_text("with", other ? other->value : "null")));
    }
    return VRAM_OK;
}
