// vramdoc i18n accept: a translation, or some of its blocks, are translations of what the source
// says now.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gen/cmd_i18n.h"
#include "gen/site/documents/load.h"

struct acceptance {
    const struct i18n_options *o;
    struct site site;
    char **blocks;
    int block_count;  // ids or lines that are chosen; none: all
    bool *used;       // [block_count]
    buf out;
    bool ok;
};

// Whether a word of the command line names this change: by the source's id, or by a line of the
// translation.
static bool is_named(const struct translation *t, const struct translation_change *c, str word)
{
    uint64_t wanted;
    str file;
    if (c->id.len && str_eq(word, c->id))
        return true;
    return c->own && str_u64(word, &wanted) &&
           scanned_line(&t->own, c->own->offset, &file) == wanted && str_eq(file, t->own.file);
}

static bool is_chosen(struct acceptance *x, const struct translation *t,
                      const struct translation_change *c)
{
    bool chosen = !x->block_count;
    for (int i = 0; i < x->block_count; i++)
        if (is_named(t, c, str_c(x->blocks[i])))
            chosen = x->used[i] = true;
    return chosen;
}

static bool answer_is_yes(void)
{
    char line[16];
    return fgets(line, sizeof line, stdin) && (line[0] == 'y' || line[0] == 'Y');
}

// Asks when the source has changed and the translation has not; without a terminal the answer is
// no.
static bool may_accept(struct acceptance *x, const struct translation *t, size_t untouched)
{
    if (!untouched || x->o->yes)
        return true;
    fs_print(buf_view(&x->out));
    buf_clear(&x->out);
    buf question = BUF_INIT;
    buf_printf(&question, "%.*s: %zu block%s changed in the source, not in the translation.",
               STR_ARG(t->own.file), untouched, untouched == 1 ? "" : "s");
    bool asks = isatty(STDIN_FILENO);
    buf_str(&question,
            asks ? STR(" Accept all the same? [y/N] ") : STR(" --yes accepts all the same.\n"));
    diag_say(buf_view(&question));
    buf_free(&question);
    return asks && answer_is_yes();
}

static bool write_sidecar(struct acceptance *x, const struct translation *t, struct sidecar *s)
{
    str path = staleness_path(&x->site, t->page, &x->site.arena);
    buf json = BUF_INIT;
    s->source = t->document->source->source;
    s->language = t->page->language->tag;
    sidecar_format(s, &json);
    int rc = site_write_file(&x->site, path, buf_view(&json));
    buf_free(&json);
    if (rc >= 0)
        buf_printf(&x->out, "%.*s: %s\n", STR_ARG(path), rc ? "written" : "unchanged");
    return rc >= 0;
}

static bool accept(struct acceptance *x, const struct translation *t)
{
    arena *a = &x->site.arena;
    struct sidecar next = {0};
    struct translation_change c;
    size_t untouched = 0;
    bool *chosen = arena_new(a, bool, t->own.md.block_count + 1);
    for (size_t i = 0; translation_change(t, i, &c); i++) {
        if (!is_chosen(x, t, &c))
            continue;
        translation_print(t, &c, I18N_TEXT, &x->out);
        untouched += c.untouched;
        if (c.own)
            chosen[c.own_index] = true;
    }
    if (!may_accept(x, t, untouched))
        return false;
    if (x->block_count && t->staleness)
        staleness_accept(t->staleness, chosen, &t->source.md, &t->own.md, &next, a);
    else
        staleness_accept_all(&t->source.md, &t->own.md, &next, a);
    return write_sidecar(x, t, &next);
}

static bool accept_document(struct acceptance *x, const struct document *doc, str language,
                            bool *found)
{
    bool ok = true;
    for (size_t i = 0; i < x->site.language_count; i++) {
        const struct page *p = translation_of(doc, i);
        struct translation t;
        if (!p ||
            (!str_eq(language, STR("all")) && !str_eq_nocase(x->site.languages[i]->tag, language)))
            continue;
        *found = true;
        ok = translation_open(&x->site, doc, p, &t) && accept(x, &t) && ok;
    }
    return ok;
}

// NULL, or what is wrong with the command line.
static const char *run(struct acceptance *x, str name, str language)
{
    struct document *only = name.len ? site_document(&x->site, name) : NULL;
    bool found = false;
    if (name.len && !only)
        return "no document has this name";
    for (size_t i = 0; i < x->site.document_count; i++)
        if (!only || x->site.documents[i] == only)
            x->ok = accept_document(x, x->site.documents[i], language, &found) && x->ok;
    for (int i = 0; i < x->block_count; i++)
        if (found && !x->used[i])
            return "no such block is out of date: `i18n status` names them";
    return found  ? NULL
           : only ? "the document has no translation in this language"
                  : "no document is translated into this language";
}

int i18n_accept(const struct i18n_options *o, int count, char **operands)
{
    struct diag *d = site_options_diag(&o->site);
    struct acceptance x = {.o = o, .out = BUF_INIT};
    const char *wrong = NULL;
    x.ok = site_options_open(&o->site, true, &x.site, d);
    if (count > 2) {
        x.blocks = operands + 2;
        x.block_count = count - 2;
        x.used = arena_new(&x.site.arena, bool, (size_t)x.block_count);
    }
    if (x.ok)
        wrong =
            run(&x, count > 1 ? str_c(operands[0]) : STR_NONE, str_c(operands[count > 1 ? 1 : 0]));
    site_close(&x.site);
    int rc = cmd_end(d, &x.out, x.ok);
    return wrong ? i18n_usage(wrong) : rc;
}
