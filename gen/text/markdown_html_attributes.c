// Attributes of raw HTML: an allow-list, each value checked, addresses resolved as Markdown's own.
#include <string.h>

#include "gen/base/escape.h"
#include "gen/text/html_names.h"
#include "gen/text/markdown_html.h"

enum check { TEXT, LINK, IMAGE, IMAGES, NUMBER, ALIGN, ID, FLAG, MEDIA };

static const struct rule {
    str name;
    enum check check;
    const char *tags;
} rules[] = {
#define X(name, check, tags) {STR(#name), check, tags},
#include "gen/text/markdown_html_attributes.def"
#undef X
};
enum { RULE_COUNT = sizeof rules / sizeof *rules };
_Static_assert(RULE_COUNT <= 64, "seen has a bit for each");

// An element's attributes while they are written.
struct writing {
    struct md *r;
    cmark_node *node;
    str tag;  // as the author wrote it, lower case
    uint64_t seen;
    bool has_id, has_alt;
};

static bool allows(const struct rule *rule, str tag)
{
    if (rule->tags[0] == '*')
        return true;
    str tags = str_c(rule->tags), word;
    while (str_cut(&tags, ' ', &word))
        if (word.len && str_eq(word, tag))
            return true;
    return false;
}

static const struct rule *rule_of(str name, str tag)
{
    for (size_t i = 0; i < RULE_COUNT; i++)
        if (str_eq_nocase(name, rules[i].name))
            return allows(&rules[i], tag) ? &rules[i] : NULL;
    return NULL;
}

static bool all_of(str s, const char *more)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        bool plain = ascii_is_alnum(c);
        if (!plain && !(c && strchr(more, c)))
            return false;
    }
    return s.len > 0;
}

static bool is_number(str s)
{
    uint64_t v;
    if (str_ends(s, STR("%")))
        s.len--;
    else if (str_ends(s, STR("px")))
        s.len -= 2;
    return str_u64(s, &v) && v < 100000;
}

// Names of the site's own parts: a page's anchor must not stand in for one of them.
static bool is_reserved(str id)
{
    static const str names[] = {STR("main"), STR("q"), STR("theme"), STR("calc"), STR("top")};
    static const str starts[] = {STR("page-"), STR("source-"), STR("calc-"), STR("fn")};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_eq_nocase(id, names[i]))
            return true;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (str_eq_nocase(str_slice(id, 0, starts[i].len), starts[i]))
            return true;
    return false;
}

static void put_name(struct writing *w, str name)
{
    buf_char(w->r->out, ' ');
    buf_str(w->r->out, name);
}

static void put_value(struct writing *w, str name, str value)
{
    put_name(w, name);
    buf_lit(w->r->out, "=\"");
    escape_attribute(w->r->out, value);
    buf_char(w->r->out, '"');
}

static void put_id(struct writing *w, str value)
{
    struct md *r = w->r;
    bool is_new;
    if (w->has_id || !all_of(value, "-_.:+") || is_reserved(value))
        return;
    map_put(&r->ids, r->a, value, &is_new);
    if (!is_new)
        return;
    w->has_id = true;
    md_anchor_add(r, value);
    put_value(w, STR("id"), value);
}

// Notes an address; false for one that is not safe.
static bool note(struct writing *w, str url, bool is_image)
{
    struct md *r = w->r;
    if (!url_is_safe(url))
        return false;
    bool in_line = r->leaf && !md_is(w->node, CMARK_NODE_HTML_BLOCK);
    md_link_note(r, arena_str(r->a, url), md_block_offset(r, in_line ? r->leaf : w->node),
                 is_image);
    return true;
}

// Writes the address that was noted last.
static void put_noted(struct writing *w, str url)
{
    if (w->r->o->gaps)
        md_gap_address(w->r);
    else
        escape_url(w->r->out, url);
}

static void put_address(struct writing *w, str name, str url, bool is_image)
{
    put_name(w, name);
    buf_lit(w->r->out, "=\"");
    if (note(w, url, is_image))
        put_noted(w, url);
    else
        buf_char(w->r->out, '#');
    buf_char(w->r->out, '"');
}

// "a.png 1x, b.png 2x"
static void put_addresses(struct writing *w, str name, str list)
{
    str item;
    bool first = true;
    put_name(w, name);
    buf_lit(w->r->out, "=\"");
    while (str_cut(&list, ',', &item)) {
        item = str_trim(item);
        size_t blank = str_find(item, ' ');
        str size = str_trim(str_slice(item, blank, item.len)), url = str_slice(item, 0, blank);
        if (!note(w, url, true) || !url.len || (size.len && !all_of(size, ".")))
            continue;
        if (!first)
            buf_lit(w->r->out, ", ");
        first = false;
        put_noted(w, url);
        if (size.len)
            buf_printf(w->r->out, " %.*s", STR_ARG(size));
    }
    buf_char(w->r->out, '"');
}

static void put_align(struct writing *w, str value)
{
    static const struct {
        str word, class;
    } words[] = {{STR("center"), STR("center")},
                 {STR("middle"), STR("center")},
                 {STR("right"), STR("right")},
                 {STR("left"), STR("left")}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_eq_nocase(value, words[i].word))
            put_value(w, STR("class"), words[i].class);
}

static void put(struct writing *w, const struct rule *rule, str value)
{
    switch (rule->check) {
    case TEXT: put_value(w, rule->name, value); break;
    case LINK: put_address(w, rule->name, value, false); break;
    case IMAGE: put_address(w, rule->name, value, true); break;
    case IMAGES: put_addresses(w, rule->name, value); break;
    case ALIGN: put_align(w, value); break;
    case ID: put_id(w, value); break;
    case FLAG: put_name(w, rule->name); break;
    case NUMBER:
        if (is_number(value))
            put_value(w, rule->name,
                      str_ends(value, STR("px")) ? str_slice(value, 0, value.len - 2) : value);
        break;
    case MEDIA:
        if (all_of(value, ":-() ."))
            put_value(w, rule->name, value);
        break;
    }
}

// Takes a value, quoted or not, off the head of *rest, which is behind the =.
static str take_value(str *rest)
{
    *rest = str_trim(*rest);
    char quote = rest->len ? rest->ptr[0] : 0;
    if (quote == '"' || quote == '\'') {
        str body = str_slice(*rest, 1, rest->len);
        size_t n = str_find(body, quote);
        *rest = str_slice(body, n + 1, body.len);
        return str_slice(body, 0, n);
    }
    size_t n = 0;
    while (n < rest->len && !md_is_space(rest->ptr[n]))
        n++;
    str value = str_slice(*rest, 0, n);
    *rest = str_slice(*rest, n, rest->len);
    return value;
}

// Takes an attribute off the head of *rest; false when there is none.
static bool take_attribute(str *rest, str *name, str *value)
{
    size_t n = 0;
    *rest = str_trim(*rest);
    while (n < rest->len && rest->ptr[n] != '=' && !md_is_space(rest->ptr[n]))
        n++;
    *name = str_slice(*rest, 0, n);
    *value = STR_NONE;
    bool taken = rest->len > 0;
    *rest = str_trim(str_slice(*rest, n, rest->len));
    if (rest->len && rest->ptr[0] == '=') {
        *rest = str_slice(*rest, 1, rest->len);
        *value = take_value(rest);
    }
    return taken;
}

bool md_html_is_link(str tag, str attributes)
{
    str name, value;
    while (str_eq(tag, STR("a")) && take_attribute(&attributes, &name, &value))
        if (str_eq_nocase(name, STR("href")))
            return true;
    return false;
}

void md_html_attributes(struct md *r, cmark_node *node, str tag, str rest)
{
    struct writing w = {.r = r, .node = node, .tag = tag};
    buf decoded = BUF_INIT;
    if (str_eq(tag, STR("video")))
        r->result->has_media = true;
    if (str_eq(tag, STR("center")))
        put_align(&w, tag);
    for (str name, value; take_attribute(&rest, &name, &value);) {
        const struct rule *rule = rule_of(name, tag);
        uint64_t bit = rule ? (uint64_t)1 << (rule - rules) : 0;
        if (!rule || w.seen & bit)
            continue;
        w.seen |= bit;
        w.has_alt = w.has_alt || str_eq(rule->name, STR("alt"));
        buf_clear(&decoded);
        html_unescape(value, &decoded);
        put(&w, rule, buf_view(&decoded));
    }
    if (str_eq(tag, STR("img")))
        buf_str(r->out, w.has_alt ? STR(" loading=\"lazy\" decoding=\"async\"")
                                  : STR(" alt=\"\" loading=\"lazy\" decoding=\"async\""));
    buf_free(&decoded);
}
