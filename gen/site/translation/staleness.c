// Sidecars of translations: hashes of the source's blocks when the translation was accepted,
// compared with today's.
#include "gen/site/translation/staleness.h"

#include <errno.h>
#include <string.h>

#include "gen/base/path.h"
#include "gen/site/source/scan.h"
#include "gen/site/translation/sequence.h"

#define SIDECAR_MAX ((size_t)8 << 20)  // bytes of a sidecar

str staleness_path(const struct site *site, const struct page *p, arena *a)
{
    str source = p->source;
    return site_path(
        site, arena_printf(a, "%.*s.source.json", (int)path_ending_at(source), source.ptr), a);
}

static uint64_t *hashes_of(const struct md_result *r, arena *a)
{
    uint64_t *h = arena_new(a, uint64_t, r->block_count + 1);
    for (size_t i = 0; i < r->block_count; i++)
        h[i] = r->blocks[i].hash;
    return h;
}

// For each index in 0..a_count: the partner, where pairs between two sure ones of the same kind
// count as changed.
static void fill_gaps(size_t *partner, const char *kinds, size_t count, const struct md_result *now)
{
    size_t next = 0;
    for (size_t i = 0; i < count; i++) {
        if (partner[i] != SEQUENCE_NONE) {
            next = partner[i] + 1;
            continue;
        }
        size_t end = i, limit;
        while (end < count && partner[end] == SEQUENCE_NONE)
            end++;
        limit = end < count ? partner[end] : now->block_count;
        for (; i < end; i++) {
            size_t j = next;
            while (j < limit && now->blocks[j].kind != (uint8_t)kinds[i])
                j++;
            if (j < limit) {
                partner[i] = j;
                next = j + 1;
            }
        }
        i--;
    }
}

// Where each pair's side is now: by its hash, or by its place between others.
static size_t *follow(const struct sidecar_pair *pairs, size_t count, bool own_side,
                      const struct md_result *now, arena *a)
{
    uint64_t *then = arena_new(a, uint64_t, count + 1), *today = hashes_of(now, a);
    char *kinds = arena_new(a, char, count + 1);
    size_t *partner = arena_new(a, size_t, count + 1), *index = arena_new(a, size_t, count + 1),
           n = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t h = own_side ? pairs[i].own : pairs[i].source;
        if (!h)
            continue;
        kinds[n] = pairs[i].kind;
        index[n] = i;
        then[n++] = h;
    }
    sequence_align(then, n, today, now->block_count, partner, a);
    fill_gaps(partner, kinds, n, now);
    size_t *result = arena_new(a, size_t, count + 1);
    for (size_t i = 0; i < count; i++)
        result[i] = SEQUENCE_NONE;
    for (size_t i = 0; i < n; i++)
        result[index[i]] = partner[i];
    return result;
}

static void note_missing(struct staleness *s, size_t source, size_t before)
{
    s->missing[s->missing_count++] = (struct missing_block){source, before};
}

// The source's blocks that no pair leads to, or whose pair has no translation.
static void find_missing(struct staleness *s, const size_t *own_of_source, size_t source_count)
{
    size_t before = 0;
    for (size_t i = 0; i < source_count; i++) {
        if (own_of_source[i] == SEQUENCE_NONE)
            note_missing(s, i, before);
        else
            before = own_of_source[i] + 1;
    }
}

static struct staleness *compare(const struct sidecar *then, const struct md_result *source,
                                 const struct md_result *own, arena *a)
{
    struct staleness *s = arena_new(a, struct staleness, 1);
    const struct sidecar_pair *pairs = then->pairs;
    size_t *own_now = follow(pairs, then->count, true, own, a),
           *source_now = follow(pairs, then->count, false, source, a);
    size_t *own_of_source = arena_new(a, size_t, source->block_count + 1);
    s->then = *then;
    s->count = own->block_count;
    s->blocks = arena_new(a, struct stale_block, own->block_count + 1);
    s->behind = arena_new(a, bool, own->block_count + 1);
    s->missing = arena_new(a, struct missing_block, source->block_count + 1);
    for (size_t i = 0; i < own->block_count; i++)
        s->blocks[i] = (struct stale_block){BLOCK_UNKNOWN, SEQUENCE_NONE, SEQUENCE_NONE};
    for (size_t i = 0; i < source->block_count; i++)
        own_of_source[i] = SEQUENCE_NONE;
    for (size_t i = 0; i < then->count; i++) {
        size_t o = own_now[i], n = source_now[i];
        if (o == SEQUENCE_NONE)
            continue;
        enum block_state state = !pairs[i].source                            ? BLOCK_UNKNOWN
                                 : n == SEQUENCE_NONE                        ? BLOCK_ORPHANED
                                 : source->blocks[n].hash == pairs[i].source ? BLOCK_FRESH
                                                                             : BLOCK_STALE;
        s->blocks[o] = (struct stale_block){state, n, i};
        s->behind[o] = state == BLOCK_STALE || state == BLOCK_ORPHANED;
        s->stale_count += s->behind[o];
        if (n != SEQUENCE_NONE)
            own_of_source[n] = o;
    }
    find_missing(s, own_of_source, source->block_count);
    return s;
}

struct staleness *staleness_parse(str json, str file, const struct md_result *source,
                                  const struct md_result *own, struct diag *d, arena *a)
{
    struct sidecar then;
    return sidecar_parse(json, file, a, d, &then) ? compare(&then, source, own, a) : NULL;
}

struct staleness *staleness_read(const struct site *site, const struct page *p,
                                 const struct md_result *source, const struct md_result *own,
                                 struct diag *d, arena *a)
{
    str file = staleness_path(site, p, a);
    buf json = BUF_INIT;
    struct staleness *s = NULL;
    if (fs_read(file.ptr, SIDECAR_MAX, &json) == 0)
        s = staleness_parse(buf_view(&json), file, source, own, d, a);
    else if (errno != ENOENT)
        diag_add(d, D_IO_READ, DIAG_FILE(file), "%s", strerror(errno));
    buf_free(&json);
    return s;
}

void staleness_report(const struct staleness *s, str file, str text, const struct md_result *own,
                      struct diag *d)
{
    static const char *const words[] = {
        [BLOCK_STALE] = "read the source again",
        [BLOCK_ORPHANED] = "the source has it no more",
    };
    for (size_t i = 0; i < s->count; i++)
        if (s->behind[i])
            diag_add(d, D_STALE_PARAGRAPH, DIAG_AT(file, text, own->blocks[i].offset), "%s",
                     words[s->blocks[i].state]);
    for (size_t i = 0; i < s->missing_count; i++) {
        size_t before = s->missing[i].before;
        size_t at = before < own->block_count ? own->blocks[before].offset : text.len;
        diag_add(d, D_STALE_PARAGRAPH, DIAG_AT(file, text, at),
                 "block %zu of the source is not here yet", s->missing[i].source + 1);
    }
}

size_t *staleness_pair_up(const struct md_result *source, const struct md_result *own, arena *a)
{
    uint64_t *x = arena_new(a, uint64_t, source->block_count + 1),
             *y = arena_new(a, uint64_t, own->block_count + 1);
    size_t *partner = arena_new(a, size_t, source->block_count + 1);
    for (size_t i = 0; i < source->block_count; i++)
        x[i] = source->blocks[i].kind;
    for (size_t i = 0; i < own->block_count; i++)
        y[i] = own->blocks[i].kind;
    sequence_align(x, source->block_count, y, own->block_count, partner, a);
    return partner;
}

static void add_pair(struct sidecar *s, const struct md_block *source, const struct md_block *own)
{
    struct sidecar_pair *p = &s->pairs[s->count++];
    *p = (struct sidecar_pair){.kind = (char)(source ? source : own)->kind,
                               .own = own ? own->hash : 0};
    if (source) {
        p->source = source->hash;
        p->text = source->text;
    }
}

void staleness_accept_all(const struct md_result *source, const struct md_result *own,
                          struct sidecar *out, arena *a)
{
    size_t *partner = staleness_pair_up(source, own, a), next = 0;
    out->pairs = arena_new(a, struct sidecar_pair, source->block_count + own->block_count + 1);
    out->count = 0;
    for (size_t i = 0; i <= source->block_count; i++) {
        size_t until = i == source->block_count ? own->block_count : partner[i];
        for (; until != SEQUENCE_NONE && next < until; next++)
            add_pair(out, NULL, &own->blocks[next]);
        if (i == source->block_count)
            break;
        add_pair(out, &source->blocks[i],
                 partner[i] == SEQUENCE_NONE ? NULL : &own->blocks[partner[i]]);
        next = partner[i] == SEQUENCE_NONE ? next : partner[i] + 1;
    }
}

// What a pair says from now on. The translation of a fresh block is kept as it was accepted, its
// source's text is filled in.
static void renew_pair(const struct stale_block *b, bool chosen, const struct md_result *source,
                       const struct md_block *own, struct sidecar_pair *p)
{
    struct sidecar one = {.pairs = p};
    uint64_t then = p->own;
    if (!chosen && b->state != BLOCK_FRESH)
        return;
    add_pair(&one, b->source == SEQUENCE_NONE ? NULL : &source->blocks[b->source], own);
    if (!chosen)
        p->own = then;
}

// Blocks that no pair is about are behind the pair of the block before them, so that the order
// stays.
static size_t add_unknown(const struct staleness *s, const bool *chosen, size_t o,
                          const struct md_result *own, struct sidecar *out)
{
    for (; o < s->count && s->blocks[o].pair == SEQUENCE_NONE; o++)
        if (chosen[o])
            add_pair(out, NULL, &own->blocks[o]);
    return o;
}

void staleness_accept(const struct staleness *s, const bool *chosen, const struct md_result *source,
                      const struct md_result *own, struct sidecar *out, arena *a)
{
    out->pairs = arena_new(a, struct sidecar_pair, s->then.count + s->count + 1);
    out->count = 0;
    size_t o = add_unknown(s, chosen, 0, own, out);
    for (size_t i = 0; i < s->then.count; i++) {
        struct sidecar_pair *p = &out->pairs[out->count++];
        *p = s->then.pairs[i];
        if (o == s->count || s->blocks[o].pair != i)
            continue;
        renew_pair(&s->blocks[o], chosen[o], source, &own->blocks[o], p);
        o = add_unknown(s, chosen, o + 1, own, out);
    }
}
