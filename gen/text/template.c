// Compiles a template to a Lua chunk: static text, values escaped for their place, statements,
// blocks that must match.
#include "gen/text/template.h"

#include <string.h>

#include "gen/text/template_balance.h"
#include "gen/text/template_context.h"
#include "gen/text/template_lua.h"

#define DEPTH_MAX 64

enum block_kind { BLOCK_IF, BLOCK_LOOP, BLOCK_REPEAT, BLOCK_FUNCTION, BLOCK_DO, BLOCK_ONCE };

// An open block: where HTML was at its start, and at the end of the branches seen so far.
struct block {
    enum block_kind kind;
    size_t offset;
    struct html_context start, end;
    bool has_end, has_else, awaits_do;
};

struct compiler {
    str source, file;
    struct diag *d;
    buf *out;
    arena *arena;
    struct template *result;
    size_t include_cap;
    size_t at;  // next byte of source
    struct html_context context;
    struct block blocks[DEPTH_MAX];
    size_t depth;
    buf literal;      // static text that has not gone out yet
    size_t newlines;  // of source, that have not gone out yet
    bool line_start, failed;
    bool page_is_hidden;  // "page" may be a local of the template from here on
    uint32_t once_number;
};

static void fail(struct compiler *c, size_t offset, const char *what, str detail)
{
    diag_add(c->d, D_TEMPLATE_SYNTAX, DIAG_AT(c->file, c->source, offset), "%s%.*s", what,
             STR_ARG(detail));
    c->failed = true;
}

static void put_newlines(struct compiler *c)
{
    for (; c->newlines; c->newlines--)
        buf_char(c->out, '\n');
}

static void put_quoted(buf *out, str s)
{
    buf_char(out, '"');
    for (size_t i = 0; i < s.len; i++) {
        char b = s.ptr[i];
        if (b == '\n')
            buf_lit(out, "\\n");
        else if (b == '\r')
            buf_lit(out, "\\r");
        else if (b == '"' || b == '\\')
            buf_char(out, '\\'), buf_char(out, b);
        else
            buf_char(out, b);
    }
    buf_char(out, '"');
}

static void flush_literal(struct compiler *c)
{
    put_newlines(c);
    if (!c->literal.len)
        return;
    buf_lit(c->out, "__s(");
    put_quoted(c->out, buf_view(&c->literal));
    buf_lit(c->out, ");");
    buf_clear(&c->literal);
}

static void put_code(struct compiler *c, size_t from, size_t to)
{
    buf_str(c->out, str_slice(c->source, from, to));
}

// Of what is left out only the line ends stay, so that messages of Lua name the template's lines.
static void put_lines(struct compiler *c, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (c->source.ptr[i] == '\n')
            buf_char(c->out, '\n');
}

static void note_lines(struct compiler *c, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        c->newlines += c->source.ptr[i] == '\n';
}

// Whether indentation here is of no use to a reader: between elements, not inside pre.
static bool drops_indent(const struct html_context *x)
{
    return x->state == HTML_IN_TEXT && x->pre == 0;
}

static void put_static(struct compiler *c, char b)
{
    bool blank = b == ' ' || b == '\t';
    if (b == '\n')
        c->newlines++;
    if (c->line_start && (blank || b == '\n') && drops_indent(&c->context))
        return;
    c->line_start = b == '\n';
    bool was_broken = c->context.broken;
    context_feed(&c->context, b);
    if (c->context.broken && !was_broken)
        fail(c, c->at, "a template tag splits the name of an HTML tag or attribute", STR(""));
    buf_char(&c->literal, b);
}

// A tag that has a line to itself takes the line with it.
static bool stands_alone(const struct compiler *c, size_t open, size_t close)
{
    size_t i = open;
    while (i > 0 && (c->source.ptr[i - 1] == ' ' || c->source.ptr[i - 1] == '\t'))
        i--;
    if (i > 0 && c->source.ptr[i - 1] != '\n')
        return false;
    while (close < c->source.len && (c->source.ptr[close] == ' ' || c->source.ptr[close] == '\t'))
        close++;
    return close >= c->source.len || c->source.ptr[close] == '\n';
}

static void take_line(struct compiler *c, size_t open)
{
    if (!stands_alone(c, open, c->at))
        return;
    while (c->literal.len && (c->literal.ptr[c->literal.len - 1] == ' ' ||
                              c->literal.ptr[c->literal.len - 1] == '\t'))
        c->literal.ptr[--c->literal.len] = '\0';
    c->at += str_find(str_slice(c->source, c->at, c->source.len), '\n');
    if (c->at < c->source.len) {
        c->at++;
        c->newlines++;
    }
    c->line_start = true;
}

struct span {
    size_t from, to;
};

// A statement or a value.
struct tag {
    size_t open;
    struct span code[128];  // pieces between comments
    size_t pieces;
};

static void add_piece(struct tag *t, size_t from, size_t to)
{
    if (t->pieces == sizeof t->code / sizeof *t->code)
        t->code[t->pieces - 1].to = to;
    else if (to > from)
        t->code[t->pieces++] = (struct span){from, to};
}

// A line comment ends where the tag's closer is on its line.
static size_t comment_end(str source, size_t start, size_t end, str closer)
{
    str body = str_slice(source, start, end);
    if (str_find(body, '\n') < body.len)
        return end;
    return start + str_search(body, closer);
}

// Goes from c->at behind the end of a tag ("%}" or "}}") and notes its code without comments. False
// at the end of the file.
static bool find_close(struct compiler *c, str closer, struct tag *t)
{
    size_t at = c->at, start, piece = c->at;
    int braces = 0;
    for (;;) {
        enum lua_token kind = template_token(c->source, &at, &start);
        if (kind == LUA_TOKEN_END || kind == LUA_TOKEN_UNFINISHED)
            return false;
        if (kind == LUA_TOKEN_COMMENT) {
            add_piece(t, piece, start);
            piece = at = comment_end(c->source, start, at, closer);
        } else if (kind == LUA_TOKEN_OTHER) {
            char b = c->source.ptr[start];
            bool closes = str_starts(str_slice(c->source, start, c->source.len), closer);
            if (closes && braces <= 0) {
                add_piece(t, piece, start);
                c->at = start + closer.len;
                return true;
            }
            braces += (b == '{') - (b == '}');
        }
    }
}

// A tag's code.
static void put_pieces(struct compiler *c, const struct tag *t, size_t to)
{
    size_t at = t->open;
    for (size_t i = 0; i < t->pieces; i++) {
        put_lines(c, at, t->code[i].from);
        put_code(c, t->code[i].from, t->code[i].to);
        buf_char(c->out, ' ');
        at = t->code[i].to;
    }
    put_lines(c, at, to);
}

static void compile_value(struct compiler *c, size_t open)
{
    static const char *const names[EMIT_COUNT] = {
        [EMIT_TEXT] = "__t",      [EMIT_PLAIN] = "__p",    [EMIT_ATTRIBUTE] = "__a",
        [EMIT_URL] = "__u",       [EMIT_URL_PART] = "__w", [EMIT_URL_QUERY] = "__q",
        [EMIT_JS_STRING] = "__j", [EMIT_JS_VALUE] = "__v",
    };
    struct tag t = {.open = open};
    enum html_emitter emitter = EMIT_TEXT;
    const char *wrong = context_value(&c->context, &emitter);
    if (wrong)
        fail(c, open, "a value may not stand ", str_c(wrong));
    c->at = open + 2;
    if (!find_close(c, STR("}}"), &t)) {
        fail(c, open, "{{ without }}", STR(""));
        c->at = c->source.len;
        return;
    }
    size_t start, first = open + 2;
    if (!t.pieces ||
        template_token(str_slice(c->source, 0, c->at - 2), &first, &start) == LUA_TOKEN_END)
        fail(c, open, "{{ }} without a value", STR(""));
    put_newlines(c);
    str code = t.pieces == 1 ? str_slice(c->source, t.code[0].from, t.code[0].to) : STR_NONE,
        field = c->page_is_hidden ? STR_NONE : template_field(code);
    if (field.len) {
        buf_printf(c->out, "__f(\"%.*s\",%d", STR_ARG(field), (int)emitter);
        put_lines(c, open, c->at);
    } else {
        buf_printf(c->out, "%s((", names[emitter]);
        put_pieces(c, &t, c->at);
        buf_char(c->out, ')');
    }
    if (c->literal.len) {
        buf_char(c->out, ',');
        put_quoted(c->out, buf_view(&c->literal));
        buf_clear(&c->literal);
    }
    buf_lit(c->out, ");");
    c->line_start = false;
}

static void block_open(struct compiler *c, enum block_kind kind, size_t offset)
{
    if (c->depth == DEPTH_MAX) {
        fail(c, offset, "blocks nested too deeply", STR(""));
        c->depth--;
    }
    c->blocks[c->depth++] = (struct block){
        .kind = kind,
        .offset = offset,
        .start = c->context,
        .awaits_do = kind == BLOCK_LOOP,
    };
}

// A branch of the top block ends here: it must leave HTML where the others left it.
static void branch_end(struct compiler *c, struct block *b, size_t offset)
{
    if (!b->has_end) {
        b->end = c->context;
        b->has_end = true;
    } else if (!context_join(&b->end, &c->context)) {
        fail(c, offset, "branches end in different places of HTML: this one ",
             str_c(context_name(&c->context)));
    }
}

static void block_else(struct compiler *c, bool is_last, size_t offset)
{
    struct block *b = c->depth ? &c->blocks[c->depth - 1] : NULL;
    if (!b || b->kind != BLOCK_IF || b->has_else) {
        fail(c, offset, "else without if", STR(""));
        return;
    }
    branch_end(c, b, offset);
    b->has_else = is_last;
    c->context = b->start;
}

// Closes the top block; returns whether it was a once block.
static bool block_close(struct compiler *c, bool by_until, size_t offset)
{
    struct block *b = c->depth ? &c->blocks[c->depth - 1] : NULL;
    if (!b || (b->kind == BLOCK_REPEAT) != by_until) {
        fail(c, offset, by_until ? "until without repeat" : "end without a block", STR(""));
        return false;
    }
    c->depth--;
    bool may_skip =
        b->kind == BLOCK_LOOP || b->kind == BLOCK_FUNCTION || (b->kind == BLOCK_IF && !b->has_else);
    branch_end(c, b, offset);
    c->context = b->end;
    if ((may_skip || b->kind == BLOCK_REPEAT) && !context_join(&c->context, &b->start))
        fail(c, b->offset, "the block ends in another place of HTML than it begins: ",
             str_c(context_name(&b->end)));
    return b->kind == BLOCK_ONCE;
}

// What one word of a statement does to the blocks. True when ")" must follow, for the end of a once
// block.
static bool statement_word(struct compiler *c, str word, size_t offset)
{
    struct block *top = c->depth ? &c->blocks[c->depth - 1] : NULL;
    if (str_eq(word, STR("if")))
        block_open(c, BLOCK_IF, offset);
    else if (str_eq(word, STR("for")) || str_eq(word, STR("while")))
        block_open(c, BLOCK_LOOP, offset);
    else if (str_eq(word, STR("function")))
        block_open(c, BLOCK_FUNCTION, offset);
    else if (str_eq(word, STR("repeat")))
        block_open(c, BLOCK_REPEAT, offset);
    else if (str_eq(word, STR("do")) && top && top->awaits_do)
        top->awaits_do = false;
    else if (str_eq(word, STR("do")))
        block_open(c, BLOCK_DO, offset);
    else if (str_eq(word, STR("else")) || str_eq(word, STR("elseif")))
        block_else(c, word.len == 4, offset);
    else if (str_eq(word, STR("end")) || str_eq(word, STR("until")))
        return block_close(c, word.len == 5, offset);
    return false;
}

// Where the word is not followed by a field it may be declared; and _ENV may be anything.
static void note_page(struct compiler *c, str word, str rest)
{
    bool is_page = str_eq(word, STR("page")) && !str_starts(rest, STR("."));
    c->page_is_hidden = c->page_is_hidden || is_page || str_eq(word, STR("_ENV"));
}

// Copies statements word by word: the end of a once block gets its bracket.
static void put_statements(struct compiler *c, const struct tag *t)
{
    size_t done = t->open;
    for (size_t i = 0; i < t->pieces; i++) {
        str piece = str_slice(c->source, 0, t->code[i].to);
        size_t at = t->code[i].from, start;
        put_lines(c, done, at);
        done = at;
        enum lua_token kind;
        while ((kind = template_token(piece, &at, &start)) != LUA_TOKEN_END) {
            put_code(c, done, at);
            done = at;
            bool is_field =
                start > 0 && (piece.ptr[start - 1] == '.' || piece.ptr[start - 1] == ':');
            if (kind == LUA_TOKEN_NAME && !is_field)
                note_page(c, str_slice(piece, start, at), str_slice(piece, at, piece.len));
            if (kind == LUA_TOKEN_NAME && !is_field &&
                statement_word(c, str_slice(piece, start, at), start))
                buf_char(c->out, ')');
        }
        put_code(c, done, piece.len);
        buf_char(c->out, ' ');
        done = piece.len;
    }
    put_lines(c, done, c->at);
}

// {% include "name" %} and {% once "scope" %}: a word and one string. False when the tag is
// neither.
static bool compile_special(struct compiler *c, const struct tag *t)
{
    size_t at = t->pieces ? t->code[0].from : c->at, start, string_start;
    str code = str_slice(c->source, 0, t->pieces ? t->code[0].to : c->at);
    if (template_token(code, &at, &start) != LUA_TOKEN_NAME)
        return false;
    str word = str_slice(code, start, at);
    bool include = str_eq(word, STR("include")), once = str_eq(word, STR("once"));
    if ((!include && !once) || template_token(code, &at, &string_start) != LUA_TOKEN_STRING)
        return false;
    str name = str_slice(code, string_start + 1, at - 1);
    if (template_token(code, &at, &start) != LUA_TOKEN_END)
        return false;
    flush_literal(c);
    if (once) {
        if (!str_eq(name, STR("language")) && !str_eq(name, STR("document")) &&
            !str_eq(name, STR("site")))
            fail(c, string_start,
                 "unknown scope; there are \"language\", \"document\" and \"site\": ", name);
        buf_printf(c->out, "__o(\"%.*s\",%u,function() ", STR_ARG(name), c->once_number++);
        block_open(c, BLOCK_ONCE, t->open);
        return true;
    }
    if (c->context.state != HTML_IN_TEXT)
        fail(c, t->open, "an include may stand between elements only, not ",
             str_c(context_name(&c->context)));
    c->result->includes =
        arena_grow(c->arena, c->result->includes, c->result->include_count, &c->include_cap,
                   c->result->include_count + 1, sizeof *c->result->includes);
    c->result->includes[c->result->include_count++] =
        (struct template_include){arena_str(c->arena, name), t->open};
    buf_lit(c->out, "__i(");
    put_quoted(c->out, name);
    buf_lit(c->out, ");");
    return true;
}

static void compile_statement(struct compiler *c, size_t open)
{
    struct tag t = {.open = open};
    context_cut(&c->context);
    c->at = open + 2;
    if (!find_close(c, STR("%}"), &t)) {
        fail(c, open, "{% without %}", STR(""));
        c->at = c->source.len;
        return;
    }
    size_t end = c->at;
    if (compile_special(c, &t)) {
        note_lines(c, open, end);
    } else {
        flush_literal(c);
        put_statements(c, &t);
    }
    c->line_start = false;
    take_line(c, open);
}

static void compile_comment(struct compiler *c, size_t open)
{
    size_t end = open + 2 + str_search(str_slice(c->source, open + 2, c->source.len), STR("#}"));
    if (end >= c->source.len) {
        fail(c, open, "{# without #}", STR(""));
        c->at = c->source.len;
        return;
    }
    note_lines(c, open, end);
    c->at = end + 2;
    take_line(c, open);
}

static void compile_all(struct compiler *c)
{
    while (c->at < c->source.len) {
        char b = c->source.ptr[c->at],
             next = c->at + 1 < c->source.len ? c->source.ptr[c->at + 1] : 0;
        if (b == '{' && next == '{')
            compile_value(c, c->at);
        else if (b == '{' && next == '%')
            compile_statement(c, c->at);
        else if (b == '{' && next == '#')
            compile_comment(c, c->at);
        else
            put_static(c, b), c->at++;
    }
    flush_literal(c);
    for (size_t i = 0; i < c->depth; i++)
        fail(c, c->blocks[i].offset, "a block without its end", STR(""));
    if (!c->failed && c->context.state != HTML_IN_TEXT)
        fail(c, c->source.len, "the template ends ", str_c(context_name(&c->context)));
}

bool template_compile(str source, str file, uint32_t first_once, arena *a, struct diag *d,
                      struct template *result, buf *out)
{
    struct compiler c = {.source = source,
                         .file = file,
                         .d = d,
                         .out = out,
                         .arena = a,
                         .result = result,
                         .literal = BUF_INIT,
                         .line_start = true,
                         .once_number = first_once};
    *result = (struct template){0};
    buf_lit(out, "local __s,__t,__p,__a,__u,__w,__q,__j,__v,__o,__i,__f=... return function() ");
    compile_all(&c);
    buf_lit(out, " end");
    result->once_count = c.once_number - first_once;
    buf_free(&c.literal);
    return !c.failed && template_balance(source, file, a, d);
}
