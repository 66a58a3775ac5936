// Reads a TOML text statement by statement: headers, keys, and values however deep without
// recursion.

#include "calc/toml/toml_read.h"

const char *toml_sentence(enum toml_error_id id)
{
    static const char *const sentences[] = {
#define X(id, sentence) sentence,
#include "calc/toml/toml.def"
#undef X
    };
    return sentences[id];
}

bool toml_fail_name(struct toml_reader *r, size_t offset, enum toml_error_id id, size_t other)
{
    if (r->quiet || r->ended)
        return false;
    r->ended = ++r->errors > TOML_MAX_ERRORS;
    struct toml_error e = {r->ended ? TOML_E_TOO_MANY : id, offset, r->ended ? SIZE_MAX : other};
    r->host->error(r->host->ctx, &e);
    return false;
}

bool toml_fail(struct toml_reader *r, size_t offset, enum toml_error_id id)
{
    return toml_fail_name(r, offset, id, SIZE_MAX);
}

bool toml_fail_here(struct toml_reader *r, enum toml_error_id id)
{
    char c = toml_byte(r, 0);
    if (!toml_at_line_end(r) && toml_is_control(c))
        id = c == '\r' ? TOML_E_CARRIAGE : TOML_E_CONTROL;
    return toml_fail(r, r->at, id);
}

void *toml_alloc(struct toml_reader *r, size_t bytes)
{
    void *p = r->no_memory ? NULL : r->host->alloc(r->host->ctx, bytes);
    if (!p)
        r->no_memory = r->ended = true;
    return p;
}

// A comment, if there is one, up to its line's end.
static bool skip_comment(struct toml_reader *r)
{
    bool ok = true;
    if (toml_byte(r, 0) != '#')
        return true;
    for (; !toml_at_line_end(r); r->at++)
        if (toml_is_control(r->text[r->at]) && ok)
            ok = toml_fail_here(r, TOML_E_CONTROL);
    return ok;
}

static void skip_line_end(struct toml_reader *r)
{
    if (toml_byte(r, 0) == '\r')
        r->at++;
    if (!toml_at_end(r))
        r->at++;
}

// Nothing but a comment up to the end of the line.
static bool end_line(struct toml_reader *r)
{
    toml_skip_blank(r);
    if (!skip_comment(r))
        return false;
    if (!toml_at_line_end(r))
        return toml_fail_here(r, TOML_E_REST);
    skip_line_end(r);
    return true;
}

// Blanks, line ends and comments, as they may be between the values of an array.
static bool skip_lines(struct toml_reader *r)
{
    for (;;) {
        toml_skip_blank(r);
        if (!skip_comment(r))
            return false;
        if (toml_at_end(r) || !toml_at_line_end(r))
            return true;
        skip_line_end(r);
    }
}

static bool read_key(struct toml_reader *r, struct toml_path *p)
{
    if (!toml_read_path(r, p))
        return false;
    if (toml_byte(r, 0) != '=')
        return toml_fail_here(r, TOML_E_EQUALS);
    r->at++;
    toml_skip_blank(r);
    return true;
}

// The arrays and tables in braces that are open, the innermost last.
struct nest {
    struct toml_value *open[TOML_MAX_DEPTH + 1];
    size_t count;
};

// Reads a scalar into slot, or opens an array or a table there.
static bool begin_value(struct toml_reader *r, struct nest *n, struct toml_value *slot)
{
    char c = toml_byte(r, 0);
    slot->offset = r->at;
    if (c == '[' || c == '{') {
        if (slot->depth >= TOML_MAX_DEPTH)
            return toml_fail(r, r->at, TOML_E_DEEP);
        slot->kind = c == '[' ? TOML_ARRAY : TOML_TABLE;
        slot->made = TOML_BY_VALUE;
        n->open[n->count++] = slot;
        r->at++;
        return true;
    }
    slot->kind = TOML_STRING;  // also of what cannot be read
    return c == '"' || c == '\'' ? toml_read_string(r, false, &slot->text)
                                 : toml_read_bare(r, slot);
}

// Is r->at the beginning of a line that is a key with its =? No value of an array is.
static bool is_pair_line(struct toml_reader *r)
{
    struct toml_path path;
    size_t at = r->at, from = at;
    while (from && (r->text[from - 1] == ' ' || r->text[from - 1] == '\t'))
        from--;
    if (from && r->text[from - 1] != '\n')
        return false;
    r->quiet = true;
    bool is = read_key(r, &path);
    r->quiet = false;
    r->at = at;
    return is;
}

enum next { NEXT_FAILED, NEXT_SLOT, NEXT_CLOSED };

// Behind the opening bracket or a value of an array.
static enum next next_item(struct toml_reader *r, struct toml_value *array,
                           struct toml_value **slot)
{
    if (!skip_lines(r))
        return NEXT_FAILED;
    if (array->count && toml_byte(r, 0) == ',') {
        r->at++;
        if (!skip_lines(r))
            return NEXT_FAILED;
    } else if (array->count && !toml_at_end(r) && toml_byte(r, 0) != ']' && !is_pair_line(r)) {
        return toml_fail_here(r, TOML_E_ARRAY_COMMA), NEXT_FAILED;
    }
    if (toml_at_end(r) || is_pair_line(r))
        return toml_fail(r, array->offset, TOML_E_ARRAY_END), NEXT_FAILED;
    if (toml_byte(r, 0) == ']')
        return r->at++, NEXT_CLOSED;
    *slot = toml_add_item(r, array, r->at);
    return *slot ? NEXT_SLOT : NEXT_FAILED;
}

// A table in braces ends on its line. One that does not is read as if it might, after one error, so
// that what follows is not taken for something else. False at the end of the text and before a key
// that is not of the table.
static bool stay_on_line(struct toml_reader *r, const struct toml_value *table, bool more)
{
    toml_skip_blank(r);
    if (!toml_at_line_end(r) && toml_byte(r, 0) != '#')
        return true;
    if (!r->broken_braces)
        toml_fail(r, table->offset, TOML_E_INLINE_END);
    r->broken_braces = true;
    return skip_lines(r) && !toml_at_end(r) && (more || !table->count || !is_pair_line(r));
}

// Behind the opening brace or a pair of a table in braces.
static enum next next_pair(struct toml_reader *r, struct toml_value *table,
                           struct toml_value **slot)
{
    struct toml_path path;
    if (!stay_on_line(r, table, false))
        return NEXT_FAILED;
    size_t comma = r->at;
    bool more = table->count && toml_byte(r, 0) == ',';
    if (more) {
        r->at++;
        if (!stay_on_line(r, table, true))
            return NEXT_FAILED;
    }
    if (toml_byte(r, 0) == '}') {
        if (more && !r->broken_braces)
            return toml_fail(r, comma, TOML_E_INLINE_LAST), NEXT_FAILED;
        return r->at++, NEXT_CLOSED;
    }
    if (table->count && !more)
        return toml_fail_here(r, TOML_E_INLINE_COMMA), NEXT_FAILED;
    if (!read_key(r, &path))
        return NEXT_FAILED;
    *slot = toml_open_key(r, table, &path);
    return *slot ? NEXT_SLOT : NEXT_FAILED;
}

// Reads a value of any kind into slot, with all that is inside it.
static bool read_value(struct toml_reader *r, struct toml_value *slot)
{
    struct nest n;
    n.count = 0;
    r->broken_braces = false;
    enum next next = begin_value(r, &n, slot) ? NEXT_CLOSED : NEXT_FAILED;
    while (next != NEXT_FAILED && n.count) {
        struct toml_value *top = n.open[n.count - 1];
        next = (top->kind == TOML_ARRAY ? next_item : next_pair)(r, top, &slot);
        if (next == NEXT_CLOSED)
            n.count--;
        else if (next == NEXT_SLOT && !begin_value(r, &n, slot))
            next = NEXT_FAILED;
    }
    for (size_t i = 0; i < n.count; i++)
        r->in_lines |= n.open[i]->kind == TOML_ARRAY || r->broken_braces;
    return next != NEXT_FAILED;
}

static bool read_pair(struct toml_reader *r)
{
    struct toml_path path;
    struct toml_value nowhere = {.next = NULL};
    if (!read_key(r, &path))
        return false;
    // A value whose key cannot be used is read all the same, for the errors in it.
    struct toml_value *slot = toml_open_key(r, r->table, &path);
    return !r->no_memory && read_value(r, slot ? slot : &nowhere) && end_line(r);
}

static bool read_header_name(struct toml_reader *r, struct toml_path *path, bool *is_array)
{
    r->at++;
    *is_array = toml_byte(r, 0) == '[';
    if (*is_array)
        r->at++;
    toml_skip_blank(r);
    if (!toml_read_path(r, path))
        return false;
    if (toml_byte(r, 0) != ']')
        return toml_fail(r, r->at, *is_array ? TOML_E_HEADER_ARRAY : TOML_E_HEADER_END);
    r->at++;
    if (!*is_array)
        return true;
    if (toml_byte(r, 0) != ']')
        return toml_fail(r, r->at, TOML_E_HEADER_ARRAY);
    r->at++;
    return true;
}

static bool read_header(struct toml_reader *r)
{
    struct toml_path path;
    bool is_array;
    size_t offset = r->at;
    // What is below a header that cannot be used is read into a table of its own, for the errors in
    // it.
    r->table = NULL;
    if (read_header_name(r, &path, &is_array))
        r->table = toml_open_header(r, &path, is_array, offset);
    bool ok = r->table && end_line(r);
    if (!r->table)
        r->table = toml_table_new(r);
    return ok;
}

static bool read_statement(struct toml_reader *r)
{
    toml_skip_blank(r);
    if (toml_at_line_end(r) || toml_byte(r, 0) == '#')
        return end_line(r);
    return toml_byte(r, 0) == '[' ? read_header(r) : read_pair(r);
}

static void skip_line(struct toml_reader *r)
{
    while (!toml_at_end(r) && r->text[r->at] != '\n')
        r->at++;
    if (!toml_at_end(r))
        r->at++;
}

static bool is_header_line(struct toml_reader *r)
{
    struct toml_path path;
    bool is_array;
    size_t at = r->at;
    r->quiet = true;
    bool is = toml_byte(r, 0) == '[' && read_header_name(r, &path, &is_array) && end_line(r);
    r->quiet = false;
    r->at = at;
    return is;
}

// Goes to where reading can go on behind an error: the next line or, in an array, the next
// statement.
static void recover(struct toml_reader *r)
{
    if (!r->in_lines || !is_pair_line(r))
        skip_line(r);
    for (toml_skip_blank(r);
         r->in_lines && !toml_at_end(r) && !is_pair_line(r) && !is_header_line(r);
         toml_skip_blank(r))
        skip_line(r);
    r->in_lines = false;
}

enum toml_status toml_read(const char *text, size_t len, const struct toml_host *host,
                           struct toml_value **root)
{
    struct toml_reader r = {.text = text, .len = len, .host = host};
    *root = NULL;
    r.root = r.table = toml_table_new(&r);
    if (!r.no_memory && toml_check_utf8(&r)) {
        if (len >= 3 && text[0] == '\xEF' && text[1] == '\xBB' && text[2] == '\xBF')
            r.at = 3;
        while (!toml_at_end(&r) && !r.ended)
            if (!read_statement(&r) && !r.ended)
                recover(&r);
    }
    if (r.no_memory)
        return TOML_NO_MEMORY;
    if (r.errors)
        return TOML_INVALID;
    *root = r.root;
    return TOML_OK;
}
