// The source of a figure as a reader sees it: sentences in the language of the page, addresses as
// links, commands and formulas as code.
#include "gen/base/escape.h"
#include "gen/site/figures/figures_lib.h"

static bool ends_address(char c)
{
    return c == ' ' || c == ';' || c == ',' || c == ')' || c == '"' || c == '<' || c == '>';
}

static void put_linked(str text, buf *out)
{
    while (text.len) {
        size_t at = str_search(text, STR("https://")), end = at;
        while (end < text.len && !ends_address(text.ptr[end]))
            end++;
        str address = str_slice(text, at, end);
        escape_text(out, str_slice(text, 0, at));
        if (address.len) {
            buf_lit(out, "<a href=\"");
            escape_url(out, address);
            buf_lit(out, "\">");
            escape_text(out, address);
            buf_lit(out, "</a>");
        }
        text = str_slice(text, end, text.len);
    }
}

static bool is_name(str s)
{
    size_t i = 0;
    while (i < s.len && (s.ptr[i] == '_' || (s.ptr[i] | 32) >= 'a' || ascii_is_digit(s.ptr[i])))
        i++;
    return i == s.len;
}

static void put_code(str text, const char *class, buf *out)
{
    buf_printf(out, "<code%s>", class);
    escape_text(out, text);
    buf_lit(out, "</code>");
}

// A sentence in the reader's language, or a message by its own key. False when the catalog has
// neither.
static bool put_sentence(str text, const struct language *l, buf *out)
{
    buf key = BUF_INIT, words = BUF_INIT;
    buf_printf(&key, "source.%.*s", STR_ARG(text));
    bool known =
        catalog_format(l->catalog, buf_view(&key), NULL, 0, &words, NULL) ||
        (str_find(text, '.') < text.len && catalog_format(l->catalog, text, NULL, 0, &words, NULL));
    if (known)
        escape_text(out, buf_view(&words));
    buf_free(&key);
    buf_free(&words);
    return known;
}

static bool is_command(str text)
{
    return str_starts(text, STR("vramcalc ")) || str_starts(text, STR("echo '"));
}

// An operator with a space on each side; no address has one.
static bool is_formula(str text)
{
    static const char *const operators[] = {" * ", " / ", " + ", " - "};
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (str_has(text, str_c(operators[i])))
            return !str_has(text, STR("://"));
    return false;
}

// A part that no catalog has: a command, a formula, or words with addresses.
static void put_plain(str text, buf *out)
{
    if (is_command(text))
        put_code(text, " class=\"command\"", out);
    else if (is_formula(text))
        put_code(text, "", out);
    else
        put_linked(text, out);
}

// Pieces between ": ", each a sentence or what it is: "sentence: address", "sentence: vramcalc
// ...", "file: sentence".
static void put_part(str part, const struct language *l, buf *out)
{
    while (!put_sentence(part, l, out)) {
        size_t colon = is_command(part) ? part.len : str_search(part, STR(": "));
        str piece = str_slice(part, 0, colon);
        if (colon >= part.len || !put_sentence(piece, l, out))
            put_plain(piece, out);
        if (colon >= part.len)
            return;
        buf_lit(out, ": ");
        part = str_slice(part, colon + 2, part.len);
    }
}

// Where the first part ends: at "; ", but not in what a command reads between quotes.
static size_t part_end(str rest)
{
    size_t from = str_starts(rest, STR("echo '")) ? str_search(rest, STR("' | vramcalc")) : 0;
    return from + str_search(str_slice(rest, from, rest.len), STR("; "));
}

void source_html(const struct figure *g, const struct language *l, buf *out)
{
    if (g->name.len && !is_name(g->name)) {
        put_code(g->name, "", out);
        buf_lit(out, ": ");
    }
    for (str rest = g->source; rest.len;) {
        size_t end = part_end(rest);
        put_part(str_slice(rest, 0, end), l, out);
        rest = str_slice(rest, end + 2, rest.len);
        if (rest.len)
            buf_lit(out, "; ");
    }
}
