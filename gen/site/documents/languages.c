// Locales and message catalogs of a site's languages, opened once for all processes, and which of
// them most pages are in.
#include <stdlib.h>
#include <string.h>

#include "gen/base/packed_values.h"
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

// The packed catalog of a language in known; "" when it has none.
static str known_catalog(str known, str tag)
{
    struct unpack u = unpack_from(known);
    for (unpack_str(&u); u.at < u.end && !u.bad;) {
        str own = unpack_str(&u), packed = unpack_str(&u);
        if (str_eq(own, tag))
            return packed;
    }
    return STR_NONE;
}

// Whether known has the catalogs of the site's languages and no others, about which it would speak.
static bool knows_all(const struct site *site, str known)
{
    struct unpack u = unpack_from(known);
    bool all = known.len > 0;
    size_t wanted = site->language_count + (site->english_locale != NULL), count = 0;
    for (unpack_str(&u); u.at < u.end && !u.bad; count++)
        unpack_str(&u), unpack_str(&u);
    for (size_t i = 0; i < site->language_count; i++)
        all = all && known_catalog(known, site->languages[i]->tag).len;
    return all && count == wanted;
}

static void open_locale(struct site *site, struct language *l)
{
    l->locale = locale_open(l->tag);
    if (!l->locale) {
        diag_add(site->diag, D_LANG_UNKNOWN, DIAG_FILE(l->tag),
                 "ICU has no data for it; English is used");
        l->locale = locale_open(STR("en"));
    }
    if (site->settings.latin_digits)
        locale_latin_digits(l->locale);
}

// Opens the catalog of l, which has a locale.
static bool take_catalog(struct site *site, struct language *l, const struct catalog *english,
                         str known)
{
    str packed = known_catalog(known, l->tag);
    l->catalog =
        packed.len ? catalog_unpack(packed, l->locale, english) : open_catalog(site, l, english);
    return l->catalog != NULL;
}

// English is behind every other catalog, and so it is opened first, for the site or for them alone.
static bool open_catalogs(struct site *site, str known)
{
    struct language behind = {.tag = STR("en"), .locale = site->english_locale};
    struct language *english = &behind;
    for (size_t i = 0; i < site->language_count; i++)
        if (str_eq(site->languages[i]->tag, behind.tag))
            english = site->languages[i];
    bool ok = take_catalog(site, english, NULL, known);
    site->english = behind.catalog;
    for (size_t i = 0; i < site->language_count; i++)
        if (site->languages[i] != english)
            ok = take_catalog(site, site->languages[i], english->catalog, known) && ok;
    return ok;
}

bool languages_open(struct site *site, str known)
{
    struct diag *outer = site->diag;
    bool has_english = false;
    for (size_t i = 0; i < site->language_count; i++) {
        has_english = has_english || str_eq(site->languages[i]->tag, STR("en"));
        open_locale(site, site->languages[i]);
    }
    if (!has_english)
        site->english_locale = locale_open(STR("en"));
    if (knows_all(site, known)) {
        struct unpack u = unpack_from(known);
        site->catalogs_said = unpack_str(&u);
        diag_unpack(outer, site->catalogs_said);
        return open_catalogs(site, known);
    }
    site->diag = diag_new((struct diag_options){0});
    bool ok = open_catalogs(site, STR_NONE);
    site->catalogs_said = diag_hand_over(site->diag, outer, &site->arena);
    site->diag = outer;
    return ok;
}

static void pack_catalog(buf *out, str tag, const struct catalog *c)
{
    pack_str(out, tag);
    pack_str(out, catalog_packed(c));
}

void languages_pack(const struct site *site, buf *out)
{
    pack_str(out, site->catalogs_said);
    for (size_t i = 0; i < site->language_count; i++)
        pack_catalog(out, site->languages[i]->tag, site->languages[i]->catalog);
    if (site->english)
        pack_catalog(out, STR("en"), site->english);
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
