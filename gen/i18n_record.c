// The record of a translation that was changed by a PO file: what of it is accepted now.
#include "gen/i18n_import.h"

// What the record says of a block of the old translation; NULL for nothing.
static const struct sidecar_pair *pair_then(const struct po_work *w, size_t own)
{
    const struct staleness *s = w->doc->t->staleness;
    size_t pair = s && own != SIZE_MAX ? s->blocks[own].pair : SIZE_MAX;
    return pair == SIZE_MAX ? NULL : &s->then.pairs[pair];
}

// A block whose translation is finished is one of the entry's text; others stay what they were.
static struct sidecar_pair new_pair(const struct po_work *w, const struct po_origin *from,
                                    const struct md_block *own)
{
    const struct sidecar_pair *then = pair_then(w, from->own);
    struct sidecar_pair pair =
        then ? *then : (struct sidecar_pair){.kind = (char)own->kind, .own = own->hash};
    if (from->source == SIZE_MAX)
        return pair;
    const struct md_block *source = &w->doc->t->source.md.blocks[from->source];
    const struct po_entry *e = w->refused[from->source] ? NULL : w->doc->of[from->source];
    bool done = e && e->text.len && !e->fuzzy;
    uint64_t id = done ? md_block_hash(source->kind, e->id) : 0;
    if (done && (!then || then->source != id || w->changed[from->source]))
        pair = (struct sidecar_pair){(char)source->kind, id, own->hash, e->id};
    else if (then && then->source == source->hash)
        pair.text = source->text;
    else if (!then && e && e->fuzzy && e->previous.len)
        pair = (struct sidecar_pair){(char)source->kind, md_block_hash(source->kind, e->previous),
                                     own->hash, e->previous};
    return pair;
}

// Blocks of the source that have no translation are in the record where they belong.
static void add_untranslated(const struct po_work *w, const bool *there, size_t from, size_t to,
                             struct sidecar *next)
{
    for (size_t i = from; i < to; i++) {
        const struct md_block *b = &w->doc->t->source.md.blocks[i];
        if (!there[i])
            next->pairs[next->count++] = (struct sidecar_pair){(char)b->kind, b->hash, 0, b->text};
    }
}

void po_record(struct po_work *w, const struct md_result *now, const struct po_origin *from,
               struct sidecar *next)
{
    size_t blocks = w->doc->t->source.md.block_count, last = 0;
    bool *there = arena_new(w->a, bool, blocks + 1);
    next->pairs = arena_new(w->a, struct sidecar_pair, now->block_count + blocks + 1);
    for (size_t k = 0; k < now->block_count; k++)
        if (from[k].source != SIZE_MAX)
            there[from[k].source] = new_pair(w, &from[k], &now->blocks[k]).source != 0;
    for (size_t k = 0; k < now->block_count; k++) {
        size_t i = from[k].source;
        if (i != SIZE_MAX && i > last)
            add_untranslated(w, there, last, i, next);
        last = i != SIZE_MAX && i > last ? i : last;
        next->pairs[next->count++] = new_pair(w, &from[k], &now->blocks[k]);
    }
    add_untranslated(w, there, last, blocks, next);
}
