// Reads a pickle of plain data (dictionaries, lists, tuples, strings, numbers, None, booleans),
// protocol 2 to 5. What would import or call something is refused: a pickle is a program, and this
// one is not run.
//
// SRC: CPython, Lib/pickletools.py, the opcodes; Lib/pickle.py, what its Pickler writes;
// torch/csrc/jit/serialization/ pickler.cpp, what torch's writes.

#include "calc/parse/tree.h"

struct pickle {
    struct tree *t;
    size_t at;  // read so far
    size_t op;  // where the opcode is
    struct tree_value *stack, *memo;
    size_t stack_count, stack_cap, memo_count, memo_cap;
    bool failed, done;
};

static void fail(struct pickle *p, message_id id)
{
    p->failed = true;
    err_set(p->t->err, id, (struct err_pos){p->t->file, 0, 0}, NO_FIELD,
            ARGS(arg_u64("byte", p->op),
                 arg_u64("code", p->op < p->t->len ? (unsigned char)p->t->text[p->op] : 0)));
}

static void no_memory(struct pickle *p)
{
    p->failed = true;
    err_set(p->t->err, MESSAGE_out_of_memory, NO_POS, NO_FIELD, NO_ARGS);
}

// ---- the stack and the memo ------------------------------------------------------------------

static void push(struct pickle *p, struct tree_value v)
{
    if (mem_grow(p->t->mem, (void **)&p->stack, &p->stack_cap, p->stack_count + 1,
                 sizeof *p->stack) == VRAM_OK)
        p->stack[p->stack_count++] = v;
    else
        no_memory(p);
}

static void push_int(struct pickle *p, uint64_t n)
{
    push(p, (struct tree_value){TREE_INT, 0, n});
}

// Index of the topmost mark; without one it is an error.
static size_t mark(struct pickle *p)
{
    size_t i = p->stack_count;
    while (i > 0 && p->stack[i - 1].kind != TREE_MARK)
        i--;
    if (i == 0)
        fail(p, MESSAGE_pickle_broken);
    return i ? i - 1 : 0;
}

// A list, tuple or dictionary of the topmost items from `from` on, in place of `drop` of them.
static void collect(struct pickle *p, uint32_t kind, size_t from, size_t drop)
{
    struct tree_value v;
    for (size_t i = from; i < p->stack_count && !p->failed; i++)
        if (p->stack[i].kind == TREE_MARK)
            fail(p, MESSAGE_pickle_broken);
    if (!p->failed && kind == TREE_DICT && (p->stack_count - from) % 2)
        fail(p, MESSAGE_pickle_broken);
    if (p->failed)
        return;
    if (!tree_new(p->t, kind, &v) ||
        (p->stack_count > from &&
         tree_append(p->t, &v, p->stack + from, p->stack_count - from) != VRAM_OK)) {
        no_memory(p);
        return;
    }
    p->stack_count = drop;
    push(p, v);
}

static void tuple(struct pickle *p, size_t count)
{
    if (p->stack_count < count)
        fail(p, MESSAGE_pickle_broken);
    else
        collect(p, TREE_LIST, p->stack_count - count, p->stack_count - count);
}

static void from_mark(struct pickle *p, uint32_t kind)
{
    size_t at = mark(p);
    if (!p->failed)
        collect(p, kind, at + 1, at);
}

// Items of the stack from `from` on go to the list or dictionary below `below`.
static void extend(struct pickle *p, uint32_t kind, size_t from, size_t below)
{
    if (p->failed || below == 0 || from > p->stack_count || p->stack[below - 1].kind != kind ||
        (kind == TREE_DICT && (p->stack_count - from) % 2)) {
        fail(p, MESSAGE_pickle_broken);
        return;
    }
    if (tree_append(p->t, &p->stack[below - 1], p->stack + from, p->stack_count - from) != VRAM_OK)
        no_memory(p);
    p->stack_count = below;
}

static void extend_mark(struct pickle *p, uint32_t kind)
{
    size_t at = mark(p);
    if (!p->failed)
        extend(p, kind, at + 1, at);
}

static void extend_by(struct pickle *p, uint32_t kind, size_t count)
{
    size_t from = p->stack_count > count ? p->stack_count - count : 0;
    for (size_t i = from; i < p->stack_count; i++)
        if (p->stack[i].kind == TREE_MARK)
            from = 0;
    extend(p, kind, from, from);
}

// A pickle of n bytes needs no more than n numbers in its memo.
static void memo_put(struct pickle *p, uint64_t number)
{
    if (p->stack_count == 0 || number > p->t->len ||
        p->stack[p->stack_count - 1].kind == TREE_MARK) {
        fail(p, MESSAGE_pickle_broken);
        return;
    }
    size_t before = p->memo_cap;
    if (mem_grow(p->t->mem, (void **)&p->memo, &p->memo_cap, number + 1, sizeof *p->memo) !=
        VRAM_OK) {
        no_memory(p);
        return;
    }
    for (size_t i = before; i < p->memo_cap; i++)
        p->memo[i].kind = TREE_MARK;
    p->memo[number] = p->stack[p->stack_count - 1];
    p->memo_count++;
}

static void memo_get(struct pickle *p, uint64_t number)
{
    if (number >= p->memo_cap || p->memo[number].kind == TREE_MARK)
        fail(p, MESSAGE_pickle_broken);
    else
        push(p, p->memo[number]);
}

// ---- arguments -------------------------------------------------------------------------------

// A little-endian number, by its length in bytes.
static uint64_t little(struct pickle *p, size_t bytes)
{
    uint64_t n = 0;
    if (p->failed || p->t->len - p->at < bytes) {
        fail(p, MESSAGE_pickle_short);
        return 0;
    }
    for (size_t i = 0; i < bytes; i++)
        n |= (uint64_t)(unsigned char)p->t->text[p->at + i] << 8 * i;
    p->at += bytes;
    return n;
}

static bool skip(struct pickle *p, uint64_t bytes)
{
    if (p->failed)
        return false;
    if (p->t->len - p->at < bytes) {
        fail(p, MESSAGE_pickle_short);
        return false;
    }
    p->at += (size_t)bytes;
    return true;
}

// A string behind its length, a number of width bytes.
static void string(struct pickle *p, size_t width)
{
    uint64_t len = little(p, width);
    size_t from = p->at;
    if (len > UINT32_MAX)
        fail(p, MESSAGE_pickle_short);
    if (skip(p, len))
        push(p, (struct tree_value){TREE_STR, (uint32_t)len, from});
}

static uint64_t sign_extend(uint64_t n, size_t bytes)
{
    return bytes < 8 && bytes > 0 && n >> (8 * bytes - 1) & 1 ? n | ~(uint64_t)0 << 8 * bytes : n;
}

// LONG: two's complement of any length. What has more than 64 bits (a cap of memory that was never
// set) is cut to the largest.
static void longint(struct pickle *p, size_t width)
{
    uint64_t len = little(p, width);
    if (p->failed)
        return;
    if (len <= 8) {
        push_int(p, sign_extend(little(p, (size_t)len), (size_t)len));
        return;
    }
    if (skip(p, len)) {
        bool zero = true;  // an unsigned number of 64 bits has a ninth byte of 0
        for (size_t i = 8; i < len && zero; i++)
            zero = p->t->text[p->at - len + i] == 0;
        push_int(p, zero ? INT64_MAX : (uint64_t)INT64_MIN);
    }
}

// ---- opcodes ---------------------------------------------------------------------------------

static void pop(struct pickle *p)
{
    if (p->stack_count == 0)
        fail(p, MESSAGE_pickle_broken);
    else
        p->stack_count--;
}

static void pop_mark(struct pickle *p)
{
    size_t at = mark(p);
    if (!p->failed)
        p->stack_count = at;
}

static void stop(struct pickle *p)
{
    if (p->stack_count != 1 || p->stack[0].kind == TREE_MARK) {
        fail(p, MESSAGE_pickle_broken);
        return;
    }
    p->t->root = p->stack[0];
    p->done = true;
}

static void empty(struct pickle *p, uint32_t kind)
{
    collect(p, kind, p->stack_count, p->stack_count);
}

// SRC: pickletools.py, opcodes; the letters are its codes.
static bool build(struct pickle *p, unsigned char op)
{
    switch (op) {
    case '}': empty(p, TREE_DICT); return true;
    case ']': empty(p, TREE_LIST); return true;
    case ')': empty(p, TREE_LIST); return true;
    case '(': push(p, (struct tree_value){TREE_MARK, 0, 0}); return true;
    case 'd': from_mark(p, TREE_DICT); return true;
    case 'l': from_mark(p, TREE_LIST); return true;
    case 't': from_mark(p, TREE_LIST); return true;
    case 0x85: tuple(p, 1); return true;
    case 0x86: tuple(p, 2); return true;
    case 0x87: tuple(p, 3); return true;
    case 'a': extend_by(p, TREE_LIST, 1); return true;
    case 'e': extend_mark(p, TREE_LIST); return true;
    case 's': extend_by(p, TREE_DICT, 2); return true;
    case 'u': extend_mark(p, TREE_DICT); return true;
    case '0': pop(p); return true;
    case '1': pop_mark(p); return true;
    case 'h': memo_get(p, little(p, 1)); return true;
    case 'j': memo_get(p, little(p, 4)); return true;
    case 'q': memo_put(p, little(p, 1)); return true;
    case 'r': memo_put(p, little(p, 4)); return true;
    case 0x94: memo_put(p, p->memo_count); return true;
    case '.': stop(p); return true;
    default: return false;
    }
}

static bool literal(struct pickle *p, unsigned char op)
{
    switch (op) {
    case 'N': push(p, (struct tree_value){TREE_NONE, 0, 0}); return true;
    case 0x88: push(p, (struct tree_value){TREE_BOOL, 0, 1}); return true;
    case 0x89: push(p, (struct tree_value){TREE_BOOL, 0, 0}); return true;
    case 'K': push_int(p, little(p, 1)); return true;
    case 'M': push_int(p, little(p, 2)); return true;
    case 'J': push_int(p, sign_extend(little(p, 4), 4)); return true;
    case 0x8a: longint(p, 1); return true;
    case 0x8b: longint(p, 4); return true;
    case 'G': push(p, (struct tree_value){TREE_FLOAT, 0, little(p, 8)}); return true;
    case 0x8c: string(p, 1); return true;
    case 'X': string(p, 4); return true;
    case 0x8d: string(p, 8); return true;
    case 0x95: little(p, 8); return true;
    default: return false;
    }
}

// Opcodes that import, call or build something of a class.
static bool calls(unsigned char op)
{
    static const unsigned char codes[] = {'c',  0x93, 'R',  'b', 'i', 'o',  0x81, 0x92,
                                          0x82, 0x83, 0x84, 'P', 'Q', 0x97, 0x98};
    for (size_t i = 0; i < sizeof codes; i++)
        if (codes[i] == op)
            return true;
    return false;
}

static void protocol(struct pickle *p)
{
    uint64_t number = little(p, 1);
    if (!p->failed && (number < 2 || number > 5))
        fail(p, MESSAGE_pickle_protocol);
}

static void step(struct pickle *p)
{
    p->op = p->at;
    if (p->at == p->t->len) {
        fail(p, MESSAGE_pickle_short);
        return;
    }
    unsigned char op = (unsigned char)p->t->text[p->at++];
    if (op == 0x80)
        protocol(p);
    else if (!build(p, op) && !literal(p, op))
        fail(p, calls(op) ? MESSAGE_pickle_calls : MESSAGE_pickle_unknown);
}

int tree_read_pickle(struct tree *t)
{
    struct pickle p = {.t = t};
    while (!p.failed && !p.done)
        step(&p);
    mem_free(t->mem, p.stack, p.stack_cap * sizeof *p.stack);
    mem_free(t->mem, p.memo, p.memo_cap * sizeof *p.memo);
    return p.failed ? t->err->out.code : VRAM_OK;
}
