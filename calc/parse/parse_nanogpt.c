// nanoGPT's configuration: config/*.py and the head of train.py are Python, of which the
// assignments are read.

#include "calc/parse/parse.h"

#include "calc/base/text.h"
#include "calc/parse/pyexpr.h"

static struct span int_text(char buf[PY_NUMBER], int64_t n)
{
    char *at = text_digits(buf + PY_NUMBER, n < 0 ? (uint64_t)-n : (uint64_t)n);
    if (n < 0)
        *--at = '-';
    return (struct span){at, (size_t)(buf + PY_NUMBER - at)};
}

// Six places; |d| < 1e18, and a fraction's field is far below that.
static struct span float_text(char buf[PY_NUMBER], double d)
{
    double size = d < 0 ? -d : d;
    if (size >= 1e12)
        return int_text(buf, d < 0 ? -1 : INT64_MAX / 2);
    uint64_t n = (uint64_t)(size * 1e6 + 0.5);
    char *at = buf + PY_NUMBER;
    for (int i = 0; i < 6; i++, n /= 10)
        *--at = (char)('0' + n % 10);
    *--at = '.';
    at = text_digits(at, n);
    if (d < 0)
        *--at = '-';
    return (struct span){at, (size_t)(buf + PY_NUMBER - at)};
}

struct span py_text(char buf[PY_NUMBER], const struct py_value *v, struct span source)
{
    switch (v->kind) {
    case PY_STR: return v->s;
    case PY_BOOL: return span_of(v->i ? "true" : "false");
    case PY_NONE: return span_of("none");
    case PY_INT: return int_text(buf, v->i);
    case PY_FLOAT: return v->literal ? span_trim(source) : float_text(buf, v->d);
    default: return (struct span){source.at, 0};
    }
}

bool py_field(const void *config, struct span name, struct py_value *out)
{
    int field = config_field(name.at, name.len);
    const struct vram_field *f = field < 0 ? NULL : vram_field_at((size_t)field);
    if (!f || !text_equal(name.at, name.len, f->key) || f->type == VRAM_TYPE_SET ||
        f->type == VRAM_TYPE_LIST)
        return false;
    uint64_t n = config_get(config, (size_t)field);
    if (f->values)
        *out = (struct py_value){.kind = PY_STR, .s = span_of(f->values[n])};
    else if (f->type == VRAM_TYPE_FRACTION)
        *out = (struct py_value){.kind = PY_FLOAT, .d = (double)n / 1e6};
    else
        *out = (struct py_value){.kind = f->type == VRAM_TYPE_BOOL ? PY_BOOL : PY_INT,
                                 .i = (int64_t)n};
    return true;
}

// From the first unread byte to the next line, over a comment or `; more`.
static void finish_line(struct parse *p, const char *at)
{
    for (const char *c = p->text + p->line_start; c < at; c++)
        if (*c == '\n') {
            p->line++;
            p->line_start = (size_t)(c + 1 - p->text);
        }
    p->pos = (size_t)(at - p->text);
    while (p->pos < p->len && p->text[p->pos] != '\n')
        p->pos++;
    p->pos += p->pos < p->len;
}

static int unreadable(struct parse *p, const char *at, message_id id)
{
    struct err_pos pos = err_pos_of(p->file, p->text, (size_t)(at - p->text));
    return err_set(&p->v->err, id, pos, NO_FIELD, NO_ARGS);
}

// What the expression reader says. Where nothing closes, what follows cannot be told apart.
static int bad_expression(struct parse *p, const struct py_error *error)
{
    p->ended |= error->open;
    return unreadable(p, error->at, error->id);
}

// init_from='gpt2-xl' loads the published weights: 50257 tokens, biases, 1024 positions, nanoGPT's
// own dropout. SRC: nanoGPT model.py, from_pretrained
static int start_from(struct parse *p, struct span value)
{
    static const struct {
        const char *name, *fields;
    } published[] = {
        {"gpt2", "n_layer=12 n_head=12 n_embd=768"},
        {"gpt2-medium", "n_layer=24 n_head=16 n_embd=1024"},
        {"gpt2-large", "n_layer=36 n_head=20 n_embd=1280"},
        {"gpt2-xl", "n_layer=48 n_head=25 n_embd=1600"},
    };
    for (size_t i = 0; i < sizeof published / sizeof *published; i++)
        if (span_is(value, published[i].name)) {
            int rc = handle_imply(p->v, published[i].fields);
            return rc ? rc : handle_imply(p->v, "vocab_size=50257 block_size=1024 bias=1");
        }
    return VRAM_OK;
}

// What is after a value that does not belong there.
static message_id after_value(const char *at)
{
    bool letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z');
    if (*at == ',')
        return MESSAGE_value_is_tuple;
    return letter ? MESSAGE_value_has_unit : MESSAGE_value_goes_on;
}

// torch.float16 is as good as 'float16'; an empty span for any other name.
static struct span torch_name(struct span source)
{
    source = span_trim(source);
    if (!span_starts(source, "torch."))
        return (struct span){source.at, 0};
    return span_skip(source, 6);
}

static message_id unknown_value(struct span source)
{
    source = span_trim(source);
    bool small = span_is(source, "true") || span_is(source, "false") || span_is(source, "none");
    return small ? MESSAGE_value_needs_capital : MESSAGE_value_unknown;
}

// The value of an assignment as vram_set takes it; an empty span where it cannot be said.
static struct span assigned(char buf[PY_NUMBER], const struct py_value *v, struct span source)
{
    struct span value = py_text(buf, v, source);
    return value.len == 0 ? torch_name(source) : value;
}

// A number, a text, a list: what a setting is set to, and no part of a program.
static bool is_setting(const struct py_value *v, struct span source)
{
    return v->kind != PY_UNKNOWN ||
           (source.len > 0 && (source.at[0] == '[' || source.at[0] == '{' || source.at[0] == '('));
}

// A key that a copy of nanoGPT has for itself is read over, as a key that no table of another
// format knows. One letter wrong stays an error, as does a value that our word of the name has not.
static int own_setting(struct parse *p, const struct entry *e, int rc)
{
    const struct vram_message *m = &p->v->err.out;
    bool other = span_is(e->key, "mode") && rc == VRAM_EVALUE;  // ours is none of nanoGPT's
    for (size_t i = 0; i < m->arg_count; i++)
        if (span_is(span_of(m->args[i].name), "near") &&
            parse_is_slip(e->key, span_of(m->args[i].text)))
            return rc;
    if (rc != VRAM_EKEY && !other)
        return rc;
    message_clear(&p->v->err);
    parse_warn(
        p, MESSAGE_key_unknown, e->key_pos,
        ARGS(arg_part("key", e->key.at, e->key.len), arg_text("format", "nanoGPT's settings")));
    return VRAM_OK;
}

// own: a copy of nanoGPT may have keys of its own.
static int assign(struct parse *p, struct span key, struct span expression, bool own)
{
    char buf[PY_NUMBER];
    struct py_value v;
    struct py_error error;
    const char *text_end = p->text + p->len;
    expression = span_trim(expression);
    struct py_names names = {py_field, &p->v->config, NULL};
    const char *at = py_eval(&names, false, expression.at, text_end, &v, &error);
    bool field =
        config_field(key.at, key.len) >= 0 || span_is(key, "preset") || span_is(key, "gpu");
    if (error.at)
        return bad_expression(p, &error);
    if (at < text_end && *at != '\n' && *at != '#' && *at != ';')
        return unreadable(p, at, after_value(at));
    struct span source = {expression.at, (size_t)(at - expression.at)};
    struct span value = assigned(buf, &v, source);
    if (value.len == 0 && field)
        return unreadable(p, expression.at, unknown_value(source));
    struct entry e = {key, value, parse_at(p, key.at), parse_at(p, expression.at)};
    int rc = span_is(key, "init_from") && v.kind == PY_STR ? start_from(p, value)
                                                           : parse_set_entry(p, &e);
    if (rc != VRAM_OK && own && is_setting(&v, source))
        rc = own_setting(p, &e, rc);
    if (rc == VRAM_OK && span_is(key, "dataset") && span_is(value, "shakespeare_char")) {
        message_list_add(&p->v->notes, MESSAGE_shakespeare_char, ABOUT("vocab_size"), NO_ARGS);
        p->v->config.vocab_size = 65;
    }
    finish_line(p, at);
    return rc;
}

int parse_assignment(struct parse *p, struct span key, struct span expression)
{
    return assign(p, key, expression, false);
}

// Words that begin a statement which sets nothing.
static bool is_statement(struct span line)
{
    static const char words[] =
        "import from def class if elif else for while with try except finally return assert "
        "print exec global raise del pass break continue";
    size_t n = parse_name_len(line);
    return text_has_word(words, line.at, n) ||
           (n < line.len && (line.at[n] == '(' || line.at[n] == '.'));
}

// Splits "name = expression" and "name: type = expression"; false if the line is something else.
static bool split(struct span line, struct span *key, struct span *expression)
{
    size_t eq = 0;
    while (eq < line.len && line.at[eq] != '=' && line.at[eq] != '#' && line.at[eq] != '(')
        eq++;
    if (eq >= line.len || line.at[eq] != '=' || (eq + 1 < line.len && line.at[eq + 1] == '='))
        return false;
    struct span name = {line.at, eq};
    name.len = span_find(name, ":");
    *key = span_trim(name);
    *expression = span_skip(line, eq + 1);
    return parse_is_name(*key);
}

// A docstring: reads over lines up to its end.
static int skip_string(struct parse *p, const char *at)
{
    struct py_value v;
    struct py_error error;
    struct py_names names = {py_field, &p->v->config, NULL};
    const char *end = py_eval(&names, false, at, p->text + p->len, &v, &error);
    if (error.at)
        return bad_expression(p, &error);
    finish_line(p, end);
    return VRAM_OK;
}

static int read_line(struct parse *p, struct span line, bool *stop)
{
    struct span key, expression;
    char first = line.at[0];
    if (first == '"' || first == '\'')
        return skip_string(p, line.at);
    if (span_starts(line, "--"))
        line = span_skip(line, 2);
    if (is_statement(line))
        return VRAM_OK;
    if (!split(line, &key, &expression))
        return unreadable(p, line.at, MESSAGE_no_assignment);
    // train.py's own line after its settings; what follows is the program
    *stop = span_is(key, "config_keys");
    return *stop ? VRAM_OK : assign(p, key, expression, true);
}

// `if torch.cuda.is_available():` and a field below it: whether it holds is not known here.
static void note_indented(struct parse *p, struct span line)
{
    struct span key, expression;
    if (split(line, &key, &expression) && config_field(key.at, key.len) >= 0)
        message_list_add(&p->v->notes, MESSAGE_inside_a_block, NO_FIELD,
                         ARGS(arg_u64("line", p->line), arg_part("key", key.at, key.len)));
}

int parse_nanogpt(struct parse *p)
{
    struct span line;
    bool stop = false;
    // train.py's defaults that differ from ours. SRC: nanoGPT train.py, "default config values"
    int rc = handle_imply(p->v, "gradient_accumulation_steps=40 compile=2.5");
    if (p->v->config.mode == MODE_REFERENCE)
        message_list_add(&p->v->notes, MESSAGE_compile_left_out, NO_FIELD, NO_ARGS);
    while (rc == VRAM_OK && !stop && parse_line(p, &line)) {
        bool indented = line.len > 0 && (line.at[0] == ' ' || line.at[0] == '\t' ||
                                         line.at[0] == ')' || line.at[0] == '@');
        line = span_trim(line);
        if (line.len > 0 && line.at[0] != '#' && !indented) {
            if (read_line(p, line, &stop) != VRAM_OK)
                rc = parse_report(p);
        } else if (indented)
            note_indented(p, line);
    }
    return rc;
}
