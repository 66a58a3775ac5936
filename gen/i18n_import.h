// What the files of `vramdoc i18n import` share: a document with the entries that a PO file has
// for it.
#ifndef GEN_I18N_IMPORT_H
#define GEN_I18N_IMPORT_H

#include "gen/cmd_i18n.h"
#include "gen/site/source/settings.h"
#include "gen/text/po.h"

struct po_document {
    const struct translation *t;
    const struct po_entry **of;  // [blocks of the source]: NULL where the file has none
    const struct po_entry *title, *description;  // NULL for none
    bool is_new;  // no translation is there yet: t->own is the source's
    str po_file, po_text;
};

// *text: the translation with what the entries say; next: pairs of its record. Entries that would
// change the document's structure are left out, with po-block. False when the file says nothing for
// this document. Everything lives in a.
bool po_apply(const struct po_document *doc, struct site *site, str *text, struct sidecar *next,
              arena *a);

// Bytes [start, end) of the translation that become text. entry: whose doing that is.
struct po_text_edit {
    size_t start, end, order;
    size_t at;  // of start in the translation's own file
    str text;
    const struct po_entry *entry;
    size_t block;   // of the source; SIZE_MAX for the front matter
    bool inserted;  // a block more
};

struct po_work {
    const struct po_document *doc;
    struct site *site;
    arena *a;
    struct po_text_edit *edits;
    size_t count, cap;
    size_t *partner;          // [blocks of the source]: of the translation, SIZE_MAX for none
    bool *refused, *changed;  // [blocks of the source]
};

// Where a block of the new translation comes from: indices, SIZE_MAX for none.
struct po_origin {
    size_t source, own;
    uint8_t kind;
};

// The record of the new translation: now are its blocks, from says where each comes from.
void po_record(struct po_work *w, const struct md_result *now, const struct po_origin *from,
               struct sidecar *next);

#endif
