// vramdoc i18n: accepting translations, and listing what has moved on since.
#include <string.h>

#include "gen/cmd.h"
#include "gen/cmd_site.h"
#include "gen/site/documents/load.h"
#include "gen/site/translation/parity.h"
#include "gen/site/translation/staleness.h"
#include "gen/text/escape.h"

struct options {
    struct site_options site;
};

static const struct arg_option rows[] = {
    SITE_OPTION_ROWS(struct options),
    {0},
};

struct status {
    struct site site;
    buf out;
    bool json, first;
    size_t stale, untracked;
};

static int say_usage(const char *text)
{
    buf b = BUF_INIT;
    buf_printf(&b, "vramdoc i18n: %s\n", text);
    diag_say(buf_view(&b));
    buf_free(&b);
    return EXIT_USAGE;
}

// The translations of a document: pages with a file that are not its source.
static const struct page *translation(const struct document *doc, size_t language)
{
    const struct page *p = doc->pages[language];
    return p && p != doc->source && !p->made ? p : NULL;
}

// ---- accept ------------------------------------------------------------------------------------

static bool accept(struct site *site, const struct document *doc, const struct page *p, buf *out)
{
    struct scanned source, own;
    if (!site_scan_page(site, doc->source, &source) || !site_scan_page(site, p, &own))
        return false;
    str path = staleness_path(site, p, &site->arena);
    buf json = BUF_INIT;
    staleness_format(p, doc->source, &source.md, &own.md, &json);
    int rc = fs_write(path.ptr, buf_view(&json));
    buf_free(&json);
    if (rc < 0)
        diag_add(site->diag, D_IO_WRITE, DIAG_FILE(path), DIAG_PLAIN);
    else
        buf_printf(out, "%.*s: %s\n", STR_ARG(path), rc ? "written" : "unchanged");
    return rc >= 0;
}

static int run_accept(const struct options *o, char **operands)
{
    struct diag *d = site_options_diag(&o->site);
    struct site site;
    buf out = BUF_INIT;
    bool ok = site_options_open(&o->site, true, &site, d), all = !strcmp(operands[1], "all"), found = false;
    struct document *doc = ok ? site_document(&site, str_c(operands[0])) : NULL;
    for (size_t i = 0; doc && i < site.language_count; i++) {
        const struct page *p = translation(doc, i);
        if (p && (all || str_eq_nocase(site.languages[i]->tag, str_c(operands[1])))) {
            found = true;
            ok = accept(&site, doc, p, &out) && ok;
        }
    }
    site_close(&site);
    int rc = site_options_end(d, &out, ok);
    if (ok && !doc)
        return say_usage("no document has this name");
    return ok && !found ? say_usage("the document has no translation in this language") : rc;
}

// ---- status ------------------------------------------------------------------------------------

static void put_place(struct status *s, const char *word, const struct scanned *t, size_t offset)
{
    uint32_t line, col;
    diag_line_col(t->text, offset, &line, &col);
    if (s->json) {
        buf_printf(&s->out, "%s{\"state\":\"%s\",\"file\":\"", s->first ? "" : ",", word);
        escape_json(&s->out, t->file);
        buf_printf(&s->out, "\",\"line\":%u}", line);
    } else {
        buf_printf(&s->out, "    %-9s %.*s:%u\n", word, STR_ARG(t->file), line);
    }
    s->first = false;
}

static const char *const state_names[] = {
    [BLOCK_FRESH] = "fresh", [BLOCK_STALE] = "stale", [BLOCK_ORPHANED] = "orphaned", [BLOCK_UNKNOWN] = "unknown",
};

static void put_counts(struct status *s, const struct document *doc, const struct page *p, const struct staleness *x)
{
    size_t counts[4] = {0};
    for (size_t i = 0; x && i < x->count; i++)
        counts[x->blocks[i].state]++;
    if (s->json) {
        buf_printf(&s->out, "%s{\"document\":\"", s->out.len > 1 ? "," : "");
        escape_json(&s->out, site_document_name(doc));
        buf_printf(&s->out, "\",\"language\":\"%.*s\",\"accepted\":%s,\"fresh\":%zu,\"stale\":%zu,\"missing\":%zu,"
                            "\"orphaned\":%zu,\"unknown\":%zu,\"blocks\":[",
                   STR_ARG(p->language->tag), x ? "true" : "false", counts[BLOCK_FRESH], counts[BLOCK_STALE],
                   x ? x->missing_count : 0, counts[BLOCK_ORPHANED], counts[BLOCK_UNKNOWN]);
    } else if (x) {
        buf_printf(&s->out, "%.*s %.*s: %zu fresh, %zu stale, %zu missing, %zu orphaned", STR_ARG(site_document_name(doc)),
                   STR_ARG(p->language->tag), counts[BLOCK_FRESH], counts[BLOCK_STALE], x->missing_count, counts[BLOCK_ORPHANED]);
        if (counts[BLOCK_UNKNOWN])
            buf_printf(&s->out, ", %zu never accepted", counts[BLOCK_UNKNOWN]);
        buf_char(&s->out, '\n');
    } else {
        buf_printf(&s->out, "%.*s %.*s: never accepted\n", STR_ARG(site_document_name(doc)), STR_ARG(p->language->tag));
    }
}

static void status_page(struct status *s, const struct document *doc, const struct page *p, const struct scanned *source)
{
    struct scanned own;
    if (!site_scan_page(&s->site, p, &own))
        return;
    arena *a = &s->site.arena;
    struct staleness *x = staleness_read(&s->site, p, &source->md, &own.md, s->site.diag, a);
    put_counts(s, doc, p, x);
    s->first = true;
    for (size_t i = 0; x && i < x->count; i++)
        if (x->blocks[i].state != BLOCK_FRESH)
            put_place(s, state_names[x->blocks[i].state], &own, own.md.blocks[i].offset);
    for (size_t i = 0; x && i < x->missing_count; i++)
        put_place(s, "missing", source, source->md.blocks[x->missing[i].source].offset);
    if (s->json)
        buf_lit(&s->out, "]}");
    if (x)
        s->stale += x->stale_count + x->missing_count;
    else
        s->untracked++;
    struct parity_text from = {doc->source, source->file, source->text, &source->md};
    struct parity_text to = {p, own.file, own.text, &own.md};
    parity_check(&from, &to, s->site.diag, a);
}

static void status_document(struct status *s, const struct document *doc)
{
    struct scanned source;
    bool read = false;
    for (size_t i = 0; i < s->site.language_count; i++) {
        const struct page *p = translation(doc, i);
        if (!p || doc->source->made)
            continue;
        if (!read && !site_scan_page(&s->site, doc->source, &source))
            return;
        read = true;
        status_page(s, doc, p, &source);
    }
}

static int run_status(const struct options *o, const char *name)
{
    struct diag *d = site_options_diag(&o->site);
    struct status s = {.out = BUF_INIT, .json = o->site.json};
    bool ok = site_options_open(&o->site, true, &s.site, d);
    struct document *only = ok && name ? site_document(&s.site, str_c(name)) : NULL;
    if (s.json)
        buf_char(&s.out, '[');
    for (size_t i = 0; ok && i < s.site.document_count; i++)
        if (!name || s.site.documents[i] == only)
            status_document(&s, s.site.documents[i]);
    if (s.json)
        buf_lit(&s.out, "]\n");
    bool unknown = ok && name && !only, behind = o->site.strict && (s.stale || s.untracked);
    site_close(&s.site);
    if (unknown)
        buf_clear(&s.out);
    int rc = site_options_end(d, &s.out, ok && !behind);
    return unknown ? say_usage("no document has this name") : rc;
}

// ---- the command -------------------------------------------------------------------------------

static int run(void *given, int operand_count, char **operands)
{
    const struct options *o = given;
    if (operand_count == 3 && !strcmp(operands[0], "accept"))
        return run_accept(o, operands + 1);
    if ((operand_count == 1 || operand_count == 2) && !strcmp(operands[0], "status"))
        return run_status(o, operand_count == 2 ? operands[1] : NULL);
    return say_usage("say `accept DOCUMENT LANGUAGE` (or `all`), or `status [DOCUMENT]`");
}

const struct arg_command command_i18n = {
    .name = "i18n", .operands = "accept DOCUMENT LANGUAGE | status [DOCUMENT]",
    .summary = "accept a translation as up to date, or list what its source has changed since", .options = rows, .run = run,
    .options_size = sizeof(struct options),
};
