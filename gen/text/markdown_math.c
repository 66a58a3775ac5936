// Formulas between dollar signs or brackets: an extension of cmark-gfm that turns them into code
// nodes, which the renderer knows by their user data.
//
// `$` and `$$` are looked for by the inline parser, and so are \( and \\(: the parser itself has
// taken the backslashes by then, as one text node. Formulas that begin on a line of their own are
// blocks. What is no formula by the rules below stays as it is, so that prices do.
#include <string.h>
#include <unicode/uchar.h>

#include "gen/text/markdown_extension.h"
#include "gen/text/math.h"
#include "gen/text/terms.h"

enum { MAX_TAG = 200 };  // bytes that are looked at behind a tag's end

// What a formula's node carries: no other code node has user data.
struct md_formula {
    bool display;
    bool escaped;  // backslashes of its TeX are written as Markdown wants them
    bool ended;    // of a block: its last line has been read
    bool kept;     // of a block: what it begins and ends with is TeX, too
    str end;       // of a block: what its last line ends with
};

const struct md_formula *md_formula_of(cmark_node *n)
{
    return cmark_node_get_user_data(n);
}

bool md_formula_displayed(const struct md_formula *f)
{
    return f->display;
}

static bool is_blank(const char *s)
{
    while (md_is_space(*s))
        s++;
    return !*s;
}

// Whether nothing is behind a formula in its paragraph, or attributes of the block that holds it:
// {: .class}.
static bool is_last(const char *s)
{
    while (md_is_space(*s))
        s++;
    const char *close = s[0] == '{' && s[1] == ':' ? strchr(s, '}') : NULL;
    return is_blank(close ? close + 1 : s);
}

// The code point before s[at], or 0 at the start.
static uint32_t before(const char *s, size_t at)
{
    size_t i = at, n;
    while (i && at - i < 4 && ((unsigned char)s[i - 1] & 0xC0) == 0x80)
        i--;
    i -= i > 0;
    return at ? utf8_next((str){s + i, at - i}, &n) : 0;
}

// Letters of Korean, Chinese, Japanese and the like: words and particles go on without a space.
static bool is_unspaced(uint32_t c)
{
    return (c >= 0xAC00 && c <= 0xD7A3) || terms_is_dense(c);
}

// Whether what is behind a dollar sign makes it a part of a word.
static bool is_letter_or_digit(const char *s)
{
    size_t n;
    uint32_t c = *s ? utf8_next((str){s, strnlen(s, 4)}, &n) : 0;
    return c && !is_unspaced(c) && u_isalnum((UChar32)c);
}

// Whether an HTML tag ends before s[at].
static bool is_behind_tag(const char *s, size_t at)
{
    size_t i = at;
    if (!at || s[at - 1] != '>')
        return false;
    while (i && s[i] != '<' && at - i < MAX_TAG)
        i--;
    char first = s[i + (s[i + 1] == '/') + 1];
    return s[i] == '<' && (first | 32) >= 'a' && (first | 32) <= 'z';
}

// Whether a formula may begin at s[at]: at the start, behind white space, a tag, an opening
// bracket, a letter of a script without spaces or a punctuation mark that ASCII lacks, as “ and the
// full-width comma; signs of emphasis between are not counted.
static bool may_open(const char *s, size_t at)
{
    while (at && (s[at - 1] == '*' || s[at - 1] == '_'))
        at--;
    uint32_t c = before(s, at);
    return !at || c == '(' || c == '[' || c == '{' || u_isUWhiteSpace((UChar32)c) ||
           is_unspaced(c) || (c >= 0x80 && u_ispunct((UChar32)c)) || is_behind_tag(s, at);
}

// The next dollar sign from i on that could end a formula; 0 when something comes first that no
// formula holds: code, the end of a link's text whose bracket is before it.
static size_t next_dollar(const char *s, size_t i, bool twice)
{
    size_t brackets = 0;
    for (; s[i] && s[i] != '`'; i++) {
        if (s[i] == '\\' && s[i + 1])
            i++;
        else if (s[i] == '[')
            brackets++;
        else if (s[i] == ']' && brackets)
            brackets--;
        else if (s[i] == ']' && s[i + 1] == '(')
            return 0;
        else if (s[i] == '$' && (!twice || s[i + 1] == '$'))
            return i;
    }
    return 0;
}

// Whether s reads as a price and the words behind it ("5 bis 10", "10, also 5"): a number first,
// and later a word of three letters or more that no backslash or brace makes part of TeX. Where
// words are written without spaces, one letter right behind the number is enough ("5涨到10").
static bool is_price(str s)
{
    size_t letters = 0, n, digits = 0;
    if (!s.len || !ascii_is_digit(s.ptr[0]))
        return false;
    while (digits < s.len && strchr("0123456789., ", s.ptr[digits]))
        digits++;
    if (digits < s.len && is_unspaced(utf8_next(str_slice(s, digits, s.len), &n)))
        return true;
    for (size_t i = 0; i < s.len && !strchr("\\{}", s.ptr[i]); i += n) {
        letters = u_isalpha((UChar32)utf8_next(str_slice(s, i, s.len), &n)) ? letters + 1 : 0;
        if (letters == 3)
            return true;
    }
    return false;
}

// Where the formula ends that opens before s[from]; 0 when it is none. Only the first dollar sign
// is looked at, so that a paragraph costs one pass. loose: two signs are enough, as to kramdown.
static size_t dollar_end(const char *s, size_t from, bool twice, bool loose)
{
    size_t end = next_dollar(s, from, twice), behind = end + 1 + twice;
    if (end <= from || (!twice && s[end + 1] == '$'))
        return 0;
    bool alone = twice && is_last(s + behind);
    for (size_t i = 0; alone && i + 2 < from; i++)
        alone = md_is_space(s[i]);
    if (alone || loose)
        return end;
    bool price = !twice && is_price((str){s + from, end - from});
    return price || md_is_space(s[from]) || md_is_space(s[end - 1]) ||
                   is_letter_or_digit(s + behind)
               ? 0
               : end;
}

// The same for brackets, behind one backslash or two.
static size_t bracket_end(const char *s, size_t from, unsigned backslashes)
{
    for (size_t i = from; s[i] && s[i] != '`'; i++) {
        unsigned n = 0;
        while (s[i + n] == '\\')
            n++;
        if (n == backslashes && (s[i + n] == ')' || s[i + n] == '('))
            return s[i + n] == ')' && i > from ? i : 0;
        i += n;
        if (!s[i])
            return 0;
    }
    return 0;
}

// TeX as kramdown leaves it: a backslash before a sign of Markdown's is gone.
static str unescaped(arena *a, str tex)
{
    char *out = arena_c(a, tex);
    size_t n = 0;
    for (size_t i = 0; i < tex.len; i++) {
        if (tex.ptr[i] == '\\' && i + 1 < tex.len &&
            strchr("\\.*_+`-()[]{}#!<>:|\"'$", tex.ptr[i + 1]))
            i++;
        out[n++] = tex.ptr[i];
    }
    out[n] = 0;
    return (str){out, n};
}

static cmark_node *new_formula(struct md *r, str tex, struct md_formula what)
{
    cmark_node *n = cmark_node_new_with_mem(CMARK_NODE_CODE, r->mem);
    struct md_formula *f = arena_new(r->a, struct md_formula, 1);
    str text = str_trim(tex);
    *f = what;
    cmark_node_set_literal(n, f->escaped ? unescaped(r->a, text).ptr : arena_c(r->a, text));
    cmark_node_set_user_data(n, f);
    return n;
}

static cmark_node *match_dollar(struct md *r, const char *s, cmark_inline_parser *in)
{
    size_t at = (size_t)cmark_inline_parser_get_offset(in);
    bool twice = s[at + 1] == '$', single = r->o->extensions & MD_MATH_DOLLARS;
    size_t from = at + 1 + twice;
    if ((!twice && !single) || !may_open(s, at) || s[from] == '$')
        return NULL;
    bool kramdown = r->o->extensions & MD_MATH_KRAMDOWN;
    size_t end = dollar_end(s, from, twice, twice && kramdown);
    if (!end)
        return NULL;
    cmark_inline_parser_set_offset(in, (int)(end + 1 + twice));
    bool alone = at == 0 && is_last(s + end + 2);
    // To kramdown single ones are text, whose backslashes it takes away before MathJax reads it.
    struct md_formula what = {.display = twice && (alone || (single && !kramdown)),
                              .escaped = !twice && kramdown};
    return new_formula(r, (str){s + from, end - from}, what);
}

// An opening bracket behind one backslash or two, which are at the end of the text before it.
static cmark_node *match_bracket(struct md *r, cmark_node *parent, const char *s,
                                 cmark_inline_parser *in)
{
    size_t at = (size_t)cmark_inline_parser_get_offset(in), back = 0;
    while (back < at && s[at - 1 - back] == '\\')
        back++;
    bool one = r->o->extensions & MD_MATH_BRACKETS, two = r->o->extensions & MD_MATH_KRAMDOWN;
    bool escaped = one && back % 2;  // the parser was told not to take this backslash away
    size_t end =
        (back == 1 && one) || (back == 2 && two) ? bracket_end(s, at + 1, (unsigned)back) : 0;
    if (end || escaped)
        cmark_node_unput(parent, 1);
    if (end) {
        cmark_inline_parser_set_offset(in, (int)(end + back + 1));
        struct md_formula what = {.escaped = back == 2};
        return new_formula(r, (str){s + at + 1, end - at - 1}, what);
    }
    if (!escaped)
        return NULL;
    cmark_node *n = cmark_node_new_with_mem(CMARK_NODE_TEXT, r->mem);
    cmark_node_set_literal(n, "(");
    cmark_inline_parser_set_offset(in, (int)at + 1);
    return n;
}

static cmark_node *match_inline(cmark_syntax_extension *ext, cmark_parser *parser,
                                cmark_node *parent, unsigned char c, cmark_inline_parser *in)
{
    struct md *r = cmark_syntax_extension_get_private(ext);
    const char *s = cmark_node_get_string_content(parent);
    (void)parser;
    if (c != '$' && c != '(')
        return NULL;
    return c == '$' ? match_dollar(r, s, in) : match_bracket(r, parent, s, in);
}

// Which signs a backslash takes the meaning of: not a bracket that may open a formula.
static int is_escapable(char c)
{
    return c != '(' && ((c >= '!' && c <= '/') || (c >= ':' && c <= '@') ||
                        (c >= '[' && c <= '`') || (c >= '{' && c <= '~'));
}

// An environment, which needs no sign around it: of those of LaTeX for display, as MathJax and
// KaTeX's auto-render take them. Its own lines are a part of the TeX.
#define ENVIRONMENT(name) \
    { \
        MD_MATH, STR("\\begin{" name "}"), STR("\\end{" name "}"), false, true \
    }

// How a block is written.
static const struct {
    unsigned extensions;
    str open, end;
    bool escaped, kept;  // kept: open and end are TeX, too
} block_rows[] = {
    {MD_MATH_DOLLARS | MD_MATH_KRAMDOWN, STR("$$"), STR("$$"), false, false},
    {MD_MATH_BRACKETS, STR("\\["), STR("\\]"), false, false},
    {MD_MATH_KRAMDOWN, STR("\\\\["), STR("\\\\]"), true, false},
    ENVIRONMENT("equation"),
    ENVIRONMENT("equation*"),
    ENVIRONMENT("align"),
    ENVIRONMENT("align*"),
    ENVIRONMENT("alignat"),
    ENVIRONMENT("alignat*"),
    ENVIRONMENT("gather"),
    ENVIRONMENT("gather*"),
    ENVIRONMENT("multline"),
    ENVIRONMENT("multline*"),
    ENVIRONMENT("eqnarray"),
    ENVIRONMENT("eqnarray*"),
};
enum { BLOCK_KINDS = sizeof block_rows / sizeof *block_rows };
_Static_assert((size_t)BLOCK_KINDS == MD_FORMULA_BLOCKS, "struct md keeps a number for each");

// Whether the formula that begins in a line's rest is ended by a line before the next empty one:
// the first that holds its end must end with it. Lines before *none are known to have no such line.
static bool is_ended(struct md *r, str rest, str end, size_t line, size_t *none)
{
    if (line < *none)
        return false;
    do {
        size_t at = str_search(rest, end);
        if (at < rest.len && at + end.len == rest.len)
            return true;
        if (at < rest.len)
            break;
        rest = str_trim(md_line_at(r, ++line));
    } while (rest.len);
    *none = line;
    return false;
}

// Whether a line is in as many quotes, and indented as far, as the block above it wants.
static bool goes_on(str line, size_t quotes, size_t indentation)
{
    size_t i = 0, blanks;
    for (; quotes; quotes--) {
        while (i < line.len && line.ptr[i] == ' ')
            i++;
        if (i >= line.len || line.ptr[i] != '>')
            return false;
        i++;
        i += quotes > 1 || !indentation ? 0 : i < line.len && line.ptr[i] == ' ';
    }
    for (blanks = 0; i < line.len && md_is_space(line.ptr[i]); i++)
        blanks += line.ptr[i] == '\t' ? 4 : 1;
    return blanks >= indentation;
}

// Whether the lines of a formula from number on to the one that ends it are in the block that holds
// it: a paragraph goes on in lines that are not, a block of ours would end before them. at: where
// the formula begins in its first line.
static bool is_held(struct md *r, cmark_node *parent, size_t number, size_t at, str end)
{
    size_t quotes = 0, inner = 0;
    str line = md_line_at(r, number), head = str_slice(line, 0, at);
    bool item = false, marked = false;
    for (cmark_node *n = parent; n; n = cmark_node_parent(n)) {
        quotes += md_is(n, CMARK_NODE_BLOCK_QUOTE);
        item = item || md_is(n, CMARK_NODE_ITEM);
    }
    for (size_t i = 0; i < head.len; i++) {
        if (head.ptr[i] == '>')
            inner = i + 1 + (i + 1 < head.len && head.ptr[i + 1] == ' ');
        else
            marked = marked || !md_is_space(head.ptr[i]);
    }
    size_t indentation = !item ? 0 : marked ? head.len - inner : 1;
    do {
        line = md_line_at(r, ++number);
        if (!goes_on(line, quotes, indentation))
            return false;
    } while (str_trim(line).len && !str_ends(str_trim(line), end));
    return true;
}

// The row that a line opens a block by; BLOCK_KINDS for none.
static size_t block_kind(unsigned extensions, str s)
{
    size_t i = 0;
    while (i < BLOCK_KINDS &&
           !(extensions & block_rows[i].extensions && str_starts(s, block_rows[i].open)))
        i++;
    return i;
}

static cmark_node *open_block(cmark_syntax_extension *ext, int indented, cmark_parser *parser,
                              cmark_node *parent, unsigned char *input, int len)
{
    struct md *r = cmark_syntax_extension_get_private(ext);
    int at = cmark_parser_get_first_nonspace(parser);
    str s = str_trim(str_slice((str){(const char *)input, (size_t)len}, (size_t)at, (size_t)len));
    size_t kind = indented ? BLOCK_KINDS : block_kind(r->o->extensions, s);
    if (kind == BLOCK_KINDS)
        return NULL;
    str end = block_rows[kind].end, rest = str_slice(s, block_rows[kind].open.len, s.len);
    size_t line = (size_t)cmark_parser_get_line_number(parser);
    bool one_line = str_ends(rest, end);
    // Dollar signs at both ends of a line are for the inline parser.
    if ((one_line && end.ptr[0] == '$') || !is_ended(r, rest, end, line, &r->no_formula[kind]))
        return NULL;
    if (!one_line && end.ptr[0] == '$' && !is_held(r, parent, line, (size_t)at, end))
        return NULL;
    int open = block_rows[kind].kept ? 0 : (int)block_rows[kind].open.len,
        skipped = at + open - cmark_parser_get_offset(parser);
    cmark_node *n = cmark_parser_add_child(parser, parent, CMARK_NODE_CODE_BLOCK, at + 1);
    struct md_formula *f = arena_new(r->a, struct md_formula, 1);
    *f = (struct md_formula){true, block_rows[kind].escaped, one_line, block_rows[kind].kept, end};
    cmark_node_set_syntax_extension(n, ext);
    cmark_node_set_fence_info(n, "math");
    cmark_node_set_user_data(n, f);
    cmark_parser_advance_offset(parser, (const char *)input, skipped, 0);
    return n;
}

// A block takes lines until the one that ends it, which is its last.
static int match_block(cmark_syntax_extension *ext, cmark_parser *parser, unsigned char *input,
                       int len, cmark_node *n)
{
    struct md_formula *f = cmark_node_get_user_data(n);
    bool mine = !f->ended;
    (void)ext, (void)parser;
    f->ended = f->ended || str_ends(str_trim((str){(const char *)input, (size_t)len}), f->end);
    return mine;
}

str md_formula_tex(struct md *r, cmark_node *block, str literal)
{
    const struct md_formula *f = md_formula_of(block);
    str tex = str_trim(literal);
    if (f && !f->kept && str_ends(tex, f->end))
        tex = str_trim(str_slice(tex, 0, tex.len - f->end.len));
    return f && f->escaped ? unescaped(r->a, tex) : tex;
}

// The formula that n will be shown as; false when it is none.
static bool formula_at(struct md *r, cmark_node *n, struct math_formula *found)
{
    const struct md_formula *f = md_formula_of(n);
    if (md_is(n, CMARK_NODE_CODE_BLOCK) && md_is_math_fence(n))
        *found = (struct math_formula){str_trim(md_formula_tex(r, n, md_literal(n))), true};
    else if (md_is(n, CMARK_NODE_CODE) && (f || md_is_formula_span(n)))
        *found = (struct math_formula){md_literal(n), f && f->display};
    else
        return false;
    return true;
}

void md_formulas_prepare(struct md *r, cmark_node *root)
{
    struct math_formula *list = NULL, found;
    size_t count = 0, cap = 0;
    for (cmark_node *n = root; n; n = md_next_node(n, root)) {
        if (!formula_at(r, n, &found))
            continue;
        list = arena_grow(r->a, list, count, &cap, count + 1, sizeof *list);
        list[count++] = found;
    }
    if (count > 1)
        math_prepare(r->o->math, list, count);
}

cmark_syntax_extension *md_math_extension(struct md *r, cmark_parser *parser)
{
    cmark_mem *mem = cmark_get_default_mem_allocator();
    cmark_syntax_extension *ext = cmark_syntax_extension_new("vramdoc-math");
    cmark_llist *chars = cmark_llist_append(mem, NULL, (void *)'$');
    if (r->o->extensions & (MD_MATH_BRACKETS | MD_MATH_KRAMDOWN))
        chars = cmark_llist_append(mem, chars, (void *)'(');
    cmark_syntax_extension_set_private(ext, r, NULL);
    cmark_syntax_extension_set_special_inline_chars(ext, chars);
    cmark_syntax_extension_set_match_inline_func(ext, match_inline);
    cmark_syntax_extension_set_open_block_func(ext, open_block);
    cmark_syntax_extension_set_match_block_func(ext, match_block);
    if (r->o->extensions & MD_MATH_BRACKETS)
        cmark_parser_set_backslash_ispunct_func(parser, is_escapable);
    return ext;
}
