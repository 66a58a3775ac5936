// The HTML state machine of templates: knows where static text leads, and what a value there has to
// be made into.
#include "gen/text/template_context.h"

#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static bool name_is(const struct html_context *c, const char *name)
{
    size_t n = strlen(name);
    return c->name_len == n && memcmp(c->name, name, n) == 0;
}

static void name_start(struct html_context *c, char byte)
{
    c->name[0] = ascii_lower(byte);
    c->name_len = 1;
}

// A name too long to be one of interest is cut: none of those fills the array.
static void name_add(struct html_context *c, char byte)
{
    if (c->name_len < sizeof c->name)
        c->name[c->name_len++] = ascii_lower(byte);
}

// Keeps the last bytes of raw text, to see its end coming.
static void name_slide(struct html_context *c, char byte)
{
    if (c->name_len == 10) {
        memmove(c->name, c->name + 1, 9);
        c->name_len = 9;
    }
    c->name[c->name_len++] = ascii_lower(byte);
}

static bool slid_to(const struct html_context *c, const char *end)
{
    size_t n = strlen(end);
    return c->name_len >= n && memcmp(c->name + c->name_len - n, end, n) == 0;
}

static void to(struct html_context *c, enum html_state state)
{
    c->state = (uint8_t)state;
    c->name_len = 0;
}

static void tag_named(struct html_context *c)
{
    c->element = HTML_IN_TEXT;
    if (name_is(c, "pre"))
        c->pre = (uint8_t)(c->closing ? c->pre - (c->pre > 0) : c->pre + (c->pre < 255));
    c->in_option = !c->closing && name_is(c, "option");
    if (c->closing)
        return;
    if (name_is(c, "script"))
        c->element = HTML_SCRIPT;
    else if (name_is(c, "style"))
        c->element = HTML_STYLE;
    else if (name_is(c, "title") || name_is(c, "textarea"))
        c->element = HTML_PLAIN;
    c->is_title = name_is(c, "title");
}

static void tag_ends(struct html_context *c)
{
    to(c, (enum html_state)c->element);
    c->script = (struct script_context){0};
    c->spaced = false;
    c->closing = false;
    c->quote = 0;
    c->attribute = c->url = c->element = 0;
}

static void attribute_named(struct html_context *c)
{
    static const char *const urls[] = {"href",     "src",        "action",     "formaction",
                                       "poster",   "cite",       "data",       "ping",
                                       "manifest", "background", "xlink:href", "srcset"};
    c->attribute = HTML_ATTR_PLAIN;
    c->url = HTML_URL_START;
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++)
        if (name_is(c, urls[i]))
            c->attribute = HTML_ATTR_URL;
    if (name_is(c, "style"))
        c->attribute = HTML_ATTR_STYLE;
    else if (name_is(c, "srcdoc"))
        c->attribute = HTML_ATTR_DOCUMENT;
    else if (c->name_len > 2 && c->name[0] == 'o' && c->name[1] == 'n')
        c->attribute = HTML_ATTR_EVENT;
}

static void in_text(struct html_context *c, char b)
{
    if (b == '<') {
        to(c, HTML_TAG_START);
        c->closing = false;
    }
}

static void tag_start(struct html_context *c, char b)
{
    if (b == '/' && !c->closing) {
        c->closing = true;
    } else if (b == '!' || b == '?') {
        to(c, HTML_MARKUP);
    } else if (ascii_is_letter(b)) {
        c->state = HTML_TAG_NAME;
        name_start(c, b);
    } else {
        to(c, HTML_IN_TEXT);
        in_text(c, b);
    }
}

static void in_tag(struct html_context *c, char b)
{
    c->broken = c->broken || (c->cut && !is_blank(b) && b != '>' && b != '/');
    c->cut = false;
    if (b == '>') {
        tag_ends(c);
    } else if (!is_blank(b) && b != '/') {
        c->state = HTML_ATTRIBUTE_NAME;
        name_start(c, b);
    }
}

static void tag_name(struct html_context *c, char b)
{
    if (!is_blank(b) && b != '>' && b != '/') {
        name_add(c, b);
        return;
    }
    tag_named(c);
    to(c, HTML_IN_TAG);
    in_tag(c, b);
}

static void attribute_name(struct html_context *c, char b)
{
    if (b == '=') {
        attribute_named(c);
        to(c, HTML_BEFORE_VALUE);
    } else if (b == '>') {
        to(c, HTML_IN_TAG);
        in_tag(c, b);
    } else if (is_blank(b)) {
        c->spaced = true;  // "name =" is still this attribute, "name other" is not
    } else if (c->spaced || b == '/') {
        c->spaced = false;
        to(c, HTML_IN_TAG);
        in_tag(c, b);
    } else {
        name_add(c, b);
    }
    if (c->state != HTML_ATTRIBUTE_NAME)
        c->spaced = false;
}

static void before_value(struct html_context *c, char b)
{
    if (b == '"' || b == '\'') {
        to(c, HTML_VALUE);
        c->quote = b;
    } else if (b == '>') {
        tag_ends(c);
    } else if (!is_blank(b)) {
        to(c, HTML_BARE_VALUE);
    }
}

static void value(struct html_context *c, char b)
{
    if (b == c->quote) {
        to(c, HTML_IN_TAG);
        c->attribute = c->url = 0;
        c->quote = 0;
    } else if (b == '?' || b == '#') {
        c->url = b == '?'                   ? HTML_URL_QUERY
                 : c->url == HTML_URL_QUERY ? HTML_URL_QUERY
                                            : HTML_URL_PATH;
    } else if (c->url != HTML_URL_QUERY && !is_blank(b)) {
        c->url = b == '/' || b == ':' || c->url == HTML_URL_PATH ? HTML_URL_PATH : HTML_URL_UNSURE;
    }
}

static void bare_value(struct html_context *c, char b)
{
    if (b == '>')
        tag_ends(c);
    else if (is_blank(b))
        to(c, HTML_IN_TAG);
}

static void markup(struct html_context *c, char b)
{
    if (b == '>')
        to(c, HTML_IN_TEXT);
    else if (c->name_len < 2)
        name_add(c, b);
    if (c->state == HTML_MARKUP && name_is(c, "--"))
        to(c, HTML_IN_COMMENT);
}

static void in_comment(struct html_context *c, char b)
{
    name_slide(c, b);
    if (slid_to(c, "-->") || slid_to(c, "--!>"))
        to(c, HTML_IN_TEXT);
}

// The end tag of raw text: what follows its name is read as a tag.
static bool raw_ends(struct html_context *c, char b, const char *end)
{
    name_slide(c, b);
    if (!slid_to(c, end))
        return false;
    to(c, HTML_IN_TAG);
    c->element = HTML_IN_TEXT;
    c->closing = true;
    c->is_title = false;
    return true;
}

static void in_plain(struct html_context *c, char b)
{
    raw_ends(c, b, c->is_title ? "</title" : "</textarea");
}

static void in_style(struct html_context *c, char b)
{
    raw_ends(c, b, "</style");
}

static void in_script(struct html_context *c, char b)
{
    if (raw_ends(c, b, "</script"))
        c->script = (struct script_context){0};
    else
        script_feed(&c->script, b);
}

void context_feed(struct html_context *c, char byte)
{
    static void (*const states[])(struct html_context *, char) = {
        [HTML_IN_TEXT] = in_text,
        [HTML_TAG_START] = tag_start,
        [HTML_TAG_NAME] = tag_name,
        [HTML_IN_TAG] = in_tag,
        [HTML_ATTRIBUTE_NAME] = attribute_name,
        [HTML_BEFORE_VALUE] = before_value,
        [HTML_VALUE] = value,
        [HTML_BARE_VALUE] = bare_value,
        [HTML_IN_COMMENT] = in_comment,
        [HTML_MARKUP] = markup,
        [HTML_PLAIN] = in_plain,
        [HTML_SCRIPT] = in_script,
        [HTML_STYLE] = in_style,
    };
    states[c->state](c, byte);
}

void context_cut(struct html_context *c)
{
    if (c->state != HTML_TAG_NAME && c->state != HTML_ATTRIBUTE_NAME)
        return;
    if (c->state == HTML_TAG_NAME)
        tag_named(c);
    c->cut = !c->spaced;
    c->spaced = false;
    to(c, HTML_IN_TAG);
}

static const char *attribute_value(struct html_context *c, enum html_emitter *out)
{
    static const enum html_emitter urls[] = {EMIT_URL, EMIT_URL_PART, EMIT_URL_PART,
                                             EMIT_URL_QUERY};
    switch ((enum html_attribute_kind)c->attribute) {
    case HTML_ATTR_STYLE: return "in a style attribute; use a class";
    case HTML_ATTR_EVENT: return "in an event attribute; use a script file and data- attributes";
    case HTML_ATTR_DOCUMENT: return "in srcdoc";
    case HTML_ATTR_URL: *out = urls[c->url]; break;
    case HTML_ATTR_PLAIN: *out = EMIT_ATTRIBUTE; break;
    }
    if (c->url == HTML_URL_START)
        c->url = HTML_URL_UNSURE;
    return NULL;
}

static const char *value_in_script(struct html_context *c, enum html_emitter *out)
{
    bool is_string;
    const char *why = script_value(&c->script, &is_string);
    c->name_len = 0;
    *out = is_string ? EMIT_JS_STRING : EMIT_JS_VALUE;
    return why;
}

const char *context_value(struct html_context *c, enum html_emitter *out)
{
    switch ((enum html_state)c->state) {
    case HTML_TAG_START:
    case HTML_TAG_NAME: return "as the name of a tag";
    case HTML_IN_TAG:
    case HTML_ATTRIBUTE_NAME: return "inside a tag, outside of a quoted value";
    case HTML_BEFORE_VALUE:
    case HTML_BARE_VALUE: return "in an attribute without quotes; put quotes around it";
    case HTML_MARKUP: return "in a declaration";
    case HTML_STYLE: return "in a style element";
    case HTML_VALUE: return attribute_value(c, out);
    case HTML_SCRIPT: return value_in_script(c, out);
    case HTML_IN_COMMENT:
    case HTML_PLAIN:
        c->name_len = 0;
        *out = EMIT_PLAIN;
        return NULL;
    case HTML_IN_TEXT: *out = c->in_option ? EMIT_PLAIN : EMIT_TEXT; return NULL;
    }
    return NULL;
}

// What must agree where branches meet: context_cut has ended all names before.
static struct html_context essence(const struct html_context *c)
{
    struct html_context e = *c;
    e.name_len = 0;
    memset(e.name, 0, sizeof e.name);
    e.url = 0;
    e.cut = e.broken = false;
    script_essence(&e.script);
    return e;
}

bool context_join(struct html_context *c, const struct html_context *other)
{
    struct html_context a = essence(c), b = essence(other);
    if (memcmp(&a, &b, sizeof a) != 0)
        return false;
    bool query = c->url == HTML_URL_QUERY || other->url == HTML_URL_QUERY;
    uint8_t url = c->url == other->url ? c->url : query ? HTML_URL_QUERY : HTML_URL_UNSURE;
    bool cut = c->cut || other->cut, broken = c->broken || other->broken;
    struct script_context script = c->script;
    script_join(&script, &other->script);
    *c = a;
    c->script = script;
    c->url = url;
    c->cut = cut;
    c->broken = broken;
    return true;
}

const char *context_name(const struct html_context *c)
{
    static const char *const names[] = {
        [HTML_IN_TEXT] = "in text",
        [HTML_TAG_START] = "behind a \"<\"",
        [HTML_TAG_NAME] = "in a tag's name",
        [HTML_IN_TAG] = "inside a tag",
        [HTML_ATTRIBUTE_NAME] = "in an attribute's name",
        [HTML_BEFORE_VALUE] = "behind an attribute's =",
        [HTML_VALUE] = "inside an attribute's value",
        [HTML_BARE_VALUE] = "inside an attribute's value",
        [HTML_IN_COMMENT] = "inside a comment",
        [HTML_MARKUP] = "inside a declaration",
        [HTML_PLAIN] = "inside a title or textarea",
        [HTML_SCRIPT] = "inside a script",
        [HTML_STYLE] = "inside a style element",
    };
    return names[c->state];
}
