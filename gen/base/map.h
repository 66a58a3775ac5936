// A map from bytes to a pointer that keeps the order of insertion.
#ifndef GEN_BASE_MAP_H
#define GEN_BASE_MAP_H

#include "gen/base/arena.h"

struct map_entry {
    str key;  // copied into the arena, but for map_put_kept
    void *value;
    uint64_t hash;
};

// index: of an entry, counted from 1; 0: empty. tag: a part of its hash, so that a search does not
// touch the entries of other keys.
struct map_slot {
    uint32_t index, tag;
};

// Lives in an arena; zero-initialise and give the arena with every insertion.
struct map {
    struct map_entry *entries;  // [count], in order of insertion
    struct map_slot *slots;     // open addressing
    size_t count, cap, slot_count;
};

void *map_get(const struct map *m, str key);  // NULL when absent
bool map_has(const struct map *m, str key);
// The place of key's value, made (NULL) when new. Valid until the next insertion.
void **map_put(struct map *m, arena *a, str key, bool *is_new);
// The same for a key that lives as long as the map: it is not copied, and ends with a NUL if the
// caller's does.
void **map_put_kept(struct map *m, arena *a, str key, bool *is_new);
// Makes room for `more` entries at once.
void map_reserve(struct map *m, arena *a, size_t more);

#endif
