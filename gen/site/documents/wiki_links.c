// Finds what wiki links mean. A name alone means the note of that name; of several the one beside
// the page, in its language, or the least deep. Source: help.obsidian.md, "Internal links".
#include "gen/site/documents/wiki_links.h"

#include "gen/base/path.h"
#include "gen/text/markdown_wiki.h"
#include "gen/text/slugs.h"

// What may be meant by the end of a path: of the things of one language that the least deep.
struct named {
    const struct page *page;  // NULL: a file that is no page
    str path;
    size_t depth;
    struct named *next;  // of another language
};

static const struct language *language_of(const struct page *p)
{
    return p ? p->language : NULL;
}

static size_t depth_of(str path)
{
    size_t n = 0;
    for (size_t i = 0; i < path.len; i++)
        n += path.ptr[i] == '/';
    return n;
}

// Three texts as one, in lower case. Lives in a.
static str lowered(str x, str y, str z, arena *a)
{
    const str parts[] = {x, y, z};
    char *out = arena_new(a, char, x.len + y.len + z.len + 1);
    size_t n = 0;
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < parts[k].len; i++)
            out[n++] = ascii_lower(parts[k].ptr[i]);
    out[n] = 0;
    return (str){out, n};
}

static void add_end(struct site *site, str end, const struct named *x)
{
    struct named **at = (struct named **)map_put_kept(&site->wiki_names, &site->arena, end, NULL);
    while (*at && language_of((*at)->page) != language_of(x->page))
        at = &(*at)->next;
    if (*at && (*at)->depth <= x->depth)
        return;
    struct named *next = *at ? (*at)->next : NULL;
    if (!*at)
        *at = arena_new(&site->arena, struct named, 1);
    **at = *x;
    (*at)->next = next;
}

// By the whole path, "/docs/guide/setup", and by each of its ends: "docs/guide/setup",
// "guide/setup", "setup". A search takes the same time then, however many notes have one name.
static void add(struct site *site, str own, const struct page *p, str path)
{
    str whole = lowered(STR("/"), own, STR_NONE, &site->arena);
    struct named x = {p, path, depth_of(path), NULL};
    add_end(site, whole, &x);
    for (size_t i = 0; i < whole.len; i++)
        if (whole.ptr[i] == '/')
            add_end(site, str_slice(whole, i + 1, whole.len), &x);
}

static str without_ending(str path)
{
    size_t name = path.len - path_name(path).len;
    return str_slice(path, 0, name + str_rfind(path_name(path), '.'));
}

void wiki_index(struct site *site)
{
    if (!site->tree->wiki)
        return;
    for (size_t i = 0; i < site->page_count; i++) {
        const struct page *p = site->pages[i];
        if (!p->made)
            add(site, without_ending(p->source), p, p->source);
    }
    for (size_t i = 0; i < site->assets.count; i++)
        add(site, site->assets.items[i].path, NULL, site->assets.items[i].path);
}

// What lies beside page p; NULL where that has not the folders that a link names: "guide/setup".
static const struct named *find_beside(const struct site *site, const struct page *p, str wanted,
                                       arena *a)
{
    str key = lowered(STR("/"), path_folder_slash(p->source), path_name(wanted), a);
    bool ends = str_ends(key, wanted) && key.ptr[key.len - wanted.len - 1] == '/';
    return ends ? map_get(&site->wiki_names, key) : NULL;
}

static const struct named *choose(const struct site *site, const struct page *p, str path, arena *a)
{
    str wanted = lowered(path, STR_NONE, STR_NONE, a);
    const struct named *best = find_beside(site, p, wanted, a);
    if (best)
        return best;
    for (const struct named *x = map_get(&site->wiki_names, wanted); x; x = x->next) {
        if (x->page && x->page->language == p->language)
            return x;
        if (!best || x->depth < best->depth)
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
    t.here = !path.len && t.anchor.len;
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
