// manifest.json: inputs and outputs with sizes and hashes (XXH3, 64 bits), in byte order of their paths.
#include "gen/site/manifest.h"

#include <stdlib.h>
#include <string.h>

#include "gen/site/assets.h"
#include "gen/site/record.h"
#include "gen/site/twin.h"
#include "gen/text/escape.h"

struct entry { str path; uint64_t size, hash; };
struct entries { struct entry *items; size_t count, cap; arena *arena; };

static void add(struct entries *e, str path, uint64_t size, uint64_t hash)
{
    e->items = arena_grow(e->arena, e->items, e->count, &e->cap, e->count + 1, sizeof *e->items);
    e->items[e->count++] = (struct entry){path, size, hash};
}

static int by_path(const void *a, const void *b)
{
    return str_cmp(((const struct entry *)a)->path, ((const struct entry *)b)->path);
}

static void put_hex(buf *out, uint64_t v)
{
    static const char digits[] = "0123456789abcdef";
    char text[16];
    for (int i = 15; i >= 0; i--, v >>= 4) text[i] = digits[v & 15];
    buf_put(out, text, sizeof text);
}

static void put_list(buf *out, const char *name, struct entries *e)
{
    qsort(e->items, e->count, sizeof *e->items, by_path);
    buf_printf(out, "  \"%s\": {\n", name);
    for (size_t i = 0; i < e->count; i++) {
        buf_lit(out, "    \"");
        escape_json(out, e->items[i].path);
        buf_lit(out, "\": {\"bytes\": ");
        buf_u64(out, e->items[i].size);
        buf_lit(out, ", \"xxh3\": \"");
        put_hex(out, e->items[i].hash);
        buf_str(out, i + 1 < e->count ? STR("\"},\n") : STR("\"}\n"));
    }
    buf_lit(out, "  }");
}

static void list_inputs(const struct build *b, struct entries *e)
{
    const struct site *site = &b->site;
    for (size_t i = 0; i < site->page_count; i++)
        if (!site->pages[i]->made) add(e, site->pages[i]->source, site->pages[i]->stat.size, site->pages[i]->content_hash);
    for (size_t i = 0; i < site->asset_index->count; i++) {
        const struct asset *x = &site->asset_index->items[i];
        if (x->of_content) add(e, x->name, x->stat.size, x->hash);
    }
}

static void list_outputs(const struct build *b, struct entries *e)
{
    for (size_t i = 0; i < b->site.document_count * b->site.language_count; i++) {
        const struct record_page *p = &b->records[i];
        if (!p->url.len) continue;
        add(e, p->url, p->size, p->hash);
        add(e, twin_url(p->url, e->arena), p->twin_size, p->twin_hash);
    }
    for (size_t i = 0; i < b->output_count; i++) add(e, b->outputs[i].url, b->outputs[i].size, b->outputs[i].hash);
}

static void make_manifest(struct build *b, void *ctx, buf *out)
{
    arena scratch = ARENA_INIT;
    struct entries inputs = {.arena = &scratch}, outputs = {.arena = &scratch};
    (void)ctx;
    list_inputs(b, &inputs);
    list_outputs(b, &outputs);
    buf_reserve(out, (inputs.count + outputs.count) * 96);
    buf_lit(out, "{\n  \"generator\": \"vramdoc\",\n");
    put_list(out, "inputs", &inputs);
    buf_lit(out, ",\n");
    put_list(out, "outputs", &outputs);
    buf_lit(out, "\n}\n");
    arena_free(&scratch);
}

void manifest_write(struct build *b)
{
    // Written whenever anything else was: then something in it has changed.
    bool same = b->old && !b->emit.fresh && !b->dirty_count && !b->written_count && b->old->addresses == b->addresses;
    const struct cache_output *old = same ? cache_output_find(b->old, STR("manifest.json")) : NULL;
    build_output(b, STR("manifest.json"), old ? old->digest : b->outside ^ b->shown ^ (uint64_t)b->written_count ^ 1, make_manifest, NULL);
}
