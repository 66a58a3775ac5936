// Reads JSON into the same values as a pickle: snapshots written by json.dump, and `vramcalc trace
// --format json`.

#include "calc/parse/tree.h"

enum { DEPTH_MAX = 64 };

// Values of the open lists wait on a stack until their list is closed.
struct json_read {
    struct tree *t;
    size_t at;
    struct tree_value *stack;
    size_t count, cap;
    size_t begin[DEPTH_MAX];  // of the stack, by depth
    char close[DEPTH_MAX];
    unsigned depth;
    bool failed;
};

static void fail(struct json_read *r, message_id id)
{
    if (!r->failed)
        err_set(r->t->err, id,
                err_pos_of(r->t->file, r->t->text, r->at < r->t->len ? r->at : r->t->len), NO_FIELD,
                NO_ARGS);
    r->failed = true;
}

static void push(struct json_read *r, struct tree_value v)
{
    if (mem_grow(r->t->mem, (void **)&r->stack, &r->cap, r->count + 1, sizeof *r->stack) == VRAM_OK)
        r->stack[r->count++] = v;
    else
        fail(r, MESSAGE_out_of_memory);
}

static char peek(struct json_read *r)
{
    while (r->at < r->t->len && (r->t->text[r->at] == ' ' || r->t->text[r->at] == '\n' ||
                                 r->t->text[r->at] == '\r' || r->t->text[r->at] == '\t'))
        r->at++;
    return r->at < r->t->len ? r->t->text[r->at] : 0;
}

// ---- strings ---------------------------------------------------------------------------------

static void put_char(struct json_read *r, char c)
{
    r->t->strings[r->t->string_len++] = c;
}

static void put_code(struct json_read *r, uint32_t c)
{
    if (c < 0x80) {
        put_char(r, (char)c);
    } else if (c < 0x800) {
        put_char(r, (char)(0xc0 | c >> 6));
        put_char(r, (char)(0x80 | (c & 0x3f)));
    } else {
        put_char(r, (char)(0xe0 | c >> 12));
        put_char(r, (char)(0x80 | (c >> 6 & 0x3f)));
        put_char(r, (char)(0x80 | (c & 0x3f)));
    }
}

static uint32_t hex(struct json_read *r)
{
    uint32_t n = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        char c = r->at < r->t->len ? r->t->text[r->at] : 0;
        bool digit = c >= '0' && c <= '9', letter = (c | 32) >= 'a' && (c | 32) <= 'f';
        if (!digit && !letter) {
            fail(r, MESSAGE_snapshot_json);
            return 0;
        }
        n = n * 16 + (uint32_t)(digit ? c - '0' : (c | 32) - 'a' + 10);
    }
    return n;
}

// Halves of a surrogate pair become '?': names of files and functions have none that matter here.
static void escape(struct json_read *r)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    char c = r->at < r->t->len ? r->t->text[r->at++] : 0;
    if (c == 'u') {
        uint32_t n = hex(r);
        put_code(r, n >= 0xd800 && n < 0xe000 ? '?' : n);
        return;
    }
    for (size_t i = 0; i + 1 < sizeof from; i++)
        if (from[i] == c) {
            put_char(r, to[i]);
            return;
        }
    r->at--;
    fail(r, MESSAGE_snapshot_json);
}

// A string takes no more bytes than its text, so that one request of that size serves all.
static void string(struct json_read *r)
{
    size_t from = r->t->string_len;
    r->at++;
    while (!r->failed) {
        char c = r->at < r->t->len ? r->t->text[r->at] : 0;
        if ((unsigned char)c < 32) {
            fail(r, MESSAGE_snapshot_json);
        } else if (c == '"') {
            r->at++;
            break;
        } else if (c == '\\') {
            r->at++;
            escape(r);
        } else {
            put_char(r, c);
            r->at++;
        }
    }
    if (!r->failed)
        push(r, (struct tree_value){TREE_STR, (uint32_t)(r->t->string_len - from), from});
}

// ---- other values ----------------------------------------------------------------------------

// Whole numbers are read; a fraction or power only tells that it is one.
static void number(struct json_read *r)
{
    bool negative = r->t->text[r->at] == '-', whole = true;
    uint64_t n = 0;
    size_t digits = 0;
    for (r->at += negative; r->at < r->t->len; r->at++) {
        char c = r->t->text[r->at];
        if (c >= '0' && c <= '9') {
            n = n > INT64_MAX / 10 - 1 ? INT64_MAX : n * 10 + (uint64_t)(c - '0');
            digits++;
        } else if (c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-') {
            whole = false;
        } else {
            break;
        }
    }
    if (digits == 0)
        fail(r, MESSAGE_snapshot_json);
    else
        push(r,
             (struct tree_value){whole ? TREE_INT : TREE_FLOAT, 0, negative ? (uint64_t)0 - n : n});
}

static void word(struct json_read *r)
{
    static const struct {
        const char *name;
        struct tree_value value;
    } words[] = {{"true", {TREE_BOOL, 0, 1}},
                 {"false", {TREE_BOOL, 0, 0}},
                 {"null", {TREE_NONE, 0, 0}},
                 {"NaN", {TREE_FLOAT, 0, 0}},
                 {"Infinity", {TREE_FLOAT, 0, 0}}};
    struct span rest = {r->t->text + r->at, r->t->len - r->at};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (span_starts(rest, words[i].name)) {
            r->at += span_of(words[i].name).len;
            push(r, words[i].value);
            return;
        }
    fail(r, MESSAGE_snapshot_json);
}

static void open(struct json_read *r, char bracket)
{
    if (r->depth == DEPTH_MAX) {
        fail(r, MESSAGE_snapshot_json);
        return;
    }
    r->at++;
    r->close[r->depth] = bracket == '{' ? '}' : ']';
    r->begin[r->depth++] = r->count;
}

static void close(struct json_read *r)
{
    struct tree_value v;
    size_t from = r->begin[--r->depth];
    r->at++;
    if (!tree_new(r->t, r->close[r->depth] == '}' ? TREE_DICT : TREE_LIST, &v) ||
        (r->count > from && tree_append(r->t, &v, r->stack + from, r->count - from) != VRAM_OK))
        fail(r, MESSAGE_out_of_memory);
    r->count = from;
    push(r, v);
}

static void value(struct json_read *r, char c)
{
    if (c == '{' || c == '[')
        open(r, c);
    else if (c == '"')
        string(r);
    else if (c == '-' || (c >= '0' && c <= '9'))
        number(r);
    else
        word(r);
}

static bool in_dict(const struct json_read *r)
{
    return r->depth && r->close[r->depth - 1] == '}';
}

// Before a value: the key of a dictionary. false where the list is closed instead.
static bool before_value(struct json_read *r, bool first)
{
    char c = peek(r);
    if (first && r->depth && c == r->close[r->depth - 1]) {
        close(r);
        return false;
    }
    if (!in_dict(r))
        return true;
    if (c != '"') {
        fail(r, MESSAGE_snapshot_json);
        return false;
    }
    string(r);
    if (peek(r) != ':')
        fail(r, MESSAGE_snapshot_json);
    r->at++;
    return !r->failed;
}

// After a value: a comma, or ends of lists. true: another value comes.
static bool after_value(struct json_read *r)
{
    while (!r->failed && r->depth) {
        char c = peek(r);
        if (c == ',') {
            r->at++;
            return true;
        }
        if (c != r->close[r->depth - 1])
            fail(r, MESSAGE_snapshot_json);
        else
            close(r);
    }
    return false;
}

int tree_read_json(struct tree *t)
{
    struct json_read r = {.t = t};
    bool first = true, more = true;
    if (mem_grow(t->mem, (void **)&t->strings, &t->string_cap, t->len + 1, 1) != VRAM_OK)
        fail(&r, MESSAGE_out_of_memory);
    while (more && !r.failed) {
        unsigned depth = r.depth;
        if (before_value(&r, first))
            value(&r, peek(&r));
        first = r.depth > depth;
        if (!first)
            more = after_value(&r);
    }
    if (!r.failed && peek(&r) != 0)
        fail(&r, MESSAGE_snapshot_json);
    if (!r.failed)
        t->root = r.stack[0];
    mem_free(t->mem, r.stack, r.cap * sizeof *r.stack);
    return r.failed ? t->err->out.code : VRAM_OK;
}
