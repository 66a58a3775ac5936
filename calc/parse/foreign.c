// Owns the naming of files that other programs have and that are not read.

#include "calc/parse/foreign.h"

#include "calc/base/text.h"

static const struct {
    const char *name;
    message_id message;
    const char *keys;
} FILES[] = {
#define FOREIGN(name, message, keys) {name, MESSAGE_##message, keys},
#include "calc/parse/foreign.def"
#undef FOREIGN
};

static bool has_key(const struct parse *p, struct span key)
{
    for (size_t i = 0; i < p->pair_count; i++)
        if (span_matches(key, span_of(p->pairs[i].key)))
            return true;
    return false;
}

static bool has_keys(const struct parse *p, const char *keys)
{
    for (struct span rest = span_of(keys); rest.len > 0;) {
        struct span key = {rest.at, span_find(rest, " ")};
        if (!has_key(p, key))
            return false;
        rest = span_skip(rest, key.len + 1);
    }
    return true;
}

bool foreign_named(struct parse *p)
{
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++)
        if (has_keys(p, FILES[i].keys)) {
            err_set(&p->v->err, FILES[i].message, (struct err_pos){p->file, 1, 1}, NO_FIELD,
                    ARGS(arg_text("name", FILES[i].name)));
            return true;
        }
    return false;
}
