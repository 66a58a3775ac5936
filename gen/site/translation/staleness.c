// Sidecars of translations: hashes of the source's blocks when the translation was accepted, compared with today's.
#include "gen/site/translation/staleness.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "gen/site/source/scan.h"
#include "gen/site/translation/sequence.h"
#include "gen/text/escape.h"

#define SCHEMA "vramdoc-source/1"
#define SIDECAR_MAX ((size_t)8 << 20)   // bytes of a sidecar

// What a sidecar says of one place: the source's block and the translation's, as they were. 0 for none.
struct pair {
    char kind;
    uint64_t source, own;
};

str staleness_path(const struct site *site, const struct page *p, arena *a)
{
    str source = p->source;
    size_t dot = str_rfind(source, '.'), slash = str_rfind(source, '/');
    if (dot == source.len || (slash < source.len && dot < slash))
        dot = source.len;
    return site_path(site, arena_printf(a, "%.*s.source.json", (int)dot, source.ptr), a);
}

// ---- reading -----------------------------------------------------------------------------------

static bool hex_read(str s, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        int v = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (v < 0)
            return false;
        *out = *out << 4 | (uint64_t)v;
    }
    return s.len == 16;
}

// "p SOURCE OWN", a "-" for none.
static bool pair_read(str line, struct pair *p)
{
    str kind, source;
    if (!str_cut(&line, ' ', &kind) || kind.len != 1 || !str_cut(&line, ' ', &source))
        return false;
    p->kind = kind.ptr[0];
    p->source = p->own = 0;
    return (str_eq(source, STR("-")) || hex_read(source, &p->source)) && (str_eq(line, STR("-")) || hex_read(line, &p->own));
}

static bool pairs_read(json_t *root, arena *a, struct pair **pairs, size_t *count)
{
    json_t *blocks = json_object_get(root, "blocks"), *line;
    const char *schema = json_string_value(json_object_get(root, "schema"));
    size_t i;
    if (!schema || strcmp(schema, SCHEMA) != 0 || !json_is_array(blocks))
        return false;
    *count = json_array_size(blocks);
    *pairs = arena_new(a, struct pair, *count + 1);
    json_array_foreach(blocks, i, line)
        if (!json_is_string(line) || !pair_read(str_c(json_string_value(line)), &(*pairs)[i]))
            return false;
    return true;
}

// ---- comparing ---------------------------------------------------------------------------------

static uint64_t *hashes_of(const struct md_result *r, arena *a)
{
    uint64_t *h = arena_new(a, uint64_t, r->block_count + 1);
    for (size_t i = 0; i < r->block_count; i++)
        h[i] = r->blocks[i].hash;
    return h;
}

// For each index in 0..a_count: the partner, where pairs between two sure ones of the same kind count as changed.
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
static size_t *follow(const struct pair *pairs, size_t count, bool own_side, const struct md_result *now, arena *a)
{
    uint64_t *then = arena_new(a, uint64_t, count + 1), *today = hashes_of(now, a);
    char *kinds = arena_new(a, char, count + 1);
    size_t *partner = arena_new(a, size_t, count + 1), *index = arena_new(a, size_t, count + 1), n = 0;
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

static struct staleness *compare(const struct pair *pairs, size_t count, const struct md_result *source,
                                 const struct md_result *own, arena *a)
{
    struct staleness *s = arena_new(a, struct staleness, 1);
    size_t *own_now = follow(pairs, count, true, own, a), *source_now = follow(pairs, count, false, source, a);
    size_t *own_of_source = arena_new(a, size_t, source->block_count + 1);
    s->count = own->block_count;
    s->blocks = arena_new(a, struct stale_block, own->block_count + 1);
    s->missing = arena_new(a, struct missing_block, source->block_count + 1);
    for (size_t i = 0; i < own->block_count; i++)
        s->blocks[i] = (struct stale_block){BLOCK_UNKNOWN, SEQUENCE_NONE};
    for (size_t i = 0; i < source->block_count; i++)
        own_of_source[i] = SEQUENCE_NONE;
    for (size_t i = 0; i < count; i++) {
        size_t o = own_now[i], n = source_now[i];
        if (o == SEQUENCE_NONE)
            continue;
        enum block_state state = !pairs[i].source ? BLOCK_UNKNOWN : n == SEQUENCE_NONE ? BLOCK_ORPHANED
            : source->blocks[n].hash == pairs[i].source ? BLOCK_FRESH : BLOCK_STALE;
        s->blocks[o] = (struct stale_block){state, n};
        s->stale_count += state == BLOCK_STALE || state == BLOCK_ORPHANED;
        if (n != SEQUENCE_NONE)
            own_of_source[n] = o;
    }
    find_missing(s, own_of_source, source->block_count);
    return s;
}

struct staleness *staleness_parse(str json, str file, const struct md_result *source, const struct md_result *own,
                                  struct diag *d, arena *a)
{
    json_error_t e;
    struct pair *pairs = NULL;
    size_t count = 0;
    json_t *root = json_loadb(json.len ? json.ptr : "", json.len, 0, &e);
    bool ok = root && pairs_read(root, a, &pairs, &count);
    if (!root) {
        size_t at = e.position > 0 && (size_t)e.position <= json.len ? (size_t)e.position - 1 : 0;
        diag_add(d, D_SIDECAR_SYNTAX, DIAG_AT(file, json, at), "%s", e.text);
    } else if (!ok) {
        diag_add(d, D_SIDECAR_SYNTAX, DIAG_AT(file, json, 0), "not of schema " SCHEMA);
    }
    json_decref(root);
    return ok ? compare(pairs, count, source, own, a) : NULL;
}

struct staleness *staleness_read(const struct site *site, const struct page *p, const struct md_result *source,
                                 const struct md_result *own, struct diag *d, arena *a)
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

// ---- telling -----------------------------------------------------------------------------------

bool staleness_at(const struct staleness *s, size_t block)
{
    return s && block < s->count && (s->blocks[block].state == BLOCK_STALE || s->blocks[block].state == BLOCK_ORPHANED);
}

void staleness_report(const struct staleness *s, str file, str text, const struct md_result *own, struct diag *d)
{
    static const char *const words[] = {
        [BLOCK_STALE] = "read the source again", [BLOCK_ORPHANED] = "the source has it no more",
    };
    for (size_t i = 0; i < s->count; i++)
        if (staleness_at(s, i))
            diag_add(d, D_STALE_PARAGRAPH, DIAG_AT(file, text, own->blocks[i].offset), "%s", words[s->blocks[i].state]);
    for (size_t i = 0; i < s->missing_count; i++) {
        size_t before = s->missing[i].before;
        size_t at = before < own->block_count ? own->blocks[before].offset : text.len;
        diag_add(d, D_STALE_PARAGRAPH, DIAG_AT(file, text, at), "block %zu of the source is not here yet",
                 s->missing[i].source + 1);
    }
}

static void put_hash(uint64_t hash, buf *out)
{
    if (hash)
        buf_printf(out, "%016llx", (unsigned long long)hash);
    else
        buf_char(out, '-');
}

static void put_pair(char kind, uint64_t source, uint64_t own, bool *first, buf *out)
{
    buf_printf(out, "%s    \"%c ", *first ? "\n" : ",\n", kind);
    put_hash(source, out);
    buf_char(out, ' ');
    put_hash(own, out);
    buf_char(out, '"');
    *first = false;
}

// Blocks of the two are paired by their kinds, in order: a translation need not have every block.
void staleness_format(const struct page *p, const struct page *source_page, const struct md_result *source,
                      const struct md_result *own, buf *out)
{
    arena scratch = ARENA_INIT;
    uint64_t *a = arena_new(&scratch, uint64_t, source->block_count + 1), *b = arena_new(&scratch, uint64_t, own->block_count + 1);
    size_t *partner = arena_new(&scratch, size_t, source->block_count + 1), next = 0;
    bool first = true;
    for (size_t i = 0; i < source->block_count; i++)
        a[i] = source->blocks[i].kind;
    for (size_t i = 0; i < own->block_count; i++)
        b[i] = own->blocks[i].kind;
    sequence_align(a, source->block_count, b, own->block_count, partner, &scratch);
    buf_lit(out, "{\n  \"schema\": \"" SCHEMA "\",\n  \"source\": \"");
    escape_json(out, source_page->source);
    buf_lit(out, "\",\n  \"language\": \"");
    escape_json(out, p->language->tag);
    buf_lit(out, "\",\n  \"blocks\": [");
    for (size_t i = 0; i <= source->block_count; i++) {
        size_t until = i == source->block_count ? own->block_count : partner[i];
        for (; until != SEQUENCE_NONE && next < until; next++)
            put_pair((char)own->blocks[next].kind, 0, own->blocks[next].hash, &first, out);
        if (i == source->block_count)
            break;
        put_pair((char)source->blocks[i].kind, source->blocks[i].hash,
                 partner[i] == SEQUENCE_NONE ? 0 : own->blocks[partner[i]].hash, &first, out);
        next = partner[i] == SEQUENCE_NONE ? next : partner[i] + 1;
    }
    buf_str(out, first ? STR("]\n}\n") : STR("\n  ]\n}\n"));
    arena_free(&scratch);
}
