// Tags, attributes and text of an HTML page, without building a tree: for links, anchors, search
// and well-formedness.
#ifndef GEN_TEXT_HTML_SCAN_H
#define GEN_TEXT_HTML_SCAN_H

#include "gen/base/diag.h"

enum html_event { HTML_OPEN, HTML_CLOSE, HTML_TEXT, HTML_COMMENT, HTML_DOCTYPE };

struct html_attribute {
    str name, value;
    size_t offset;
};

struct html_token {
    enum html_event event;
    str name;  // of the tag, as written
    str text;  // HTML_TEXT: raw; HTML_COMMENT: its inside
    size_t offset;
    bool self_closing;
    const struct html_attribute *attributes;
    size_t attribute_count;
};

struct html_scan;

// Calls visit for each token. Stops when visit returns false. Never reads past html; any bytes are
// accepted.
void html_scan(str html, bool (*visit)(void *ctx, const struct html_token *t), void *ctx);
// Records html-malformed for unclosed, misnested, duplicate attributes, bad entities, void elements
// closed.
bool html_check(str html, str file, struct diag *d);

#endif
