// Reads tags of GitBook, Hugo's themes and Jekyll's by the table of those that are known, and finds
// the ends of blocks.
#include "gen/text/markdown_shortcode.h"

#include <string.h>

#include "gen/base/path.h"

enum {
    WHERE_GITBOOK = MD_FOREIGN_GITBOOK,
    WHERE_HUGO = MD_FOREIGN_SHORTCODES,
    WHERE_JEKYLL = MD_FOREIGN_LIQUID,
};

static const struct md_shortcode_row rows[] = {
#define X(where, name, how, kind, words) \
    {WHERE_##where, STR(name), SHORTCODE_##how, STR(kind), STR(words)},
#include "gen/text/markdown_shortcode.def"
#undef X
};

// A shortcode of a tree's own: where it has an end it shows what it encloses, as components do.
static const struct md_shortcode_row own = {
    WHERE_HUGO, {0}, SHORTCODE_BOX, {0}, STR("title header")};

bool md_shortcode_is_own(const struct md_shortcode *s)
{
    return s->row == &own;
}

static const struct md_shortcode_row *find(unsigned where, str name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].where == where && str_eq(rows[i].name, name))
            return &rows[i];
    return NULL;
}

// The word at the head of *s, which is taken from it.
static str take_word(str *s)
{
    size_t n = 0;
    *s = str_trim(*s);
    while (n < s->len && !strchr(" \t\r\n", s->ptr[n]))
        n++;
    str word = str_slice(*s, 0, n);
    *s = str_trim(str_slice(*s, n, s->len));
    return word;
}

static bool read_hugo(str inside, struct md_shortcode *out)
{
    char mark = inside.len > 1 ? inside.ptr[0] : 0;
    bool whole = (mark == '<' && inside.ptr[inside.len - 1] == '>') ||
                 (mark == '%' && inside.ptr[inside.len - 1] == '%');
    if (!whole)
        return false;
    out->markdown = mark == '%';
    inside = str_trim(str_slice(inside, 1, inside.len - 1));
    out->end = str_starts(inside, STR("/"));
    out->alone = !out->end && str_ends(inside, STR("/"));
    inside = str_slice(inside, out->end, inside.len - out->alone);
    out->name = take_word(&inside);
    out->arguments = inside;
    out->row = find(WHERE_HUGO, out->name);
    if (!out->row && out->name.len)
        out->row = &own;
    return out->row != NULL;
}

// "{% endtab %}" is the end of tab.
static bool read_gitbook(str name, str rest, struct md_shortcode *out)
{
    out->end = str_starts(name, STR("end"));
    out->arguments = rest;
    out->name = str_slice(name, out->end ? 3 : 0, name.len);
    out->row = find(WHERE_GITBOOK, out->name);
    return out->row != NULL;
}

// {% include note.html content="words" %}, which has no end.
static bool read_include(const struct md *r, str name, str rest, struct md_shortcode *out)
{
    if (!str_eq(name, STR("include")) && !str_eq(name, STR("include_cached")))
        return false;
    str file = path_name(take_word(&rest));
    if (!str_ends(file, STR(".html")))
        return false;
    out->alone = true;
    out->arguments = rest;
    out->name = str_slice(file, 0, file.len - 5);
    out->row = find(WHERE_JEKYLL, out->name);
    if (out->row && out->row->how == SHORTCODE_IMAGE && r->o->own_images)
        out->row = NULL;
    return out->row != NULL;
}

bool md_shortcode_read(const struct md *r, str tag, struct md_shortcode *out)
{
    *out = (struct md_shortcode){0};
    if (tag.len < 6 || tag.ptr[0] != '{')
        return false;
    str inside = str_slice(tag, 2, tag.len - 2);
    if (tag.ptr[1] == '{')
        return r->o->foreign & MD_FOREIGN_SHORTCODES && read_hugo(inside, out);
    while (inside.len && inside.ptr[0] == '-')
        inside = str_slice(inside, 1, inside.len);
    while (inside.len && inside.ptr[inside.len - 1] == '-')
        inside.len--;
    str name = take_word(&inside);
    return r->o->foreign & MD_FOREIGN_GITBOOK
               ? read_gitbook(name, inside, out)
               : r->o->foreign & MD_FOREIGN_LIQUID && read_include(r, name, inside, out);
}

// Behind the value at s[at]: in quotes, in which a backslash keeps the next byte, or a word.
static size_t value_end(str s, size_t at, str *value)
{
    size_t from = at;
    char quote = at < s.len && strchr("\"'`", s.ptr[at]) ? s.ptr[at] : 0;
    if (!quote) {
        while (at < s.len && !strchr(" \t\r\n", s.ptr[at]))
            at++;
        *value = str_slice(s, from, at);
        return at;
    }
    for (at++; at < s.len && s.ptr[at] != quote; at++)
        at += s.ptr[at] == '\\';
    *value = str_slice(s, from + 1, at);
    return at + 1;
}

// The argument of a name; of its place, from 0, where the name is a digit.
static bool argument(str s, str name, str *value)
{
    bool placed = name.len == 1 && ascii_is_digit(name.ptr[0]);
    size_t place = placed ? (size_t)(name.ptr[0] - '0') : 0, passed = 0;
    for (size_t at = 0; at < s.len;) {
        if (strchr(" \t\r\n", s.ptr[at])) {
            at++;
            continue;
        }
        size_t from = at;
        while (at < s.len && (ascii_is_alnum(s.ptr[at]) || strchr("-_", s.ptr[at])))
            at++;
        str key = str_slice(s, from, at);
        bool blank = at < s.len && s.ptr[at] == ' ';  // tag= "words", tag = "words"
        size_t equals = at + (blank && at + 1 < s.len && s.ptr[at + 1] == '=');
        bool named = key.len && equals < s.len && s.ptr[equals] == '=';
        if (named)
            for (at = equals + 1; at < s.len && s.ptr[at] == ' ';)
                at++;
        at = value_end(s, named ? at : from, value);
        if (named ? !placed && str_eq_nocase(key, name) : placed && passed++ == place)
            return true;
    }
    return false;
}

str md_shortcode_argument(const struct md_shortcode *s, str names)
{
    str name, value = STR_NONE;
    while (str_cut(&names, ' ', &name))
        if (argument(s->arguments, name, &value) && value.len)
            return str_trim(value);
    return STR_NONE;
}

static bool is_block(const struct md_shortcode *s)
{
    return s->row->how <= SHORTCODE_BLOCKS;
}

// What was opened last and has this name is ended; what was opened in it has no end.
static void close_place(struct md *r, const str *names, const size_t *open, size_t *depth, str name,
                        size_t at, size_t behind)
{
    for (size_t i = *depth; i-- > 0;)
        if (str_eq(names[open[i]], name)) {
            r->shortcodes[open[i]].close = at;
            r->shortcodes[open[i]].close_behind = behind;
            *depth = i;
            return;
        }
}

void md_shortcodes_find(struct md *r, str hidden)
{
    enum { DEEPEST = 64 };
    size_t open[DEEPEST], depth = 0, cap = 0, name_cap = 0;
    str *names = NULL;
    struct md_shortcode s;
    if (!(r->o->foreign & (MD_FOREIGN_GITBOOK | MD_FOREIGN_SHORTCODES | MD_FOREIGN_LIQUID)))
        return;
    for (size_t at = 0, end; at < hidden.len; at = end) {
        at += str_find(str_slice(hidden, at, hidden.len), MD_HIDDEN_BRACE);
        end = at + str_find(str_slice(hidden, at, hidden.len), MD_HIDDEN_END) + 1;
        if (end > hidden.len)
            return;
        char *tag = arena_c(r->a, str_slice(hidden, at, end));
        md_foreign_put_back(tag, end - at);
        if (!md_shortcode_read(r, (str){tag, end - at}, &s) || !is_block(&s))
            continue;
        r->shortcodes_hide = r->shortcodes_hide || s.row->how == SHORTCODE_HIDDEN;
        if (s.end) {
            map_put(&r->shortcode_ends, r->a, s.name, NULL);
            close_place(r, names, open, &depth, s.name, at, end);
            continue;
        }
        r->shortcodes = arena_grow(r->a, r->shortcodes, r->shortcode_count, &cap,
                                   r->shortcode_count + 1, sizeof *r->shortcodes);
        names = arena_grow(r->a, names, r->shortcode_count, &name_cap, r->shortcode_count + 1,
                           sizeof *names);
        r->shortcodes[r->shortcode_count] = (struct md_shortcode_place){.at = at, .behind = end};
        names[r->shortcode_count] = s.name;
        if (!s.alone && depth < DEEPEST)
            open[depth++] = r->shortcode_count;
        r->shortcode_count++;
    }
}
