// Owns the pairs of the files that a script takes its values from, as a part of the handle.

#include "calc/parse/settings.h"

#include "calc/base/text.h"
#include "calc/parse/lookup.h"

struct settings {
    struct mem_arena arena;
    const struct vram_pair *at;
    const struct span *files;  // a pair's file, next to it
    size_t count;
};

static struct settings *settings_of(const struct vram *v)
{
    return v->parts[HANDLE_SETTINGS].ptr;
}

static void settings_free(void *ptr)
{
    struct settings *s = ptr;
    struct mem_arena arena = s->arena;  // s itself is in it
    mem_arena_free(&arena);
}

static struct settings *settings_new(const struct vram_mem *mem)
{
    struct mem_arena arena = {.mem = mem};
    struct settings *s = mem_arena_new(&arena, 1, sizeof *s);
    if (s)
        s->arena = arena;
    return s;
}

static const char *keep(struct settings *s, struct span text)
{
    char *own = mem_arena_new(&s->arena, text.len + 1, 1);
    if (own)
        mem_copy(own, text.at, text.len);
    return own;
}

// The pairs of a and of b as one list of s. false: out of memory.
static bool join(struct settings *s, const struct settings *a, const struct vram_pair *more,
                 size_t count, struct span file)
{
    size_t before = a ? a->count : 0;
    struct vram_pair *at = mem_arena_new(&s->arena, before + count, sizeof *at);
    struct span *files = mem_arena_new(&s->arena, before + count, sizeof *files);
    bool kept = at && files;
    for (size_t i = 0; kept && i < before + count; i++) {
        const struct vram_pair *pair = i < before ? &a->at[i] : &more[i - before];
        struct span from = i < before ? a->files[i] : file;
        at[i] = *pair;
        at[i].key = keep(s, span_of(pair->key));
        at[i].value = keep(s, span_of(pair->value));
        files[i] = (struct span){keep(s, from), from.len};
        kept = at[i].key && at[i].value && files[i].at;
    }
    s->at = at;
    s->files = files;
    s->count = before + count;
    return kept;
}

static void copy(struct vram *to, const struct vram *from);

static int replace(struct vram *v, const struct settings *old, const struct vram_pair *more,
                   size_t count, struct span file)
{
    struct handle_part *part = &v->parts[HANDLE_SETTINGS];
    struct settings *s = settings_new(&v->mem);
    if (!s || !join(s, old, more, count, file)) {
        if (s)
            settings_free(s);
        return handle_no_memory(v);
    }
    if (part->ptr)
        part->free(part->ptr);
    part->ptr = s;
    part->free = settings_free;
    v->copy_settings = copy;
    return VRAM_OK;
}

static void copy(struct vram *to, const struct vram *from)
{
    replace(to, settings_of(from), NULL, 0, (struct span){"", 0});
}

static struct span last_name(struct span path)
{
    size_t n = path.len;
    while (n > 0 && path.at[n - 1] != '/' && path.at[n - 1] != '\\')
        n--;
    return span_skip(path, n);
}

int settings_keep(struct parse *p)
{
    struct span file = last_name(span_of(p->file ? p->file : ""));
    return replace(p->v, settings_of(p->v), p->pairs, p->pair_count, file);
}

enum settings_found settings_find(const struct vram *v, struct span path, struct span *value)
{
    const struct settings *s = settings_of(v);
    enum settings_found found = SETTINGS_NONE;
    struct span below;
    for (size_t i = 0; s && i < s->count; i++) {
        struct span key = span_of(s->at[i].key), here = span_of(s->at[i].value);
        if (span_same(key, path) && found == SETTINGS_VALUE && !span_same(here, *value))
            return SETTINGS_NONE;
        if (span_same(key, path)) {
            *value = here;
            found = SETTINGS_VALUE;
        }
    }
    size_t at = 0;
    return !found && settings_below(v, path, &at, &below) ? SETTINGS_MAPPING : found;
}

const struct vram_pair *settings_below(const struct vram *v, struct span path, size_t *at,
                                       struct span *key)
{
    const struct settings *s = settings_of(v);
    while (s && *at < s->count) {
        const struct vram_pair *pair = &s->at[(*at)++];
        *key = span_of(pair->key);
        if (path.len == 0)
            return pair;
        bool below = key->len > path.len && key->at[path.len] == '.' &&
                     span_same((struct span){key->at, path.len}, path);
        *key = span_skip(*key, path.len + 1);
        if (below)
            return pair;
    }
    return NULL;
}

bool settings_are_given(const struct vram *v, struct span name)
{
    const struct settings *s = settings_of(v);
    name = last_name(name);
    for (size_t i = 0; s && i < s->count; i++)
        if (name.len == 0 || span_same(s->files[i], name))
            return true;
    return false;
}

struct py_value settings_typed(struct span text)
{
    uint64_t whole, millionths;
    bool overflow, negative = text.len > 1 && text.at[0] == '-';
    struct span digits = span_skip(text, negative);
    if (value_is_nothing(text))
        return (struct py_value){.kind = PY_NONE};
    if (text_to_u64(digits.at, digits.len, &whole, &overflow) && whole < (uint64_t)1 << 62)
        return (struct py_value){.kind = PY_INT, .i = negative ? -(int64_t)whole : (int64_t)whole};
    if (span_is(text, "true") || span_is(text, "True") || span_is(text, "false") ||
        span_is(text, "False"))
        return (struct py_value){.kind = PY_BOOL, .i = value_is_true(text)};
    if (!negative && text_to_millionths(text.at, text.len, &millionths, &overflow))
        return (struct py_value){.kind = PY_FLOAT, .d = (double)millionths / 1e6};
    return (struct py_value){.kind = PY_STR, .s = text};
}
