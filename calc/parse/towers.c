// Owns the number of weights of the parts for images, by the table towers.def.

#include "calc/parse/towers.h"

#include "calc/base/text.h"

// By letter of towers.def, and the width of the language model.
struct tower {
    uint64_t C, E, F, L, P, S, Z, M, O, N, D, T;
};

enum { TOWER_WIDEST = 65535, TOWER_MERGED = 16 };  // so that no product is too large

static const struct tower_key {
    const char *key;
    size_t at;
} tower_keys[] = {
#define TOWER_KEY(key, letter) {key, offsetof(struct tower, letter)},
#include "calc/parse/towers.def"
};

static uint64_t tower_sum(struct span type, const struct tower *t)
{
    const uint64_t C = t->E ? t->E : t->C, F = t->F, L = t->L, P = t->P, S = t->S, Z = t->Z,
                   M = t->M, O = t->O, N = t->N, D = t->D, T = t->T;
#define LINEAR(in, out) (((in) + 1) * (out))
#define NORM(width) (2 * (width))
#define TOWER(model_type, weights) \
    if (span_is(type, model_type)) \
        return weights;
#include "calc/parse/towers.def"
#undef LINEAR
#undef NORM
    return 0;
}

// A number of vision_config; false where it is larger than any tower's.
static bool tower_read(struct tower *t, struct span key, struct span value)
{
    uint64_t number;
    bool overflow;
    for (size_t i = 0; i < sizeof tower_keys / sizeof *tower_keys; i++)
        if (span_is(key, tower_keys[i].key) &&
            text_to_u64(value.at, value.len, &number, &overflow)) {
            if (number > TOWER_WIDEST)
                return false;
            *(uint64_t *)((char *)t + tower_keys[i].at) = number;
        }
    return true;
}

// [5, 11, 17]: how many.
static uint64_t tower_list(struct span value)
{
    uint64_t count = value.len > 0;
    for (size_t i = 0; i < value.len; i++)
        count += value.at[i] == ',';
    return count;
}

uint64_t tower_weights(struct parse *p)
{
    struct tower t = {.S = 224, .Z = 2, .M = 2, .T = p->v->config.n_embd};
    struct span type = {NULL, 0};
    struct entry e;
    bool sane = true;
    parse_rewind(p);
    while (parse_entry(p, &e)) {
        struct span key = span_skip(e.key, 14);
        if (span_is(e.key, "model_type"))
            type = e.value;
        if (!span_starts(e.key, "vision_config."))
            continue;
        if (span_is(key, "deepstack_visual_indexes"))
            t.D = tower_list(e.value);
        else
            sane = tower_read(&t, key, e.value) && sane;
    }
    bool whole = t.C && t.L && t.P && t.M <= TOWER_MERGED && t.D <= t.L && t.T <= TOWER_WIDEST;
    return type.len > 0 && sane && whole ? tower_sum(type, &t) : 0;
}
