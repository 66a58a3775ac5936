// Where in HTML a template's value is: a state machine fed with the static text.
#ifndef GEN_TEXT_TEMPLATE_CONTEXT_H
#define GEN_TEXT_TEMPLATE_CONTEXT_H

#include "gen/base/str.h"
#include "gen/text/template_script.h"

enum html_state {
    HTML_IN_TEXT,
    HTML_TAG_START,  // behind "<" or "</"
    HTML_TAG_NAME,
    HTML_IN_TAG,  // between attributes
    HTML_ATTRIBUTE_NAME,
    HTML_BEFORE_VALUE,  // behind "="
    HTML_VALUE,         // in quotes
    HTML_BARE_VALUE,
    HTML_IN_COMMENT,
    HTML_MARKUP,  // <!doctype ...>
    HTML_PLAIN,   // inside title or textarea
    HTML_SCRIPT,
    HTML_STYLE,
};

enum html_attribute_kind {
    HTML_ATTR_PLAIN,
    HTML_ATTR_URL,
    HTML_ATTR_STYLE,
    HTML_ATTR_EVENT,
    HTML_ATTR_DOCUMENT
};
enum html_url_part { HTML_URL_START, HTML_URL_UNSURE, HTML_URL_PATH, HTML_URL_QUERY };

struct html_context {
    uint8_t state;      // enum html_state
    uint8_t attribute;  // enum html_attribute_kind, of the attribute being read
    uint8_t url;        // enum html_url_part
    char quote;         // of the value
    bool closing;       // the tag is an end tag
    bool spaced;        // white space is behind an attribute's name
    uint8_t element;    // state that begins behind the tag's ">"
    uint8_t pre;        // depth of <pre>
    bool in_option;     // of HTML_IN_TEXT: inside <option>, where no element may be
    bool is_title;      // of HTML_PLAIN: title, not textarea
    bool cut;           // a template tag is in a name: only its end may follow
    bool broken;        // and something else did
    uint8_t name_len;
    char name[14];  // lower case, of the tag or attribute; or the last bytes of raw text
    struct script_context script;  // of HTML_SCRIPT
};

// What a value is emitted with, "text" and so on, as template.h names them.
enum html_emitter {
    EMIT_TEXT,
    EMIT_PLAIN,
    EMIT_ATTRIBUTE,
    EMIT_URL,
    EMIT_URL_PART,
    EMIT_URL_QUERY,
    EMIT_JS_STRING,
    EMIT_JS_VALUE,
    EMIT_COUNT
};

void context_feed(struct html_context *c, char byte);
// How a value must be emitted here; NULL, or why none may be here.
const char *context_value(struct html_context *c, enum html_emitter *out);
// A template tag is here: a tag's or attribute's name that was being read ends.
void context_cut(struct html_context *c);
// Brings c to what holds whether a branch was taken (other) or not (c). False when they do not fit
// together.
bool context_join(struct html_context *c, const struct html_context *other);
// For messages: "inside a tag".
const char *context_name(const struct html_context *c);

#endif
