// Sidecars as JSON: read in both schemas, written in the newer one, which holds the source's text.
#include "gen/site/translation/sidecar.h"

#include <jansson.h>
#include <string.h>

#include "gen/base/escape.h"
#include "gen/text/markdown.h"

#define SCHEMA "vramdoc-source/2"
#define SCHEMA_1 "vramdoc-source/1"  // lines "p HASH HASH", without texts

static bool read_hash(str s, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        int v = ascii_is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (v < 0)
            return false;
        *out = *out << 4 | (uint64_t)v;
    }
    return s.len == 16;
}

// "p SOURCE OWN", a "-" for none.
static bool read_line(const json_t *item, struct sidecar_pair *p)
{
    if (!json_is_string(item))
        return false;
    str line = str_c(json_string_value(item)), kind, source;
    if (!str_cut(&line, ' ', &kind) || kind.len != 1 || !str_cut(&line, ' ', &source))
        return false;
    p->kind = kind.ptr[0];
    return (str_eq(source, STR("-")) || read_hash(source, &p->source)) &&
           (str_eq(line, STR("-")) || read_hash(line, &p->own));
}

static str text_of(const json_t *item, const char *key)
{
    const json_t *value = json_object_get(item, key);
    return json_is_string(value) ? (str){json_string_value(value), json_string_length(value)}
                                 : STR_NONE;
}

// {"kind": "p", "own": HASH, "source": TEXT}; what is not there is left out. "hash": HASH stands
// for a text that is not known.
static bool read_object(const json_t *item, arena *a, struct sidecar_pair *p)
{
    str kind = text_of(item, "kind"), own = text_of(item, "own"), hash = text_of(item, "hash");
    if (kind.len != 1 || (json_object_get(item, "own") && !read_hash(own, &p->own)) ||
        (json_object_get(item, "hash") && !read_hash(hash, &p->source)))
        return false;
    p->kind = kind.ptr[0];
    if (!json_object_get(item, "source"))
        return true;
    p->text = arena_str(a, text_of(item, "source"));
    p->source = md_block_hash((uint8_t)p->kind, p->text);
    return json_is_string(json_object_get(item, "source"));
}

static bool read_root(const json_t *root, arena *a, struct sidecar *out)
{
    const json_t *blocks = json_object_get(root, "blocks");
    str schema = text_of(root, "schema");
    bool first = str_eq(schema, STR(SCHEMA_1));
    if ((!first && !str_eq(schema, STR(SCHEMA))) || !json_is_array(blocks))
        return false;
    out->source = arena_str(a, text_of(root, "source"));
    out->language = arena_str(a, text_of(root, "language"));
    out->count = json_array_size(blocks);
    out->pairs = arena_new(a, struct sidecar_pair, out->count + 1);
    for (size_t i = 0; i < out->count; i++) {
        const json_t *item = json_array_get(blocks, i);
        if (!(first ? read_line(item, &out->pairs[i]) : read_object(item, a, &out->pairs[i])))
            return false;
    }
    return true;
}

bool sidecar_parse(str json, str file, arena *a, struct diag *d, struct sidecar *out)
{
    json_error_t e;
    json_t *root = json_loadb(json.len ? json.ptr : "", json.len, 0, &e);
    *out = (struct sidecar){0};
    bool ok = root && read_root(root, a, out);
    if (!root) {
        size_t at = e.position > 0 && (size_t)e.position <= json.len ? (size_t)e.position - 1 : 0;
        diag_add(d, D_SIDECAR_SYNTAX, DIAG_AT(file, json, at), "%s", e.text);
    } else if (!ok) {
        diag_add(d, D_SIDECAR_SYNTAX, DIAG_AT(file, json, 0), "not of schema " SCHEMA);
    }
    json_decref(root);
    return ok;
}

static void put_text(const char *key, str text, buf *out)
{
    buf_printf(out, "\"%s\": \"", key);
    escape_json(out, text);
    buf_char(out, '"');
}

void sidecar_format(const struct sidecar *s, buf *out)
{
    buf_lit(out, "{\n  \"schema\": \"" SCHEMA "\",\n  ");
    put_text("source", s->source, out);
    buf_lit(out, ",\n  ");
    put_text("language", s->language, out);
    buf_lit(out, ",\n  \"blocks\": [");
    for (size_t i = 0; i < s->count; i++) {
        const struct sidecar_pair *p = &s->pairs[i];
        buf_printf(out, "%s\n    {\"kind\": \"%c\"", i ? "," : "", p->kind);
        if (p->own)
            buf_printf(out, ", \"own\": \"%016llx\"", (unsigned long long)p->own);
        if (p->text.len) {
            buf_lit(out, ", ");
            put_text("source", p->text, out);
        } else if (p->source) {
            buf_printf(out, ", \"hash\": \"%016llx\"", (unsigned long long)p->source);
        }
        buf_char(out, '}');
    }
    buf_str(out, s->count ? STR("\n  ]\n}\n") : STR("]\n}\n"));
}
