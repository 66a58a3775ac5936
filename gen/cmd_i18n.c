// vramdoc i18n: accepting translations, listing what has moved on since, and exchanging them as PO
// files.
#include <string.h>

#include "gen/cmd.h"
#include "gen/cmd_i18n.h"
#include "gen/site/translation/block_id.h"

static const struct arg_option rows[] = {
    SITE_OPTION_ROWS(struct i18n_options),
    {0, "format", ARG_STRING, offsetof(struct i18n_options, format), "FORMAT",
     "status: text, md (for a pull request) or json"},
    {'y', "yes", ARG_FLAG, offsetof(struct i18n_options, yes), NULL,
     "accept: also translations that did not change with their source"},
    {0, "po", ARG_FLAG, offsetof(struct i18n_options, po), NULL,
     "export: as a PO file, the only format there is"},
    {'o', "output", ARG_STRING, offsetof(struct i18n_options, output), "FILE",
     "export: write to a file"},
    {0},
};

int i18n_usage(const char *text)
{
    buf b = BUF_INIT;
    buf_printf(&b, "vramdoc i18n: %s\n", text);
    diag_say(buf_view(&b));
    buf_free(&b);
    return EXIT_USAGE;
}

const struct page *translation_of(const struct document *doc, size_t language)
{
    const struct page *p = doc->pages[language];
    return p && p != doc->source && !p->made && !doc->source->made ? p : NULL;
}

bool translation_open(struct site *site, const struct document *doc, const struct page *p,
                      struct translation *out)
{
    *out = (struct translation){.document = doc, .page = p};
    if (!site_scan_page(site, doc->source, &out->source) || !site_scan_page(site, p, &out->own))
        return false;
    out->ids = block_ids(&out->source.md, &site->arena);
    out->staleness =
        staleness_read(site, p, &out->source.md, &out->own.md, site->diag, &site->arena);
    return true;
}

static void fill_change(const struct translation *t, size_t own, struct translation_change *c)
{
    static const char *const names[] = {
        [BLOCK_STALE] = "stale",
        [BLOCK_ORPHANED] = "orphaned",
        [BLOCK_UNKNOWN] = "unknown",
    };
    const struct stale_block *b = &t->staleness->blocks[own];
    const struct sidecar_pair *then =
        b->pair == SIZE_MAX ? NULL : &t->staleness->then.pairs[b->pair];
    *c = (struct translation_change){
        .state = names[b->state], .own = &t->own.md.blocks[own], .own_index = own};
    c->then = then ? then->text : STR_NONE;
    c->untouched = b->state == BLOCK_STALE && then->own == c->own->hash;
    if (b->source == SIZE_MAX)
        return;
    c->source = &t->source.md.blocks[b->source];
    c->id = t->ids[b->source];
}

bool translation_change(const struct translation *t, size_t i, struct translation_change *out)
{
    const struct staleness *s = t->staleness;
    for (size_t own = 0; s && own < s->count; own++)
        if (s->blocks[own].state != BLOCK_FRESH && i-- == 0) {
            fill_change(t, own, out);
            return true;
        }
    if (!s || i >= s->missing_count)
        return false;
    const struct missing_block *m = &s->missing[i];
    *out = (struct translation_change){.state = "missing",
                                       .source = &t->source.md.blocks[m->source],
                                       .id = t->ids[m->source],
                                       .own_index = m->before};
    return true;
}

static int run(void *given, int count, char **operands)
{
    const struct i18n_options *o = given;
    const char *verb = count ? operands[0] : "";
    if (!strcmp(verb, "accept") && count > 1)
        return i18n_accept(o, count - 1, operands + 1);
    if (!strcmp(verb, "status") && count < 3)
        return i18n_status(o, count == 2 ? operands[1] : NULL);
    if (!strcmp(verb, "export") && count == 3 && o->po)
        return i18n_export(o, operands[1], operands[2]);
    if (!strcmp(verb, "import") && count > 1)
        return i18n_import(o, count - 1, operands + 1);
    return i18n_usage(
        "say `status [DOCUMENT]`, `accept DOCUMENT LANGUAGE [BLOCK...]`, `accept LANGUAGE`, "
        "`export --po DOCUMENT|all LANGUAGE` or `import FILE...`");
}

const struct arg_command command_i18n = {
    .name = "i18n",
    .operands = "status [DOCUMENT] | accept [DOCUMENT] LANGUAGE [BLOCK...] | export --po "
                "DOCUMENT|all LANGUAGE | import FILE...",
    .summary = "list what a translation's source has changed since, accept it as up to date, "
               "exchange it as PO",
    .options = rows,
    .run = run,
    .options_size = sizeof(struct i18n_options),
};
