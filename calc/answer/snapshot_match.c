// Owns the comparison of what was alive with what should have been.

#include "calc/answer/snapshot_match.h"

int live_set_add(struct live_set *s, const struct vram_mem *mem, struct live_item item)
{
    int rc = mem_grow(mem, (void **)&s->at, &s->cap, s->count + 1, sizeof *s->at);
    if (rc == VRAM_OK)
        s->at[s->count++] = item;
    return rc;
}

void live_set_free(struct live_set *s, const struct vram_mem *mem)
{
    mem_free(mem, s->at, s->cap * sizeof *s->at);
    *s = (struct live_set){NULL, 0, 0};
}

static int compare_spans(struct span a, struct span b)
{
    for (size_t i = 0; i < a.len && i < b.len; i++)
        if (a.at[i] != b.at[i])
            return (unsigned char)a.at[i] < (unsigned char)b.at[i] ? -1 : 1;
    return a.len < b.len ? -1 : a.len > b.len;
}

static int compare_places(const struct live_item *a, const struct live_item *b)
{
    int order = a->category != b->category ? (a->category < b->category ? -1 : 1)
                                           : compare_spans(a->file, b->file);
    if (order == 0)
        order = a->line != b->line ? (a->line < b->line ? -1 : 1) : compare_spans(a->name, b->name);
    return order;
}

static bool is_before(const struct live_item *a, const struct live_item *b)
{
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes;
    return compare_places(a, b) < 0;
}

static void sift(struct live_item *at, size_t root, size_t count)
{
    struct live_item item = at[root];
    for (size_t child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && is_before(&at[child], &at[child + 1]))
            child++;
        if (!is_before(&item, &at[child]))
            break;
        at[root] = at[child];
    }
    at[root] = item;
}

void live_set_sort(struct live_set *s)
{
    for (size_t i = s->count / 2; i-- > 0;)
        sift(s->at, i, s->count);
    for (size_t end = s->count; end-- > 1;) {
        struct live_item first = s->at[0];
        s->at[0] = s->at[end];
        s->at[end] = first;
        sift(s->at, 0, end);
    }
}

// The allocator's unit: an old snapshot knows the sizes of its blocks alone.
static uint64_t rounded(const struct live_item *item)
{
    return item->bytes / 512 + (item->bytes % 512 != 0);
}

void live_set_match(struct live_set *blocks, struct live_set *tensors)
{
    size_t b = 0, t = 0;
    while (b < blocks->count && t < tensors->count) {
        struct live_item *block = &blocks->at[b], *tensor = &tensors->at[t];
        if (rounded(block) == rounded(tensor)) {
            block->matched = tensor->matched = true;
            if (block->category == SNAPSHOT_UNKNOWN)
                block->category = tensor->category;
        }
        b += rounded(block) >= rounded(tensor);
        t += rounded(block) <= rounded(tensor);
    }
}

const char *span_keep(struct mem_arena *arena, struct span s)
{
    char *text = mem_arena_new(arena, s.len + 1, 1);
    if (text)
        mem_copy(text, s.at, s.len);
    return text;
}

static int row_of(struct mem_arena *arena, const struct live_item *item,
                  struct vram_snapshot_block *out)
{
    *out = (struct vram_snapshot_block){
        .bytes = item->bytes,
        .count = 1,
        .category = item->category == SNAPSHOT_UNKNOWN ? NULL : vram_category_name(item->category),
        .file = span_keep(arena, item->file),
        .name = span_keep(arena, item->name),
        .line = item->line};
    return out->file && out->name ? VRAM_OK : VRAM_ENOMEM;
}

// By what a row has in all: many small ones of one line can be more than one large.
static void put_row(struct vram_snapshot_block *rows, size_t *count,
                    const struct vram_snapshot_block *row)
{
    size_t at = *count < SNAPSHOT_ROWS ? (*count)++ : SNAPSHOT_ROWS;
    while (at > 0 && rows[at - 1].bytes * rows[at - 1].count < row->bytes * row->count) {
        if (at < SNAPSHOT_ROWS)
            rows[at] = rows[at - 1];
        at--;
    }
    if (at < SNAPSHOT_ROWS)
        rows[at] = *row;
}

int live_set_rows(const struct live_set *s, bool all, struct mem_arena *arena,
                  const struct vram_snapshot_block **out, size_t *count)
{
    struct vram_snapshot_block *rows = mem_arena_new(arena, SNAPSHOT_ROWS, sizeof *rows);
    *count = 0;
    *out = rows;
    if (!rows)
        return VRAM_ENOMEM;
    for (size_t i = 0; i < s->count;) {
        const struct live_item *item = &s->at[i];
        uint64_t same = 0;
        for (;
             i < s->count && s->at[i].bytes == item->bytes && compare_places(&s->at[i], item) == 0;
             i++)
            same += all || !s->at[i].matched;
        const struct vram_snapshot_block *last = &rows[SNAPSHOT_ROWS - 1];
        bool wanted =
            same && (*count < SNAPSHOT_ROWS || item->bytes * same > last->bytes * last->count);
        struct vram_snapshot_block row;
        if (wanted && row_of(arena, item, &row) != VRAM_OK)
            return VRAM_ENOMEM;
        row.count = same;
        if (wanted)
            put_row(rows, count, &row);
    }
    return VRAM_OK;
}
