// Tables and arrays of TOML: what a key or a header may name, and who is in a table.
// The index of a table is a crit-bit tree, D. J. Bernstein, https://cr.yp.to/critbit.html: a search
// reads as many bits as the key has, so that no choice of keys makes it slow, and needs no random
// seed.

#include "calc/toml/toml_read.h"

// A leaf holds a value; a fork holds the bit that its two sides differ in first, and any value
// below.
struct toml_index {
    struct toml_value *value;
    size_t bit;
    struct toml_index *side[2];  // NULL in a leaf
};

// Bits of a key, nine a byte: one that says that the byte is there, so that no key is the beginning
// of another.
static unsigned key_bit(struct toml_text key, size_t bit)
{
    size_t byte = bit / 9, place = bit % 9;
    if (byte >= key.len)
        return 0;
    return place == 0 ? 1 : (unsigned char)key.at[byte] >> (8 - place) & 1;
}

// The first bit in which two keys differ, or SIZE_MAX.
static size_t first_difference(struct toml_text a, struct toml_text b)
{
    size_t byte = 0, most = a.len < b.len ? a.len : b.len;
    while (byte < most && a.at[byte] == b.at[byte])
        byte++;
    if (byte == a.len && byte == b.len)
        return SIZE_MAX;
    size_t bit = byte * 9;
    while (key_bit(a, bit) == key_bit(b, bit))
        bit++;
    return bit;
}

// A value whose key begins as key does, as far as the table's keys tell; NULL in an empty table.
static struct toml_value *nearest(const struct toml_value *table, struct toml_text key)
{
    const struct toml_index *i = table->index;
    // Behind the key's end all keys below are longer, and any of them will do.
    while (i && i->side[0] && i->bit <= key.len * 9)
        i = i->side[key_bit(key, i->bit)];
    return i ? i->value : NULL;
}

static struct toml_value *find(const struct toml_value *table, struct toml_text key)
{
    struct toml_value *v = nearest(table, key);
    return v && first_difference(v->key, key) == SIZE_MAX ? v : NULL;
}

const struct toml_value *toml_get(const struct toml_value *table, struct toml_text key)
{
    return find(table, key);
}

// Enters a value whose key the table does not have.
static bool enter(struct toml_reader *r, struct toml_value *table, struct toml_value *v)
{
    struct toml_index *leaf = toml_alloc(r, sizeof *leaf), **at = &table->index;
    if (!leaf)
        return false;
    *leaf = (struct toml_index){.value = v};
    if (!*at)
        return *at = leaf, true;
    size_t bit = first_difference(nearest(table, v->key)->key, v->key);
    while ((*at)->side[0] && (*at)->bit < bit)
        at = &(*at)->side[key_bit(v->key, (*at)->bit)];
    struct toml_index *fork = toml_alloc(r, sizeof *fork);
    if (!fork)
        return false;
    unsigned side = key_bit(v->key, bit);
    *fork = (struct toml_index){.value = v, .bit = bit};
    fork->side[side] = leaf;
    fork->side[!side] = *at;
    *at = fork;
    return true;
}

static void append(struct toml_value *to, struct toml_value *v)
{
    if (to->last)
        to->last->next = v;
    else
        to->first = v;
    to->last = v;
    to->count++;
}

// A new value that lies one level below its parent; its kind is that of an empty table.
static struct toml_value *below(struct toml_reader *r, const struct toml_value *parent,
                                size_t offset)
{
    if (parent->depth >= TOML_MAX_DEPTH)
        return toml_fail(r, offset, TOML_E_DEEP), NULL;
    struct toml_value *v = toml_alloc(r, sizeof *v);
    if (!v)
        return NULL;
    v->offset = offset;
    v->depth = (uint8_t)(parent->depth + 1);
    return v;
}

struct toml_value *toml_table_new(struct toml_reader *r)
{
    return toml_alloc(r, sizeof(struct toml_value));
}

struct toml_value *toml_add_item(struct toml_reader *r, struct toml_value *array, size_t offset)
{
    struct toml_value *v = below(r, array, offset);
    if (v)
        append(array, v);
    return v;
}

static struct toml_value *add_key(struct toml_reader *r, struct toml_value *table,
                                  const struct toml_path *p, size_t part)
{
    struct toml_value *v = below(r, table, p->offset[part]);
    if (!v)
        return NULL;
    v->key = p->part[part];
    v->key_offset = p->offset[part];
    if (!enter(r, table, v))
        return NULL;
    append(table, v);
    return v;
}

static struct toml_value *refuse(struct toml_reader *r, size_t offset, enum toml_error_id id,
                                 const struct toml_value *first)
{
    toml_fail_name(r, offset, id, first->key_offset);
    return NULL;
}

// One part of a header's name that is not its last: a table, or the last table of an array.
static struct toml_value *step_header(struct toml_reader *r, struct toml_value *table,
                                      const struct toml_path *p, size_t part)
{
    struct toml_value *v = find(table, p->part[part]);
    if (!v) {
        v = add_key(r, table, p, part);
        if (v)
            v->made = TOML_BY_SUPER;
        return v;
    }
    if (v->kind == TOML_ARRAY)
        return v->made == TOML_BY_HEADER ? v->last
                                         : refuse(r, p->offset[part], TOML_E_ARRAY_CLOSED, v);
    if (v->kind != TOML_TABLE)
        return refuse(r, p->offset[part], TOML_E_NOT_TABLE, v);
    return v->made == TOML_BY_VALUE ? refuse(r, p->offset[part], TOML_E_TABLE_CLOSED, v) : v;
}

// [name]: a new table, or one that headers of tables below it have made.
static struct toml_value *open_table(struct toml_reader *r, struct toml_value *in,
                                     const struct toml_path *p, size_t offset)
{
    size_t part = p->count - 1;
    struct toml_value *v = find(in, p->part[part]);
    if (v && v->kind != TOML_TABLE)
        return refuse(r, p->offset[part], TOML_E_NOT_TABLE, v);
    if (v && v->made != TOML_BY_SUPER)
        return refuse(r, p->offset[part], TOML_E_TABLE_TWICE, v);
    if (!v)
        v = add_key(r, in, p, part);
    if (v) {
        v->made = TOML_BY_HEADER;
        v->offset = offset;
    }
    return v;
}

// [[name]]: one more table at the end of an array.
static struct toml_value *open_item(struct toml_reader *r, struct toml_value *in,
                                    const struct toml_path *p, size_t offset)
{
    size_t part = p->count - 1;
    struct toml_value *v = find(in, p->part[part]);
    if (v && v->kind != TOML_ARRAY)
        return refuse(r, p->offset[part], TOML_E_NOT_ARRAY, v);
    if (v && v->made != TOML_BY_HEADER)
        return refuse(r, p->offset[part], TOML_E_ARRAY_CLOSED, v);
    if (!v) {
        v = add_key(r, in, p, part);
        if (!v)
            return NULL;
        v->kind = TOML_ARRAY;
        v->made = TOML_BY_HEADER;
        v->offset = offset;
    }
    struct toml_value *item = toml_add_item(r, v, offset);
    if (item)
        item->made = TOML_BY_HEADER;
    return item;
}

struct toml_value *toml_open_header(struct toml_reader *r, const struct toml_path *p, bool is_array,
                                    size_t offset)
{
    struct toml_value *table = r->root;
    for (size_t i = 0; table && i + 1 < p->count; i++)
        table = step_header(r, table, p, i);
    return table ? (is_array ? open_item : open_table)(r, table, p, offset) : NULL;
}

// One part of a dotted key that is not its last: a table that dotted keys have made, or a new one.
static struct toml_value *step_key(struct toml_reader *r, struct toml_value *table,
                                   const struct toml_path *p, size_t part)
{
    struct toml_value *v = find(table, p->part[part]);
    if (v && v->kind != TOML_TABLE)
        return refuse(r, p->offset[part],
                      v->kind == TOML_ARRAY ? TOML_E_ARRAY_CLOSED : TOML_E_NOT_TABLE, v);
    if (v && (v->made == TOML_BY_HEADER || v->made == TOML_BY_VALUE))
        return refuse(r, p->offset[part], TOML_E_TABLE_CLOSED, v);
    if (!v)
        v = add_key(r, table, p, part);
    if (v)
        v->made = TOML_BY_DOTS;
    return v;
}

struct toml_value *toml_open_key(struct toml_reader *r, struct toml_value *table,
                                 const struct toml_path *p)
{
    size_t last = p->count - 1;
    for (size_t i = 0; table && i < last; i++)
        table = step_key(r, table, p, i);
    if (!table)
        return NULL;
    struct toml_value *v = find(table, p->part[last]);
    return v ? refuse(r, p->offset[last], TOML_E_TWICE, v) : add_key(r, table, p, last);
}
