// TOML read by the estimator's own reader, its tree made into one of YAML nodes.
#include "gen/text/front_toml.h"

#include "calc/toml/toml.h"

struct reading {
    str text, file;
    size_t from;
    arena *a;
    struct diag *d;
};

static void *host_alloc(void *ctx, size_t bytes)
{
    struct reading *r = ctx;
    return arena_alloc(r->a, bytes ? bytes : 1, 1);
}

static void host_error(void *ctx, const struct toml_error *e)
{
    struct reading *r = ctx;
    diag_add(r->d, D_TOML_SYNTAX, DIAG_AT(r->file, r->text, r->from + e->offset), "%s",
             toml_sentence(e->id));
}

static str view(struct toml_text t)
{
    return (str){t.at, t.len};
}

static struct yaml_node *node_of(struct reading *r, const struct toml_value *v);

static struct yaml_node *key_of(struct reading *r, const struct toml_value *v)
{
    struct yaml_node *n = arena_new(r->a, struct yaml_node, 1);
    *n = (struct yaml_node){.plain = true, .offset = r->from + v->key_offset, .text = view(v->key)};
    return n;
}

// Tables and arrays lie one in the other TOML_MAX_DEPTH deep at most.
static void fill(struct reading *r, const struct toml_value *v, struct yaml_node *n)
{
    bool table = v->kind == TOML_TABLE;
    n->kind = table ? YAML_MAP : YAML_LIST;
    if (!v->count)
        return;
    if (table)
        n->pairs = arena_new(r->a, struct yaml_pair, v->count);
    else
        n->items = arena_new(r->a, struct yaml_node *, v->count);
    for (const struct toml_value *x = v->first; x; x = x->next, n->count++) {
        if (table)
            n->pairs[n->count] = (struct yaml_pair){key_of(r, x), node_of(r, x)};
        else
            n->items[n->count] = node_of(r, x);
    }
}

static struct yaml_node *node_of(struct reading *r, const struct toml_value *v)
{
    struct yaml_node *n = arena_new(r->a, struct yaml_node, 1);
    n->offset = r->from + v->offset;
    if (v->kind == TOML_TABLE || v->kind == TOML_ARRAY) {
        fill(r, v, n);
    } else {
        n->plain = v->kind != TOML_STRING;
        n->text = view(v->text);
    }
    return n;
}

bool front_toml(str text, size_t from, size_t to, str file, arena *a, struct diag *d,
                struct yaml_node **out)
{
    struct reading r = {.text = text, .file = file, .from = from, .a = a, .d = d};
    struct toml_host host = {host_alloc, host_error, &r};
    struct toml_value *root = NULL;
    *out = NULL;
    if (toml_read(text.ptr + from, to - from, &host, &root) != TOML_OK || !root)
        return false;
    *out = node_of(&r, root);
    return true;
}
