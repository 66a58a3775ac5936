// The menu of every page, and where the calculator is: addresses by language, for the templates.
#include "gen/site/documents/nav.h"
#include "gen/site/output/build_state.h"
#include "gen/site/source/settings.h"

// An entry is a line of the settings, "KEY = words". A document that is not there is reported, one
// without a page in l left out.
static void add_entry(struct build *b, const struct language *l, str line, struct view_link *links,
                      str *keys, size_t *n)
{
    struct site *site = &b->site;
    size_t equals = str_find(line, '=');
    str key = str_trim(str_slice(line, 0, equals));
    const struct document *doc = map_get(&site->document_by_key, key);
    str url = doc ? nav_url(site, doc, l, &site->arena) : STR_NONE;
    if (!doc)
        diag_add(b->diag, D_LINK_BROKEN, DIAG_FILE(site->settings.file), "navigation: %.*s",
                 STR_ARG(key));
    if (!url.len)
        return;
    keys[*n] = key;
    links[(*n)++] =
        (struct view_link){.title = str_trim(str_slice(line, equals + 1, line.len)), .url = url};
}

static struct view_menu menu_of(struct build *b, const struct language *l)
{
    str lines = settings_navigation(&b->site.settings, l->tag), rest = lines, line;
    size_t most = lines.len ? 1 : 0, n = 0;
    for (size_t i = 0; i < lines.len; i++)
        most += lines.ptr[i] == '\n';
    struct view_link *links = arena_new(&b->site.arena, struct view_link, most);
    str *keys = arena_new(&b->site.arena, str, most);
    while (str_line(&rest, &line))
        add_entry(b, l, line, links, keys, &n);
    return (struct view_menu){links, keys, n};
}

// The first document whose pages have that layout, or NULL.
static const struct document *with_layout(const struct site *site, str layout)
{
    for (size_t i = 0; i < site->document_count; i++)
        if (str_eq(site->documents[i]->source->layout, layout))
            return site->documents[i];
    return NULL;
}

void menu_open(struct build *b)
{
    struct site *site = &b->site;
    const struct document *calculator = with_layout(site, STR("calculator"));
    struct view_menu *menus = arena_new(&site->arena, struct view_menu, site->language_count);
    str *calculators = arena_new(&site->arena, str, site->language_count);
    for (size_t i = 0; i < site->language_count; i++) {
        menus[i] = menu_of(b, site->languages[i]);
        calculators[i] =
            calculator ? nav_url(site, calculator, site->languages[i], &site->arena) : STR_NONE;
    }
    b->view_site.menus = menus;
    b->view_site.calculators = calculators;
}
