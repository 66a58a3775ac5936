// vramdoc i18n import: what PO files say is put into the translations, and what was translated is
// accepted.
#include <errno.h>
#include <string.h>

#include "gen/i18n_import.h"
#include "gen/base/path.h"
#include "gen/site/documents/load.h"
#include "gen/site/source/scan.h"
#include "gen/site/translation/block_id.h"
#include "gen/text/front.h"
#include "gen/text/po.h"

enum { PO_MAX = 64 << 20 };  // bytes of a file

struct import {
    struct site site;
    struct po po;
    str file, text;  // of the PO file
    size_t language;
    buf out;
};

static bool read_po(struct import *x, const char *path)
{
    buf bytes = BUF_INIT;
    x->file = str_c(path);
    bool ok = fs_read(path, PO_MAX, &bytes) == 0;
    if (ok) {
        x->text = arena_str(&x->site.arena, buf_view(&bytes));
        ok = po_parse(x->text, x->file, &x->site.arena, x->site.diag, &x->po);
    } else {
        diag_add(x->site.diag, D_IO_READ, DIAG_FILE(x->file), "%s", strerror(errno));
    }
    buf_free(&bytes);
    return ok;
}

static bool find_language(struct import *x)
{
    str tag = po_field(&x->po, STR("Language"));
    for (x->language = 0; x->language < x->site.language_count; x->language++)
        if (str_eq_nocase(x->site.languages[x->language]->tag, tag))
            return true;
    diag_add(x->site.diag, D_PO_SYNTAX, DIAG_AT(x->file, x->text, x->po.header.offset),
             tag.len ? "its header's Language, %.*s, is none of the site"
                     : "no Language in its header%.*s",
             STR_ARG(tag));
    return false;
}

// What a context names: the document before # or @.
static str document_name(str context)
{
    size_t at = str_find(context, '@'), block = str_find(context, '#');
    return str_slice(context, 0, at < block ? at : block);
}

// Where the translation of a source is when there is none yet: the source's language in its
// path replaced, or put before the last dot.
static str new_path(const struct import *x, const struct page *source, arena *a)
{
    str path = source->source, from = source->language->tag,
        to = x->site.languages[x->language]->tag;
    size_t dot = path_ending_at(path);
    str head = path_folder_slash(path), name = str_slice(path, head.len, dot),
        tail = str_slice(path, dot, path.len);
    if (str_eq(name, from))
        return arena_join(a, head, to, tail);
    if (str_ends(name, arena_join(a, STR("."), from, STR_NONE)))
        return arena_join(a, str_slice(path, 0, dot - from.len), to, tail);
    if (str_starts(path, arena_join(a, from, STR("/"), STR_NONE)))
        return arena_join(a, to, str_slice(path, from.len, path.len), STR_NONE);
    return arena_printf(a, "%.*s.%.*s%.*s", (int)dot, path.ptr, STR_ARG(to), STR_ARG(tail));
}

static void refuse(struct import *x, const struct po_entry *e, const char *why)
{
    diag_add(x->site.diag, D_PO_BLOCK, DIAG_AT(x->file, x->text, e->text_offset), "%.*s: %s",
             STR_ARG(e->context), why);
}

static size_t block_of(const struct translation *t, str id)
{
    for (size_t i = 0; i < t->source.md.block_count; i++)
        if (str_eq(t->ids[i], id))
            return i;
    return SIZE_MAX;
}

// The entries of a document by the block of its source; of one that there is no more it is said.
static const struct po_entry **entries_of(struct import *x, const struct translation *t,
                                          struct po_document *given)
{
    const struct po_entry **of =
        arena_new(&x->site.arena, const struct po_entry *, t->source.md.block_count + 1);
    str name = site_document_name(t->document);
    for (size_t i = 0; i < x->po.count; i++) {
        const struct po_entry *e = &x->po.entries[i];
        if (!str_eq(document_name(e->context), name))
            continue;
        str part = str_slice(e->context, name.len, e->context.len);
        size_t block =
            str_starts(part, STR("#")) ? block_of(t, str_slice(part, 1, part.len)) : SIZE_MAX;
        if (str_eq(part, STR("@title")))
            given->title = e;
        else if (str_eq(part, STR("@description")))
            given->description = e;
        else if (block == SIZE_MAX)
            refuse(x, e, "the document has no such block");
        else
            of[block] = e;
    }
    return of;
}

// A document without a translation begins as a copy of its source; then each block is its own.
static bool open_new(struct import *x, struct translation *t, struct page *p)
{
    const struct page *source = t->document->source;
    *p = *source;
    p->language = x->site.languages[x->language];
    p->source = new_path(x, source, &x->site.arena);
    t->page = p;
    if (!site_scan_page(&x->site, source, &t->source))
        return false;
    t->own = t->source;
    t->own.file = site_path(&x->site, p->source, &x->site.arena);
    t->ids = block_ids(&t->source.md, &x->site.arena);
    return true;
}

static bool write_file(struct import *x, str path, str bytes)
{
    int rc = site_write_file(&x->site, path, bytes);
    if (rc > 0)
        buf_printf(&x->out, "%.*s: written\n", STR_ARG(path));
    return rc >= 0;
}

static bool write_record(struct import *x, const struct translation *t, const struct sidecar *next)
{
    buf json = BUF_INIT;
    bool known = t->staleness != NULL;
    for (size_t i = 0; i < next->count; i++)
        known = known || (next->pairs[i].own && next->pairs[i].source);
    if (!known)
        return true;  // nothing is accepted, and nothing was
    sidecar_format(next, &json);
    bool ok = write_file(x, staleness_path(&x->site, t->page, &x->site.arena), buf_view(&json));
    buf_free(&json);
    return ok;
}

static bool import_document(struct import *x, const struct document *doc)
{
    arena *a = &x->site.arena;
    struct translation t = {.document = doc};
    struct page fresh;
    const struct page *p = translation_of(doc, x->language);
    if (!(p ? translation_open(&x->site, doc, p, &t) : open_new(x, &t, &fresh)))
        return false;
    struct po_document given = {.t = &t, .is_new = !p, .po_file = x->file, .po_text = x->text};
    given.of = entries_of(x, &t, &given);
    struct sidecar next = {.source = doc->source->source, .language = t.page->language->tag};
    str text;
    if (!po_apply(&given, &x->site, &text, &next, a))
        return true;  // there is nothing in it
    return write_file(x, t.own.file, text) && write_record(x, &t, &next);
}

static bool has_entries(const struct import *x, const struct document *doc)
{
    for (size_t i = 0; i < x->po.count; i++)
        if (str_eq(document_name(x->po.entries[i].context), site_document_name(doc)))
            return true;
    return false;
}

// Entries whose document is not there: one message a document.
static void report_unknown(struct import *x)
{
    str last = STR_NONE;
    for (size_t i = 0; i < x->po.count; i++) {
        const struct po_entry *e = &x->po.entries[i];
        str name = document_name(e->context);
        if (str_eq(name, last) && i)
            continue;
        last = name;
        if (!site_document(&x->site, name))
            refuse(x, e, "no document has this name");
    }
}

static bool import_file(struct import *x, const char *path)
{
    if (!read_po(x, path) || !find_language(x))
        return false;
    bool ok = true;
    report_unknown(x);
    for (size_t i = 0; i < x->site.document_count; i++) {
        const struct document *doc = x->site.documents[i];
        if (!doc->source->made && doc->source->language->index != x->language &&
            has_entries(x, doc))
            ok = import_document(x, doc) && ok;
    }
    return ok;
}

int i18n_import(const struct i18n_options *o, int count, char **files)
{
    struct diag *d = site_options_diag(&o->site);
    struct import x = {.out = BUF_INIT};
    bool ok = site_options_open(&o->site, true, &x.site, d);
    for (int i = 0; ok && i < count; i++)
        ok = import_file(&x, files[i]);
    site_close(&x.site);
    return cmd_end(d, &x.out, ok);
}
