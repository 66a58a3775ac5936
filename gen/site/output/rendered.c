// What a document's render leaves: its messages, then one part a page.
#include "gen/site/output/rendered.h"

void rendered_begin(buf *out, uint64_t texts_from, str said)
{
    pack_u64(out, texts_from);
    pack_str(out, said);
}

str rendered_moved(str rendered, uint64_t texts_from, arena *a)
{
    char *moved = arena_c(a, rendered);
    memcpy(moved, &texts_from, sizeof texts_from);  // as pack_u64() does
    return (str){moved, rendered.len};
}

void rendered_count(buf *out, size_t pages)
{
    pack_uint(out, pages);
}

void rendered_page(buf *out, const struct rendered_page *p, const struct page_output *o)
{
    pack_str(out, p->language);
    pack_str(out, p->url);
    pack_str(out, p->description);
    pack_str(out, p->assets);
    pack_str(out, o->hosts);
    pack_str(out, o->preview);
    pack_u64(out, p->search_hash);
    pack_uint(out, p->text_at);
    pack_uint(out, p->search.len);
    pack_u64(out, p->hash);
    pack_uint(out, p->size);
    pack_u64(out, p->markdown_hash);
    pack_uint(out, p->markdown_size);
    pack_uint(out, (uint64_t)p->written | (uint64_t)p->markdown_written << 1 |
                       (uint64_t)p->is_new << 2 | (uint64_t)o->md.has_media << 3 |
                       (uint64_t)o->any_anchor << 4);
    buf part = BUF_INIT;
    pack_uint(&part, o->md.anchor_count);
    for (size_t i = 0; i < o->md.anchor_count; i++)
        pack_str(&part, o->md.anchors[i]);
    pack_str(out, buf_view(&part));
    buf_clear(&part);
    pack_uint(&part, o->link_count);
    for (size_t i = 0; i < o->link_count; i++) {
        pack_str(&part, o->links[i].target);
        pack_str(&part, o->links[i].anchor);
        pack_uint(&part, o->links[i].offset);
    }
    pack_str(out, buf_view(&part));
    buf_clear(&part);
    pack_uint(&part, o->use_count);
    for (size_t i = 0; i < o->use_count; i++) {
        pack_str(&part, o->uses[i].asset->name);
        pack_u64(&part, o->uses[i].stamp);
        pack_u64(&part, o->uses[i].asset->hash);
        pack_uint(&part, o->uses[i].asset->size);
    }
    pack_str(out, buf_view(&part));
    buf_free(&part);
}

struct rendered_reader rendered_open(str rendered)
{
    struct rendered_reader r = {.u = unpack_from(rendered)};
    r.texts_from = unpack_u64(&r.u);
    r.said = unpack_str(&r.u);
    r.left = unpack_count(&r.u);
    return r;
}

bool rendered_next(struct rendered_reader *r, struct rendered_page *p)
{
    if (!r->left || r->u.bad)
        return false;
    r->left--;
    p->language = unpack_str(&r->u);
    p->url = unpack_str(&r->u);
    p->description = unpack_str(&r->u);
    p->assets = unpack_str(&r->u);
    p->hosts = unpack_str(&r->u);
    p->preview = unpack_str(&r->u);
    p->search_hash = unpack_u64(&r->u);
    p->text_at = unpack_uint(&r->u);
    uint64_t text_len = unpack_uint(&r->u);
    p->search = r->texts ? texts_at(r->texts, r->texts_from + p->text_at, text_len) : STR_NONE;
    p->hash = unpack_u64(&r->u);
    p->size = unpack_uint(&r->u);
    p->markdown_hash = unpack_u64(&r->u);
    p->markdown_size = unpack_uint(&r->u);
    uint64_t flags = unpack_uint(&r->u);
    p->written = flags & 1;
    p->markdown_written = flags >> 1 & 1;
    p->is_new = flags >> 2 & 1;
    p->has_media = flags >> 3 & 1;
    p->any_anchor = flags >> 4 & 1;
    p->anchors = unpack_from(unpack_str(&r->u));
    p->links = unpack_from(unpack_str(&r->u));
    p->uses = unpack_from(unpack_str(&r->u));
    return !r->u.bad;
}

// Languages come in the site's order, but for the source's, which is first.
static size_t find_language(const struct site *site, str tag, size_t near)
{
    for (size_t i = 0; i < site->language_count; i++) {
        size_t l = (near + i) % site->language_count;
        if (str_eq(site->languages[l]->tag, tag))
            return l;
    }
    return site->language_count;
}

void rendered_index(struct build *b)
{
    const struct site *site = &b->site;
    b->rendered = arena_new(&b->site.arena, struct rendered_page,
                            site->document_count * site->language_count);
    for (size_t i = 0; i < site->document_count; i++) {
        struct rendered_reader r = rendered_open(b->documents[i].rendered);
        struct rendered_page p = {0};
        r.texts = &b->texts;
        for (size_t l = 0; rendered_next(&r, &p); l++) {
            l = find_language(site, p.language, l);
            if (l == site->language_count)
                continue;
            b->rendered[i * site->language_count + l] = p;
        }
    }
}
