// Reads pages up to the point where they can be planned: bytes checked, front matter parsed, title
// found.
#include "gen/site/source/read.h"

#include <errno.h>
#include <string.h>

#include "gen/base/workers.h"
#include "gen/text/markdown_wiki.h"
#include "gen/text/html_names.h"
#include "gen/text/emoji.h"
#include "gen/text/markdown.h"
#include "gen/text/written.h"
#include "gen/base/packed_values.h"
#include "gen/site/source/include.h"
#include "gen/site/source/publish.h"

enum {
    FEW = 200,       // files: fewer are read sooner than a worker starts
    KEPT = 64 << 20  // bytes of all pages that are kept at most
};

// A level-1 heading that opens the body: its words, and the offset behind it. False when something
// else comes first.
static bool first_heading(str text, size_t from, arena *a, str *title, size_t *behind)
{
    str rest = str_slice(text, from, text.len), line = STR_NONE;
    do
        if (!str_line(&rest, &line))
            return false;
    while (str_trim(line).len == 0);
    bool pandoc =
        line.ptr == text.ptr && str_starts(line, STR("% "));  // its title block, rustbook's
    if (pandoc || (line.len > 2 && line.ptr[0] == '#' && strchr(" \t", line.ptr[1]))) {
        *title = md_words(str_slice(line, 2, line.len), text, a);
        *behind = text.len - rest.len;
        return title->len > 0 && !str_has(line, STR("{lua}"));
    }
    str under, after = rest;
    if (line.ptr[0] == ' ' || !str_line(&after, &under) || str_trim(under).len == 0)
        return false;
    under = str_trim(under);
    for (size_t i = 0; i < under.len; i++)
        if (under.ptr[i] != '=')
            return false;
    *title = md_words(line, text, a);
    *behind = text.len - after.len;
    return title->len > 0;
}

enum { TITLE_LINES = 60 };  // after these there is no title

// The first level-1 heading of a page that begins with something else: badges, links to
// translations, imports.
static str later_heading(str text, size_t from, arena *a)
{
    str rest = str_slice(text, from, text.len), line;
    bool fenced = false;
    for (size_t n = 0; n < TITLE_LINES && str_line(&rest, &line); n++) {
        if (str_starts(line, STR("```")) || str_starts(line, STR("~~~")))
            fenced = !fenced;
        else if (!fenced && str_starts(line, STR("# ")))
            return md_words(str_slice(line, 2, line.len), text, a);
        else if (!fenced && str_starts(line, STR("## ")))
            break;
    }
    return STR_NONE;
}

static size_t heading_level(str line)
{
    size_t n = 0;
    while (n < line.len && n < 7 && line.ptr[n] == '#')
        n++;
    return n && n < 7 && n < line.len && line.ptr[n] == ' ' ? n : 0;
}

// A heading of another level that opens the body is its title when no other heading is as high:
// books number from their parts.
static bool only_heading(str text, size_t from, arena *a, str *title, size_t *behind)
{
    str rest = str_slice(text, from, text.len), line = STR_NONE;
    bool fenced = false;
    while (!str_trim(line).len)
        if (!str_line(&rest, &line))
            return false;
    size_t level = heading_level(line);
    if (level < 2 || str_has(line, STR("{lua}")))
        return false;
    *title = md_words(str_slice(line, level + 1, line.len), text, a);
    *behind = text.len - rest.len;
    while (str_line(&rest, &line)) {
        if (str_starts(line, STR("```")) || str_starts(line, STR("~~~")))
            fenced = !fenced;
        else if (!fenced && heading_level(line) && heading_level(line) <= level)
            return false;
    }
    return title->len > 0;
}

// Whether a heading is the title of front matter by its name: "# {{ page.title }}" of Jekyll, of
// Vue with "$frontmatter." or "$page." in front, "# {frontMatter.title}" of MDX.
static bool names_title(str heading)
{
    static const str names[] = {STR("page.title"),
                                STR("$page.title"),
                                STR("$frontmatter.title"),
                                STR("frontmatter.title"),
                                STR("$page.frontmatter.title"),
                                STR("frontMatter.title")};
    bool braces = false;
    for (; heading.len > 2 && heading.ptr[0] == '{' && str_ends(heading, STR("}")); braces = true)
        heading = str_slice(heading, 1, heading.len - 1);
    for (size_t i = 0; braces && i < sizeof names / sizeof *names; i++)
        if (str_eq(str_trim(heading), names[i]))
            return true;
    return false;
}

// flags: of the tree's kind.
static bool page_read(str text, str file, unsigned flags, arena *a, struct diag *d,
                      struct page_meta *out)
{
    bool own = flags & KIND_OWN_HEADING;
    unsigned how = FRONT_BY_LINES | (flags & KIND_FRONT_OPEN ? FRONT_OPEN : 0);
    size_t bad = utf8_invalid(text);
    str title;
    size_t behind;
    *out = (struct page_meta){.content_hash = str_hash(text)};
    if (bad < text.len) {
        bool nul = text.ptr[bad] == 0;
        diag_add(d, nul ? D_UTF8_NUL : D_UTF8_INVALID, DIAG_AT(file, text, bad), "byte %zu", bad);
        return false;
    }
    bool ok = front_parse_tree(text, file, a, d, &out->front, how);
    out->body = out->front.body;
    if (ok && first_heading(text, out->body, a, &title, &behind)) {
        if (out->front.title.len && names_title(title))
            title = out->front.title;
        if (!out->front.title.len || own)
            out->front.title = title;
        if (str_eq(out->front.title, title))
            out->body = behind;
    }
    if (ok && !out->front.title.len && only_heading(text, out->body, a, &title, &behind))
        out->front.title = title, out->body = behind;
    if (ok && !out->front.title.len)
        out->front.title = later_heading(text, out->body, a);
    return ok;
}

#define PACK_STR(name) pack_str(out, m->front.name);
#define PACK_BOOL(name) pack_int(out, m->front.name);
#define PACK_FLAG(name) pack_int(out, m->front.name);
#define PACK_INT(name) pack_int(out, m->front.name);
#define PACK_DATE(name) pack_int(out, m->front.name);
#define PACK_LIST(name) \
    pack_uint(out, m->front.name.count); \
    for (size_t i = 0; i < m->front.name.count; i++) \
        pack_str(out, m->front.name.items[i]);

static void page_meta_pack(const struct page_meta *m, buf *out)
{
    pack_u64(out, m->content_hash);
    pack_uint(out, m->body);
    pack_uint(out, m->includes);
    pack_str(out, m->written);
    pack_uint(out, m->front.body);
#define X(name, type, help) PACK_##type(name)
#include "gen/text/front.def"
#undef X
    pack_uint(out, m->front.pair_count);
    for (size_t i = 0; i < m->front.pair_count; i++) {
        pack_str(out, m->front.pairs[i].key);
        pack_str(out, m->front.pairs[i].value);
        pack_uint(out, m->front.pairs[i].offset);
    }
}

#define UNPACK_STR(name) m->front.name = unpack_str(&u);
#define UNPACK_BOOL(name) m->front.name = (int8_t)unpack_int(&u);
#define UNPACK_FLAG(name) m->front.name = (int8_t)unpack_int(&u);
#define UNPACK_INT(name) m->front.name = unpack_int(&u);
#define UNPACK_DATE(name) m->front.name = unpack_int(&u);
#define UNPACK_LIST(name) \
    m->front.name.count = unpack_count(&u); \
    if (m->front.name.count) \
        m->front.name.items = arena_new(a, str, m->front.name.count); \
    for (size_t i = 0; i < m->front.name.count; i++) \
        m->front.name.items[i] = unpack_str(&u);

bool page_meta_unpack(str packed, arena *a, struct page_meta *m)
{
    struct unpack u = unpack_from(packed);
    *m = (struct page_meta){.content_hash = unpack_u64(&u)};
    m->body = unpack_uint(&u);
    m->includes = unpack_uint(&u) != 0;
    m->written = unpack_str(&u);
    m->front.body = unpack_uint(&u);
#define X(name, type, help) UNPACK_##type(name)
#include "gen/text/front.def"
#undef X
    m->front.pair_count = unpack_count(&u);
    if (m->front.pair_count)
        m->front.pairs = arena_new(a, struct front_pair, m->front.pair_count);
    for (size_t i = 0; i < m->front.pair_count; i++) {
        m->front.pairs[i].key = unpack_str(&u);
        m->front.pairs[i].value = unpack_str(&u);
        m->front.pairs[i].offset = unpack_uint(&u);
    }
    return !u.bad && u.at == u.end;
}

bool page_meta_includes(str packed)
{
    struct unpack u = unpack_from(packed);
    unpack_u64(&u), unpack_uint(&u);  // content_hash, body
    return unpack_uint(&u) != 0;
}

bool page_meta_same(str a, str b)
{
    struct unpack x = unpack_from(a), y = unpack_from(b);
    unpack_u64(&x), unpack_u64(&y);  // content_hash
    if (unpack_uint(&x) == PAGE_BROKEN || unpack_uint(&y) == PAGE_BROKEN || x.bad || y.bad)
        return false;
    return str_eq((str){x.at, (size_t)(x.end - x.at)}, (str){y.at, (size_t)(y.end - y.at)});
}

struct reading {
    struct site *site;
    struct page **pages;  // those to read
    size_t count, per_job;
    // Texts go to the workers that render, which are forked later: to read 38,000 files of 0.5 kB
    // twice was a tenth of a build's processor time.
    bool keeps;
    bool failed;
};

// Messages name a page as its path from the current folder.
static str path_of(const struct site *site, const struct page *p, buf *b)
{
    buf_clear(b);
    if (!str_eq(site->settings.content_dir, STR("."))) {
        buf_str(b, site->settings.content_dir);
        buf_char(b, '/');
    }
    buf_str(b, p->source);
    return buf_view(b);
}

// Whether nothing but its letters may say which language a page is in.
static bool may_be_guessed(const struct site *site, const struct page *p)
{
    const struct settings *s = &site->settings;
    return !s->source_language.len && !s->language_count && !(p->root && p->root->language.len);
}

// "[A. Person](https://...) (Somewhere)" without its links, which layouts read as Markdown. Source:
// google/docsy, layouts/blog/content.html, ".Params.author ... markdownify".
static str without_links(str s, arena *a)
{
    if (!str_has(s, STR("](")))
        return s;
    buf b = BUF_INIT;
    while (s.len) {
        size_t open = str_find(s, '['),
               close = open + str_search(str_slice(s, open, s.len), STR("](")),
               end = close + str_find(str_slice(s, close, s.len), ')');
        bool link = end < s.len;
        buf_str(&b, str_slice(s, 0, open));
        buf_str(&b, link ? str_slice(s, open + 1, close) : str_slice(s, open, s.len));
        s = str_slice(s, link ? end + 1 : s.len, s.len);
    }
    str out = arena_str(a, buf_view(&b));
    buf_free(&b);
    return out;
}

// Jekyll's layouts put a description among the page's HTML as it is, and a title.
static str without_entities(str s, arena *a)
{
    buf b = BUF_INIT;
    if (str_find(s, '&') == s.len)
        return s;
    html_unescape(s, &b);
    str out = arena_str(a, buf_view(&b));
    buf_free(&b);
    return out;
}

// The text to keep: its file's, where nothing is included.
static str read_one(struct reading *r, const struct page *p, buf *text, buf *path, arena *a,
                    struct diag *d, buf *out)
{
    struct page_meta m = {0};
    bool ok = false;
    str file = path_of(r->site, p, path);
    struct included page;
    if (include_page(r->site, p->source, text, a, NULL, &page) < 0) {
        if (errno == EFBIG)
            diag_add(d, D_FILE_TOO_LARGE, DIAG_FILE(file), "more than %zu bytes",
                     r->site->settings.max_page_bytes);
        else
            diag_add(d, D_IO_READ, DIAG_FILE(file), "%s", strerror(errno));
    } else {
        bool others = site_is_others(r->site);
        bool left_out =
            publish_path(r->site, p) == LEFT_UNDERSCORE;  // its generator does not read it either
        struct diag *own = left_out ? diag_new((struct diag_options){.quiet = true}) : d;
        ok = page_read(page.text, file, r->site->tree->kind->flags, a, own, &m) ||
             (others && m.front.body);
        m.includes = page.may;
        if (ok && may_be_guessed(r->site, p))
            m.written = written_in(str_slice(page.text, m.front.body, page.text.len));
        const str *words = map_get(&r->site->tree->texts, m.front.title);
        if (words)
            m.front.title = *words;
        if (others)
            m.front.author = without_links(m.front.author, a);
        if (r->site->tree->kind->flags & KIND_POSTS)
            m.front.description = without_entities(m.front.description, a);
        if (r->site->tree->wiki)
            m.front.author = wiki_plain(m.front.author, a);
        if (r->site->tree->emoji)
            m.front.title = emoji_text(m.front.title, a);
        if (left_out)
            diag_free(own);
    }
    if (!ok)
        m.body = PAGE_BROKEN;
    page_meta_pack(&m, out);
    return ok && r->keeps && !page.may ? page.text : STR_NONE;
}

static void job(void *ctx, size_t index, buf *out)
{
    struct reading *r = ctx;
    arena a = ARENA_INIT;
    buf text = BUF_INIT, path = BUF_INIT, one = BUF_INIT, said = BUF_INIT;
    struct diag *d = diag_new((struct diag_options){0});
    size_t end = (index + 1) * r->per_job;
    for (size_t i = index * r->per_job; i < end && i < r->count; i++) {
        buf_clear(&one);
        str kept = read_one(r, r->pages[i], &text, &path, &a, d, &one);
        pack_str(out, buf_view(&one));
        pack_str(out, kept);
        arena_reset(&a);
    }
    if (diag_count(d, DIAG_NOTE))
        diag_pack(d, &said);
    pack_str(out, buf_view(&said));
    diag_free(d);
    buf_free(&text), buf_free(&path), buf_free(&one), buf_free(&said);
    arena_free(&a);
}

static void result(void *ctx, size_t index, enum workers_fate fate, int signal, str bytes)
{
    struct reading *r = ctx;
    buf path = BUF_INIT;
    struct unpack u = unpack_from(arena_str(&r->site->arena, bytes));
    size_t end = (index + 1) * r->per_job;
    if (fate != WORKERS_DONE) {
        diag_add(r->site->diag, D_PAGE_CRASH,
                 DIAG_FILE(path_of(r->site, r->pages[index * r->per_job], &path)),
                 "while files were read, signal %d", signal);
        r->failed = true;
    }
    for (size_t i = index * r->per_job; fate == WORKERS_DONE && i < end && i < r->count; i++) {
        r->pages[i]->meta = unpack_str(&u);
        r->pages[i]->text = unpack_str(&u);
    }
    str said = fate == WORKERS_DONE ? unpack_str(&u) : STR_NONE;
    if (said.len)
        diag_unpack(r->site->diag, said);
    buf_free(&path);
}

bool pages_read(struct site *site, unsigned jobs)
{
    struct reading r = {.site = site, .per_job = 64};
    size_t before = diag_count(site->diag, DIAG_ERROR), bytes = 0;
    r.pages = arena_new(&site->arena, struct page *, site->page_count);
    for (size_t i = 0; i < site->page_count; i++) {
        struct page *p = site->pages[i];
        if (p->unchanged)
            continue;
        r.pages[r.count++] = p;
        bytes += p->stat.size;
    }
    r.keeps = bytes <= KEPT;
    size_t job_count = (r.count + r.per_job - 1) / r.per_job;
    struct workers_plan plan = {.job_count = job_count,
                                .workers = jobs,
                                .job_timeout_ms = 60000,
                                .job = job,
                                .result = result,
                                .ctx = &r};
    if (r.count > FEW) {
        if (workers_run(&plan) < 0) {
            diag_add(site->diag, D_IO_READ, DIAG_FILE(site->settings.content_dir), "no worker: %s",
                     strerror(errno));
            return false;
        }
    } else {
        buf out = BUF_INIT;
        for (size_t i = 0; i < job_count; i++) {
            buf_clear(&out);
            job(&r, i, &out);
            result(&r, i, WORKERS_DONE, 0, buf_view(&out));
        }
        buf_free(&out);
    }
    return !r.failed && diag_count(site->diag, DIAG_ERROR) == before;
}
