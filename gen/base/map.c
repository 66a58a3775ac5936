// A hash map with open addressing beside an array of entries in order of insertion.
#include "gen/base/map.h"

#include <string.h>

// In the hostile build the order of slots changes from run to run: nothing may depend on it.
static uint64_t key_hash(str key)
{
    uint64_t h = str_hash(key);
#ifdef BASE_HOSTILE
    static const char here;
    h ^= ((uint64_t)(uintptr_t)&here >> 12) * 0x9e3779b97f4a7c15u;
#endif
    return h;
}

static uint32_t tag_of(uint64_t hash)
{
    return (uint32_t)(hash >> 32);
}

// The slot that holds key, or the empty one where it would go.
static struct map_slot *find_slot(const struct map *m, str key, uint64_t hash)
{
    size_t mask = m->slot_count - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        struct map_slot *slot = &m->slots[i];
        if (!slot->index ||
            (slot->tag == tag_of(hash) && str_eq(m->entries[slot->index - 1].key, key)))
            return slot;
    }
}

static void grow_slots(struct map *m, arena *a, size_t need)
{
    // At most three quarters full, so that a search always meets an empty slot.
    m->slot_count = m->slot_count ? m->slot_count * 2 : 8;
    while (need * 4 > m->slot_count * 3)
        m->slot_count *= 2;
    m->slots = arena_new(a, struct map_slot, m->slot_count);
    size_t mask = m->slot_count - 1;
    for (size_t e = 0; e < m->count; e++) {
        uint64_t hash = m->entries[e].hash;
        size_t i = hash & mask;
        while (m->slots[i].index)
            i = (i + 1) & mask;
        m->slots[i] = (struct map_slot){(uint32_t)(e + 1), tag_of(hash)};
    }
}

static const struct map_entry *find(const struct map *m, str key)
{
    if (m->count == 0)
        return NULL;
    uint32_t index = find_slot(m, key, key_hash(key))->index;
    return index ? &m->entries[index - 1] : NULL;
}

void *map_get(const struct map *m, str key)
{
    const struct map_entry *e = find(m, key);
    return e ? e->value : NULL;
}

bool map_has(const struct map *m, str key)
{
    return find(m, key) != NULL;
}

static void **put(struct map *m, arena *a, str key, bool copy, bool *is_new)
{
    if ((m->count + 1) * 4 > m->slot_count * 3)
        grow_slots(m, a, m->count + 1);
    uint64_t hash = key_hash(key);
    struct map_slot *slot = find_slot(m, key, hash);
    if (is_new)
        *is_new = slot->index == 0;
    if (slot->index == 0) {
        m->entries = arena_grow(a, m->entries, m->count, &m->cap, m->count + 1, sizeof *m->entries);
        m->entries[m->count] = (struct map_entry){copy ? arena_str(a, key) : key, NULL, hash};
        *slot = (struct map_slot){(uint32_t)++m->count, tag_of(hash)};
    }
    return &m->entries[slot->index - 1].value;
}

void **map_put(struct map *m, arena *a, str key, bool *is_new)
{
    return put(m, a, key, true, is_new);
}

void **map_put_kept(struct map *m, arena *a, str key, bool *is_new)
{
    return put(m, a, key, false, is_new);
}

void map_reserve(struct map *m, arena *a, size_t more)
{
    size_t need = m->count + more;
    if (need * 4 > m->slot_count * 3)
        grow_slots(m, a, need);
    m->entries = arena_grow(a, m->entries, m->count, &m->cap, need, sizeof *m->entries);
}
