// Lists the addresses, older addresses and names that a tree's pages have in its own generator.
#include "gen/site/documents/tree_index.h"

#include <string.h>

#include "gen/base/path.h"
#include "gen/site/source/settings.h"
#include "gen/site/source/tree_paths.h"

str tree_lowered(str s, arena *a)
{
    char *out = arena_c(a, s);
    for (size_t i = 0; i < s.len; i++)
        out[i] = ascii_lower(out[i]);
    return (str){out, s.len};
}

void tree_put_first(struct map *m, arena *a, str key, const void *value)
{
    bool is_new;
    void **slot = map_put(m, a, key, &is_new);
    if (is_new)
        *slot = (void *)(uintptr_t)value;
}

static void index_page(const struct site *site, struct tree_index *x, const struct page *p,
                       arena *scratch)
{
    str found[TREE_ADDRESSES];
    for (size_t i = 0, n = tree_addresses(site, p, scratch, found); i < n; i++) {
        tree_put_first(&x->pages, &x->arena, found[i], p);
        tree_put_first(&x->lower, &x->arena, tree_lowered(found[i], scratch), p);
    }
    tree_put_first(&x->pages, &x->arena, p->document->key, p);
    tree_put_first(&x->lower, &x->arena, tree_lowered(p->document->key, scratch), p);
}

// "{% post_url 2018-12-22-distill %}" names a post in whatever folder it is.
static void index_post(struct tree_index *x, const struct page *p)
{
    size_t name = path_name_at(p->source);
    if (p->date.len)
        tree_put_first(&x->posts, &x->arena, str_slice(p->source, name, str_rfind(p->source, '.')),
                       p);
}

// Hugo's references name a page by its file or its folder alone where no other has that name.
// Source: gohugo.io/methods/page/getpage (a page of that name is looked for in all sections).
static void index_name(const struct site *site, struct tree_index *x, const struct page *p,
                       arena *scratch)
{
    str key = tree_lowered(p->document->key, scratch);
    size_t slash = str_rfind(key, '/');
    void **slot = map_put(&x->names, &x->arena,
                          slash == key.len ? key : str_slice(key, slash + 1, key.len), NULL);
    *slot = (void *)(*slot && *slot != p->document ? (uintptr_t)site : (uintptr_t)p->document);
}

static void index_languages(struct site *site, struct tree_index *x, arena *scratch)
{
    for (size_t i = 0; i < site->language_count; i++) {
        struct language *l = site->languages[i];
        tree_put_first(&x->languages, &x->arena, tree_lowered(l->tag, scratch), l);
    }
    for (size_t i = 0; i < site->page_count; i++) {
        const struct page *p = site->pages[i];
        if (p->tag.len)
            tree_put_first(&x->languages, &x->arena, tree_lowered(p->tag, scratch), p->language);
        if (p->root && p->root->address.len)
            tree_put_first(&x->languages, &x->arena, tree_lowered(p->root->address, scratch),
                           p->language);
    }
}

// An older address of a page, below the site. Hugo's count from the folder that the page is in
// unless they begin with a slash; "" for those of others that do not.
static str alias_address(const struct site *site, const struct page *p, str alias, arena *a)
{
    buf path = BUF_INIT;
    if (alias.len && alias.ptr[0] == '/')
        return tree_address(alias, a);
    str whole = arena_join(a, path_folder(p->document->key), STR("/"), alias), out = STR_NONE;
    if (alias.len && site->tree->kind->flags & KIND_ALIAS_BESIDE && fs_normalize(whole, &path))
        out = tree_address(arena_str(a, buf_view(&path)), a);
    buf_free(&path);
    return out;
}

// A link to an older address of a page is led on.
static void index_aliases(const struct site *site, struct tree_index *x, const struct page *p,
                          arena *scratch)
{
    for (uint32_t i = 0; i < p->alias_count; i++) {
        str address = alias_address(site, p, p->aliases[i], scratch);
        if (address.len)
            tree_put_first(&x->pages, &x->arena, address, p);
    }
}

static void add_alias(struct site *site, struct page *p, str written, str address)
{
    size_t count = p->alias_count, cap = count;
    str ending = str_ends(written, STR(".html")) ? STR(".html") : STR("/");
    p->aliases = arena_grow(&site->arena, p->aliases, count, &cap, count + 1, sizeof *p->aliases);
    p->aliases[count] = arena_join(&site->arena, STR("/"), address, ending);
    p->alias_count++;
}

// Addresses that the tree itself leads on; where its host does not, a page at the old one does.
static void index_redirects(struct site *site, struct tree_index *x, arena *scratch)
{
    const struct tree *t = site->tree;
    for (size_t i = 0; i < t->redirect_count; i++, arena_reset(scratch)) {
        const struct tree_redirect *d = &t->redirects[i];
        str from = tree_address(tree_without_base(t, d->from), scratch),
            to = tree_address(tree_without_base(t, d->to), scratch);
        struct page *p = map_get(&x->pages, to);
        if (!p || map_has(&x->pages, from))
            continue;
        tree_put_first(&x->pages, &x->arena, from, p);
        if (!d->by_host && !p->made)
            add_alias(site, p, d->from, from);
    }
}

void tree_links_index(struct site *site)
{
    arena scratch = ARENA_INIT;
    bool foreign = (site->tree->kind->flags & KIND_FOREIGN) != 0;
    if (!foreign && site->settings.file.len)
        return;
    struct tree_index *x = site->tree_index = arena_new(&site->arena, struct tree_index, 1);
    index_languages(site, x, &scratch);
    for (size_t pass = 0; pass < 2; pass++)  // what has a file comes first
        for (size_t i = 0; i < site->page_count; i++) {
            if (site->pages[i]->made != (pass == 1))
                continue;
            index_page(site, x, site->pages[i], &scratch);
            index_post(x, site->pages[i]);
            index_name(site, x, site->pages[i], &scratch);
            arena_reset(&scratch);
        }
    for (size_t i = 0; i < site->page_count; i++, arena_reset(&scratch))
        index_aliases(site, x, site->pages[i], &scratch);
    index_redirects(site, x, &scratch);
    arena_free(&scratch);
}

bool tree_names_language(const struct site *site, str part, arena *a)
{
    return map_has(&site->tree_index->languages, tree_lowered(part, a));
}

void tree_links_free(struct site *site)
{
    if (site->tree_index)
        arena_free(&site->tree_index->arena);
}

const struct page *tree_look_up(const struct tree_index *x, str address, bool lower, arena *a)
{
    return map_get(lower ? &x->lower : &x->pages, lower ? tree_lowered(address, a) : address);
}

const struct page *tree_page_at(const struct site *site, str address)
{
    const struct page *p = site->tree_index ? map_get(&site->tree_index->pages, address) : NULL;
    arena scratch = ARENA_INIT;
    if (!p && site->tree_index && site->tree->kind->flags & KIND_LOWER)
        p = tree_look_up(site->tree_index, address, true, &scratch);
    arena_free(&scratch);
    return p;
}

const struct page *tree_post_named(const struct site *site, str name)
{
    return site->tree_index ? map_get(&site->tree_index->posts, name) : NULL;
}

const struct page *tree_page_named(const struct site *site, str name)
{
    arena scratch = ARENA_INIT;
    const void *found = site->tree_index && site->tree->kind->flags & KIND_REFERENCES
                            ? map_get(&site->tree_index->names, tree_lowered(name, &scratch))
                            : NULL;
    arena_free(&scratch);
    return found && found != site ? ((const struct document *)found)->source : NULL;
}
