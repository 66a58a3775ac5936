// The start page by "permalink: /" and "redirect_from: /" of Jekyll and "aliases: [/]" of Hugo, and
// its title as the site's.
#include "gen/site/documents/start.h"

#include "gen/site/source/publish.h"

// Takes "/" out of a page's aliases; whether it was there.
static bool take_root(struct page *p)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->alias_count; i++)
        if (!str_eq(p->aliases[i], STR("/")))
            p->aliases[kept++] = p->aliases[i];
    bool found = kept < p->alias_count;
    p->alias_count = kept;
    return found;
}

// Whether a page's own address is that of its language: "permalink: /fr/".
static bool is_of_language(const struct page *p)
{
    str address = p->address, tag = p->language->tag;
    return address.len && (str_eq_nocase(address, p->tag) || str_eq_nocase(address, tag));
}

static bool is_start(const struct page *p)
{
    static const str keys[] = {STR(""), STR("index"), STR("_index"), STR("readme")};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (str_eq_nocase(p->url, keys[i]))
            return true;
    return false;
}

static bool has_start(const struct site *site, const struct language *l)
{
    for (size_t i = 0; i < site->page_count; i++) {
        const struct page *p = site->pages[i];
        if (p->language == l && p->left_out == PUBLISH && is_start(p))
            return true;
    }
    return false;
}

void start_by_alias(struct site *site)
{
    if (!(site->tree->kind->flags & KIND_FOREIGN))
        return;
    for (size_t i = 0; i < site->page_count; i++) {
        struct page *p = site->pages[i];
        bool root = take_root(p), published = p->left_out == PUBLISH && p->language;
        if (published && (root || is_of_language(p)) && !has_start(site, p->language))
            p->url = STR("index");
    }
}

void start_title(struct site *site)
{
    const struct document *home = map_get(&site->document_by_key, STR_NONE);
    const struct page *p = home ? home->source : NULL;
    bool short_enough = p && !p->made && p->title.len <= 60;
    if (site->tree_index && short_enough && !site->settings.title.len)
        site->settings.title = p->title;
}
