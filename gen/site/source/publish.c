// Decides what is published. Nothing is because it lies there: a page is one that is no draft and
// is due, a file is one that something refers to, or that is where files keep their names.
#include "gen/site/source/publish.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gen/base/path.h"
#include "gen/site/source/names.h"
#include "gen/text/address.h"

enum { KEY_BYTES = 1 << 20 };  // a longer file is no certificate

const char *publish_why(enum publish p)
{
    switch (p) {
#define X(id, why) \
    case LEFT_##id: return why;
        PUBLISH_LEFT(X)
#undef X
    default: return "";
    }
}

bool site_is_others(const struct site *site)
{
    return !site->settings.file.len || site->tree->kind->flags & KIND_FOREIGN;
}

int64_t publish_now(void)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    uint64_t seconds;
    return epoch && str_u64(str_c(epoch), &seconds) && seconds <= INT64_MAX ? (int64_t)seconds
                                                                            : (int64_t)time(NULL);
}

// Jekyll's _drafts, _includes and the like, Docusaurus's parts of pages; _posts and Hugo's _index
// are pages.
static enum publish by_path(const struct site *site, str path)
{
    str part;
    if (site->tree && site->tree->kind->flags & KIND_UNDERSCORE)
        return PUBLISH;
    while (str_cut(&path, '/', &part)) {
        bool is_name = path.len == 0;
        if (!part.len || part.ptr[0] != '_')
            continue;
        if (!is_name && str_eq(part, STR("_drafts"))) {
            if (!site->drafts)
                return LEFT_DRAFT;
        } else if (is_name ? !str_starts(part, STR("_index.")) : !str_eq(part, STR("_posts"))) {
            return LEFT_UNDERSCORE;
        }
    }
    return PUBLISH;
}

// A page that is due from when on: the site stays the same from the last such time until the next.
static bool is_due(struct site *site, int64_t when)
{
    if (when == INT64_MIN || site->drafts || site->settings.future)
        return true;
    if (when > site->now && when < site->until)
        site->until = when;
    if (when <= site->now && when > site->since)
        site->since = when;
    return when <= site->now;
}

enum publish publish_path(const struct site *site, const struct page *p)
{
    return by_path(site, tree_below(p->root, p->source));
}

enum publish publish_page(struct site *site, const struct page *p, const struct front *f)
{
    enum publish path = publish_path(site, p);
    if (path != PUBLISH)
        return path;
    if (p->broken && site_is_others(site))
        return LEFT_UNREADABLE;  // nothing is known of it but its path
    if (!site->drafts && (f->draft == 1 || f->published == 0))
        return LEFT_DRAFT;
    return is_due(site, f->publishDate != INT64_MIN ? f->publishDate : p->published) ? PUBLISH
                                                                                     : LEFT_LATER;
}

static bool ends_nocase(str s, str end)
{
    return s.len >= end.len && str_eq_nocase(str_slice(s, s.len - end.len, s.len), end);
}

static bool has_ending(str name, const str *endings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ends_nocase(name, endings[i]))
            return true;
    return false;
}

// What keys and their like are called. A picture called id_card.png is none.
static bool is_key(str name)
{
    static const str keys[] = {STR(".pem"), STR(".key"), STR(".env")};
    static const str media[] = {STR(".png"),  STR(".jpg"),  STR(".jpeg"), STR(".gif"),
                                STR(".webp"), STR(".avif"), STR(".svg"),  STR(".pdf"),
                                STR(".mp3"),  STR(".mp4"),  STR(".webm"), STR(".css")};
    bool id = str_eq_nocase(str_slice(name, 0, 3), STR("id_")) &&
              !has_ending(name, media, sizeof media / sizeof *media);
    return id || str_eq_nocase(str_slice(name, 0, 4), STR(".env")) ||
           has_ending(name, keys, sizeof keys / sizeof *keys);
}

bool publish_is_public(const char *path)
{
    static const str labels[] = {STR("CERTIFICATE-----"),
                                 STR("TRUSTED CERTIFICATE-----"),
                                 STR("CERTIFICATE REQUEST-----"),
                                 STR("PUBLIC KEY-----"),
                                 STR("X509 CRL-----"),
                                 STR("PKCS7-----")};
    buf text = BUF_INIT;
    size_t known = 0, all = 0;
    str begin = STR("-----BEGIN "), rest = STR_NONE;
    if (fs_read(path, KEY_BYTES, &text) == 0)
        rest = buf_view(&text);
    for (size_t at; (at = str_search(rest, begin)) < rest.len; all++) {
        rest = str_slice(rest, at + begin.len, rest.len);
        for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
            known += str_starts(rest, labels[i]);
    }
    buf_free(&text);
    return known && known == all;
}

// What only the generator reads: figures and what translations were made from. Settings may have
// any name.
static bool is_input(str name)
{
    return str_eq(name, STR("page.lua")) || str_ends(name, STR(".source.json"));
}

enum publish publish_file(str path)
{
    str rest = path, part, name = path_name(path);
    if (is_key(name))
        return LEFT_KEY;
    for (bool first = true; str_cut(&rest, '/', &part); first = false)
        if (address_is_hidden(part, first) && !str_eq(part, STR(".nojekyll")))
            return LEFT_HIDDEN;
    return is_input(name) ? LEFT_INPUT : PUBLISH;
}

// The path below the hidden folder whose files are published; "" for any other.
static str below_open(const struct site *site, str path)
{
    const struct tree *t = site ? site->tree : NULL;
    str open = t && t->open_assets ? t->open_folder : STR_NONE;
    bool below =
        open.len && str_starts(path, open) && (path.len == open.len || path.ptr[open.len] == '/');
    return below ? str_slice(path, open.len, path.len) : STR_NONE;
}

enum publish publish_in_tree(const struct site *site, str path)
{
    str below = below_open(site, path);
    return publish_file(below.len ? str_slice(below, 1, below.len) : path);
}

static enum publish page_state(const struct site *site, str path)
{
    for (size_t i = 0; i < site->read_count; i++)
        if (str_eq(site->read_pages[i]->source, path))
            return site->read_pages[i]->left_out;
    return PUBLISH;
}

static bool leads_out(const struct site *site, str path)
{
    for (size_t i = 0; i < site->files.bad_count; i++) {
        const struct fs_bad *b = &site->files.bad[i];
        bool below =
            str_starts(path, b->path) && (path.len == b->path.len || path.ptr[b->path.len] == '/');
        if (b->error == EXDEV && below)
            return true;
    }
    return false;
}

enum publish publish_missing(const struct site *site, str path, arena *a)
{
    struct fs_stat st;
    enum publish state = publish_in_tree(site, path);
    str full = arena_printf(a, "%.*s/%.*s", STR_ARG(site->settings.content_dir), STR_ARG(path));
    if (leads_out(site, path))
        return LEFT_OUTSIDE;
    if (!path.len || fs_stat(full.ptr, &st) < 0 || st.is_dir)
        return PUBLISH;
    if (state == PUBLISH)
        state = page_state(site, path);
    return state == PUBLISH ? LEFT_IGNORED : state;
}

bool publish_at_root(str path, str *url)
{
    static const str names[] = {STR("CNAME"),     STR("robots.txt"), STR("ads.txt"),
                                STR(".nojekyll"), STR("_headers"),   STR("_redirects")};
    if (str_starts(path, STR("docs/")))
        path = str_slice(path, 5, path.len);
    *url = path;
    if (str_starts(path, STR(".well-known/")))
        return publish_file(path) == PUBLISH;
    if (str_find(path, '/') < path.len)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_eq(path, names[i]))
            return true;
    return str_starts(path, STR("favicon.")) && publish_file(path) == PUBLISH;
}

bool publish_hidden(void *ctx, str path)
{
    const struct site *site = ctx;
    str url, below = str_starts(path, STR("docs/")) ? str_slice(path, 5, path.len) : path;
    return str_eq(below, STR(".well-known")) || publish_at_root(path, &url) ||
           (site && site->tree->open_assets && str_eq(path, site->tree->open_folder));
}

bool publish_target(void *ctx, str path, bool is_dir)
{
    str rest = path, part;
    (void)ctx;
    while (str_cut(&rest, '/', &part))
        if (str_eq(part, STR(".git")))
            return false;
    return is_dir || names_is_page(path) || !is_key(path_name(path));
}
