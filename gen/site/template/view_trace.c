// What a template did with a page, kept for the next one of its layout and language: static text,
// fields that went out, once blocks, and each question about the page by which its code may have
// gone another way. A page with the same answers is rendered without Lua. Sound because code in the
// sandbox sees of a page only what is asked here; what cannot be followed (a list's table, an
// address) loses the trace, and such pages are rendered in Lua each time. Without it half of a
// full build of 38,000 short pages was Lua.
#include <string.h>

#include "gen/site/template/view_lib.h"

enum {
    ANSWERS_MAX = 64,     // to one question
    PATHS_MAX = 128,      // that are recorded of a layout in a language
    KEPT_MAX = 16 << 20,  // bytes of all
};

enum trace_state { NODE_OPEN, NODE_ASKS, NODE_ENDS, NODE_LOST };

struct trace_step {
    enum { STEP_TEXT, STEP_FIELD, STEP_ONCE } kind;
    str text;
    const struct view_field *field;
    uint32_t number;  // of the once block
    uint8_t how;      // enum html_emitter, or enum view_scope of the block
    // Of a language's block: as the last page showed it, in the same stay in a folder.
    const struct view_once *kept;
    uint64_t stay, forgotten;
};

struct trace_answer {
    str value;
    struct trace_node *next;
};

// What happens up to the next question.
struct trace_node {
    enum trace_state state;
    struct trace_step *steps;
    size_t count, cap;
    enum view_ask ask;
    const struct view_field *field;
    struct trace_answer *answers;
    size_t answer_count, answer_cap;
};

struct trace_root {
    struct trace_node node;
    size_t paths;
};

static struct trace_root *root_of(struct view *v, const struct view_template *t)
{
    struct view_trace *r = &v->trace;
    bool is_new;
    buf_clear(&r->key);
    buf_put(&r->key, &v->page->language->index, sizeof v->page->language->index);
    buf_str(&r->key, t->name);
    void **slot = map_put(&r->roots, &r->arena, buf_view(&r->key), &is_new);
    if (is_new)
        *slot = arena_new(&r->arena, struct trace_root, 1);
    return *slot;
}

bool view_is_given(struct view_value x)
{
    return x.kind == VALUE_NUMBER || x.kind == VALUE_BOOL ? x.number != 0
                                                          : x.kind != VALUE_NONE && x.text.len;
}

// Of HTML, code sees whether it is there; looking into it loses the trace.
static str answer(struct view *v, enum view_ask ask, struct view_value x)
{
    buf *key = &v->trace.key;
    bool is_html = x.kind == VALUE_HTML || x.kind == VALUE_MADE;
    buf_clear(key);
    if (ask == ASK_GIVEN || is_html) {
        buf_char(key, view_is_given(x) ? '1' : '0');
    } else {
        buf_char(key, (char)('a' + x.kind));
        buf_put(key, &x.number, sizeof x.number);
        buf_str(key, x.text);
    }
    return buf_view(key);
}

static struct trace_node *next_of(const struct trace_node *n, str value)
{
    for (size_t i = 0; i < n->answer_count; i++)
        if (str_eq(n->answers[i].value, value))
            return n->answers[i].next;
    return NULL;
}

// Makes the block, which no page of the document or the folder has shown yet.
static int make_block(lua_State *L)
{
    view_enter(view_of(L));
    return view_once(L);
}

static const struct view_once *kept_block(struct view *v, struct trace_step *s)
{
    if (s->kept && s->stay == v->stay && s->forgotten == v->once_forgotten)
        return s->kept;
    const struct view_once *o = view_once_kept(v, (enum view_scope)s->how, s->number);
    if (s->how == SCOPE_LANGUAGE && v->stay)
        s->kept = o, s->stay = v->stay, s->forgotten = v->once_forgotten;
    return o;
}

static enum view_play play_block(struct view *v, struct trace_step *s, str file)
{
    static const char *const names[] = {"site", "language", "document"};
    lua_State *L = v->L;
    const struct view_once *o = kept_block(v, s);
    if (o) {
        view_once_emit(v, o);
        return PLAY_DONE;
    }
    lua_pushcfunction(L, make_block);
    lua_pushstring(L, names[s->how]);
    lua_pushinteger(L, s->number);
    lua_rawgeti(L, LUA_REGISTRYINDEX, v->once_bodies);
    lua_rawgeti(L, -1, s->number);
    lua_replace(L, -2);
    return sandbox_call(v->sandbox, 3, 0, file, v->d) ? PLAY_DONE : PLAY_FAILED;
}

// A value that is nil, or may not be where it is, is an error: rendered in Lua the page reports it.
static enum view_play play_field(struct view *v, const struct trace_step *s)
{
    struct view_value x = {.kind = VALUE_NONE};
    if (view_field_is_filled(v, s->field))
        x = s->field->value(v, s->field);
    if (x.kind == VALUE_NONE || view_emit(v, (enum html_emitter)s->how, x))
        return PLAY_UNKNOWN;
    return PLAY_DONE;
}

static enum view_play play_steps(struct view *v, const struct trace_node *n, str file)
{
    enum view_play play = PLAY_DONE;
    for (size_t i = 0; i < n->count && play == PLAY_DONE; i++) {
        struct trace_step *s = &n->steps[i];
        if (s->kind == STEP_TEXT)
            buf_str(v->out, s->text);
        else if (s->kind == STEP_FIELD)
            play = play_field(v, s);
        else
            play = play_block(v, s, file);
    }
    return play;
}

enum view_play view_trace_play(struct view *v, const struct view_template *t, bool *may_record)
{
    struct trace_root *root = root_of(v, t);
    const struct trace_node *n = &root->node;
    *may_record = root->paths < PATHS_MAX && v->trace.arena.total < KEPT_MAX;
    for (;;) {
        *may_record = *may_record && n->state != NODE_LOST;
        if (n->state == NODE_OPEN || n->state == NODE_LOST)
            return PLAY_UNKNOWN;
        enum view_play play = play_steps(v, n, t->file);
        if (play != PLAY_DONE || n->state == NODE_ENDS)
            return play;
        if (!view_field_is_filled(v, n->field))
            return PLAY_UNKNOWN;
        struct trace_node *next = next_of(n, answer(v, n->ask, n->field->value(v, n->field)));
        if (!next) {
            *may_record = *may_record && n->answer_count < ANSWERS_MAX;
            return PLAY_UNKNOWN;
        }
        n = next;
    }
}

// Begins to fill a node, or to pass one that is known.
static void enter(struct view *v, struct trace_node *n)
{
    v->trace.node = n;
    v->trace.from = v->out->len;
    if (n->state == NODE_OPEN)
        n->count = 0;
}

void view_trace_begin(struct view *v, const struct view_template *t)
{
    struct trace_root *root = root_of(v, t);
    root->paths++;
    enter(v, &root->node);
}

static struct trace_node *recorded(const struct view *v)
{
    return v->scope == SCOPE_PAGE ? v->trace.node : NULL;
}

// No more than this is kept, whatever a template does: the rest of the page is not recorded.
static bool is_full(struct view *v)
{
    bool full = v->trace.arena.total >= KEPT_MAX;
    if (full)
        v->trace.node = NULL;
    return full;
}

static void add(struct view *v, struct trace_step s)
{
    struct trace_node *n = v->trace.node;
    if (!n || n->state != NODE_OPEN || is_full(v))
        return;
    n->steps =
        arena_grow(&v->trace.arena, n->steps, n->count, &n->cap, n->count + 1, sizeof *n->steps);
    n->steps[n->count++] = s;
}

// What was printed since the last step.
static void add_text(struct view *v)
{
    str text = str_slice(buf_view(v->out), v->trace.from, v->out->len);
    if (text.len && v->trace.node->state == NODE_OPEN)
        add(v, (struct trace_step){.kind = STEP_TEXT, .text = arena_str(&v->trace.arena, text)});
    v->trace.from = v->out->len;
}

void view_trace_field(struct view *v, const struct view_field *f, enum html_emitter how)
{
    if (!recorded(v))
        return;
    add_text(v);
    add(v, (struct trace_step){.kind = STEP_FIELD, .field = f, .how = (uint8_t)how});
}

void view_trace_once(struct view *v, enum view_scope scope, uint32_t number)
{
    if (!recorded(v))
        return;
    add_text(v);
    add(v, (struct trace_step){.kind = STEP_ONCE, .number = number, .how = (uint8_t)scope});
}

void view_trace_resume(struct view *v)
{
    v->trace.from = v->out->len;
}

void view_trace_ask(struct view *v, enum view_ask ask, const struct view_field *f,
                    struct view_value x)
{
    struct trace_node *n = recorded(v);
    if (!n || f->scope == SCOPE_LANGUAGE)
        return;
    add_text(v);
    if (is_full(v))
        return;
    if (n->state == NODE_OPEN)
        n->state = NODE_ASKS, n->ask = ask, n->field = f;
    v->trace.node = NULL;
    if (n->state != NODE_ASKS || n->ask != ask || n->field != f)
        return;  // the code went another way for a reason of its own
    str value = answer(v, ask, x);
    struct trace_node *next = next_of(n, value);
    if (!next && n->answer_count < ANSWERS_MAX) {
        arena *a = &v->trace.arena;
        n->answers = arena_grow(a, n->answers, n->answer_count, &n->answer_cap, n->answer_count + 1,
                                sizeof *n->answers);
        next = arena_new(a, struct trace_node, 1);
        n->answers[n->answer_count++] = (struct trace_answer){arena_str(a, value), next};
    }
    if (next)
        enter(v, next);
}

void view_trace_lose(struct view *v)
{
    struct trace_node *n = recorded(v);
    if (!n)
        return;
    if (n->state == NODE_OPEN)
        n->state = NODE_LOST;
    v->trace.node = NULL;
}

void view_trace_end(struct view *v, bool ok)
{
    struct trace_node *n = v->trace.node;
    if (n && ok && n->state == NODE_OPEN) {
        add_text(v);
        if (v->trace.node)
            n->state = NODE_ENDS;
    }
    v->trace.node = NULL;
}
