// Owns the reading of constructor calls in Python: TrainingArguments(...), SFTConfig(...),
// LoraConfig(...) and what stands beside them. Nothing is run: literals count, names that are bound
// to one above, and arithmetic over them; the rest is named.

#include "calc/parse/pairs.h"

#include "calc/base/text.h"
#include "calc/parse/forgets.h"
#include "calc/parse/python_choice.h"
#include "calc/parse/python_files.h"
#include "calc/parse/python_find.h"
#include "calc/parse/python_members.h"
#include "calc/parse/python_names.h"
#include "calc/parse/python_settings.h"
#include "calc/parse/settings.h"

struct calls {
    struct parse *p;
    struct pair_list *out;
    const char *at, *end;
    struct python_names names;
    bool seen[PYTHON_CALLS];
    bool titans;         // torchtitan's calls are its own
    bool spread;         // **more: arguments that are not here
    uint64_t cut;        // tokens that tokenizers cut texts to, the most; 0: none does
    const char *cut_at;  // where that is said; NULL: nowhere
    bool cut_known;
};

// ---- values ----------------------------------------------------------------------------------

static void blank(struct calls *c)
{
    for (; c->at < c->end; c->at++) {
        if (*c->at == '#')
            while (c->at < c->end && *c->at != '\n')
                c->at++;
        if (c->at == c->end ||
            (*c->at != ' ' && *c->at != '\t' && *c->at != '\n' && *c->at != '\r'))
            return;
    }
}

static bool take(struct calls *c, char token)
{
    blank(c);
    if (c->at == c->end || *c->at != token)
        return false;
    c->at++;
    return true;
}

static size_t place(const struct calls *c, const char *at)
{
    return (size_t)(at - c->p->text);
}

static int fail(struct calls *c, const char *at, message_id id)
{
    return err_set(&c->p->v->err, id, pairs_pos(c->out, c->p->file, place(c, at)), NO_FIELD,
                   NO_ARGS);
}

// One expression as text; "" where it is no literal.
static int expression(struct calls *c, struct span *text, char buf[PY_NUMBER])
{
    struct py_value v;
    struct py_error error;
    struct py_names names = python_names_of(&c->names);
    blank(c);
    const char *start = c->at;
    c->at = py_eval(&names, true, start, c->end, &v, &error);
    if (error.at && error.open)
        return fail(c, error.at, error.id);
    if (error.at) {  // a lambda, an operator that is not known: no literal
        c->at = python_over_value(start, c->end);
        *text = span_of(PAIRS_NOT_LITERAL);
        return VRAM_OK;
    }
    struct span source = span_trim((struct span){start, (size_t)(c->at - start)});
    *text = py_text(buf, &v, source);
    struct span key = {c->out->path, c->out->path_len};
    if (text->len && v.of.len && !format_forgets(key))
        parse_warn(
            c->p, MESSAGE_default_read, pairs_pos(c->out, c->p->file, place(c, start)),
            ARGS(arg_part("name", v.of.at, v.of.len), arg_part("value", text->at, text->len)));
    if (text->len == 0 && v.kind == PY_UNKNOWN) {
        bool holds;
        source = python_chosen(&c->names, python_source(&c->names, source));
        const char *end = source.at + source.len;
        if (py_eval(&names, true, source.at, end, &v, &error) == end && !error.at)
            *text = py_text(buf, &v, source);
        if (text->len == 0 && python_holds(&c->names, source, &holds))
            *text = span_of(holds ? "true" : "false");
    }
    if (text->len == 0 && v.kind == PY_UNKNOWN) {
        size_t n = python_library_prefix(source);
        *text = n ? span_skip(source, n) : span_of(PAIRS_NOT_LITERAL);
    }
    return VRAM_OK;
}

static int argument(struct calls *c, struct span name, const char *name_at, int depth);
static bool skip_quiet(struct calls *c);

// After an item: is there one more? A comprehension is left, and *known is false then.
static bool more_items(struct calls *c, char close, bool *known)
{
    if (take(c, ',') || c->at == c->end || *c->at == close)
        return true;
    *known = false;
    c->at = python_over_rest(c->at, c->end);
    return false;
}

// {"use_reentrant": False}: members under the path.
static int dictionary(struct calls *c, int depth)
{
    char buf[PY_NUMBER];
    struct span key;
    bool known = true;
    int rc = VRAM_OK;
    while (rc == VRAM_OK && known && !take(c, '}')) {
        blank(c);
        const char *key_at = c->at;
        if (c->at == c->end)
            return fail(c, c->at, MESSAGE_open_bracket);
        rc = expression(c, &key, buf);
        if (rc == VRAM_OK && take(c, ':'))
            rc = argument(c, key, key_at, depth + 1);
        if (rc == VRAM_OK && !more_items(c, '}', &known))
            pairs_add(c->out, span_of(PAIRS_NOT_LITERAL), place(c, key_at), place(c, key_at));
    }
    return rc;
}

static int list(struct calls *c, struct span *joined)
{
    char buf[PY_NUMBER];
    struct span item;
    size_t items = 0;
    bool known = true;
    int rc = VRAM_OK;
    *joined = (struct span){"", 0};
    while (rc == VRAM_OK && known && !take(c, ']')) {
        rc = expression(c, &item, buf);
        if (rc == VRAM_OK && joined->len + item.len <= PARSE_LIST_MAX)
            *joined = pairs_join(c->out, *joined, item, items++ == 0);
        if (rc == VRAM_OK)
            more_items(c, ']', &known);
        if (c->at == c->end && known)
            return fail(c, c->at, MESSAGE_open_bracket);
    }
    if (!known)
        *joined = span_of(PAIRS_NOT_LITERAL);
    return rc;
}

// A name that is bound to a list above, once: reads it there. false: it is none.
static bool list_by_name(struct calls *c, struct span *joined)
{
    const char *start = c->at, *from = NULL;
    while (c->at < c->end && python_is_name_byte(*c->at))
        c->at++;
    struct span name = {start, (size_t)(c->at - start)};
    blank(c);
    bool alone = name.len > 0 && c->at < c->end && (*c->at == ',' || *c->at == ')');
    if (alone)
        from = python_bound_to(&c->names, name);
    const char *behind = c->at;
    c->at = from ? from : start;
    bool read = from && take(c, '[') && list(c, joined) == VRAM_OK;
    c->at = read ? behind : start;
    return read;
}

// The value of a named argument, into pairs.
static int argument(struct calls *c, struct span name, const char *name_at, int depth)
{
    char buf[PY_NUMBER];
    struct span text = {"", 0};
    size_t before = pairs_enter(c->out, name);
    int rc =
        before == SIZE_MAX || depth > PAIRS_DEPTH ? fail(c, name_at, MESSAGE_too_deep) : VRAM_OK;
    blank(c);
    const char *start = c->at;
    bool tree = rc == VRAM_OK && c->at < c->end && *c->at == '{';
    if (tree) {
        c->at++;
        rc = dictionary(c, depth);
    } else if (rc == VRAM_OK && take(c, '['))
        rc = list(c, &text);
    else if (rc == VRAM_OK && !list_by_name(c, &text))
        rc = expression(c, &text, buf);
    blank(c);
    const char *behind = tree ? c->at : python_over_more(c->at, c->end);
    text = behind > c->at ? span_of(PAIRS_NOT_LITERAL) : text;
    c->at = behind;
    if (rc == VRAM_OK && !tree)
        pairs_add(c->out, text, place(c, name_at), place(c, start));
    if (before != SIZE_MAX)
        pairs_leave(c->out, before);
    return rc;
}

// ---- a call ----------------------------------------------------------------------------------

// "name=" at c->at, or nothing of it.
static struct span argument_name(struct calls *c)
{
    const char *at = c->at;
    while (at < c->end && python_is_name_byte(*at))
        at++;
    struct span name = {c->at, (size_t)(at - c->at)};
    while (at < c->end && *at == ' ')
        at++;
    if (name.len == 0 || at + 1 >= c->end || *at != '=' || at[1] == '=')
        return (struct span){c->at, 0};
    c->at = at + 1;
    return name;
}

// **config["training"], behind the stars: what a file of settings has there. false: it is none.
static bool spread_section(struct calls *c, const char *stars)
{
    struct span path, key;
    size_t at = 0;
    const char *end = python_section(&c->names, c->at, c->end, &path);
    const struct vram_pair *pair;
    if (!end)
        return false;
    while ((pair = settings_below(c->p->v, path, &at, &key)))
        pairs_say(c->out, key, span_of(pair->value), place(c, stars));
    c->at = end;
    return true;
}

// **others, behind the stars: the members of a dictionary are arguments. What of it is not known is
// said, as a value is that is no literal.
static int spread(struct calls *c, const char *stars)
{
    struct python_members m = {.names = &c->names};
    const char *end = python_members(&m, c->at, c->end), *all = c->end;
    int rc = 0;
    for (size_t i = 0; rc == VRAM_OK && i < m.count; i++) {
        const struct python_member *one = m.at + i;
        size_t first = c->out->count;
        c->at = one->value_at;
        c->end = one->end;
        rc = argument(c, one->key, one->key_at, 0);
        c->end = all;
        blank(c);
        for (; rc == VRAM_OK && c->at < one->end && first < c->out->count; first++)
            c->out->at[first].value = PAIRS_NOT_LITERAL;
    }
    c->at = end;
    c->spread = c->spread || m.unread;
    if (m.unread)
        parse_warn(c->p, MESSAGE_not_literal, pairs_pos(c->out, c->p->file, place(c, m.unread)),
                   ARGS(arg_part("key", stars, (size_t)(end - stars))));
    return rc;
}

static int arguments(struct calls *c, const struct python_call *call)
{
    int rc = VRAM_OK;
    for (size_t number = 0; rc == VRAM_OK && !take(c, ')'); number++) {
        if (c->at == c->end)
            return fail(c, c->at, MESSAGE_open_bracket);
        const char *name_at = c->at;
        struct span name = argument_name(c);
        if (name.len == 0 && number == 0 && call->first && *c->at != '*')
            name = span_of(call->first);
        bool spreads = name.len == 0 && c->end - c->at > 2 && c->at[0] == '*' && c->at[1] == '*';
        if (spreads) {
            c->at += 2;
            rc = spread_section(c, name_at) ? VRAM_OK : spread(c, name_at);
        }
        c->spread = c->spread || (name.len == 0 && !spreads && take(c, '*'));
        size_t first = c->out->count;
        if (!spreads)
            rc = argument(c, name.len ? name : (struct span){"_", 1}, name_at, 0);
        if (span_is(name, "model"))  // what the script has made: of that nothing is said
            pairs_drop_unread(c->out, first);
        c->at = rc == VRAM_OK ? python_over_value(c->at, c->end) : c->at;
        if (rc == VRAM_OK && !take(c, ',') && c->at < c->end && *c->at != ')')
            rc = fail(c, c->at, MESSAGE_value_goes_on);
    }
    return rc;
}

// A call is a key, too, by which the format is recognized: _SFTConfig.
static void add_mark(struct calls *c, const char *name)
{
    struct text_line key = {{0}, 0};
    text_append(&key, "_");
    text_append(&key, name);
    pairs_say(c->out, (struct span){key.text, key.len}, (struct span){"", 0}, place(c, c->at));
}

// What a call says by its name alone.
static void add_said(struct calls *c, const struct python_call *call)
{
    for (struct span rest = span_of(call->says); rest.len > 0;) {
        struct span row = {rest.at, span_find(rest, " ")};
        size_t eq = span_find(row, "=");
        rest = span_skip(rest, row.len + 1);
        pairs_say(c->out, (struct span){row.at, eq}, span_skip(row, eq + 1), place(c, c->at));
    }
}

static int read_call(struct calls *c, const struct python_call *call, size_t row)
{
    size_t before = 0;
    struct err_pos pos = pairs_pos(c->out, c->p->file, place(c, c->at));
    bool loads = span_find(span_of(call->name), ".") < text_len(call->name);
    bool adapts = span_is(span_of(call->name), "get_peft_model");
    bool trains = span_find(span_of(call->name), "Trainer") < text_len(call->name);
    enum python_truth made = python_is_made(&c->names, call, c->at, c->seen[row]);
    if (made == PYTHON_NEVER) {
        c->at++;
        return VRAM_OK;
    }
    if (c->seen[row] && (loads || trains || adapts)) {
        // what was trained is loaded again behind the training
        parse_warn(c->p, MESSAGE_called_again, pos, ARGS(arg_text("call", call->name)));
        c->at++;
        return VRAM_OK;
    }
    if (c->seen[row])
        return err_set(&c->p->v->err, MESSAGE_call_twice, pos, NO_FIELD,
                       ARGS(arg_text("call", call->name)));
    if (made == PYTHON_PERHAPS && python_call_lightens(call))
        parse_warn(c->p, MESSAGE_call_conditional, pos, ARGS(arg_text("call", call->name)));
    c->seen[row] = true;
    add_mark(c, call->name);
    if (call->path[0])
        before = pairs_enter(c->out, span_of(call->path));
    add_said(c, call);
    c->at += text_len(call->name) + 1;
    const char *inside = c->at;
    int rc = arguments(c, call);
    if (call->path[0])
        pairs_leave(c->out, before);
    c->at = inside;  // a call may be an argument of another
    return rc;
}

// ---- tokenizers ------------------------------------------------------------------------------

// Behind the bracket of tokenizer(, tok(, self.tokenizer.encode_plus(, processor.tokenizer( at the
// beginning of a word; NULL: it is none of them.
static const char *tokenizer_call(const char *begin, const char *at, const char *end)
{
    const char *word = at;
    if (at > begin && (python_is_name_byte(at[-1]) || at[-1] == '.'))
        return NULL;
    while (at < end && (python_is_name_byte(*at) || *at == '.'))
        at++;
    struct span path = {word, (size_t)(at - word)};
    bool named = span_is(path, "tok") || (span_find(path, "tokenizer") < path.len &&
                                          span_find(path, "from_pretrained") == path.len);
    return named && at < end && *at == '(' ? at + 1 : NULL;
}

// max_length=512 among the arguments of a tokenizer's call.
static int read_tokenizer(struct calls *c, const char *inside)
{
    static const char name[] = "max_length";
    const char *before = c->at;
    char buf[PY_NUMBER];
    struct span text;
    uint64_t tokens;
    bool overflow;
    int rc = VRAM_OK;
    size_t depth = 1;
    for (c->at = inside; c->at < c->end && depth > 0;) {
        bool begins = depth == 1 && !python_is_name_byte(c->at[-1]);
        struct span here = {c->at, (size_t)(c->end - c->at)};
        if (begins && span_starts(here, name) && span_is(argument_name(c), name)) {
            blank(c);
            const char *at = c->at;
            rc = expression(c, &text, buf);
            message_clear(&c->p->v->err);
            bool known = rc == VRAM_OK && text_to_u64(text.at, text.len, &tokens, &overflow);
            if (!c->cut_at || !known || (c->cut_known && tokens > c->cut)) {
                c->cut = known ? tokens : 0;
                c->cut_known = known && (c->cut_known || !c->cut_at);
                c->cut_at = at;
            }
            break;
        }
        if (skip_quiet(c))
            continue;
        depth = python_depth(*c->at++, depth);
    }
    c->at = before;
    return rc == VRAM_ENOMEM ? rc : VRAM_OK;
}

// What texts are cut to, as a key.
static void add_cut(struct calls *c)
{
    char digits[TEXT_DIGITS];
    if (!c->cut_at)
        return;
    struct span number = span_of_number(c->cut, digits);
    pairs_say(c->out, span_of("tokenizer.max_length"),
              c->cut_known && c->cut ? number : span_of(PAIRS_NOT_LITERAL), place(c, c->cut_at));
}

// Over a string or a comment at c->at. false: there is none.
static bool skip_quiet(struct calls *c)
{
    const char *behind = python_over_quiet(c->at, c->end);
    bool quiet = behind > c->at;
    c->at = behind;
    return quiet;
}

// Settings of a quantizer that no model is loaded with: they stay without effect.
static void drop_unused(struct calls *c)
{
    bool loads = false, quantizes = false, used = c->spread;
    struct err_pos pos = NO_POS;
    for (size_t i = 0; i < PYTHON_CALLS; i++)
        loads = loads || (c->seen[i] &&
                          span_is(span_of(python_call(i)->name), "ForCausalLM.from_pretrained"));
    for (size_t i = 0; i < c->out->count; i++) {
        struct span key = span_of(c->out->at[i].key);
        used = used || span_is(key, "quantization_config");
        if (!quantizes && span_starts(key, "quantization_config."))
            pos = (struct err_pos){c->p->file, c->out->at[i].key_line, c->out->at[i].key_col};
        quantizes = quantizes || span_starts(key, "quantization_config.");
    }
    if (used || !loads || !quantizes)
        return;
    pairs_drop(c->out, "quantization_config.");
    parse_warn(c->p, MESSAGE_quantizer_unused, pos, NO_ARGS);
}

// All of the text from its first byte on: what its lines bind, and, in the second pass, its calls.
static int walk(struct calls *c, bool reads)
{
    const char *begin = c->p->text;
    int rc = VRAM_OK;
    size_t depth = 0;  // of brackets: a line inside of them binds nothing
    c->at = begin;
    for (bool line = true; rc == VRAM_OK && c->at < c->end;) {
        if (line && depth == 0)
            python_bind(&c->names, c->at);
        line = *c->at == '\n';
        size_t number;
        const struct python_call *call =
            reads ? python_call_at(begin, c->at, c->end, &number) : NULL;
        if (call && !c->titans && python_call_is_titans(call))
            call = NULL;
        const char *other = reads ? python_other_call_at(begin, c->at, c->end) : NULL;
        if (other && python_is_passed(&c->names, other, c->at))
            c->at++;
        else if (other)
            rc = err_set(&c->p->v->err, python_refusal(other),
                         pairs_pos(c->out, c->p->file, place(c, c->at)), NO_FIELD,
                         ARGS(arg_text("call", other)));
        else if (call) {
            rc = read_call(c, call, number);
            depth += c->at[-1] == '(';
        } else if (!skip_quiet(c)) {
            const char *inside = reads ? tokenizer_call(begin, c->at, c->end) : NULL;
            rc = inside ? read_tokenizer(c, inside) : rc;
            depth = python_depth(*c->at++, depth);
        }
    }
    return rc;
}

int read_calls(struct parse *p, struct pair_list *out)
{
    struct span text = {p->text, p->len};
    struct calls c = {
        .p = p, .out = out, .end = p->text + p->len, .titans = python_is_titans(text)};
    if (python_names_begin(&c.names, &out->arena, text) != VRAM_OK ||
        python_files_begin(&c.names, p->v) != VRAM_OK)
        return handle_no_memory(p->v);
    c.names.branch = python_branch;
    walk(&c, false);
    python_names_again(&c.names);
    int rc = walk(&c, true);
    if (rc == VRAM_OK) {
        drop_unused(&c);
        add_cut(&c);
    }
    python_settings_ask(p, out, &c.names);
    return out->failed ? handle_no_memory(p->v) : rc;
}
