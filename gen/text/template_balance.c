// Counts elements along a template's branches: what each leaves open, and closes that was open
// before.
#include "gen/text/template_balance.h"

#include <string.h>

#include "gen/text/template_context.h"
#include "gen/text/template_lua.h"

// A start tag or an end tag that nothing in its branch belongs to.
struct item {
    str name;
    bool closing;
};

struct items {
    struct item *list;
    size_t count, cap;
};

enum kind { BRANCHES, MAYBE, ALWAYS };  // if; loops and functions; do and once

struct level {
    enum kind kind;
    size_t offset, first;  // of its block in the source; its first item
    str words;             // of its tags that hold conditions
    struct items *nets;    // what each branch that has ended left
    size_t net_count, net_cap;
    bool has_else, awaits_do;
};

// A block whose branches differ.
struct pending {
    struct level level;
    bool matched;
};

struct balance {
    str source;
    arena *a;
    size_t at;
    struct html_context context;
    struct items items;
    struct level *levels;  // that are open
    size_t depth, level_cap;
    struct pending *pending;
    size_t pending_count, pending_cap;
    struct item tag;  // the tag that is being read
    bool in_tag;
};

// Void elements, those whose tags may be left out, and those whose text ends by itself.
static bool is_counted(str name)
{
    static const char *const others[] = {
        "area", "base",   "br",    "col",     "embed",    "hr",       "img",    "input", "link",
        "meta", "source", "track", "wbr",     "p",        "li",       "dt",     "dd",    "tr",
        "td",   "th",     "thead", "tbody",   "tfoot",    "colgroup", "option", "html",  "head",
        "body", "rp",     "rt",    "caption", "optgroup", "script",   "style",  "title", "textarea",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (str_eq(name, str_c(others[i])))
            return false;
    return name.len > 0;
}

static void append(struct balance *b, struct items *to, struct item item)
{
    to->list = arena_grow(b->a, to->list, to->count, &to->cap, to->count + 1, sizeof *to->list);
    to->list[to->count++] = item;
}

// An end tag takes the start tag before it away, if that is in the same branch.
static void add(struct balance *b, struct items *to, size_t first, struct item item)
{
    const struct item *last = to->count > first ? &to->list[to->count - 1] : NULL;
    if (item.closing && last && !last->closing && str_eq(last->name, item.name))
        to->count--;
    else
        append(b, to, item);
}

static void tag_is_over(struct balance *b, bool self_closed)
{
    size_t first = b->depth ? b->levels[b->depth - 1].first : 0;
    if (b->in_tag && !self_closed && is_counted(b->tag.name))
        add(b, &b->items, first, b->tag);
    b->in_tag = false;
}

static void name_is_over(struct balance *b, const struct html_context *before)
{
    b->tag = (struct item){arena_str(b->a, (str){before->name, before->name_len}), before->closing};
    b->in_tag = true;
}

static void feed(struct balance *b, char byte)
{
    struct html_context before = b->context;
    context_feed(&b->context, byte);
    if (before.state == HTML_TAG_NAME && b->context.state != HTML_TAG_NAME)
        name_is_over(b, &before);
    if (byte == '>' && b->in_tag && b->context.state != HTML_VALUE)
        tag_is_over(b, b->at && b->source.ptr[b->at - 1] == '/');
}

static bool same_items(const struct items *x, const struct items *y)
{
    bool same = x->count == y->count;
    for (size_t i = 0; same && i < x->count; i++)
        same = x->list[i].closing == y->list[i].closing && str_eq(x->list[i].name, y->list[i].name);
    return same;
}

static void end_branch(struct balance *b, struct level *l)
{
    struct items net = {0};
    for (size_t i = l->first; i < b->items.count; i++)
        append(b, &net, b->items.list[i]);
    b->items.count = l->first;
    l->nets =
        arena_grow(b->a, l->nets, l->net_count, &l->net_cap, l->net_count + 1, sizeof *l->nets);
    l->nets[l->net_count++] = net;
}

static bool all_same(const struct level *l)
{
    for (size_t i = 1; i < l->net_count; i++)
        if (!same_items(&l->nets[0], &l->nets[i]))
            return false;
    return true;
}

// Whether what the one leaves open on each branch, the other closes there.
static bool closes(struct balance *b, const struct level *opened, const struct level *l)
{
    bool ok = opened->net_count == l->net_count && str_eq(opened->words, l->words);
    for (size_t i = 0; ok && i < l->net_count; i++) {
        struct items both = {0};
        for (size_t k = 0; k < opened->nets[i].count; k++)
            append(b, &both, opened->nets[i].list[k]);
        for (size_t k = 0; k < l->nets[i].count; k++)
            add(b, &both, 0, l->nets[i].list[k]);
        ok = both.count == 0;
    }
    return ok;
}

static void settle(struct balance *b, const struct level *l)
{
    for (size_t i = b->pending_count; i-- > 0;)
        if (!b->pending[i].matched && closes(b, &b->pending[i].level, l)) {
            b->pending[i].matched = true;
            return;
        }
    b->pending = arena_grow(b->a, b->pending, b->pending_count, &b->pending_cap,
                            b->pending_count + 1, sizeof *b->pending);
    b->pending[b->pending_count++] = (struct pending){*l, false};
}

static void open_level(struct balance *b, enum kind kind, size_t offset, str words)
{
    b->levels =
        arena_grow(b->a, b->levels, b->depth, &b->level_cap, b->depth + 1, sizeof *b->levels);
    b->levels[b->depth++] = (struct level){.kind = kind,
                                           .offset = offset,
                                           .first = b->items.count,
                                           .words = words,
                                           .awaits_do = kind == MAYBE};
}

static void close_level(struct balance *b)
{
    if (!b->depth)
        return;
    struct level *l = &b->levels[--b->depth];
    size_t first = b->depth ? b->levels[b->depth - 1].first : 0;
    end_branch(b, l);
    if (l->kind == MAYBE || (l->kind == BRANCHES && !l->has_else))
        end_branch(b, l);  // of no tags: it may not run
    if (all_same(l))
        for (size_t i = 0; i < l->nets[0].count; i++)
            add(b, &b->items, first, l->nets[0].list[i]);
    else
        settle(b, l);
}

static void next_branch(struct balance *b, bool is_last, str words)
{
    struct level *l = b->depth ? &b->levels[b->depth - 1] : NULL;
    if (!l || l->kind != BRANCHES)
        return;
    end_branch(b, l);
    l->has_else = is_last;
    l->words = arena_join(b->a, l->words, STR("\n"), words);
}

static void word_of_lua(struct balance *b, str word, size_t offset, str words)
{
    struct level *top = b->depth ? &b->levels[b->depth - 1] : NULL;
    if (str_eq(word, STR("if")))
        open_level(b, BRANCHES, offset, words);
    else if (str_eq(word, STR("for")) || str_eq(word, STR("while")))
        open_level(b, MAYBE, offset, words);
    else if (str_eq(word, STR("function"))) {
        open_level(b, MAYBE, offset, words);
        b->levels[b->depth - 1].awaits_do = false;
    } else if (str_eq(word, STR("do")) && top && top->awaits_do)
        top->awaits_do = false;
    else if (str_eq(word, STR("do")) || str_eq(word, STR("repeat")) || str_eq(word, STR("once")))
        open_level(b, ALWAYS, offset, words);
    else if (str_eq(word, STR("else")) || str_eq(word, STR("elseif")))
        next_branch(b, word.len == 4, words);
    else if (str_eq(word, STR("end")) || str_eq(word, STR("until")))
        close_level(b);
}

// The offset of a tag's end: of the first closer outside of strings, comments and braces.
static size_t find_end(const struct balance *b, size_t at, str closer)
{
    size_t start;
    int braces = 0;
    for (;;) {
        enum lua_token kind = template_token(b->source, &at, &start);
        str rest = str_slice(b->source, start, b->source.len);
        if (kind == LUA_TOKEN_END || kind == LUA_TOKEN_UNFINISHED)
            return b->source.len;
        if (kind == LUA_TOKEN_COMMENT &&
            str_find(str_slice(b->source, start, at), '\n') == at - start)
            at = start + str_search(str_slice(rest, 0, at - start), closer);
        if (kind != LUA_TOKEN_OTHER)
            continue;
        if (str_starts(rest, closer) && braces <= 0)
            return start;
        braces += (rest.ptr[0] == '{') - (rest.ptr[0] == '}');
    }
}

static void read_statement(struct balance *b)
{
    size_t open = b->at, at = open + 2, start, end = find_end(b, at, STR("%}"));
    str code = str_slice(b->source, 0, end), words = str_trim(str_slice(code, at, end));
    struct html_context before = b->context;
    context_cut(&b->context);
    if (before.state == HTML_TAG_NAME)
        name_is_over(b, &before);
    enum lua_token kind;
    while ((kind = template_token(code, &at, &start)) != LUA_TOKEN_END &&
           kind != LUA_TOKEN_UNFINISHED) {
        bool is_field = start > 0 && (code.ptr[start - 1] == '.' || code.ptr[start - 1] == ':');
        if (kind == LUA_TOKEN_NAME && !is_field)
            word_of_lua(b, str_slice(code, start, at), open, words);
    }
    b->at = end + 2;
}

static void read_all(struct balance *b)
{
    while (b->at < b->source.len) {
        str rest = str_slice(b->source, b->at, b->source.len);
        if (str_starts(rest, STR("{{")))
            b->at = find_end(b, b->at + 2, STR("}}")) + 2;
        else if (str_starts(rest, STR("{%")))
            read_statement(b);
        else if (str_starts(rest, STR("{#")))
            b->at += str_search(rest, STR("#}")) + 2;
        else
            feed(b, rest.ptr[0]), b->at++;
    }
}

bool template_balance(str source, str file, arena *a, struct diag *d)
{
    struct balance b = {.source = source, .a = a};
    bool ok = true;
    read_all(&b);
    for (size_t i = 0; i < b.pending_count; i++) {
        const struct level *l = &b.pending[i].level;
        size_t k = 0;
        if (b.pending[i].matched)
            continue;
        while (k + 1 < l->net_count && !l->nets[k].count)
            k++;
        struct item first = l->nets[k].list[0];
        diag_add(d, D_TEMPLATE_SYNTAX, DIAG_AT(file, source, l->offset),
                 "<%s%.*s> is on one branch only, and nothing under the same "
                 "condition %s it",
                 first.closing ? "/" : "", STR_ARG(first.name), first.closing ? "opens" : "closes");
        ok = false;
    }
    return ok;
}
