// Commands, environments and signs replaced by three tables; words between commands are text; what
// a row is tagged with is at its end; all else passes as it is.
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
    size_t depth;      // of environments
    bool lines;        // lines or columns stand outside of all of them
    str tag;           // of the row that is read; "" without one
    bool bare;         // without brackets: \tag*{x}
    size_t tag_depth;  // of the environment that has the row
    uint64_t wide;     // a bit for each cases that is open, the last one's lowest: it has 3 columns
};

enum { MAX_CASES = 4096 };  // bytes of an environment that are looked through for columns

static void put_words(buf *out, str s)
{
    for (size_t k = 0; k < s.len; k++) {
        if (s.ptr[k] == '_' && (!k || s.ptr[k - 1] != '\\'))
            buf_char(out, '\\');
        buf_char(out, s.ptr[k]);
    }
}

// The tag of the row that ends here. One with commands or dollar signs of its own is no text.
static void put_tag(struct spelling *s)
{
    bool text = str_find(s->tag, '\\') == s->tag.len && str_find(s->tag, '$') == s->tag.len;
    if (!s->tag.len)
        return;
    buf_printf(s->out, "\\qquad%s{%s", text ? "\\text" : "", s->bare ? "" : "(");
    for (size_t i = 0; !text && i < s->tag.len; i++)
        if (s->tag.ptr[i] != '$')
            buf_char(s->out, s->tag.ptr[i]);
    if (text)
        put_words(s->out, s->tag);
    buf_str(s->out, s->bare ? STR("}") : STR(")}"));
    s->tag = STR_NONE;
}

// \tag{x} or \tag*{x}; i is behind the word. The offset behind it.
static size_t take_tag(struct spelling *s, size_t i)
{
    bool bare = i < s->tex.len && s->tex.ptr[i] == '*';
    s->bare = bare, s->tag_depth = s->depth;
    return behind_group(s->tex, i + bare, &s->tag);
}

// Whether a row of the environment whose content begins at i has three columns or more.
static bool is_wide(str tex, size_t i)
{
    size_t depth = 0, columns = 1, last = i + MAX_CASES < tex.len ? i + MAX_CASES : tex.len;
    for (; i + 1 < last; i++) {
        str rest = str_slice(tex, i, last);
        if (str_starts(rest, STR("\\end")) && !depth--)
            return false;
        depth += str_starts(rest, STR("\\begin"));
        if (!depth && str_starts(rest, STR("\\\\")))
            columns = 1;
        if (!depth && tex.ptr[i] == '&' && ++columns == 3)
            return true;
        i += tex.ptr[i] == '\\';
    }
    return false;
}

// cases has two columns to blahtexml: with more it is a matrix behind a brace.
static bool wide_cases(struct spelling *s, bool begins, size_t end)
{
    if (begins)
        s->wide = s->wide << 1 | is_wide(s->tex, end);
    bool wide = s->wide & 1;
    if (!begins)
        s->wide >>= 1;
    if (wide)
        buf_str(s->out, begins ? STR("\\left\\{\\begin{matrix}") : STR("\\end{matrix}\\right."));
    return wide;
}

// \begin{name} or \end{name}; i is behind the word. The offset behind it.
static size_t environment(struct spelling *s, bool begins, size_t i)
{
    str name = STR_NONE;
    size_t end = behind_group(s->tex, i, &name);
    const struct row *row = find(environments, name);
    if (!begins && s->depth && s->depth == s->tag_depth)
        put_tag(s);
    if (!row || row->own.len)
        s->depth += begins ? 1 : s->depth ? (size_t)-1 : 0;
    bool wide = str_eq(name, STR("cases")) && wide_cases(s, begins, end);
    if (!wide && (!row || row->own.len))
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
    put_words(s->out, inside);
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
    if (str_eq(name, STR("tag")))
        return take_tag(s, end);
    size_t behind = is_text(name) ? words(s, name, end) : end;
    if (behind > end)
        return behind;
    const struct row *row = find(commands, name);
    str own = row ? row->own : str_slice(s->tex, i, end);
    bool ends_row = str_eq(own, STR("\\\\"));
    s->lines = s->lines || (!s->depth && ends_row);
    if (ends_row && s->depth == s->tag_depth)
        put_tag(s);
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
    put_tag(&s);
    bool aligned = display && s.lines;
    buf_str(out, aligned ? STR("\\begin{aligned}") : STR_NONE);
    buf_str(out, buf_view(&plain));
    buf_str(out, aligned ? STR("\\end{aligned}") : STR_NONE);
    buf_free(&plain);
}
