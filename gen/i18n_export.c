// vramdoc i18n export: a document's blocks, or those of all, as a PO file for the tools of
// translators.
#include <string.h>
#include <time.h>

#include "gen/cmd_i18n.h"
#include "gen/site/documents/load.h"
#include "gen/site/source/settings.h"
#include "gen/site/translation/block_id.h"
#include "gen/text/po.h"

struct export
{
    struct site site;
    struct po po;
    size_t language;  // index in site.languages
};

static struct po_entry *add(struct export *x)
{
    struct po *po = &x->po;
    po->entries = arena_grow(&x->site.arena, po->entries, po->count, &po->cap, po->count + 1,
                             sizeof *po->entries);
    return &po->entries[po->count++];
}

static str reference_of(struct export *x, const struct scanned *t, size_t offset)
{
    str file;
    unsigned line = scanned_line(t, offset, &file);
    return arena_printf(&x->site.arena, "%.*s:%u", STR_ARG(file), line);
}

static str kind_name(uint8_t kind)
{
    switch (kind) {
    case 'h': return STR("heading");
    case 'i': return STR("list item");
    case 'q': return STR("quotation");
    case 'r': return STR("table row: | ends each cell");
    case 'c': return STR("code");
    case 'x': return STR("worked example");
    case 'm': return STR("formula");
    default: return STR("paragraph");
    }
}

// Where each block of the source is translated: index of the translation's block, SIZE_MAX for
// none.
static size_t *partners(struct export *x, const struct translation *t)
{
    arena *a = &x->site.arena;
    const struct staleness *s = t->staleness;
    if (!s)
        return staleness_pair_up(&t->source.md, &t->own.md, a);
    size_t *partner = arena_new(a, size_t, t->source.md.block_count + 1);
    for (size_t i = 0; i < t->source.md.block_count; i++)
        partner[i] = SIZE_MAX;
    for (size_t i = 0; i < s->count; i++)
        if (s->blocks[i].source != SIZE_MAX)
            partner[s->blocks[i].source] = i;
    return partner;
}

// What a translation says of a block. Fuzzy is what was made from another text, or was never
// accepted.
static void fill_text(const struct translation *t, size_t own, struct po_entry *e)
{
    const struct staleness *s = t->staleness;
    e->text = t->own.md.blocks[own].text;
    e->fuzzy = !s || s->blocks[own].state != BLOCK_FRESH;
    if (e->fuzzy && s && s->blocks[own].pair != SIZE_MAX)
        e->previous = s->then.pairs[s->blocks[own].pair].text;
}

static void add_field(struct export *x, const struct document *doc, const struct translation *t,
                      const char *name, str source, str own)
{
    if (!source.len)
        return;
    struct po_entry *e = add(x);
    e->context = arena_printf(&x->site.arena, "%.*s@%s", STR_ARG(site_document_name(doc)), name);
    e->extracted = arena_printf(&x->site.arena, "%s of the page", name);
    e->reference = reference_of(x, &t->source, 0);
    e->id = source;
    e->text = own;
}

static void add_document(struct export *x, const struct document *doc, const struct translation *t)
{
    const struct md_result *md = &t->source.md;
    size_t *partner = t->page ? partners(x, t) : NULL;
    add_field(x, doc, t, "title", doc->source->title, t->page ? t->page->title : STR_NONE);
    add_field(x, doc, t, "description", doc->source->description,
              t->page ? t->page->description : STR_NONE);
    for (size_t i = 0; i < md->block_count; i++) {
        if (!md->blocks[i].text.len)
            continue;
        struct po_entry *e = add(x);
        e->context = arena_printf(&x->site.arena, "%.*s#%.*s", STR_ARG(site_document_name(doc)),
                                  STR_ARG(t->ids[i]));
        e->extracted = kind_name(md->blocks[i].kind);
        e->reference = reference_of(x, &t->source, md->blocks[i].offset);
        e->id = md->blocks[i].text;
        if (partner && partner[i] != SIZE_MAX)
            fill_text(t, partner[i], e);
    }
}

static bool export_document(struct export *x, const struct document *doc)
{
    struct translation t = {.document = doc};
    const struct page *p = translation_of(doc, x->language);
    if (doc->source->made || doc->source->language->index == x->language)
        return true;
    if (p && !translation_open(&x->site, doc, p, &t))
        return false;
    if (!p && !site_scan_page(&x->site, doc->source, &t.source))
        return false;
    if (!p)
        t.ids = block_ids(&t.source.md, &x->site.arena);
    add_document(x, doc, &t);
    return true;
}

static void fill_header(struct export *x)
{
    arena *a = &x->site.arena;
    time_t now = (time_t)x->site.now;
    struct tm utc;
    char date[32];
    gmtime_r(&now, &utc);
    strftime(date, sizeof date, "%Y-%m-%d %H:%M+0000", &utc);
    str tag = x->site.languages[x->language]->tag, title = settings_title(&x->site.settings, tag);
    x->po.header.text = arena_printf(
        a,
        "Project-Id-Version: %.*s\nPO-Revision-Date: %s\nLast-Translator: \nLanguage-Team: \n"
        "Language: %.*s\nMIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\n"
        "Content-Transfer-Encoding: 8bit\nX-Generator: vramdoc\n",
        STR_ARG(title.len ? title : STR("documents")), date, STR_ARG(tag));
}

static bool find_language(struct export *x, str tag)
{
    for (x->language = 0; x->language < x->site.language_count; x->language++)
        if (str_eq_nocase(x->site.languages[x->language]->tag, tag))
            return true;
    return false;
}

static bool write_output(struct export *x, const char *file, buf *out)
{
    if (!file)
        return true;
    int rc = site_write_file(&x->site, str_c(file), buf_view(out));
    buf_clear(out);
    return rc >= 0;
}

static const char *run(struct export *x, const char *document, const char *language, bool *ok)
{
    bool all = !strcmp(document, "all");
    struct document *only = all ? NULL : site_document(&x->site, str_c(document));
    if (!all && !only)
        return "no document has this name";
    if (!find_language(x, str_c(language)))
        return "the site has no such language: `languages` in the settings lists them";
    fill_header(x);
    for (size_t i = 0; i < x->site.document_count; i++)
        if (all || x->site.documents[i] == only)
            *ok = export_document(x, x->site.documents[i]) && *ok;
    return NULL;
}

int i18n_export(const struct i18n_options *o, const char *document, const char *language)
{
    struct diag *d = site_options_diag(&o->site);
    struct export x = {0};
    buf out = BUF_INIT;
    bool ok = site_options_open(&o->site, true, &x.site, d);
    const char *wrong = ok ? run(&x, document, language, &ok) : NULL;
    if (ok && !wrong) {
        po_format(&x.po, &out);
        ok = write_output(&x, o->output, &out);
    }
    site_close(&x.site);
    int rc = cmd_end(d, &out, ok);
    return wrong ? i18n_usage(wrong) : rc;
}
