// Parses one HTML file of a finished site for the check.
#include "gen/site/check/check_page.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "gen/base/fs.h"
#include "gen/base/map.h"
#include "gen/text/address.h"
#include "gen/site/documents/links.h"
#include "gen/base/packed_values.h"
#include "gen/base/path.h"
#include "gen/text/html_names.h"
#include "gen/text/html_scan.h"

struct scan {
    struct check_page *page;
    str html, url, path;
    arena *a;
    struct diag *d;
    struct map ids;
    struct diag_cursor cursor;
    size_t id_cap, link_cap;
    buf css, script, kept;  // kept: the page without inline SVG
    size_t svg_from;        // where an open <svg> began; SIZE_MAX outside
    size_t kept_to;
};

static const struct html_attribute *attribute(const struct html_token *t, const char *name)
{
    for (size_t i = 0; i < t->attribute_count; i++)
        if (str_eq_nocase(t->attributes[i].name, str_c(name)))
            return &t->attributes[i];
    return NULL;
}

// Where x is in the page, for a message.
static struct diag_pos place_of(struct scan *s, const struct html_attribute *x)
{
    diag_advance(&s->cursor, s->html, x->offset);
    return (struct diag_pos){.file = s->path,
                             .text = s->html,
                             .offset = x->offset,
                             .line = s->cursor.line,
                             .col = s->cursor.col};
}

static bool is_word(const struct html_token *t, const char *attr, const char *word)
{
    const struct html_attribute *x = attribute(t, attr);
    return x && str_eq_nocase(x->value, str_c(word));
}

static bool is_outside(str s)
{
    if (str_starts(s, STR("//")))
        return true;
    size_t colon = str_find(s, ':'), slash = str_find(s, '/');
    return colon < s.len && colon < slash && colon < str_find(s, '#') && colon < str_find(s, '?');
}

// The address as a path below the site and an anchor. False for one that leads outside, or nowhere
// (recorded).
static bool resolve(struct scan *s, const struct html_attribute *x, str raw, struct check_link *out)
{
    buf text = BUF_INIT, joined = BUF_INIT, path = BUF_INIT;
    html_unescape(raw, &text);
    str all = str_trim(arena_str(s->a, buf_view(&text)));
    buf_free(&text);
    if (is_outside(all))
        return false;
    size_t hash = str_find(all, '#'), query = str_find(str_slice(all, 0, hash), '?');
    str to = address_decode(str_slice(all, 0, query), s->a);
    *out = (struct check_link){
        .anchor =
            hash < all.len ? address_decode(str_slice(all, hash + 1, all.len), s->a) : STR_NONE,
        .target = s->url};
    diag_advance(&s->cursor, s->html, x->offset);
    out->line = s->cursor.line, out->col = s->cursor.col;
    bool ok = true;
    if (to.len) {
        if (to.ptr[0] != '/')
            buf_str(&joined, path_folder_slash(s->url));
        buf_str(&joined, to);
        ok = fs_normalize(buf_view(&joined), &path);
        if (!ok)
            diag_add(s->d, D_LINK_ESCAPES, place_of(s, x), "%.*s", STR_ARG(all));
        if (to.ptr[to.len - 1] == '/' || !path.len)
            buf_str(&path, path.len ? STR("/index.html") : STR("index.html"));
        out->target = arena_str(s->a, buf_view(&path));
    }
    buf_free(&joined), buf_free(&path);
    return ok;
}

static void add_link(struct scan *s, const struct html_token *t, const struct html_attribute *x,
                     str value)
{
    struct check_link l;
    struct check_page *p = s->page;
    if (!resolve(s, x, value, &l))
        return;
    l.language = attribute(t, "hreflang") != NULL || is_word(t, "rel", "canonical");
    p->links = arena_grow(s->a, p->links, p->link_count, &s->link_cap, p->link_count + 1,
                          sizeof *p->links);
    p->links[p->link_count++] = l;
}

static void add_id(struct scan *s, const struct html_attribute *x)
{
    struct check_page *p = s->page;
    bool is_new;
    buf text = BUF_INIT;
    html_unescape(x->value, &text);
    str id = arena_str(s->a, buf_view(&text));
    buf_free(&text);
    map_put(&s->ids, s->a, id, &is_new);
    if (!is_new)
        diag_add(s->d, D_ANCHOR_DUPLICATE, place_of(s, x), "%.*s", STR_ARG(id));
    p->ids = arena_grow(s->a, p->ids, p->id_count, &s->id_cap, p->id_count + 1, sizeof *p->ids);
    p->ids[p->id_count++] = id;
}

static void note_loaded(struct scan *s, const struct html_token *t, const struct html_attribute *x)
{
    struct check_link l;
    bool style = str_eq_nocase(t->name, STR("link")) && is_word(t, "rel", "stylesheet");
    bool script = str_eq_nocase(t->name, STR("script"));
    if ((!style && !script) || !resolve(s, x, x->value, &l))
        return;
    s->page->requests++;
    if (script && !attribute(t, "defer"))
        return;
    buf *list = style ? &s->css : &s->script;
    buf_str(list, l.target);
    buf_char(list, '\n');
}

// <meta http-equiv="refresh" content="0; url=../x.html">
static void note_refresh(struct scan *s, const struct html_token *t)
{
    const struct html_attribute *x = attribute(t, "content");
    if (!x || !is_word(t, "http-equiv", "refresh"))
        return;
    size_t at = str_search(x->value, STR("url="));
    s->page->is_redirect = true;
    if (at < x->value.len)
        add_link(s, t, x, str_slice(x->value, at + 4, x->value.len));
}

static void cut_svg(struct scan *s, const struct html_token *t)
{
    if (!str_eq_nocase(t->name, STR("svg")))
        return;
    if (t->event == HTML_OPEN && s->svg_from == SIZE_MAX && !t->self_closing) {
        buf_str(&s->kept, str_slice(s->html, s->kept_to, t->offset));
        s->svg_from = t->offset;
    } else if (t->event == HTML_CLOSE && s->svg_from != SIZE_MAX) {
        s->kept_to = t->offset;
        s->svg_from = SIZE_MAX;
    }
}

static bool visit(void *ctx, const struct html_token *t)
{
    struct scan *s = ctx;
    if (t->event == HTML_OPEN || t->event == HTML_CLOSE)
        cut_svg(s, t);
    if (t->event != HTML_OPEN)
        return true;
    if (str_eq_nocase(t->name, STR("html")) && attribute(t, "lang"))
        s->page->lang = arena_str(s->a, attribute(t, "lang")->value);
    if (str_eq_nocase(t->name, STR("meta")))
        note_refresh(s, t);
    for (size_t i = 0; i < t->attribute_count; i++) {
        const struct html_attribute *x = &t->attributes[i];
        if (str_eq_nocase(x->name, STR("id")))
            add_id(s, x);
        bool link = str_eq_nocase(x->name, STR("href")) || str_eq_nocase(x->name, STR("src"));
        if (link || str_eq_nocase(x->name, STR("data-index")))
            add_link(s, t, x, x->value);
        if (link)
            note_loaded(s, t, x);
    }
    return true;
}

size_t check_gzip_size(str bytes)
{
    z_stream z = {0};
    unsigned char out[1 << 14];
    size_t size = 0;
    if (deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        buf_no_memory();
    z.next_in = (Bytef *)(uintptr_t)bytes.ptr;
    z.avail_in = (uInt)bytes.len;
    int rc;
    do {
        z.next_out = out;
        z.avail_out = sizeof out;
        rc = deflate(&z, Z_FINISH);
        size += sizeof out - z.avail_out;
    } while (rc == Z_OK);
    deflateEnd(&z);
    return size;
}

void check_page(str html, str url, str path, arena *a, struct diag *d, struct check_page *out)
{
    struct scan s = {.page = out,
                     .html = html,
                     .url = url,
                     .path = path,
                     .a = a,
                     .d = d,
                     .css = BUF_INIT,
                     .script = BUF_INIT,
                     .kept = BUF_INIT,
                     .svg_from = SIZE_MAX};
    *out = (struct check_page){.requests = 1};
    html_check(html, path, d);
    html_scan(html, visit, &s);
    buf_str(&s.kept, str_slice(html, s.kept_to, html.len));
    out->size = check_gzip_size(buf_view(&s.kept));
    out->css = arena_str(a, buf_view(&s.css));
    out->script = arena_str(a, buf_view(&s.script));
    buf_free(&s.css), buf_free(&s.script), buf_free(&s.kept);
}

void check_page_pack(const struct check_page *p, buf *out)
{
    pack_uint(out, p->size);
    pack_uint(out, p->requests);
    pack_uint(out, p->is_redirect);
    pack_str(out, p->lang);
    pack_str(out, p->css);
    pack_str(out, p->script);
    pack_uint(out, p->id_count);
    for (size_t i = 0; i < p->id_count; i++)
        pack_str(out, p->ids[i]);
    pack_uint(out, p->link_count);
    for (size_t i = 0; i < p->link_count; i++) {
        pack_str(out, p->links[i].target);
        pack_str(out, p->links[i].anchor);
        pack_uint(out, p->links[i].line);
        pack_uint(out, (uint64_t)p->links[i].col << 1 | p->links[i].language);
    }
}

bool check_page_unpack(str packed, arena *a, struct check_page *p)
{
    struct unpack u = unpack_from(packed);
    *p = (struct check_page){.size = unpack_uint(&u)};
    p->requests = unpack_uint(&u);
    p->is_redirect = unpack_uint(&u);
    p->lang = unpack_str(&u);
    p->css = unpack_str(&u);
    p->script = unpack_str(&u);
    p->id_count = unpack_count(&u);
    p->ids = arena_new(a, str, p->id_count);
    for (size_t i = 0; i < p->id_count; i++)
        p->ids[i] = unpack_str(&u);
    p->link_count = unpack_count(&u);
    p->links = arena_new(a, struct check_link, p->link_count);
    for (size_t i = 0; i < p->link_count; i++) {
        p->links[i].target = unpack_str(&u);
        p->links[i].anchor = unpack_str(&u);
        p->links[i].line = (uint32_t)unpack_uint(&u);
        uint64_t col = unpack_uint(&u);
        p->links[i].col = (uint32_t)(col >> 1);
        p->links[i].language = col & 1;
    }
    return !u.bad;
}
