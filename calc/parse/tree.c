// Owns the storage of values out of pickles and JSON, and the ways through it.

#include "calc/parse/tree.h"

#include "calc/base/text.h"

void tree_free(struct tree *t)
{
    mem_free(t->mem, t->items, t->item_cap * sizeof *t->items);
    mem_free(t->mem, t->runs, t->run_cap * sizeof *t->runs);
    mem_free(t->mem, t->lists, t->list_cap * sizeof *t->lists);
    mem_free(t->mem, t->strings, t->string_cap);
    t->items = NULL;
    t->runs = NULL;
    t->lists = NULL;
    t->strings = NULL;
    t->item_cap = t->run_cap = t->list_cap = t->string_cap = 0;
}

bool tree_new(struct tree *t, uint32_t kind, struct tree_value *out)
{
    if (t->list_count >= TREE_END || mem_grow(t->mem, (void **)&t->lists, &t->list_cap,
                                              t->list_count + 1, sizeof *t->lists) != VRAM_OK)
        return false;
    t->lists[t->list_count] = (struct tree_list){TREE_END, TREE_END, 0};
    *out = (struct tree_value){kind, 0, t->list_count++};
    return true;
}

// The run that a list's new items go to: its last where that is the end of all items, else a new
// one.
static struct tree_run *run_for(struct tree *t, struct tree_list *list)
{
    struct tree_run *last = list->last == TREE_END ? NULL : &t->runs[list->last];
    if (last && last->first + last->count == t->item_count)
        return last;
    if (t->run_count >= TREE_END || mem_grow(t->mem, (void **)&t->runs, &t->run_cap,
                                             t->run_count + 1, sizeof *t->runs) != VRAM_OK)
        return NULL;
    uint32_t number = (uint32_t)t->run_count++;
    t->runs[number] = (struct tree_run){t->item_count, 0, TREE_END};
    if (list->last == TREE_END)
        list->first = number;
    else
        t->runs[list->last].next = number;
    list->last = number;
    return &t->runs[number];
}

int tree_append(struct tree *t, const struct tree_value *to, const struct tree_value *items,
                size_t count)
{
    struct tree_list *list = &t->lists[to->n];
    if (count == 0)
        return VRAM_OK;
    struct tree_run *run = run_for(t, list);
    if (!run || mem_grow(t->mem, (void **)&t->items, &t->item_cap, t->item_count + count,
                         sizeof *t->items) != VRAM_OK)
        return VRAM_ENOMEM;
    mem_copy(t->items + t->item_count, items, count * sizeof *items);
    t->item_count += count;
    run->count += count;
    list->count += count;
    return VRAM_OK;
}

bool tree_pay(struct tree *t, uint64_t steps)
{
    if (steps <= t->budget) {
        t->budget -= steps;
        return true;
    }
    t->budget = 0;
    err_set(t->err, MESSAGE_snapshot_endless, (struct err_pos){t->file, 0, 0}, NO_FIELD, NO_ARGS);
    return false;
}

struct tree_walk tree_items(const struct tree *t, const struct tree_value *list)
{
    bool is_list = list->kind == TREE_LIST || list->kind == TREE_DICT;
    return (struct tree_walk){is_list ? t->lists[list->n].first : TREE_END, 0};
}

bool tree_next(struct tree *t, struct tree_walk *w, struct tree_value *out)
{
    while (w->run != TREE_END && w->at == t->runs[w->run].count)
        *w = (struct tree_walk){t->runs[w->run].next, 0};
    if (w->run == TREE_END || !tree_pay(t, 1))
        return false;
    *out = t->items[t->runs[w->run].first + w->at++];
    return true;
}

struct tree_value tree_get(struct tree *t, const struct tree_value *dict, const char *key)
{
    struct tree_value found = {TREE_NONE, 0, 0}, name, value;
    if (dict->kind != TREE_DICT)
        return found;
    struct tree_walk w = tree_items(t, dict);
    while (tree_next(t, &w, &name) && tree_next(t, &w, &value))
        if (name.kind == TREE_STR && span_is(tree_str(t, &name), key))
            found = value;
    return found;
}

struct span tree_str(const struct tree *t, const struct tree_value *v)
{
    const char *from = t->strings ? t->strings : t->text;
    return v->kind == TREE_STR ? (struct span){from + v->n, v->len} : (struct span){"", 0};
}

uint64_t tree_u64(const struct tree_value *v)
{
    return (v->kind == TREE_INT || v->kind == TREE_BOOL) && v->n <= INT64_MAX ? v->n : 0;
}

bool tree_is_true(const struct tree_value *v)
{
    return (v->kind == TREE_BOOL || v->kind == TREE_INT) && v->n != 0;
}
