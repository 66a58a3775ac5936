// The file of pages' texts during a build: the last one's where it is whole, and a new one where
// little of it is used.
#include <errno.h>
#include <string.h>

#include "gen/site/output/build_state.h"
#include "gen/site/output/rendered.h"
#include "gen/site/output/search.h"

// Bytes of pages that have changed or gone, beside as many as are used, that are left in the file.
enum { SPARE = 1 << 20 };

// Whether each page that the last build left has its text there.
static bool all_there(const struct build *b)
{
    struct rendered_page p;
    for (size_t i = 0; i < b->old->document_count; i++) {
        struct rendered_reader r = rendered_open(b->old->documents[i].rendered);
        r.texts = &b->texts;
        while (rendered_next(&r, &p))
            if (search_hash(&p) != p.search_hash)
                return false;
    }
    return true;
}

bool page_texts_reopen(struct build *b)
{
    struct cache_texts *known = &b->old->texts;
    if (b->site.settings.search == SEARCH_NONE || !known->name)
        return true;
    if (!texts_begin(&b->texts, b->site.settings.cache_dir, b->old))
        return false;
    struct cache_texts now = texts_known(&b->texts);
    if (fs_same(&now.stat, &known->stat) || (texts_map(&b->texts) && all_there(b)))
        return true;
    texts_end(&b->texts);
    return false;
}

bool page_texts_begin(struct build *b)
{
    str dir = b->site.settings.cache_dir;
    if (b->site.settings.search == SEARCH_NONE || b->texts.name ||
        texts_begin(&b->texts, dir, NULL))
        return true;
    diag_add(b->diag, D_IO_WRITE, DIAG_FILE(dir), "%s", strerror(errno));
    return false;
}

// All texts of a document's pages, which are one behind the other.
static str texts_of(const struct texts *t, str rendered, uint64_t *from)
{
    struct rendered_reader r = rendered_open(rendered);
    struct rendered_page p;
    uint64_t len = 0;
    for (r.texts = t; rendered_next(&r, &p);)
        len = p.text_at + p.search.len;
    *from = r.texts_from;
    return texts_at(t, r.texts_from, len);
}

static bool copy_all(struct build *b, struct texts *to)
{
    for (size_t i = 0; i < b->site.document_count; i++) {
        uint64_t from;
        str texts = texts_of(&b->texts, b->documents[i].rendered, &from);
        if (!texts_add(to, texts, &from))
            return false;
        if (texts.len)
            b->documents[i].rendered =
                rendered_moved(b->documents[i].rendered, from, &b->site.arena);
    }
    return true;
}

void page_texts_tidy(struct build *b)
{
    uint64_t used = SPARE, from;
    struct texts other;
    for (size_t i = 0; i < b->site.document_count; i++)
        used += 2 * texts_of(&b->texts, b->documents[i].rendered, &from).len;
    if (b->texts.bytes.len <= used || !texts_begin(&other, b->site.settings.cache_dir, NULL))
        return;
    if (!copy_all(b, &other)) {
        texts_end(&other);
        return;
    }
    texts_end(&b->texts);
    b->texts = other;
}
