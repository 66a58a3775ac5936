// Tags of GitBook, Hugo's themes and Jekyll's in a line of text: links, pictures, words.
#include "gen/text/markdown_shortcode.h"

#include <string.h>

#include "gen/base/path.h"

static str reference(const struct md_shortcode *s)
{
    return md_shortcode_argument(s, STR("href link url src page relref file"));
}

// The address that a tag leads to; that of a film is behind its host's.
static str address_of(struct md *r, const struct md_shortcode *s)
{
    if (!s->row->kind.len)
        return reference(s);
    str id = md_shortcode_argument(s, STR("id 0"));
    return id.len ? arena_join(r->a, s->row->kind, id, STR_NONE) : STR_NONE;
}

// {{</* name */>}} is how a page of Hugo shows a tag.
static bool is_example(str tag, str *words, arena *a)
{
    bool example = tag.len > 10 && tag.ptr[1] == '{' &&
                   str_starts(str_slice(tag, 3, tag.len), STR("/*")) &&
                   str_ends(str_slice(tag, 0, tag.len - 3), STR("*/"));
    if (example)
        *words = arena_join(a, str_slice(tag, 0, 3), str_slice(tag, 5, tag.len - 5),
                            str_slice(tag, tag.len - 3, tag.len));
    return example;
}

static enum shown_as block_as(const struct md_shortcode *s, str *words)
{
    str content = md_shortcode_argument(s, STR("content text"));
    bool said = s->row->how == SHORTCODE_ALERT && content.len;
    *words = said ? content : md_shortcode_argument(s, s->row->words);
    *words = s->row->how == SHORTCODE_CODE ? STR_NONE : *words;
    if (said)
        return AS_WORDS;
    return words->len ? AS_LABEL : AS_NOTHING;
}

enum shown_as md_shortcode_as(struct md *r, str tag, str *words, str *href)
{
    struct md_shortcode s;
    *words = *href = STR_NONE;
    if (r->o->foreign & MD_FOREIGN_SHORTCODES && is_example(tag, words, r->a))
        return AS_WORDS;
    if (!md_shortcode_read(r, tag, &s))
        return md_show_is_raw(tag) ? AS_NOTHING : AS_CODE;
    enum md_shortcode_how how = s.row->how;
    bool encloses = how == SHORTCODE_AROUND || how == SHORTCODE_STRONG || how == SHORTCODE_PLAIN;
    if (s.end)
        return encloses ? AS_CLOSED : AS_NOTHING;
    if (how == SHORTCODE_NOTHING)
        return AS_NOTHING;
    *href = how == SHORTCODE_LINK || how == SHORTCODE_AROUND ? address_of(r, &s) : STR_NONE;
    str title = md_shortcode_argument(&s, s.row->words);
    if (how == SHORTCODE_ALERT && s.alone && !md_shortcode_argument(&s, STR("content text")).len)
        return AS_CODE;
    if (how == SHORTCODE_CODE && s.alone)
        return AS_CODE;  // its lines come from elsewhere
    if (md_shortcode_is_own(&s))
        return !s.alone && map_has(&r->shortcode_ends, s.name) ? AS_NOTHING : AS_CODE;
    if (how <= SHORTCODE_BLOCKS) {
        *href = reference(&s);  // of a card
        enum shown_as as = block_as(&s, words);
        return as == AS_LABEL && href->len ? AS_LINK : as;
    }
    *words = title;
    if (how == SHORTCODE_IMAGE) {
        str file = md_shortcode_argument(&s, STR("file"));
        *href = md_shortcode_argument(&s, STR("src name url 0"));
        if (file.len)
            *href = arena_join(r->a, STR("/"), s.row->kind, file);
        return href->len ? AS_IMAGE : AS_CODE;
    }
    if (how == SHORTCODE_WORDS)
        return words->len ? AS_WORDS : AS_CODE;
    if (encloses && !words->len)
        return AS_OPENED;
    if (!words->len)
        *words = str_eq(s.row->name, STR("file")) ? path_name(*href) : *href;
    return href->len ? AS_LINK : AS_CODE;
}

static cmark_node *node_of(struct md *r, enum shown_as as, str words, str href)
{
    static const cmark_node_type types[] = {
        [AS_LINK] = CMARK_NODE_LINK, [AS_LABEL] = CMARK_NODE_STRONG, [AS_IMAGE] = CMARK_NODE_IMAGE};
    cmark_node *n = cmark_node_new_with_mem(types[as], r->mem);
    if (as != AS_LABEL)
        cmark_node_set_url(n, arena_c(r->a, href));
    if (words.len) {
        cmark_node *text = cmark_node_new_with_mem(CMARK_NODE_TEXT, r->mem);
        cmark_node_set_literal(text, arena_c(r->a, words));
        cmark_node_append_child(n, text);
    }
    return n;
}

void md_show_open(struct showing *s, cmark_node *place, str tag)
{
    s->opened = arena_str(s->r->a, tag);
    s->opened_in = cmark_node_parent(place);
    s->opened_behind = cmark_node_previous(place);
}

void md_show_enclose(struct showing *s, cmark_node *place, str href, bool strong)
{
    if (s->opened_in != cmark_node_parent(place) || !s->opened_in)
        return;
    cmark_node *in =
        s->opened_behind ? cmark_node_next(s->opened_behind) : cmark_node_first_child(s->opened_in);
    s->opened_in = NULL;
    if ((!href.len && !strong) || in == place)
        return;
    cmark_node *around = node_of(s->r, href.len ? AS_LINK : AS_LABEL, STR_NONE, href);
    cmark_node_set_user_data(around, md_show_own());
    if (!cmark_node_insert_before(in, around)) {
        cmark_node_free(around);
        return;
    }
    for (cmark_node *next; in && in != place; in = next) {
        next = cmark_node_next(in);
        cmark_node_append_child(around, in);
    }
}

static void enclose(struct showing *s, cmark_node *place)
{
    struct md_shortcode t;
    if (s->opened_in && md_shortcode_read(s->r, s->opened, &t))
        md_show_enclose(s, place, t.row->how == SHORTCODE_AROUND ? reference(&t) : STR_NONE,
                        t.row->how == SHORTCODE_STRONG);
}

bool md_shortcode_show(struct showing *s, cmark_node *place, str tag)
{
    str words, href;
    enum shown_as as = md_shortcode_as(s->r, tag, &words, &href);
    if (as == AS_CODE)
        return false;
    if (as == AS_CLOSED)
        enclose(s, place);
    if (as == AS_OPENED)
        md_show_open(s, place, tag);
    cmark_node *n = NULL;
    if (as == AS_LINK || as == AS_LABEL || as == AS_IMAGE) {
        n = node_of(s->r, as, words, href);
        cmark_node_set_user_data(n, md_show_own());
    } else if (as == AS_WORDS) {
        n = cmark_node_new_with_mem(CMARK_NODE_TEXT, s->r->mem);
        cmark_node_set_literal(n, arena_c(s->r->a, words));
    }
    if (n && !cmark_node_insert_before(place, n))
        cmark_node_free(n);
    return true;
}

void md_raw_lines_drop(cmark_node *n)
{
    str rest = md_literal(n), line;
    if (!str_has(rest, STR("raw")))
        return;
    buf b = BUF_INIT;
    while (str_line(&rest, &line)) {
        str s = str_trim(line);
        bool mark =
            str_starts(s, STR("{%")) && str_ends(s, STR("%}")) && s.len > 4 && md_show_is_raw(s);
        if (mark)
            continue;
        buf_str(&b, line);
        buf_char(&b, '\n');
    }
    cmark_node_set_literal(n, b.ptr);
    buf_free(&b);
}

void md_shortcode_unescape(struct md *r, cmark_node *n)
{
    str rest = md_literal(n);
    if (!str_has(rest, STR("/*")) || !str_has(rest, STR("{{")))
        return;
    buf b = BUF_INIT;
    while (rest.len) {
        size_t at = str_search(rest, STR("{{"));
        str words, from = str_slice(rest, at, at + MD_MAX_TAG);
        size_t len = str_search(from, STR("}}")) + 2;
        buf_str(&b, str_slice(rest, 0, at));
        if (from.len > 5 && !memcmp(from.ptr + 3, "/*", 2) &&
            is_example(str_slice(from, 0, len), &words, r->a)) {
            buf_str(&b, words);
        } else {
            len = 2;
            buf_str(&b, str_slice(from, 0, len));
        }
        rest = str_slice(rest, at + len, rest.len);
    }
    cmark_node_set_literal(n, b.ptr);
    buf_free(&b);
}
