// Compares the files that are there with those that the last build knew.
#include "gen/site/source/known.h"

#include "gen/site/source/read.h"

void known_take(struct site *site, const struct cache_file *files, size_t count)
{
    size_t at = 0;
    for (size_t i = 0; i < site->page_count; i++) {
        struct page *p = site->pages[i];
        int order = -1;
        while (at < count && (order = str_cmp(files[at].path, p->source)) < 0)
            at++;  // both are sorted
        if (at == count || order)
            continue;
        const struct cache_file *f = &files[at];
        p->tag = f->tag, p->key = f->key, p->date = f->date;
        p->unchanged = f->meta.len && fs_same(&f->stat, &p->stat) && !page_meta_includes(f->meta);
        if (p->unchanged)
            p->meta = f->meta;
    }
}

static str language_in(str meta, arena *a)
{
    struct page_meta m;
    arena_reset(a);
    return page_meta_unpack(meta, a, &m) ? m.front.lang : STR_NONE;
}

bool known_places(struct site *site, const struct cache_file *files)
{
    arena x = ARENA_INIT, y = ARENA_INIT;
    bool same = site->only_bodies = true;
    for (size_t i = 0, k = 0; i < site->files.count && same; i++) {
        const struct cache_file *f = &files[i];
        bool is_page = k < site->read_count && str_eq(site->read_pages[k]->source, f->path);
        const struct page *p = is_page ? site->read_pages[k++] : NULL;
        if (!is_page && !fs_same(&f->stat, &site->files.items[i].stat))
            site->only_bodies = false;
        if (!is_page || p->unchanged)
            continue;
        same = str_eq(language_in(f->meta, &x), language_in(p->meta, &y));
        site->only_bodies = site->only_bodies && page_meta_same(f->meta, p->meta);
    }
    arena_free(&x);
    arena_free(&y);
    return same;
}
