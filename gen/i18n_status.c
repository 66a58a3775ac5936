// vramdoc i18n status: each block of a translation that its source has left behind, with what the
// source said and says.
#include <string.h>

#include "gen/cmd_i18n.h"
#include "gen/site/documents/load.h"
#include "gen/base/escape.h"

struct status {
    struct site site;
    enum i18n_format format;
    buf out;
    size_t behind;  // translations that are not up to date
};

static void put_lines(str text, const char *mark, buf *out)
{
    for (str line; str_line(&text, &line);)
        buf_printf(out, "%s%.*s\n", mark, STR_ARG(line));
}

static void put_places(const struct translation *t, const struct translation_change *c,
                       const char *quote, buf *out)
{
    str file = t->own.file;
    unsigned line = c->own ? scanned_line(&t->own, c->own->offset, &file) : 0;
    buf_printf(out, "%s%.*s", quote, STR_ARG(file));
    if (c->own)
        buf_printf(out, ":%u", line);
    buf_printf(out, "%s: %s", quote, c->state);
    if (c->source) {
        line = scanned_line(&t->source, c->source->offset, &file);
        buf_printf(out, ", source %s%.*s:%u%s (%s%.*s%s)", quote, STR_ARG(file), line, quote, quote,
                   STR_ARG(c->id), quote);
    }
    buf_char(out, '\n');
}

// More backticks than any run of the texts has.
static void put_fence(str then, str now, buf *out)
{
    const str texts[] = {then, now};
    size_t longest = 2, run = 0;
    for (size_t k = 0; k < 2; k++, run = 0)
        for (size_t i = 0; i < texts[k].len; i++) {
            run = texts[k].ptr[i] == '`' ? run + 1 : 0;
            longest = run > longest ? run : longest;
        }
    for (size_t i = 0; i <= longest; i++)
        buf_char(out, '`');
}

static void put_md(const struct translation *t, const struct translation_change *c, buf *out)
{
    str now = c->source ? c->source->text : STR_NONE;
    buf_lit(out, "- ");
    put_places(t, c, "`", out);
    if (!c->then.len && !now.len)
        return;
    buf_lit(out, "\n  ");
    put_fence(c->then, now, out);
    buf_lit(out, "diff\n");
    put_lines(c->then, "  - ", out);
    put_lines(now, "  + ", out);
    buf_lit(out, "  ");
    put_fence(c->then, now, out);
    buf_lit(out, "\n\n");
}

static void put_member(const char *key, str value, buf *out)
{
    buf_printf(out, ",\"%s\":\"", key);
    escape_json(out, value);
    buf_char(out, '"');
}

static void put_json(const struct translation *t, const struct translation_change *c, buf *out)
{
    buf_printf(out, "%s{\"state\":\"%s\"", out->ptr[out->len - 1] == '[' ? "" : ",", c->state);
    str file = t->own.file;
    unsigned line = c->own ? scanned_line(&t->own, c->own->offset, &file) : 0;
    put_member("file", file, out);
    if (c->own)
        buf_printf(out, ",\"line\":%u", line);
    if (c->source) {
        line = scanned_line(&t->source, c->source->offset, &file);
        put_member("id", c->id, out);
        put_member("source_file", file, out);
        buf_printf(out, ",\"source_line\":%u", line);
    }
    if (c->then.len)
        put_member("old", c->then, out);
    if (c->source)
        put_member("new", c->source->text, out);
    if (c->own)
        put_member("translation", c->own->text, out);
    buf_char(out, '}');
}

void translation_print(const struct translation *t, const struct translation_change *c,
                       enum i18n_format format, buf *out)
{
    if (format == I18N_JSON) {
        put_json(t, c, out);
    } else if (format == I18N_MD) {
        put_md(t, c, out);
    } else {
        put_places(t, c, "", out);
        put_lines(c->then, "    - ", out);
        put_lines(c->source ? c->source->text : STR_NONE, "    + ", out);
    }
}

static void begin_json(struct status *s, const struct translation *t)
{
    size_t counts[4] = {0};
    const struct staleness *x = t->staleness;
    for (size_t i = 0; x && i < x->count; i++)
        counts[x->blocks[i].state]++;
    buf_printf(&s->out, "%s{\"document\":\"", s->out.len > 1 ? "," : "");
    escape_json(&s->out, site_document_name(t->document));
    buf_printf(
        &s->out,
        "\",\"language\":\"%.*s\",\"accepted\":%s,\"fresh\":%zu,\"stale\":%zu,\"missing\":%zu,"
        "\"orphaned\":%zu,\"unknown\":%zu,\"blocks\":[",
        STR_ARG(t->page->language->tag), x ? "true" : "false", counts[BLOCK_FRESH],
        counts[BLOCK_STALE], x ? x->missing_count : 0, counts[BLOCK_ORPHANED],
        counts[BLOCK_UNKNOWN]);
}

static void put_translation(struct status *s, const struct translation *t)
{
    struct translation_change c;
    size_t n = 0;
    if (s->format == I18N_JSON)
        begin_json(s, t);
    for (; translation_change(t, n, &c); n++) {
        if (!n && s->format == I18N_MD)
            buf_printf(&s->out, "### %.*s (%.*s)\n\n", STR_ARG(site_document_name(t->document)),
                       STR_ARG(t->page->language->tag));
        translation_print(t, &c, s->format, &s->out);
    }
    if (s->format == I18N_JSON)
        buf_lit(&s->out, "]}");
    else if (!t->staleness)
        buf_printf(&s->out, "%s%.*s: never accepted\n", s->format == I18N_MD ? "- " : "",
                   STR_ARG(t->own.file));
    s->behind += n || !t->staleness;
}

static void status_document(struct status *s, const struct document *doc)
{
    for (size_t i = 0; i < s->site.language_count; i++) {
        const struct page *p = translation_of(doc, i);
        struct translation t;
        if (p && translation_open(&s->site, doc, p, &t))
            put_translation(s, &t);
    }
}

static bool read_format(const struct i18n_options *o, enum i18n_format *format)
{
    static const char *const names[] = {
        [I18N_TEXT] = "text", [I18N_MD] = "md", [I18N_JSON] = "json"};
    const char *word = o->format ? o->format : o->site.json ? "json" : "text";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(word, names[i])) {
            *format = (enum i18n_format)i;
            return true;
        }
    return false;
}

int i18n_status(const struct i18n_options *o, const char *name)
{
    struct status s = {.out = BUF_INIT};
    if (!read_format(o, &s.format))
        return i18n_usage("--format wants text, md or json");
    struct diag *d = site_options_diag(&o->site);
    bool ok = site_options_open(&o->site, true, &s.site, d);
    struct document *only = ok && name ? site_document(&s.site, str_c(name)) : NULL;
    if (s.format == I18N_JSON)
        buf_char(&s.out, '[');
    for (size_t i = 0; ok && i < s.site.document_count; i++)
        if (!name || s.site.documents[i] == only)
            status_document(&s, s.site.documents[i]);
    if (s.format == I18N_JSON)
        buf_lit(&s.out, "]\n");
    bool unknown = ok && name && !only, behind = o->site.strict && s.behind;
    site_close(&s.site);
    if (unknown)
        buf_clear(&s.out);
    int rc = cmd_end(d, &s.out, ok && !behind);
    return unknown ? i18n_usage("no document has this name") : rc;
}
