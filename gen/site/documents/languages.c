// Locales and message catalogs of a site's languages, opened once for all processes, and which of
// them most pages are in.
#include <stdlib.h>
#include <string.h>

#include "gen/site/documents/languages.h"

// i18n/pt-BR.json, else i18n/pt.json. False when there is neither.
static bool read_cut(const struct site *site, str tag, buf *json, str *file, arena *a)
{
    for (;;) {
        *file = arena_printf(a, "%.*s/%.*s.json", STR_ARG(site->settings.i18n_dir), STR_ARG(tag));
        buf_clear(json);
        if (fs_read(file->ptr, 4u << 20, json) == 0)
            return true;
        size_t dash = str_rfind(tag, '-');
        if (dash == tag.len)
            return false;
        tag = str_slice(tag, 0, dash);
    }
}

// The same, and for a language of several scripts by that in which it is most likely written: zh-TW
// is zh-Hant.
static bool read_catalog(const struct site *site, const struct language *l, buf *json, str *file,
                         arena *a)
{
    str language = str_slice(l->tag, 0, str_find(l->tag, '-'));
    return read_cut(site, l->tag, json, file, a) ||
           read_cut(site, arena_join(a, language, STR("-"), locale_script(l->locale)), json, file,
                    a);
}

static struct catalog *open_catalog(struct site *site, const struct language *l,
                                    const struct catalog *fallback)
{
    buf json = BUF_INIT;
    str file;
    struct catalog *c;
    if (read_catalog(site, l, &json, &file, &site->arena)) {
        c = catalog_parse(buf_view(&json), file, l->locale, fallback, site->diag);
    } else {
        // One line for the file, not one for each of its words.
        file = arena_printf(&site->arena, "%.*s/%.*s.json", STR_ARG(site->settings.i18n_dir),
                            STR_ARG(l->tag));
        diag_add(site->diag, D_CATALOG_NONE, DIAG_FILE(file),
                 "no catalog for %.*s; English is shown", STR_ARG(l->tag));
        c = catalog_none(l->locale, fallback);
    }
    buf_free(&json);
    return c;
}

// English is behind every other catalog.
static struct catalog *open_english(struct site *site)
{
    struct language english = {.tag = STR("en")};
    for (size_t i = 0; i < site->language_count; i++)
        if (str_eq(site->languages[i]->tag, english.tag))
            return NULL;
    english.locale = site->english_locale = locale_open(english.tag);
    return site->english = open_catalog(site, &english, NULL);
}

bool languages_open(struct site *site)
{
    struct catalog *english = open_english(site);
    bool ok = true;
    for (size_t pass = 0; pass < 2; pass++) {  // English first: the others lean on it
        for (size_t i = 0; i < site->language_count; i++) {
            struct language *l = site->languages[i];
            bool first = str_eq(l->tag, STR("en"));
            if (first != (pass == 0) || l->catalog)
                continue;
            l->locale = locale_open(l->tag);
            if (!l->locale) {
                diag_add(site->diag, D_LANG_UNKNOWN, DIAG_FILE(l->tag),
                         "ICU has no data for it; English is used");
                l->locale = locale_open(STR("en"));
            }
            if (site->settings.latin_digits)
                locale_latin_digits(l->locale);
            l->catalog = open_catalog(site, l, english);
            if (first)
                english = l->catalog;
            ok = ok && l->catalog;
        }
    }
    return ok;
}

struct language *languages_most_used(const struct site *site, const struct map *languages)
{
    struct language *best = NULL;
    uint32_t *count = calloc(languages->count + 1, sizeof *count);
    if (!count)
        buf_no_memory();
    for (size_t i = 0; i < languages->count; i++)
        ((struct language *)languages->entries[i].value)->index = (uint32_t)i;
    for (size_t i = 0; i < site->page_count; i++)
        if (site->pages[i]->language)
            count[site->pages[i]->language->index]++;
    for (size_t i = 0; i < languages->count; i++) {
        struct language *l = languages->entries[i].value;
        bool more = !best || count[l->index] > count[best->index];
        bool same = best && count[l->index] == count[best->index];
        if (more || (same && str_cmp(l->tag, best->tag) < 0))
            best = l;
    }
    free(count);
    return best;
}
