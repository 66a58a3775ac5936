// TOML from any bytes: it is refused with a message, or read into a tree that says the same when it
// is written again.
#include "calc/toml/toml.h"
#include "tests/fuzz/gen_fuzz.h"

#include <string.h>

struct reading {
    arena a;
    str text;
    size_t errors, bytes;
};

static void *take(void *ctx, size_t bytes)
{
    struct reading *r = ctx;
    r->bytes += bytes;
    return arena_alloc(&r->a, 1, bytes);
}

static void count(void *ctx, const struct toml_error *e)
{
    struct reading *r = ctx;
    r->errors++;
    fuzz_check(e->offset <= r->text.len, "an error behind the text\n");
    fuzz_check(e->other == SIZE_MAX || e->other < e->offset,
               "a name is given first behind the place where it is wrong\n");
    fuzz_check(toml_sentence(e->id)[0] != 0, "an error without a sentence\n");
}

static struct toml_value *read_text(struct reading *r)
{
    struct toml_value *root;
    struct toml_host host = {take, count, r};
    enum toml_status status = toml_read(r->text.ptr, r->text.len, &host, &root);
    fuzz_check(status != TOML_NO_MEMORY, "no memory\n");
    fuzz_check((status == TOML_OK) == (r->errors == 0) && (status == TOML_OK) == (root != NULL),
               "the status is wrong\n");
    fuzz_check(r->errors <= TOML_MAX_ERRORS + 1, "too many errors\n");
    fuzz_check(r->bytes <= 80 * r->text.len + 80, "too much memory\n");
    return root;
}

static void put_string(buf *out, struct toml_text t)
{
    buf_char(out, '"');
    for (size_t i = 0; i < t.len; i++)
        if ((unsigned char)t.at[i] < 0x20 || t.at[i] == 0x7F || t.at[i] == '"' || t.at[i] == '\\')
            buf_printf(out, "\\u%04X", (unsigned char)t.at[i]);
        else
            buf_char(out, t.at[i]);
    buf_char(out, '"');
}

// A value as TOML on one line; its containers are at most TOML_MAX_DEPTH deep.
static void put_value(buf *out, const struct toml_value *v)
{
    if (v->kind == TOML_STRING)
        put_string(out, v->text);
    else if (v->kind > TOML_ARRAY)
        buf_str(out, (str){v->text.at, v->text.len});
    if (v->kind > TOML_ARRAY)
        return;
    buf_char(out, v->kind == TOML_ARRAY ? '[' : '{');
    for (const struct toml_value *i = v->first; i; i = i->next) {
        if (v->kind == TOML_TABLE) {
            fuzz_check(toml_get(v, i->key) == i, "a key is not found\n");
            put_string(out, i->key);
            buf_char(out, '=');
        }
        put_value(out, i);
        if (i->next)
            buf_char(out, ',');
    }
    buf_char(out, v->kind == TOML_ARRAY ? ']' : '}');
}

static bool same_text(struct toml_text a, struct toml_text b)
{
    return str_eq((str){a.at, a.len}, (str){b.at, b.len});
}

static void check_same(const struct toml_value *a, const struct toml_value *b)
{
    fuzz_check(a->kind == b->kind, "another kind\n");
    if (a->kind > TOML_ARRAY) {
        fuzz_check(same_text(a->text, b->text), "another text\n");
        fuzz_check(memcmp(&a->date, &b->date, sizeof a->date) == 0, "another number or date\n");
        return;
    }
    fuzz_check(a->count == b->count, "another count\n");
    for (const struct toml_value *i = a->first, *j = b->first; i; i = i->next, j = j->next) {
        fuzz_check(same_text(i->key, j->key), "another key\n");
        check_same(i, j);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct reading r = {.text = fuzz_text(data, size)}, again = {0};
    struct toml_value *root = read_text(&r);
    buf out = BUF_INIT;
    for (const struct toml_value *v = root ? root->first : NULL; v; v = v->next) {
        put_string(&out, v->key);
        buf_char(&out, '=');
        put_value(&out, v);
        buf_char(&out, '\n');
    }
    again.text = buf_view(&out);
    struct toml_value *second = root ? read_text(&again) : NULL;
    fuzz_check(!root || second, "what was written cannot be read\n");
    if (root)
        check_same(root, second);
    buf_free(&out);
    arena_free(&r.a);
    arena_free(&again.a);
    return 0;
}
