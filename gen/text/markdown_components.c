// Components of MDX and Vue whose meaning is known: what their tags are shown as.
#include <string.h>

#include "gen/text/markdown_foreign_show.h"

enum component_how { ENCLOSES, LABEL, LINK, NOTHING };

static const struct component {
    str name;
    enum component_how how;
    str attribute;
} components[] = {
#define X(name, how, attribute) {STR(name), how, STR(attribute)},
#include "gen/text/markdown_components.def"
#undef X
};

static str tag_name(str tag)
{
    size_t from = 1 + (tag.len > 1 && tag.ptr[1] == '/'), to = from;
    while (to < tag.len && !strchr(" \t\r\n/>", tag.ptr[to]))
        to++;
    return str_slice(tag, from, to);
}

str md_tag_attribute(str tag, str name)
{
    for (size_t at = 0; at < tag.len; at++) {
        at += str_search(str_slice(tag, at, tag.len), name);
        size_t equals = at + name.len;
        if (equals + 1 >= tag.len)
            break;
        char quote = tag.ptr[equals + 1];
        bool own = at && strchr(" \t\r\n:", tag.ptr[at - 1]) && tag.ptr[equals] == '=' &&
                   (quote == '"' || quote == '\'');
        if (own)
            return str_slice(tag, equals + 2,
                             equals + 2 + str_find(str_slice(tag, equals + 2, tag.len), quote));
    }
    return STR_NONE;
}

static void put_names(struct showing *s, str names)
{
    str name;
    while (str_cut(&names, ',', &name)) {
        size_t as = str_search(name, STR(" as "));
        name = str_trim(as < name.len ? str_slice(name, as + 4, name.len) : name);
        if (name.len)
            map_put(&s->icons, s->r->a, name, NULL);
    }
}

// import {FaDownload} from 'react-icons/fa6': pictures of a package that say nothing.
static void read_icons(struct showing *s)
{
    static const str packages[] = {STR("react-icons/"), STR("lucide-react"), STR("@heroicons/"),
                                   STR("@mui/icons-material")};
    static const str mark = STR("import {");
    str text = s->r->text;
    s->icons_read = true;
    for (size_t at = str_search(text, mark); at < text.len;) {
        str rest = str_slice(text, at + mark.len, at + mark.len + MD_MAX_TAG);
        size_t close = str_find(rest, '}');
        str from = str_trim(str_slice(rest, close + 1, rest.len));
        from = str_starts(from, STR("from ")) ? str_trim(str_slice(from, 5, from.len)) : STR_NONE;
        from = str_slice(from, 1, from.len);  // behind its quote
        for (size_t i = 0; close < rest.len && i < sizeof packages / sizeof *packages; i++)
            if (str_starts(from, packages[i]))
                put_names(s, str_slice(rest, 0, close));
        at += mark.len;
        at += str_search(str_slice(text, at, text.len), mark);
    }
}

static bool is_icon(struct showing *s, str name)
{
    if (!s->icons_read)
        read_icons(s);
    return map_has(&s->icons, name);
}

static bool is_closed(const struct showing *s, str name)
{
    return !name.len || map_has(&s->closed, name);
}

static const struct component *find(str name)
{
    const struct component *c = NULL;
    for (size_t i = 0; i < sizeof components / sizeof *components; i++)
        if (str_eq(name, components[i].name))
            c = &components[i];
    return c;
}

bool md_component_is_link(str name)
{
    const struct component *c = find(name);
    return c && c->how == LINK;
}

enum shown_as md_show_element_as(struct showing *s, str tag, str *words, str *href)
{
    str name = tag_name(tag);
    bool end = tag.len > 1 && tag.ptr[1] == '/', alone = str_ends(tag, STR("/>"));
    const struct component *c = find(name);
    if ((c && c->how == NOTHING) || (!c && ascii_is_upper(tag.ptr[1]) && is_icon(s, name)))
        return AS_NOTHING;
    *words = c ? md_tag_attribute(tag, c->attribute) : STR_NONE,
    *href = md_tag_attribute(tag, STR("href"));
    if (end && is_closed(s, name))
        return c && c->how == LINK ? AS_CLOSED : AS_NOTHING;
    bool encloses = !alone && is_closed(s, name);
    if (c && c->how == LINK && !words->len && href->len && encloses)
        return AS_OPENED;
    if (words->len)
        return c->how == LINK && href->len ? AS_LINK : AS_LABEL;
    return alone || !is_closed(s, name) ? AS_CODE : AS_NOTHING;
}

// The string behind a key of an object of JavaScript, as it is or within useBaseUrl() or require().
static str string_behind(str s, str key)
{
    size_t at = str_search(s, key);
    s = str_trim(str_slice(s, at + key.len, s.len));
    static const str calls[] = {STR("useBaseUrl("), STR("require(")};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (str_starts(s, calls[i]))
            s = str_trim(str_slice(s, calls[i].len, s.len));
    if (!s.len || !strchr("'\"`", s.ptr[0]))
        return STR_NONE;
    str words = str_slice(s, 1, s.len);
    size_t end = str_find(words, s.ptr[0]);
    return end < words.len ? str_slice(words, 0, end) : STR_NONE;
}

cmark_node *md_component_picture(struct showing *s, str tag)
{
    if (!str_starts(tag, STR("<ThemedImage")) || !str_ends(tag, STR("/>")))
        return NULL;
    str address = string_behind(tag, STR("light:")), words = md_tag_attribute(tag, STR("alt"));
    if (!address.len)
        return NULL;
    cmark_node *picture = cmark_node_new_with_mem(CMARK_NODE_IMAGE, s->r->mem),
               *text = cmark_node_new_with_mem(CMARK_NODE_TEXT, s->r->mem);
    cmark_node_set_url(picture, arena_c(s->r->a, address));
    cmark_node_set_literal(text, arena_c(s->r->a, words));
    cmark_node_append_child(picture, text);
    return picture;
}
