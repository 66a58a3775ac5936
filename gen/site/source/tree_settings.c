// Takes over from a tree's own configuration what the site's settings leave open.
#include "gen/site/source/tree_settings.h"

#include <string.h>

#include "gen/site/source/settings.h"

// A title may hold anything, and is escaped where it is shown; an address must be one.
static void take_text(str *to, str from)
{
    if (!to->len)
        *to = from;
}

static void take_address(str *to, str from)
{
    if (!to->len)
        *to = settings_base_url(from);
}

// How formulas and alerts are written, as far as the kind and the configuration tell.
static void take_markdown(struct settings *s, const struct tree *t)
{
    s->math = t->math ? t->kind->math | (t->dollars ? MD_MATH_DOLLARS : 0) : 0;
    s->admonitions = t->kind->admonitions | (t->definitions ? MD_DEFINITIONS : 0) |
                     (t->term_ids ? MD_TERM_IDS : 0) | (t->abbreviations ? MD_ABBREVIATIONS : 0);
}

void tree_settings(struct site *site)
{
    struct settings *s = &site->settings;
    struct tree *t = site->tree =
        tree_read(s->content_dir, s->kind, s->file.len > 0, &site->arena, site->diag);
    bool others = !s->file.len;
    take_text(&s->title, t->title);
    take_text(&s->description, t->description);
    take_address(&s->base_url, t->base_url);
    take_address(&s->repository, t->repository);
    if (!s->source_language.len && t->source_language.len && !t->assumed)
        s->source_language = language_tag(t->source_language, &site->arena);
    if (!s->static_dir.len && t->static_count)
        s->static_dir = arena_printf(&site->arena, "%.*s/%.*s", STR_ARG(s->content_dir),
                                     STR_ARG(t->statics[0]));
    if (others && t->fallback)
        s->fallback = true;
    if (others)
        take_markdown(s, t);
    if (others && !*t->kind->marks)
        t->emoji = true;  // as GitHub shows a README
    if (!s->remote_given)
        s->remote_media = others;
    uint64_t both[2] = {s->hash, t->hash ^ str_hash(str_c(t->kind->name))};
    s->hash = str_hash((str){(const char *)both, sizeof both});
}
