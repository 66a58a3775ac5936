// Makes pages and languages of what was read: which language each file is in, and the key that it
// shares with others.
#include "gen/site/documents/load.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "gen/base/path.h"
#include "gen/site/documents/assets.h"
#include "gen/site/documents/contents.h"
#include "gen/site/documents/languages.h"
#include "gen/site/documents/nav.h"
#include "gen/site/documents/references.h"
#include "gen/site/documents/start.h"
#include "gen/site/documents/tree_index.h"
#include "gen/site/documents/wiki_links.h"
#include "gen/site/source/each.h"
#include "gen/site/source/known.h"
#include "gen/site/source/measurements.h"
#include "gen/site/source/names.h"
#include "gen/site/source/names_tag.h"
#include "gen/site/source/publish.h"
#include "gen/site/source/read.h"
#include "gen/site/source/scan.h"
#include "gen/site/source/settings.h"
#include "gen/site/source/tree_paths.h"
#include "gen/text/address.h"

// The place of a key in the front matter; the file's start without it.
static size_t key_offset(const struct front *f, const char *key)
{
    for (size_t i = 0; i < f->pair_count; i++)
        if (str_eq(f->pairs[i].key, str_c(key)))
            return f->pairs[i].offset;
    return 0;
}

static struct language *language_of(struct site *site, struct map *languages, str tag)
{
    bool is_new;
    void **slot = map_put(languages, &site->arena, tag, &is_new);
    if (is_new) {
        struct language *l = arena_new(&site->arena, struct language, 1);
        l->tag = arena_str(&site->arena, tag);
        *slot = l;
    }
    return *slot;
}

struct placing {
    struct site *site;
    const struct names *names;
    struct map languages, spellings;  // spellings: a tag as written -> struct language *
    struct map unknown;               // tags that are none, as written
    size_t unnamed;                   // pages that say no language
    struct map written;               // what their letters say -> how many of them
    struct map titles;                // of files, in the tree's own contents
    struct map never;              // folders whose pages are not rendered, as Hugo's cascades say
    struct references references;  // translations as front matter pairs them
    arena scratch;
};

static struct language *spelled(struct placing *w, str tag)
{
    struct language *l = map_get(&w->spellings, tag);
    if (l)
        return l;
    str usual = language_tag(tag, &w->site->arena);
    if (!usual.len)
        return NULL;
    l = language_of(w->site, &w->languages, usual);
    *map_put(&w->spellings, &w->site->arena, tag, NULL) = l;
    return l;
}

// Without a title anywhere: the last part of the key, with spaces. Of a folder's own page, _index
// of Hugo, the folder's.
static str title_from(str key, arena *a)
{
    if (str_ends(key, STR("/_index")))
        key = str_slice(key, 0, key.len - 7);
    str name = path_name(key);
    if (str_eq(name, STR("_index")))
        name = STR_NONE;
    char *text = arena_c(a, name.len ? name : STR("Index"));
    for (char *c = text; *c; c++)
        if (*c == '-' || *c == '_')
            *c = ' ';
    if (*text >= 'a' && *text <= 'z')
        *text -= 32;
    return str_c(text);
}

// What the tree's own contents call a file; "" when they do not.
static str listed_title(struct placing *w, const struct page *p)
{
    const struct tree *t = w->site->tree;
    size_t unread = w->titles.count ? 0 : t->nav_count;
    for (size_t i = 0; i < unread; i++) {
        bool is_new;
        void **slot = t->nav[i].file.len
                          ? map_put(&w->titles, &w->site->arena, t->nav[i].file, &is_new)
                          : NULL;
        if (slot && is_new)
            *slot = &t->nav[i].title;
    }
    const str *title = map_get(&w->titles, p->source);
    return title ? *title : STR_NONE;
}

// The key that the settings give to a file, by its path or by a pattern.
static str mapped_key(const struct settings *s, str source)
{
    str *exact = map_get(&s->document_of, source);
    if (exact)
        return *exact;
    for (size_t i = 0; i < s->document_of.count; i++) {
        const struct map_entry *e = &s->document_of.entries[i];
        if (strpbrk(e->key.ptr, "*?[") && fnmatch(e->key.ptr, source.ptr, FNM_PATHNAME) == 0)
            return *(str *)e->value;
    }
    return STR_NONE;
}

// An address that the front matter has under name, as a path below the language's folder. False
// after an error.
static bool read_address(struct site *site, const struct page *p, const struct front *f,
                         const char *name, str written, str *out)
{
    buf path = BUF_INIT, what = BUF_INIT;
    bool ok = address_normalize(written, &path);
    *out = ok ? arena_str(&site->arena, buf_view(&path)) : STR_NONE;
    if (!ok) {
        buf_printf(&what, "%s: %.*s", name, STR_ARG(written));
        site_diag(site, D_ADDRESS_ESCAPES, p, key_offset(f, name), what.ptr);
    }
    buf_free(&path), buf_free(&what);
    return ok;
}

// A slug at the root of its language, "/intro", keeps its slash; "/" alone makes the page the
// language's first, which is its key.
static void place_slug(struct site *site, struct page *p, const struct front *f)
{
    bool whole = site->tree->kind->flags & KIND_SLUG_WHOLE && f->slug.len;
    str path, root = whole || str_starts(f->slug, STR("/")) ? STR("/") : STR_NONE;
    if (!read_address(site, p, f, "slug", f->slug, &path))
        return;
    str own = whole && p->root ? p->root->address : STR_NONE;  // fr/guide of pages in fr/
    if (own.len && str_starts(path, own) && path.len > own.len && path.ptr[own.len] == '/')
        path = str_slice(path, own.len + 1, path.len);
    if (path.len)
        p->slug = arena_join(&site->arena, root, path, STR_NONE);
    else if (root.len && p->root && p->root->prefix.len)
        p->url = arena_join(&site->arena, p->root->prefix, STR("/index"), STR_NONE);
    else if (root.len)
        p->url = STR("index");
}

// Language, key and date as the path says them.
static void find_name(struct placing *w, struct page *p, str lang)
{
    arena *a = &w->site->arena;
    bool said = p->root && p->root->language.len;
    struct name name = said ? names_plain(tree_page_path(p, a), a)
                            : names_split(w->names, tree_page_path(p, a), lang, a);
    p->tag = said ? p->root->language : name.tag;
    p->key = name.key, p->date = name.date;
}

static str pair_value(const struct front *f, const char *key)
{
    for (size_t i = 0; i < f->pair_count; i++)
        if (str_eq(f->pairs[i].key, str_c(key)))
            return f->pairs[i].value;
    return STR_NONE;
}

static bool says_never(const struct front *f, const char *key)
{
    str value = pair_value(f, key);
    return str_has(value, STR("render: never"));
}

// Hugo's pages that are there for others only: their own front matter says so, or that of a folder
// above them.
static void note_never(struct placing *w, struct page *p, const struct front *f)
{
    str folder = path_folder(p->source);
    if (!(w->site->tree->kind->flags & KIND_FOREIGN))
        return;
    if (says_never(f, "cascade") && folder.len)
        map_put(&w->never, &w->site->arena, folder, NULL);
    if (says_never(f, "build") || says_never(f, "_build"))
        p->left_out = LEFT_NEVER;
    else if (str_has(pair_value(f, "build"), STR("render: always")))
        p->rendered_always = true;
}

static void drop_never(const struct placing *w)  // but for a folder's own page that says otherwise
{
    for (size_t i = 0; i < w->site->page_count && w->never.count; i++) {
        struct page *p = w->site->pages[i];
        for (size_t n = 0; n < p->source.len; n++)
            if (!p->rendered_always && p->source.ptr[n] == '/' &&
                map_has(&w->never, str_slice(p->source, 0, n)))
                p->left_out = LEFT_NEVER;
    }
}

// What a tag that is none may mean: the same language of a page that was read, the language alone,
// or one of a few mistakes.
static struct language *meant(struct placing *w, str tag, str *usual)
{
    *usual = language_meant(tag, &w->site->arena);
    for (size_t i = 0; i < w->languages.count && usual->len; i++) {
        struct language *l = w->languages.entries[i].value;
        if (str_starts(l->tag, *usual) &&
            (l->tag.len == usual->len || l->tag.ptr[usual->len] == '-'))
            return l;
    }
    return usual->len ? spelled(w, *usual) : NULL;
}

static void note_unnamed(struct placing *w, str written)
{
    w->unnamed++;
    if (!written.len)
        return;
    void **n = map_put(&w->written, &w->site->arena, written, NULL);
    *n = (void *)((uintptr_t)*n + 1);
}

static void find_language(struct placing *w, struct page *p, const struct front *f, str written)
{
    str tag = f->lang.len ? f->lang : p->tag, near = STR_NONE;
    if (!tag.len)
        tag = tree_default_language(w->site->tree, p->source, false);
    p->language = tag.len ? spelled(w, f->lang.len ? tag : names_word(tag)) : NULL;
    if (!tag.len)
        note_unnamed(w, written);
    if (!tag.len || p->language)
        return;
    bool is_new;
    struct language *l = meant(w, tag, &near);
    str own = p->tag.len && !l ? p->tag : STR_NONE;
    p->language = l ? l : own.len ? spelled(w, own) : NULL;
    map_put(&w->unknown, &w->site->arena, arena_str(&w->site->arena, tag), &is_new);
    if (!is_new)
        return;  // said of its first page
    buf what = BUF_INIT;
    buf_str(&what, tag);
    if (l)
        buf_printf(&what, " (did you mean %.*s? it is taken for that)", STR_ARG(l->tag));
    site_diag(w->site, D_LANG_UNKNOWN, p, key_offset(f, "lang"), what.ptr);
    buf_free(&what);
}

// The start page of the tree's own contents, or the same file of another language's folder.
static bool is_home(const struct site *site, const struct page *p)
{
    str home = site->tree->home;
    if (!home.len || !p->root)
        return false;
    const struct tree_root *r = tree_root_of(site->tree, home);
    return str_eq(p->source, home) || (r && p->root->address.len &&
                                       str_eq(tree_below(p->root, p->source), tree_below(r, home)));
}

// The key is kept in url until documents exist.
static void place(struct placing *w, struct page *p)
{
    struct site *site = w->site;
    struct page_meta m;
    arena_reset(&w->scratch);
    if (!page_meta_unpack(p->meta, &w->scratch, &m))
        m = (struct page_meta){.body = PAGE_BROKEN};
    struct front *f = &m.front;
    if (!f->lang.len)
        f->lang = tree_language(site, p, f, &w->scratch);
    if (w->names)
        find_name(w, p, f->lang);
    p->published = f->date;
    if (p->published == INT64_MIN && p->date.len)
        front_date(p->date, &p->published);
    p->broken = m.body == PAGE_BROKEN;
    p->left_out = publish_page(site, p, f);
    note_never(w, p, f);
    if (p->left_out == PUBLISH)
        find_language(w, p, f, m.written);
    if (p->left_out == PUBLISH)
        references_note(&w->references, p, tree_reference(site, f), &site->arena);
    str key = mapped_key(&site->settings, p->source);
    if (!key.len && !(site->tree->kind->flags & KIND_FOREIGN))  // to others it is a page's own name
        read_address(site, p, f, "key", f->key, &key);
    p->url = key.len ? key : p->key;
    p->content_hash = m.content_hash;
    p->body = m.body;
    p->broken = m.body == PAGE_BROKEN;
    if (p->broken && site_is_others(site) && p->left_out == PUBLISH)
        p->left_out = LEFT_UNREADABLE;
    str listed = f->title.len ? STR_NONE : listed_title(w, p);
    if (!listed.len && (str_eq(p->url, STR("index")) || str_eq(p->url, STR("_index"))))
        listed = site->settings.title;
    p->title = f->title.len ? f->title : listed.len ? listed : title_from(p->url, &site->arena);
    p->description = f->description;
    p->layout = f->layout;
    if (f->each.len && each_knows(site, p, f->each))
        p->each = f->each;
    else if (f->each.len)
        site_diag(site, D_FRONT_TYPE, p, key_offset(f, "each"),
                  "each: wanted gpu, or NAME of a NAME.tsv beside the page");
    p->order = f->order;
    p->updated = f->updated;
    p->alias_count = site->tree->kind->flags & KIND_VAULT ? 0 : (uint32_t)f->aliases.count;
    if (p->alias_count) {
        p->aliases = arena_new(&site->arena, str, p->alias_count);
        memcpy(p->aliases, f->aliases.items, p->alias_count * sizeof *p->aliases);
    }
    tree_front(site, p, f, &site->arena);
    place_slug(site, p, f);
    if (is_home(site, p))
        p->url = STR("index");
}

static int by_tag(const void *a, const void *b)
{
    const struct language *x = *(struct language *const *)a, *y = *(struct language *const *)b;
    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    return str_cmp(x->tag, y->tag);
}

// What the letters of most pages without a language say; "" for nothing.
static str written_most(const struct placing *w)
{
    for (size_t i = 0; i < w->written.count; i++)
        if ((uintptr_t)w->written.entries[i].value * 2 > w->unnamed)
            return w->written.entries[i].key;
    return STR_NONE;
}

static void choose_source(struct placing *w)
{
    str written = written_most(w);
    const struct settings *s = &w->site->settings;
    struct language *english = map_get(&w->languages, STR("en"));
    if (s->source_language.len)
        w->site->source_language = language_of(w->site, &w->languages, s->source_language);
    else if (s->language_count)
        w->site->source_language = language_of(w->site, &w->languages, s->languages[0]);
    else if (written.len)
        w->site->source_language = language_of(w->site, &w->languages, written);
    else if (english)
        w->site->source_language = english;
    else if (w->unnamed || !w->languages.count)
        w->site->source_language = language_of(w->site, &w->languages, STR("en"));
    else
        w->site->source_language = languages_most_used(w->site, &w->languages);
}

static void list_languages(struct placing *w)
{
    struct site *site = w->site;
    const struct settings *s = &site->settings;
    for (size_t i = 0; i < s->language_count; i++)
        language_of(site, &w->languages, s->languages[i]);
    choose_source(w);
    site->language_count = w->languages.count;
    site->languages = arena_new(&site->arena, struct language *, site->language_count);
    for (size_t i = 0; i < site->language_count; i++) {
        struct language *l = site->languages[i] = w->languages.entries[i].value;
        l->index = UINT32_MAX;
        for (size_t k = 0; k < s->language_count; k++)
            if (str_eq(l->tag, s->languages[k]))
                l->index = (uint32_t)k;
    }
    qsort(site->languages, site->language_count, sizeof *site->languages, by_tag);
    for (size_t i = 0; i < site->language_count; i++)
        site->languages[i]->index = (uint32_t)i;
    site->by_folder = site->language_count > 1 || s->language_count > 0;
}

static void drop_left_out(struct site *site)
{
    size_t n = 0;
    struct page **kept = arena_new(&site->arena, struct page *, site->page_count);
    for (size_t i = 0; i < site->page_count; i++) {
        struct page *p = site->pages[i];
        if (p->left_out == PUBLISH)
            p->index = (uint32_t)n, kept[n++] = p;
    }
    site->pages = kept;
    site->page_count = n;
}

// Paths below folders whose language is known teach nothing.
static const struct names *learn_names(const struct site *site, arena *a)
{
    const struct settings *s = &site->settings;
    const struct tree *t = site->tree;
    size_t count = 0, listed_count = s->language_count + t->language_count;
    str *paths = arena_new(a, str, site->page_count), *listed = arena_new(a, str, listed_count);
    for (size_t i = 0; i < site->page_count; i++) {
        const struct page *p = site->pages[i];
        if (!p->root || !p->root->language.len)
            paths[count++] = tree_page_path(p, a);
    }
    for (size_t i = 0; i < listed_count; i++)
        listed[i] = i < s->language_count ? s->languages[i] : t->languages[i - s->language_count];
    return names_learn(paths, count, listed, listed_count, a);
}

// Docusaurus has no page of a translation whose source is gone.
static void drop_sourceless(struct site *site)
{
    struct map keys = {0};
    arena scratch = ARENA_INIT;
    for (size_t i = 0; i < site->page_count; i++)
        if (site->pages[i]->left_out == PUBLISH &&
            site->pages[i]->language == site->source_language)
            map_put(&keys, &scratch, site->pages[i]->url, NULL);
    for (size_t i = 0; i < site->page_count; i++) {
        struct page *p = site->pages[i];
        if (p->left_out == PUBLISH && !map_has(&keys, p->url))
            p->left_out = LEFT_SOURCELESS;
    }
    arena_free(&scratch);
}

void site_load(struct site *site, const struct load_options *o)
{
    struct placing w = {.site = site, .scratch = ARENA_INIT};
    arena learning = ARENA_INIT;
    site->drafts = o->drafts;
    site->now = publish_now();
    site->since = INT64_MIN, site->until = INT64_MAX;
    known_take(site, o->known, o->known_count);
    pages_read(site, o->jobs);
    if (!o->same_paths || !known_places(site, o->known))
        w.names = learn_names(site, &learning);
    for (size_t i = 0; i < site->page_count; i++)
        place(&w, site->pages[i]);
    list_languages(&w);
    for (size_t i = 0; i < site->page_count; i++)
        if (!site->pages[i]->language)
            site->pages[i]->language = site->source_language;
    drop_never(&w);
    start_by_alias(site);
    references_pair(&w.references, site);
    if (site->tree->needs_source)
        drop_sourceless(site);
    drop_left_out(site);
    measurements_read(site);
    if (!o->as_written)
        each_expand(site);
    arena_free(&w.scratch);
    arena_free(&learning);
    nav_plan(site);
    tree_links_index(site);
    wiki_index(site);
    contents_plan(site);
    start_title(site);
}

bool site_open(struct site *site, const struct load_options *o)
{
    if (!site_scan(site))
        return false;
    site_load(site, o);
    return languages_open(site, STR_NONE);
}

void site_close(struct site *site)
{
    for (size_t i = 0; i < site->language_count; i++) {
        struct language *l = site->languages[i];
        catalog_free(l->catalog);
        if (l->locale)
            locale_free(l->locale);
    }
    if (site->english)
        catalog_free(site->english);
    if (site->english_locale)
        locale_free(site->english_locale);
    measurements_free(site);
    tree_links_free(site);
    if (site->asset_index)
        arena_free(&site->asset_index->arena);
    arena_free(&site->arena);
}
