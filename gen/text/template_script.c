// The lexical states of JavaScript, as far as they decide what a value in a script has to be. A "/"
// behind ")" is taken for a division and one behind "}" for the start of a regular expression.
#include "gen/text/template_script.h"

#include <string.h>

#include "gen/base/ascii.h"

static bool is_word(char b)
{
    return ascii_is_alnum(b) || b == '_' || b == '$' || (unsigned char)b >= 0x80;
}

static void slide(struct script_context *c, char b)
{
    if (c->tail_len == sizeof c->tail) {
        memmove(c->tail, c->tail + 1, sizeof c->tail - 1);
        c->tail_len--;
    }
    c->tail[c->tail_len++] = b;
}

static void to(struct script_context *c, enum script_state state)
{
    c->state = (uint8_t)state;
    c->quote = 0;
    c->escaped = false;
    c->tail_len = 0;
}

// Back to code, behind a literal.
static void literal_ends(struct script_context *c)
{
    to(c, SCRIPT_CODE);
    c->before = SCRIPT_OPERAND;
}

// Whether the code ends with a keyword that an expression follows: ECMAScript 2024, 12.7.2.
static bool ends_with_keyword(const struct script_context *c)
{
    static const char *const words[] = {"return", "typeof", "instanceof", "in",    "of",
                                        "delete", "void",   "throw",      "new",   "case",
                                        "do",     "else",   "await",      "yield", "extends"};
    size_t from = c->tail_len;
    while (from && is_word(c->tail[from - 1]))
        from--;
    str word = {c->tail + from, c->tail_len - from};
    bool is_member = from && c->tail[from - 1] == '.';
    for (size_t i = 0; i < sizeof words / sizeof *words && !is_member; i++)
        if (str_eq(word, str_c(words[i])))
            return true;
    return false;
}

static bool ends_operand(const struct script_context *c, char b)
{
    bool twice = c->tail_len > 1 && c->tail[c->tail_len - 2] == b;
    return b == ')' || b == ']' || (twice && (b == '+' || b == '-'));
}

static void brace(struct script_context *c, char b)
{
    uint8_t *open = c->nested ? &c->braces[c->nested - 1] : NULL;
    c->before = SCRIPT_OPERATOR;
    if (open && b == '}' && !*open) {
        c->nested--;
        to(c, SCRIPT_TEMPLATE);
    } else if (open && b == '{' && *open == UINT8_MAX) {
        to(c, SCRIPT_UNSURE);
    } else if (open) {
        *open = (uint8_t)(b == '{' ? *open + 1 : *open - 1);
    }
}

static void code(struct script_context *c, char b)
{
    slide(c, b);
    if (b == '"' || b == '\'') {
        to(c, SCRIPT_STRING);
        c->quote = b;
    } else if (b == '`') {
        to(c, SCRIPT_TEMPLATE);
    } else if (b == '/') {
        to(c, SCRIPT_SLASH);
    } else if (b == '{' || b == '}') {
        brace(c, b);
    } else if (c->tail_len >= 4 && memcmp(c->tail + c->tail_len - 4, "<!--", 4) == 0) {
        to(c, SCRIPT_LINE);
    } else if (is_word(b)) {
        c->before = ends_with_keyword(c) ? SCRIPT_OPERATOR : SCRIPT_OPERAND;
    } else if (!str_trim((str){&b, 1}).len || b == '.') {
        // white space; or of a number, a member
    } else {
        c->before = ends_operand(c, b) ? SCRIPT_OPERAND : SCRIPT_OPERATOR;
    }
}

// Whether b is part of an escape.
static bool escape(struct script_context *c, char b)
{
    bool is_part = c->escaped || b == '\\';
    c->escaped = !c->escaped && b == '\\';
    return is_part;
}

static void regex(struct script_context *c, char b)
{
    if (b == '\n')
        literal_ends(c);  // nor is it one
    else if (escape(c, b))
        return;
    else if (b == '[')
        to(c, SCRIPT_CLASS);
    else if (b == '/')
        literal_ends(c);
}

static void class(struct script_context *c, char b)
{
    if (b == '\n')
        literal_ends(c);
    else if (!escape(c, b) && b == ']')
        to(c, SCRIPT_REGEX);
}

static void slash(struct script_context *c, char b)
{
    if (b == '/' || b == '*') {
        to(c, b == '/' ? SCRIPT_LINE : SCRIPT_BLOCK);
    } else if (c->before == SCRIPT_OPERAND) {
        c->before = SCRIPT_OPERATOR;
        to(c, SCRIPT_CODE);
        code(c, b);
    } else if (c->before == SCRIPT_OPERATOR) {
        to(c, SCRIPT_REGEX);
        regex(c, b);
    } else {
        to(c, SCRIPT_UNSURE);
    }
}

static void string(struct script_context *c, char b)
{
    if (!escape(c, b) && b == c->quote)
        literal_ends(c);
}

static void template(struct script_context *c, char b)
{
    bool opens = c->quote == '$' && b == '{';
    c->quote = b;
    if (escape(c, b)) {
        c->quote = 0;
    } else if (b == '`') {
        literal_ends(c);
    } else if (opens && c->nested == SCRIPT_NESTED) {
        to(c, SCRIPT_UNSURE);
    } else if (opens) {
        c->braces[c->nested++] = 0;
        c->before = SCRIPT_OPERATOR;
        to(c, SCRIPT_CODE);
    }
}

static void line_comment(struct script_context *c, char b)
{
    if (b == '\n' || b == '\r')
        to(c, SCRIPT_CODE);
}

static void block_comment(struct script_context *c, char b)
{
    if (b == '/' && c->escaped)
        to(c, SCRIPT_CODE);
    c->escaped = b == '*';
}

static void unsure(struct script_context *c, char b)
{
    (void)c, (void)b;
}

void script_feed(struct script_context *c, char byte)
{
    static void (*const states[])(struct script_context *, char) = {
        [SCRIPT_CODE] = code,         [SCRIPT_SLASH] = slash,         [SCRIPT_STRING] = string,
        [SCRIPT_TEMPLATE] = template, [SCRIPT_REGEX] = regex,         [SCRIPT_CLASS] = class,
        [SCRIPT_LINE] = line_comment, [SCRIPT_BLOCK] = block_comment, [SCRIPT_UNSURE] = unsure,
    };
    states[c->state](c, byte);
}

const char *script_value(struct script_context *c, bool *is_string)
{
    static const char *const refused[] = {
        [SCRIPT_SLASH] = "in a JavaScript regular expression",
        [SCRIPT_TEMPLATE] = "in a JavaScript template; use a quoted string",
        [SCRIPT_REGEX] = "in a JavaScript regular expression",
        [SCRIPT_CLASS] = "in a JavaScript regular expression",
        [SCRIPT_LINE] = "in a JavaScript comment",
        [SCRIPT_BLOCK] = "in a JavaScript comment",
        [SCRIPT_UNSURE] = "behind JavaScript that can be read in two ways; use two scripts",
    };
    if (c->state == SCRIPT_SLASH && c->before == SCRIPT_OPERAND)
        c->state = SCRIPT_CODE;
    *is_string = c->state == SCRIPT_STRING;
    if (*is_string)
        return c->escaped ? "behind a backslash" : NULL;
    if (c->state == SCRIPT_CODE)
        literal_ends(c);
    return refused[c->state];
}

void script_essence(struct script_context *c)
{
    c->before = 0;
    c->tail_len = 0;
    memset(c->tail, 0, sizeof c->tail);
    c->quote = c->state == SCRIPT_STRING || c->quote == '$' ? c->quote : 0;
    if (c->nested < SCRIPT_NESTED)
        memset(c->braces + c->nested, 0, SCRIPT_NESTED - c->nested);
}

void script_join(struct script_context *c, const struct script_context *other)
{
    c->before = c->before == other->before ? c->before : SCRIPT_EITHER;
    c->tail_len = 0;
}
