// vramdoc.json, the manifest: inputs and outputs with sizes and hashes (XXH3, 64 bits).
#include "gen/site/output/manifest.h"
#include "gen/site/output/manifest_format.h"

#include "gen/site/documents/assets.h"
#include "gen/text/address.h"
#include "gen/site/output/rendered.h"
#include "gen/site/page/page_markdown.h"
#include "gen/base/escape.h"

// Entries go out as they come: inputs by path, outputs in reading order, then what is around them.
struct list {
    buf *out;
    size_t count;
};

static void put_hex(char *to, uint64_t v)
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 15; i >= 0; i--, v >>= 4)
        to[i] = digits[v & 15];
}

static bool is_plain(str path)
{
    bool plain = true;
    for (size_t i = 0; i < path.len; i++) {
        unsigned char c = (unsigned char)path.ptr[i];
        plain =
            plain & (c >= 0x20) & (c < 0x7F) & (c != '"') & (c != '\\') & (c != '<') & (c != '&');
    }
    return plain;
}

static void put_path(buf *out, str path)
{
    if (is_plain(path))
        buf_str(out, path);
    else
        escape_json(out, path);
}

// shows: the language of the text where it is not the one that the address says; "" else.
// keeps_name: of the static folder.
static void add(struct list *l, str path, uint64_t size, uint64_t hash, str shows, bool keeps_name)
{
    buf_str(l->out, l->count++ ? STR(",\n" MANIFEST_INDENT) : STR("\n" MANIFEST_INDENT));
    put_path(l->out, path);
    buf_lit(l->out, "\": {\"bytes\": ");
    buf_u64(l->out, size);
    char rest[] = ", \"xxh3\": \"0123456789abcdef\"";
    put_hex(rest + 11, hash);
    buf_put(l->out, rest, sizeof rest - 1);
    if (keeps_name)
        buf_lit(l->out, ", \"static\": true");
    if (shows.len)
        buf_printf(l->out, ", \"shows\": \"%.*s\"", STR_ARG(shows));
    buf_char(l->out, '}');
}

// A file that makes several pages is one input.
static bool is_input(const struct site *site, const struct page *p)
{
    return !p->made && (!p->subject.len || map_get(&site->page_by_source, p->source) == p);
}

static void list_inputs(const struct build *b, struct list *l)
{
    const struct site *site = &b->site;
    for (size_t i = 0; i < site->page_count; i++)
        if (is_input(site, site->pages[i]))
            add(l, site->pages[i]->source, site->pages[i]->stat.size, site->pages[i]->content_hash,
                STR_NONE, false);
    for (size_t i = 0; i < site->asset_index->count; i++) {
        const struct asset *x = &site->asset_index->items[i];
        if (x->used && x->kind != ASSET_TEMPLATE)
            add(l, x->name, x->size, x->hash, STR_NONE, false);
    }
}

static void list_outputs(const struct build *b, struct list *l)
{
    arena scratch = ARENA_INIT;
    for (size_t i = 0; i < b->site.document_count * b->site.language_count; i++) {
        const struct rendered_page *p = &b->rendered[i];
        if (!p->url.len)
            continue;
        const struct document *doc = b->site.documents[i / b->site.language_count];
        str shows = doc->pages[i % b->site.language_count] ? STR_NONE : doc->source->language->tag;
        add(l, p->url, p->size, p->hash, shows, false);
        add(l, page_markdown_url(p->url, &scratch), p->markdown_size, p->markdown_hash, shows,
            false);
        arena_reset(&scratch);
    }
    for (size_t i = 0; i < b->output_count; i++) {
        const struct cache_output *o = &b->outputs[i];
        add(l, o->url, o->size, o->hash, STR_NONE, assets_static(&b->site, o->url) != NULL);
    }
    arena_free(&scratch);
}

static void make_manifest(struct build *b, buf *out)
{
    struct list inputs = {out, 0}, outputs = {out, 0};
    buf_reserve(out, 3 * b->site.page_count * 96 + 4096);
    buf_lit(out, MANIFEST_HEAD);
    str base_path = address_base_path(b->site.settings.base_url);
    if (base_path.len) {
        buf_lit(out, "  \"base_path\": \"");
        escape_json(out, base_path);
        buf_lit(out, "/\",\n");
    }
    buf_lit(out, "  \"inputs\": {");
    list_inputs(b, &inputs);
    buf_lit(out, "\n  },\n" MANIFEST_OUTPUTS);
    list_outputs(b, &outputs);
    buf_lit(out, "\n  }\n}\n");
}

void manifest_write(struct build *b)
{
    // It is made again whenever anything was read or written again: its digest is of all that it
    // lists.
    uint64_t h = b->addresses;
    for (size_t i = 0; i < b->site.document_count; i++) {
        uint64_t parts[2] = {h, b->documents[i].digest};
        h = str_hash((str){(const char *)parts, sizeof parts});
    }
    for (size_t i = 0; i < b->output_count; i++) {
        uint64_t parts[2] = {h, b->outputs[i].hash};
        h = str_hash((str){(const char *)parts, sizeof parts});
    }
    if (output_begin(b, STR(MANIFEST_NAME), h)) {
        buf bytes = BUF_INIT;
        make_manifest(b, &bytes);
        output_end(b, STR(MANIFEST_NAME), h, &bytes);
    }
}
