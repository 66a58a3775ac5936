// Values of a pickle or of JSON: dictionaries, lists, strings, numbers. Nothing in them is ever
// run.
//
// A list is a chain of runs of items, as it grew; what is shared is stored once, so the whole takes
// no more than some multiple of the text. Walking it can take longer than reading it (one list in a
// million places): whoever walks pays with tree_pay.

#ifndef CALC_TREE_H
#define CALC_TREE_H

#include "calc/base/err.h"
#include "calc/base/mem.h"
#include "calc/base/span.h"

enum tree_kind {
    TREE_NONE,
    TREE_BOOL,
    TREE_INT,
    TREE_FLOAT,
    TREE_STR,
    TREE_LIST,
    TREE_DICT,
    TREE_MARK
};

struct tree_value {
    uint32_t kind;  // enum tree_kind
    uint32_t len;   // of a string
    uint64_t n;     // number; a string's first byte in the text; a list's or dictionary's number
};

struct tree_run {
    uint64_t first, count;  // items
    uint32_t next;          // run, or TREE_END
};

struct tree_list {
    uint32_t first, last;  // runs, or TREE_END
    uint64_t count;        // items; of a dictionary keys and values
};

enum { TREE_END = 0xffffffffu };

struct tree {
    const struct vram_mem *mem;
    const char *text;
    size_t len;
    const char *file;  // for messages
    struct message *err;
    struct tree_value *items, root;
    struct tree_run *runs;
    struct tree_list *lists;
    size_t item_count, item_cap, run_count, run_cap, list_count, list_cap;
    char *strings;  // of JSON, without their escapes
    size_t string_len, string_cap;
    uint64_t budget;  // steps that are left to walk
};

// The readers. Errors are recorded in *err; the tree is then still to be freed.
int tree_read_pickle(struct tree *t);
int tree_read_json(struct tree *t);
void tree_free(struct tree *t);

// A new list or dictionary without items; false: no memory.
bool tree_new(struct tree *t, uint32_t kind, struct tree_value *out);

// Appends items, keys and values in turn of a dictionary.
int tree_append(struct tree *t, const struct tree_value *to, const struct tree_value *items,
                size_t count);

// The member of a dictionary, the last where there are several; TREE_NONE where there is none.
struct tree_value tree_get(struct tree *t, const struct tree_value *dict, const char *key);
struct span tree_str(const struct tree *t,
                     const struct tree_value *v);  // empty unless it is a string
uint64_t tree_u64(const struct tree_value *v);     // 0 unless it is a number of 0 or more
bool tree_is_true(const struct tree_value *v);

// The items of a list, one by one; those of anything else are none.
struct tree_walk {
    uint32_t run;
    uint64_t at;
};
struct tree_walk tree_items(const struct tree *t, const struct tree_value *list);
bool tree_next(struct tree *t, struct tree_walk *w, struct tree_value *out);

// Pays for `steps` steps; false, with an error, when a walk has taken longer than any snapshot that
// was written can.
bool tree_pay(struct tree *t, uint64_t steps);

#endif
