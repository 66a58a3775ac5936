// PO files, as gettext and the tools of translators write them: read whole, and written so that
// `msgfmt -c` accepts them.
#ifndef GEN_TEXT_PO_H
#define GEN_TEXT_PO_H

#include "gen/base/diag.h"

struct po_entry {
    str context, id, text;  // msgctxt, msgid, msgstr; unescaped
    str previous;           // #| msgid; "" for none
    str comment;            // "# ", of translators, its lines joined by \n; "" for none
    str extracted;          // "#. ", the same
    str reference;          // "#: "
    bool fuzzy;
    size_t offset;       // of msgctxt, or else of msgid, in the file
    size_t text_offset;  // of msgstr
};

struct po {
    struct po_entry *entries;
    size_t count, cap;       // the header is not among them
    struct po_entry header;  // msgid "": "Key: value\n" lines in text
};

// Reads UTF-8. Entries that begin with #~ are passed over. Strings live in a. False after
// po-syntax, one for each place.
bool po_parse(str text, str file, arena *a, struct diag *d, struct po *out);
// A field of the header, trimmed; "" when it is not there.
str po_field(const struct po *po, str name);
void po_format(const struct po *po, buf *out);

#endif
