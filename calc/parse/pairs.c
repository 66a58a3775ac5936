// Owns the flat list of values that the readers of YAML, JSON, TOML and Python calls fill.

#include "calc/parse/pairs.h"

#include "calc/base/text.h"

void pairs_init(struct pair_list *l, const struct vram_mem *mem, const char *text)
{
    mem_zero(l, sizeof *l);
    l->arena.mem = mem;
    l->place = (struct place){text, 0, 1, 1};
}

void pairs_free(struct pair_list *l)
{
    mem_free(l->arena.mem, l->at, l->cap * sizeof *l->at);
    mem_arena_free(&l->arena);
    l->at = NULL;
    l->count = l->cap = 0;
}

struct span pairs_keep(struct pair_list *l, struct span s)
{
    char *own = mem_arena_new(&l->arena, s.len + 1, 1);
    if (!own) {
        l->failed = true;
        return (struct span){NULL, 0};
    }
    mem_copy(own, s.at, s.len);
    return (struct span){own, s.len};
}

struct span pairs_join(struct pair_list *l, struct span to, struct span more, bool first)
{
    size_t len = to.len + !first + more.len;
    char *own = mem_arena_new(&l->arena, len + 1, 1);
    if (!own) {
        l->failed = true;
        return (struct span){"", 0};
    }
    mem_copy(own, to.at, to.len);
    if (!first)
        own[to.len] = ',';
    mem_copy(own + len - more.len, more.at, more.len);
    return (struct span){own, len};
}

// ---- the path --------------------------------------------------------------------------------

size_t pairs_enter(struct pair_list *l, struct span key)
{
    size_t before = l->path_len, point = before > 0;
    if (before + point + key.len + 1 > PAIRS_PATH)
        return SIZE_MAX;
    if (point)
        l->path[before] = '.';
    mem_copy(l->path + before + point, key.at, key.len);
    l->path_len = before + point + key.len;
    l->path[l->path_len] = 0;
    return before;
}

size_t pairs_enter_item(struct pair_list *l, size_t number)
{
    char digits[TEXT_DIGITS];
    return pairs_enter(l, span_of_number(number, digits));
}

void pairs_leave(struct pair_list *l, size_t len)
{
    l->path_len = len;
    l->path[len] = 0;
}

// ---- places ----------------------------------------------------------------------------------

struct err_pos pairs_pos(struct pair_list *l, const char *file, size_t at)
{
    struct place *place = &l->place;
    if (at < place->at)
        *place = (struct place){place->text, 0, 1, 1};
    for (; place->at < at; place->at++) {
        unsigned char c = (unsigned char)place->text[place->at];
        if (c == '\n') {
            place->line++;
            place->col = 1;
        } else if ((c & 0xc0) != 0x80)
            place->col++;
    }
    return (struct err_pos){file, place->line, place->col};
}

// ---- values ----------------------------------------------------------------------------------

// 1e5 and 2048.0 are whole numbers, too: a count takes their digits.
static struct span as_count(struct pair_list *l, struct span s)
{
    uint64_t millionths;
    bool overflow, broken = span_find(s, ".") < s.len || span_find(s, "e") < s.len ||
                            span_find(s, "E") < s.len;
    if (s.len == 0 || s.len > 24 || !broken || s.at[0] < '0' || s.at[0] > '9' ||
        !text_to_millionths(s.at, s.len, &millionths, &overflow) || millionths % 1000000 != 0 ||
        millionths == 0)
        return s;
    char digits[TEXT_DIGITS];
    return pairs_keep(l, span_of_number(millionths / 1000000, digits));
}

void pairs_add(struct pair_list *l, struct span value, size_t key_at, size_t value_at)
{
    struct err_pos key_pos = pairs_pos(l, NULL, key_at), value_pos = pairs_pos(l, NULL, value_at);
    struct span key = pairs_keep(l, (struct span){l->path, l->path_len}),
                own = pairs_keep(l, as_count(l, value));
    void *at = l->at;
    if (l->failed || mem_grow(l->arena.mem, &at, &l->cap, l->count + 1, sizeof *l->at) != 0) {
        l->failed = true;
        return;
    }
    l->at = at;
    l->at[l->count++] = (struct vram_pair){key.at,      own.at,         key_pos.line,
                                           key_pos.col, value_pos.line, value_pos.col};
}

void pairs_say(struct pair_list *l, struct span key, struct span value, size_t at)
{
    size_t before = pairs_enter(l, key);
    if (before == SIZE_MAX)
        return;
    pairs_add(l, value, at, at);
    pairs_leave(l, before);
}

void pairs_drop(struct pair_list *l, const char *prefix)
{
    size_t kept = 0;
    for (size_t i = 0; i < l->count; i++)
        if (!span_starts(span_of(l->at[i].key), prefix))
            l->at[kept++] = l->at[i];
    l->count = kept;
}

void pairs_drop_unread(struct pair_list *l, size_t first)
{
    if (first + 1 == l->count && span_is(span_of(l->at[first].value), PAIRS_NOT_LITERAL))
        l->count = first;
}
