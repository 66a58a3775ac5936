// Owns the way from a TOML document to pairs.

#include "calc/parse/pairs.h"

#include "calc/base/text.h"
#include "calc/toml/toml.h"

struct reading {
    struct parse *p;
    struct pair_list *out;
};

static void *host_alloc(void *ctx, size_t bytes)
{
    struct reading *r = ctx;
    return mem_arena_new(&r->out->arena, bytes ? bytes : 1, 1);
}

static void host_error(void *ctx, const struct toml_error *e)
{
    struct reading *r = ctx;
    err_set(&r->p->v->err, MESSAGE_toml_syntax, pairs_pos(r->out, r->p->file, e->offset), NO_FIELD,
            ARGS(arg_text("problem", toml_sentence(e->id))));
    parse_report(r->p);
}

static struct span view(struct toml_text t)
{
    return (struct span){t.at, t.len};
}

static void add_table(struct reading *r, const struct toml_value *table);

// Scalars of a list as one value, its tables as members with numbers.
static void add_list(struct reading *r, const struct toml_value *list)
{
    struct span joined = {"", 0};
    size_t number = 0, scalars = 0;
    for (const struct toml_value *item = list->first; item; item = item->next, number++) {
        size_t before = pairs_enter_item(r->out, number);
        if (before == SIZE_MAX)
            return;
        if (item->kind == TOML_TABLE)
            add_table(r, item);
        pairs_leave(r->out, before);
        if (item->kind != TOML_TABLE && item->kind != TOML_ARRAY &&
            joined.len + item->text.len <= PARSE_LIST_MAX)
            joined = pairs_join(r->out, joined, view(item->text), scalars++ == 0);
    }
    if (scalars > 0 || number == 0)
        pairs_add(r->out, joined, list->key_offset, list->offset);
}

// Tables lie one in the other TOML_MAX_DEPTH deep at most.
static void add_table(struct reading *r, const struct toml_value *table)
{
    for (const struct toml_value *v = table->first; v && !r->out->failed; v = v->next) {
        size_t before = pairs_enter(r->out, view(v->key));
        if (before == SIZE_MAX) {
            err_set(&r->p->v->err, MESSAGE_key_too_long,
                    pairs_pos(r->out, r->p->file, v->key_offset), NO_FIELD,
                    ARGS(arg_u64("most", PAIRS_PATH)));
            parse_report(r->p);
            continue;
        }
        if (v->kind == TOML_TABLE)
            add_table(r, v);
        else if (v->kind == TOML_ARRAY)
            add_list(r, v);
        else
            pairs_add(r->out, view(v->text), v->key_offset, v->offset);
        pairs_leave(r->out, before);
    }
}

int read_toml(struct parse *p, struct pair_list *out)
{
    struct reading r = {p, out};
    struct toml_host host = {host_alloc, host_error, &r};
    struct toml_value *root;
    enum toml_status status = toml_read(p->text, p->len, &host, &root);
    if (status == TOML_OK)
        add_table(&r, root);
    return status == TOML_NO_MEMORY || out->failed ? handle_no_memory(p->v) : VRAM_OK;
}
