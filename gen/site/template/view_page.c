// The fields of `page` that templates read, and the value that each has on the page at hand.
#include <string.h>
#include <time.h>

#include "gen/text/address.h"
#include "gen/site/template/view_lib.h"

#define NO_LIST VIEW_LISTS

static const void *member(const struct view *v, const struct view_field *f)
{
    return (const char *)v->page + f->offset;
}

static struct view_value as_text(str s)
{
    return (struct view_value){.kind = VALUE_TEXT, .text = s};
}

static struct view_value text_of(struct view *v, const struct view_field *f)
{
    return as_text(*(const str *)member(v, f));
}

static struct view_value csp_of(struct view *v, const struct view_field *f)
{
    (void)f;
    return as_text(v->page->csp.len ? v->page->csp : v->vs->csp);
}

static struct view_value html_of(struct view *v, const struct view_field *f)
{
    return (struct view_value){.kind = VALUE_HTML, .text = *(const str *)member(v, f)};
}

static struct view_value bool_of(struct view *v, const struct view_field *f)
{
    return (struct view_value){.kind = VALUE_BOOL, .number = *(const bool *)member(v, f)};
}

static struct view_value number_of(struct view *v, const struct view_field *f)
{
    return (struct view_value){.kind = VALUE_NUMBER, .number = *(const uint32_t *)member(v, f)};
}

static struct view_value count_of(struct view *v, const struct view_field *f)
{
    return (struct view_value){.kind = VALUE_NUMBER, .number = *(const size_t *)member(v, f)};
}

void view_put_root(struct view *v)
{
    if (v->variant.depth == DEPTH_LOST) {
        buf_str(&v->scratch, v->base_path);
        buf_char(&v->scratch, '/');
        return;
    }
    for (uint32_t i = 0; i < v->variant.depth; i++)
        buf_lit(&v->scratch, "../");
}

str view_url(struct view *v, str url)
{
    buf_clear(&v->scratch);
    if (v->scope != SCOPE_DOCUMENT && v->scope != SCOPE_SITE && v->variant.depth != DEPTH_LOST) {
        address_relative(v->page->url, url, &v->scratch);
    } else {
        view_put_root(v);
        buf_str(&v->scratch, url);
    }
    return buf_view(&v->scratch);
}

void view_push_url(struct view *v, str url)
{
    view_push_str(v->L, view_url(v, url));
}

static struct view_value url_of(struct view *v, const struct view_field *f)
{
    str url = *(const str *)member(v, f);
    return as_text(url.len ? view_url(v, url) : STR_NONE);
}

void view_set_str(lua_State *L, const char *key, str s)
{
    view_push_str(L, s);
    lua_setfield(L, -2, key);
}

void view_set_url(struct view *v, const char *key, str url)
{
    view_push_url(v, url);
    lua_setfield(v->L, -2, key);
}

static void put_iso(struct view *v, int64_t seconds)
{
    struct tm tm;
    time_t t = (time_t)seconds;
    gmtime_r(&t, &tm);
    buf_clear(&v->scratch);
    buf_printf(&v->scratch, "%04d-%02d-%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
}

static void put_date(struct view *v, int64_t seconds)
{
    buf_clear(&v->scratch);
    locale_date(v->page->language->locale, seconds, DATE_LONG, &v->scratch);
}

void view_push_date(struct view *v, int64_t seconds)
{
    if (seconds == INT64_MIN) {
        lua_pushnil(v->L);
        return;
    }
    lua_createtable(v->L, 0, 2);
    put_iso(v, seconds);
    view_set_str(v->L, "iso", buf_view(&v->scratch));
    put_date(v, seconds);
    view_set_str(v->L, "text", buf_view(&v->scratch));
}

static void push_time(struct view *v, const struct view_field *f)
{
    view_push_date(v, *(const int64_t *)member(v, f));
}

static struct view_value made_of_time(struct view *v, const struct view_field *f,
                                      void (*put)(struct view *v, int64_t seconds))
{
    int64_t seconds = *(const int64_t *)member(v, f);
    if (seconds == INT64_MIN)
        return (struct view_value){.kind = VALUE_NONE};
    put(v, seconds);
    return as_text(buf_view(&v->scratch));
}

static struct view_value iso_of(struct view *v, const struct view_field *f)
{
    return made_of_time(v, f, put_iso);
}

static struct view_value date_of(struct view *v, const struct view_field *f)
{
    return made_of_time(v, f, put_date);
}

// For others to load: absolute where the site's address is known.
static struct view_value image_of(struct view *v, const struct view_field *f)
{
    str url = *(const str *)member(v, f), base = v->site->settings.base_url;
    if (!url.len || !base.len || str_has(url, STR("://")))
        return url_of(v, f);
    buf_clear(&v->scratch);
    buf_printf(&v->scratch, "%.*s/%.*s", STR_ARG(base), STR_ARG(url));
    return as_text(buf_view(&v->scratch));
}

static void push_link(struct view *v, const struct view_field *f)
{
    const struct view_link *link = member(v, f);
    if (!link->url.len) {
        lua_pushnil(v->L);
        return;
    }
    lua_createtable(v->L, 0, 2);
    view_set_str(v->L, "title", link->title);
    view_set_url(v, "url", link->url);
}

static struct view_value link_title_of(struct view *v, const struct view_field *f)
{
    const struct view_link *link = member(v, f);
    return link->url.len ? as_text(link->title) : (struct view_value){.kind = VALUE_NONE};
}

static struct view_value link_url_of(struct view *v, const struct view_field *f)
{
    const struct view_link *link = member(v, f);
    return link->url.len ? as_text(view_url(v, link->url))
                         : (struct view_value){.kind = VALUE_NONE};
}

static struct view_value lang_of(struct view *v, const struct view_field *f)
{
    (void)f;
    return as_text(v->page->language->tag);
}

static str direction(const struct language *l)
{
    return locale_rtl(l->locale) ? STR("rtl") : STR("ltr");
}

static struct view_value dir_of(struct view *v, const struct view_field *f)
{
    (void)f;
    return as_text(direction(v->page->language));
}

// The numbering system of BCP 47 that scripts format numbers in; nothing where it is the language's
// own.
static struct view_value digits_of(struct view *v, const struct view_field *f)
{
    (void)f;
    return as_text(v->site->settings.latin_digits ? STR("latn") : STR(""));
}

static const struct language *body_language(const struct view *v)
{
    return v->page->page ? v->page->page->language : v->page->language;
}

static struct view_value body_lang_of(struct view *v, const struct view_field *f)
{
    (void)f;
    return as_text(body_language(v)->tag);
}

static struct view_value body_dir_of(struct view *v, const struct view_field *f)
{
    (void)f;
    return as_text(direction(body_language(v)));
}

static struct view_value source_language_name_of(struct view *v, const struct view_field *f)
{
    (void)f;
    return as_text(locale_native_name(body_language(v)->locale));
}

static struct view_value language_name_of(struct view *v, const struct view_field *f)
{
    (void)f;
    return as_text(locale_native_name(v->page->language->locale));
}

static struct view_value locale_of(struct view *v, const struct view_field *f)
{
    (void)f;
    return as_text(locale_region(v->page->language->locale));
}

static struct view_value key_of(struct view *v, const struct view_field *f)
{
    (void)f;
    return as_text(v->page->document ? v->page->document->key : STR_NONE);
}

static struct view_value section_of(struct view *v, const struct view_field *f)
{
    (void)f;
    return as_text(v->page->document ? v->page->document->section : STR_NONE);
}

#define AT(m) offsetof(struct view_page, m)
// In any order: the first look-up of a name remembers its row. The parts of a field are rows of
// their own, for values that go out without Lua.
static const struct view_field fields[] = {
    {"title", text_of, NULL, AT(title), SCOPE_PAGE, NO_LIST},
    {"lede", text_of, NULL, AT(lede), SCOPE_PAGE, NO_LIST},
    {"description", text_of, NULL, AT(description), SCOPE_PAGE, NO_LIST},
    {"lang", lang_of, NULL, 0, SCOPE_LANGUAGE, NO_LIST},
    {"language_name", language_name_of, NULL, 0, SCOPE_LANGUAGE, NO_LIST},
    {"locale", locale_of, NULL, 0, SCOPE_LANGUAGE, NO_LIST},
    {"csp", csp_of, NULL, 0, SCOPE_PAGE, NO_LIST},
    {"dir", dir_of, NULL, 0, SCOPE_LANGUAGE, NO_LIST},
    {"digits", digits_of, NULL, 0, SCOPE_LANGUAGE, NO_LIST},
    {"body", html_of, NULL, AT(body), SCOPE_PAGE, NO_LIST},
    {"body_lang", body_lang_of, NULL, 0, SCOPE_PAGE, NO_LIST},
    {"body_dir", body_dir_of, NULL, 0, SCOPE_PAGE, NO_LIST},
    {"is_fallback", bool_of, NULL, AT(is_fallback), SCOPE_DOCUMENT, NO_LIST},
    {"source_language_name", source_language_name_of, NULL, 0, SCOPE_PAGE, NO_LIST},
    {"key", key_of, NULL, 0, SCOPE_DOCUMENT, NO_LIST},
    {"section", section_of, NULL, 0, SCOPE_DOCUMENT, NO_LIST},
    {"kind", text_of, NULL, AT(kind), SCOPE_PAGE, NO_LIST},
    {"robots", text_of, NULL, AT(robots), SCOPE_PAGE, NO_LIST},
    {"layout", text_of, NULL, AT(layout), SCOPE_PAGE, NO_LIST},
    {"canonical", text_of, NULL, AT(canonical), SCOPE_PAGE, NO_LIST},
    {"alternates", count_of, view_push_alternates, AT(alternate_count), SCOPE_DOCUMENT,
     VIEW_ALTERNATES},
    {"translations", count_of, view_push_translations, AT(translation_count), SCOPE_DOCUMENT,
     VIEW_TRANSLATIONS},
    {"translations_html", view_translations_html, NULL, 0, SCOPE_PAGE, VIEW_TRANSLATIONS},
    {"translation_count", count_of, NULL, AT(translation_count), SCOPE_DOCUMENT, VIEW_TRANSLATIONS},
    {"crumbs", count_of, view_push_crumbs, AT(crumb_count), SCOPE_PAGE, VIEW_CRUMBS},
    {"crumbs_html", view_crumbs_html, NULL, 0, SCOPE_PAGE, VIEW_CRUMBS},
    {"contents", view_contents_html, view_push_contents, 0, SCOPE_PAGE, VIEW_CONTENTS},
    {"contents_html", view_contents_html, NULL, 0, SCOPE_PAGE, VIEW_CONTENTS},
    {"previous", link_url_of, push_link, AT(previous), SCOPE_PAGE, NO_LIST},
    {"previous.title", link_title_of, NULL, AT(previous), SCOPE_PAGE, NO_LIST},
    {"previous.url", link_url_of, NULL, AT(previous), SCOPE_PAGE, NO_LIST},
    {"next", link_url_of, push_link, AT(next), SCOPE_PAGE, NO_LIST},
    {"next.title", link_title_of, NULL, AT(next), SCOPE_PAGE, NO_LIST},
    {"next.url", link_url_of, NULL, AT(next), SCOPE_PAGE, NO_LIST},
    {"children", count_of, view_push_children, AT(child_count), SCOPE_PAGE, VIEW_CHILDREN},
    {"toc", count_of, view_push_toc, AT(toc_count), SCOPE_PAGE, NO_LIST},
    {"toc_html", view_toc_html, NULL, 0, SCOPE_PAGE, NO_LIST},
    {"edit_url", text_of, NULL, AT(edit_url), SCOPE_PAGE, NO_LIST},
    {"report_url", text_of, NULL, AT(report_url), SCOPE_PAGE, NO_LIST},
    {"reading_minutes", number_of, NULL, AT(reading_minutes), SCOPE_PAGE, NO_LIST},
    {"updated", iso_of, push_time, AT(updated), SCOPE_PAGE, NO_LIST},
    {"updated.iso", iso_of, NULL, AT(updated), SCOPE_PAGE, NO_LIST},
    {"updated.text", date_of, NULL, AT(updated), SCOPE_PAGE, NO_LIST},
    {"published", iso_of, push_time, AT(published), SCOPE_PAGE, NO_LIST},
    {"published.iso", iso_of, NULL, AT(published), SCOPE_PAGE, NO_LIST},
    {"published.text", date_of, NULL, AT(published), SCOPE_PAGE, NO_LIST},
    {"provenance", count_of, view_push_provenance, AT(provenance_count), SCOPE_PAGE,
     VIEW_PROVENANCE},
    {"stale_count", number_of, NULL, AT(stale_count), SCOPE_PAGE, NO_LIST},
    {"figures", count_of, view_push_figures, AT(figure_count), SCOPE_PAGE, VIEW_FIGURES},
    {"unmeasured", number_of, NULL, AT(unmeasured), SCOPE_PAGE, VIEW_FIGURES},
    {"markdown_url", url_of, NULL, AT(markdown_url), SCOPE_PAGE, NO_LIST},
    {"feed_url", url_of, NULL, AT(feed_url), SCOPE_PAGE, NO_LIST},
    {"target", url_of, NULL, AT(target), SCOPE_PAGE, NO_LIST},
    {"json_ld", html_of, NULL, AT(json_ld), SCOPE_PAGE, VIEW_JSON_LD},
    {"image", image_of, NULL, AT(image), SCOPE_PAGE, NO_LIST},
    {"has_math", bool_of, NULL, AT(has_math), SCOPE_PAGE, NO_LIST},
};
#define FIELD_COUNT (sizeof fields / sizeof *fields)

unsigned view_lists_named(str text)
{
    unsigned lists = 0;
    for (size_t i = 0; i < FIELD_COUNT; i++)
        if (fields[i].list != NO_LIST && !(lists & VIEW_BIT(fields[i].list)) &&
            str_has(text, str_c(fields[i].name)))
            lists |= VIEW_BIT(fields[i].list);
    return lists;
}

const struct view_field *view_fields(size_t *count)
{
    *count = FIELD_COUNT;
    return fields;
}
