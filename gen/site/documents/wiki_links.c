// Finds what wiki links mean. A name alone means the note of that name; of several the one beside
// the page, in its language, or the least deep. Source: help.obsidian.md, "Internal links".
#include "gen/site/documents/wiki_links.h"

#include "gen/base/path.h"
#include "gen/text/markdown_wiki.h"
#include "gen/text/slugs.h"

struct named {
    const struct page *page;  // NULL: a file that is no page
    str path;
    struct named *next;
};

static str lowered(str s, arena *a)
{
    char *out = arena_c(a, s);
    for (size_t i = 0; i < s.len; i++)
        out[i] = ascii_lower(out[i]);
    return (str){out, s.len};
}

static void add(struct site *site, str name, const struct page *p, str path)
{
    void **slot = map_put(&site->wiki_names, &site->arena, lowered(name, &site->arena), NULL);
    struct named *x = arena_new(&site->arena, struct named, 1);
    *x = (struct named){p, path, *slot};
    *slot = x;
}

void wiki_index(struct site *site)
{
    if (!site->tree->wiki)
        return;
    for (size_t i = 0; i < site->page_count; i++) {
        const struct page *p = site->pages[i];
        str name = path_name(p->source);
        if (!p->made)
            add(site, str_slice(name, 0, str_rfind(name, '.')), p, p->source);
    }
    for (size_t i = 0; i < site->assets.count; i++)
        add(site, path_name(site->assets.items[i].path), NULL, site->assets.items[i].path);
}

static size_t depth_of(str path)
{
    size_t n = 0;
    for (size_t i = 0; i < path.len; i++)
        n += path.ptr[i] == '/';
    return n;
}

// The more a thing of a name is the one that is meant in page p.
static size_t nearness(const struct named *x, const struct page *p)
{
    enum { DEEPEST = 64, BESIDE = 256, OWN_LANGUAGE = 128 };
    size_t depth = depth_of(x->path), near = DEEPEST - (depth < DEEPEST ? depth : DEEPEST);
    if (str_eq(path_folder(x->path), path_folder(p->source)))
        near += BESIDE;
    return near + (x->page && x->page->language == p->language ? OWN_LANGUAGE : 0);
}

// Whether a path ends with the folders that a link names: "guide/setup" of "docs/guide/setup.md".
static bool ends_with(str path, str wanted)
{
    return str_ends(path, wanted) &&
           (path.len == wanted.len || path.ptr[path.len - wanted.len - 1] == '/');
}

static const struct named *choose(const struct site *site, const struct page *p, str path, arena *a)
{
    str whole = lowered(path, a), name = path_name(whole);
    const struct named *best = NULL;
    for (const struct named *x = map_get(&site->wiki_names, name); x; x = x->next) {
        str own = lowered(x->path, a);
        if (x->page)
            own = str_slice(own, 0, str_rfind(own, '.'));
        if (ends_with(own, whole) && (!best || nearness(x, p) >= nearness(best, p)))
            best = x;
    }
    return best;
}

// "Heading#Part" is its last part; "^name" is of a block.
static str anchor_of(const struct site *site, str behind, arena *a)
{
    str last = str_slice(behind, str_rfind(behind, '#') + 1, behind.len);
    last = str_rfind(behind, '#') == behind.len ? behind : last;
    if (str_starts(last, STR("^")))
        return wiki_block_id(last, a);
    buf b = BUF_INIT;
    slug_text(site->tree->slugs, last, &b);
    str out = arena_str(a, buf_view(&b));
    buf_free(&b);
    return out;
}

struct wiki_target wiki_find(const struct site *site, const struct page *p, str destination,
                             arena *a)
{
    struct wiki_target t = {0};
    str target = str_slice(destination, 2, destination.len - 2), path;
    size_t hash = str_find(target, '#');
    path = str_trim(str_slice(target, 0, hash));
    t.anchor = anchor_of(site, str_trim(str_slice(target, hash + 1, target.len)), a);
    t.here = !path.len;
    while (str_starts(path, STR("../")) || str_starts(path, STR("./")) ||
           str_starts(path, STR("/")))
        path = str_slice(path, str_find(path, '/') + 1, path.len);
    if (str_ends(path, STR(".md")))
        path.len -= 3;
    const struct named *x = path.len ? choose(site, p, path, a) : NULL;
    t.page = x ? x->page : NULL;
    t.file = x && !x->page ? x->path : STR_NONE;
    return t;
}
