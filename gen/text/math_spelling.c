// Commands, environments and signs replaced by three tables; words between commands are text; all
// else passes as it is.
#include "gen/text/math_spelling.h"

struct row {
    str name, own;
    unsigned arguments;
};

static const struct row commands[] = {
#define X(name, own, arguments) {STR(name), STR(own), arguments},
#include "gen/text/math_spelling.def"
#undef X
    {STR_NONE, STR_NONE, 0},
};

static const struct row environments[] = {
#define X(name, own, arguments) {STR(name), STR(own), arguments},
#include "gen/text/math_environments.def"
#undef X
    {STR_NONE, STR_NONE, 0},
};

static const struct row signs[] = {
#define X(sign, own) {STR(sign), STR(own), 0},
#include "gen/text/math_signs.def"
#undef X
    {STR_NONE, STR_NONE, 0},
};

// Their argument is words.
static const str texts[] = {STR("text"),   STR("textrm"), STR("textbf"), STR("textit"),
                            STR("textsf"), STR("texttt"), STR("mbox")};

static const struct row *find(const struct row *rows, str name)
{
    while (rows->name.len && !str_eq(rows->name, name))
        rows++;
    return rows->name.len ? rows : NULL;
}

static size_t behind_spaces(str tex, size_t i)
{
    while (i < tex.len && (tex.ptr[i] == ' ' || tex.ptr[i] == '\n'))
        i++;
    return i;
}

// The offset behind {...} at i, white space before it passed over; i when there is none, or no end.
static size_t behind_group(str tex, size_t i, str *inside)
{
    size_t start = behind_spaces(tex, i), depth = 0;
    if (start >= tex.len || tex.ptr[start] != '{')
        return i;
    for (size_t k = start; k < tex.len; k++) {
        k += tex.ptr[k] == '\\';
        depth += k < tex.len && tex.ptr[k] == '{';
        depth -= k < tex.len && tex.ptr[k] == '}';
        if (!depth) {
            *inside = str_slice(tex, start + 1, k);
            return k + 1;
        }
    }
    return i;
}

static size_t behind_groups(str tex, size_t i, unsigned n)
{
    str unused;
    while (n--)
        i = behind_group(tex, i, &unused);
    return i;
}

struct spelling {
    str tex;
    buf *out;
    size_t depth;  // of environments
    bool lines;    // lines or columns stand outside of all of them
};

// \begin{name} or \end{name}; i is behind the word. The offset behind it.
static size_t environment(struct spelling *s, bool begins, size_t i)
{
    str name = STR_NONE;
    size_t end = behind_group(s->tex, i, &name);
    const struct row *row = find(environments, name);
    if (!row || row->own.len)
        s->depth += begins ? 1 : s->depth ? (size_t)-1 : 0;
    if (!row || row->own.len)
        buf_printf(s->out, "\\%s{%.*s}", begins ? "begin" : "end", STR_ARG(row ? row->own : name));
    return row && begins ? behind_groups(s->tex, end, row->arguments) : end;
}

static bool is_text(str name)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (str_eq(name, texts[i]))
            return true;
    return false;
}

// \text{a_b}, where an underscore is one. The offset behind it; i without words in braces.
static size_t words(struct spelling *s, str name, size_t i)
{
    str inside = STR_NONE;
    size_t end = behind_group(s->tex, i, &inside);
    if (end == i)
        return i;
    buf_printf(s->out, "\\%.*s{", STR_ARG(name));
    for (size_t k = 0; k < inside.len; k++) {
        if (inside.ptr[k] == '_' && (!k || inside.ptr[k - 1] != '\\'))
            buf_char(s->out, '\\');
        buf_char(s->out, inside.ptr[k]);
    }
    buf_char(s->out, '}');
    return end;
}

static size_t sign_length(str tex, size_t i)
{
    size_t n = 1;
    while (i + n < tex.len && (tex.ptr[i + n] & 0xC0) == 0x80)
        n++;
    return n;
}

// Signs that are not ASCII at i, and quotes: TeX for those that the table has, text for others. The
// offset behind them.
static size_t sign(struct spelling *s, size_t i)
{
    str tex = s->tex, one = str_slice(tex, i, i + sign_length(tex, i));
    const struct row *row = find(signs, one);
    if (row) {
        buf_str(s->out, row->own);
        return i + one.len;
    }
    size_t end = i + one.len;
    while (end < tex.len && tex.ptr[end] & 0x80 &&
           !find(signs, str_slice(tex, end, end + sign_length(tex, end))))
        end += sign_length(tex, end);
    buf_printf(s->out, "\\text{%.*s}", STR_ARG(str_slice(tex, i, end)));
    return end;
}

// A command at i, its backslash. The offset behind it.
static size_t command(struct spelling *s, size_t i)
{
    size_t end = i + 1;
    while (end < s->tex.len && ascii_is_letter(s->tex.ptr[end]))
        end++;
    end += end == i + 1 && end < s->tex.len;
    str name = str_slice(s->tex, i + 1, end);
    if (str_eq(name, STR("begin")) || str_eq(name, STR("end")))
        return environment(s, name.len == 5, end);
    size_t behind = is_text(name) ? words(s, name, end) : end;
    if (behind > end)
        return behind;
    const struct row *row = find(commands, name);
    str own = row ? row->own : str_slice(s->tex, i, end);
    s->lines = s->lines || (!s->depth && str_eq(own, STR("\\\\")));
    buf_str(s->out, own);
    return row ? behind_groups(s->tex, end, row->arguments) : end;
}

void math_spelling(str tex, bool display, buf *out)
{
    buf plain = BUF_INIT;
    struct spelling s = {.tex = tex, .out = &plain};
    for (size_t i = 0; i < tex.len;) {
        if (tex.ptr[i] == '\\') {
            i = command(&s, i);
            continue;
        }
        if (tex.ptr[i] & 0x80 || tex.ptr[i] == '"') {
            i = sign(&s, i);
            continue;
        }
        s.lines = s.lines || (!s.depth && tex.ptr[i] == '&');
        buf_char(&plain, tex.ptr[i++]);
    }
    bool aligned = display && s.lines;
    buf_str(out, aligned ? STR("\\begin{aligned}") : STR_NONE);
    buf_str(out, buf_view(&plain));
    buf_str(out, aligned ? STR("\\end{aligned}") : STR_NONE);
    buf_free(&plain);
}
