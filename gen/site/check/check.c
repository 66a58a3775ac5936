// The check of a finished site: files in parallel, then links, anchors, orphans and budgets over
// all of them.
#include "gen/site/check/check.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "gen/base/fs.h"
#include "gen/base/map.h"
#include "gen/base/workers.h"
#include "gen/site/check/check_page.h"
#include "gen/text/address.h"
#include "gen/base/packed_values.h"
#include "gen/base/path.h"
#include "gen/text/stylesheet.h"

// Budgets are looked at here and not while a site is built: to compress a page takes 120 us (of 8
// kB) to 300 us (of 15 kB), and everything else that a build does for it 40 to 150 us. An article:
// 3 kB for what does not grow with its text (menu, tree of contents, foot), and 12 kB of HTML per
// 10 kB of Markdown.
enum {
    HTML_FIXED = 3000,
    HTML_PER_MARKDOWN = 12000,
    MARKDOWN_UNIT = 10000,
    CSS_BYTES = 8000,
    SCRIPT_BYTES = 3000,
    REQUESTS = 4,
    FILES_A_JOB = 32,
    JOB_MS = 60000
};

struct checked {
    str url;
    struct check_page page;
    struct map ids;  // of page.ids, from the first link to one of them on
    size_t markdown_size;
    uint32_t links_here;
    bool is_page;
};

struct checking {
    str output;
    struct fs_list files;
    struct checked *all;         // [files.count]
    size_t *pages, page_count;   // places of HTML files in all
    size_t *again, again_count;  // of pages, those of jobs that did not end
    bool alone;                  // while they are checked, one a job
    struct map by_url;           // url -> struct checked *
    struct map fallbacks;        // urls of pages that are shown in another language
    struct map statics;          // urls of files that keep their names
    str base_path;               // of the site on its server, "docs/"; "" for none
    arena arena;
    struct diag *d;
    struct check_summary *out;
};

static str path_of(struct checking *c, str url, arena *a)
{
    return arena_printf(a, "%.*s/%.*s", STR_ARG(c->output), STR_ARG(url));
}

static void check_one(struct checking *c, size_t place, arena *a, struct diag *d, buf *out)
{
    str url = c->all[place].url, path = path_of(c, url, a);
    buf html = BUF_INIT, packed = BUF_INIT;
    struct check_page p = {0};
    if (fs_read(path.ptr, 0, &html) < 0)
        diag_add(d, D_IO_READ, DIAG_FILE(path), "%s", strerror(errno));
    else
        check_page(buf_view(&html), url, path, a, d, &p);
    check_page_pack(&p, &packed);
    pack_str(out, buf_view(&packed));
    buf_free(&html), buf_free(&packed);
}

// The pages of a job: how many of c->pages, from place *from on.
static size_t job_pages(const struct checking *c, size_t index, size_t *from)
{
    *from = c->alone ? c->again[index] : index * FILES_A_JOB;
    size_t left = c->page_count - *from, most = c->alone ? 1 : FILES_A_JOB;
    return left < most ? left : most;
}

static void job(void *ctx, size_t index, buf *out)
{
    struct checking *c = ctx;
    arena a = ARENA_INIT;
    buf said = BUF_INIT;
    struct diag *d = diag_new((struct diag_options){0});
    size_t from, count = job_pages(c, index, &from);
    for (size_t i = 0; i < count; i++) {
        check_one(c, c->pages[from + i], &a, d, out);
        arena_reset(&a);
    }
    diag_pack(d, &said);
    pack_str(out, buf_view(&said));
    diag_free(d);
    buf_free(&said);
    arena_free(&a);
}

static void result(void *ctx, size_t index, enum workers_fate fate, int signal, str bytes)
{
    struct checking *c = ctx;
    struct unpack u = unpack_from(arena_str(&c->arena, bytes));
    size_t from, count = job_pages(c, index, &from);
    if (fate != WORKERS_DONE &&
        !c->alone) {  // which of its pages it was shows when each is checked alone
        for (size_t i = 0; i < count; i++)
            c->again[c->again_count++] = from + i;
    } else if (fate != WORKERS_DONE) {
        struct diag_pos at = DIAG_FILE(path_of(c, c->all[c->pages[from]].url, &c->arena));
        if (fate == WORKERS_TIMED_OUT)
            diag_add(c->d, D_PAGE_TIMEOUT, at, "%u ms, while it was checked", JOB_MS);
        else if (signal)
            diag_add(c->d, D_PAGE_CRASH, at, "signal %d, while it was checked", signal);
        else
            diag_add(c->d, D_PAGE_CRASH, at, "memory ran out, while it was checked");
    } else {
        for (size_t i = 0; i < count; i++)
            check_page_unpack(unpack_str(&u), &c->arena, &c->all[c->pages[from + i]].page);
        str said = unpack_str(&u);
        if (said.len)
            diag_unpack(c->d, said);
    }
}

static bool check_pages(struct checking *c, unsigned jobs)
{
    struct workers_plan plan = {.job_count = (c->page_count + FILES_A_JOB - 1) / FILES_A_JOB,
                                .workers = jobs,
                                .job_timeout_ms = JOB_MS,
                                .job = job,
                                .result = result,
                                .ctx = c};
    if (plan.job_count && workers_run(&plan) < 0)
        return false;
    c->alone = true;
    plan.job_count = c->again_count;
    return !plan.job_count || workers_run(&plan) == 0;
}

static void list_files(struct checking *c)
{
    c->all = arena_new(&c->arena, struct checked, c->files.count);
    c->pages = arena_new(&c->arena, size_t, c->files.count);
    c->again = arena_new(&c->arena, size_t, c->files.count);
    for (size_t i = 0; i < c->files.count; i++) {
        struct checked *x = &c->all[i];
        x->url = c->files.items[i].path;
        x->is_page = str_ends(x->url, STR(".html"));
        if (x->is_page)
            c->pages[c->page_count++] = i;
        *map_put(&c->by_url, &c->arena, x->url, NULL) = x;
    }
    for (size_t i = 0; i < c->page_count; i++) {
        struct checked *x = &c->all[c->pages[i]];
        str markdown = arena_printf(&c->arena, "%.*s.md", (int)x->url.len - 5, x->url.ptr);
        const struct checked *t = map_get(&c->by_url, markdown);
        if (t)
            x->markdown_size = (size_t)c->files.items[t - c->all].stat.size;
    }
}

// The manifest names pages that show another language than their address says, files that keep
// their names, and the path that the site will have.
static void read_manifest(struct checking *c)
{
    str path = path_of(c, STR("vramdoc.json"), &c->arena);
    buf text = BUF_INIT;
    json_t *root =
        fs_read(path.ptr, 0, &text) == 0 ? json_loadb(text.ptr, text.len, 0, NULL) : NULL;
    const char *key;
    json_t *value;
    const char *base = json_string_value(json_object_get(root, "base_path"));
    c->base_path = arena_str(&c->arena, base && *base ? str_c(base + 1) : STR_NONE);
    json_object_foreach(json_object_get(root, "outputs"), key, value)
    {
        if (json_object_get(value, "shows"))
            map_put(&c->fallbacks, &c->arena, str_c(key), NULL);
        if (json_object_get(value, "static"))
            map_put(&c->statics, &c->arena, str_c(key), NULL);
    }
    json_decref(root);
    buf_free(&text);
}

static bool has_id(struct checking *c, struct checked *to, str id)
{
    if (!to->ids.count)
        for (size_t i = 0; i < to->page.id_count; i++)
            map_put_kept(&to->ids, &c->arena, to->page.ids[i], NULL);
    return map_has(&to->ids, id) || str_eq_nocase(id, STR("top"));
}

static void check_link(struct checking *c, const struct checked *from, const struct check_link *l)
{
    struct diag_pos at = {.file = path_of(c, from->url, &c->arena), .line = l->line, .col = l->col};
    struct checked *to = map_get(&c->by_url, l->target);
    if (!to && c->base_path.len &&
        str_starts(l->target, c->base_path))  // written from the server's root
        to = map_get(&c->by_url, str_slice(l->target, c->base_path.len, l->target.len));
    c->out->links++;
    if (!to) {
        str index = arena_printf(&c->arena, "%.*s/index.html", STR_ARG(l->target));
        to = map_get(&c->by_url, index);
    }
    if (!to) {
        diag_add(c->d, D_LINK_BROKEN, at, "%.*s", STR_ARG(l->target));
        return;
    }
    if (to != from)
        to->links_here++;
    // With "=" it is a state that a script of the page reads, as the calculator does, and no place.
    bool place = l->anchor.len && str_find(l->anchor, '=') == l->anchor.len;
    if (place && to->is_page && !has_id(c, to, l->anchor))
        diag_add(c->d, D_LINK_ANCHOR, at, "%.*s#%.*s", STR_ARG(l->target), STR_ARG(l->anchor));
    bool other = to->is_page && to->page.lang.len && !str_eq(to->page.lang, from->page.lang);
    if (!l->language && !from->page.is_redirect && (other || map_has(&c->fallbacks, to->url)) &&
        !map_has(&c->fallbacks, from->url))
        diag_add(c->d, D_LINK_UNTRANSLATED, at, "%.*s", STR_ARG(to->url));
}

// What a stylesheet refers to counts as linked.
static void follow_stylesheet(struct checking *c, str url)
{
    buf css = BUF_INIT, path = BUF_INIT, found = BUF_INIT;
    size_t at = 0, from, to;
    fs_read(path_of(c, url, &c->arena).ptr, 0, &css);
    while (stylesheet_next(buf_view(&css), &at, &from, &to)) {
        buf_clear(&path), buf_clear(&found);
        buf_str(&path, path_folder_slash(url));
        buf_str(&path, address_decode(str_slice(buf_view(&css), from, to), &c->arena));
        path.len = str_find(buf_view(&path), '?');
        struct checked *x =
            fs_normalize(buf_view(&path), &found) ? map_get(&c->by_url, buf_view(&found)) : NULL;
        if (x)
            x->links_here++;
    }
    buf_free(&css), buf_free(&path), buf_free(&found);
}

// Files that programs ask for by name, or that stand in for others, need no link.
static bool needs_link(const struct checked *x)
{
    static const char *const known[] = {"robots.txt", "_headers",  "vramdoc.json", "llms.txt",
                                        "404.html",   "search.js", "index.html",   "status.html"};
    str name = path_name(x->url);
    if (x->is_page && x->page.is_redirect)
        return false;
    if (str_starts(name, STR("sitemap")) || str_starts(x->url, STR("assets/preview.")))
        return false;
    // What scripts load when they are asked to.
    if (str_ends(name, STR(".js")) || str_ends(name, STR(".css")) || str_ends(name, STR(".wasm")))
        return false;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (str_eq(name, str_c(known[i])))
            return false;
    return true;
}

static void over(struct checking *c, str url, const char *what, size_t is, size_t budget)
{
    diag_add(c->d, D_BUDGET_EXCEEDED, DIAG_FILE(path_of(c, url, &c->arena)),
             "%s: %zu, the budget is %zu", what, is, budget);
}

static size_t loaded_size(struct checking *c, str list)
{
    size_t sum = 0;
    str url;
    while (str_line(&list, &url)) {
        buf bytes = BUF_INIT;
        if (fs_read(path_of(c, url, &c->arena).ptr, 0, &bytes) == 0)
            sum += check_gzip_size(buf_view(&bytes));
        buf_free(&bytes);
    }
    return sum;
}

// Most pages load the same files: each list is measured once.
static size_t measured(struct checking *c, struct map *known, str list)
{
    bool is_new;
    void **slot = map_put(known, &c->arena, list, &is_new);
    if (is_new) {
        size_t *size = arena_new(&c->arena, size_t, 1);
        *size = loaded_size(c, list);
        *slot = size;
    }
    return *(size_t *)*slot;
}

static void check_budgets(struct checking *c)
{
    struct map css = {0}, script = {0};
    for (size_t i = 0; i < c->page_count; i++) {
        const struct checked *x = &c->all[c->pages[i]];
        size_t units = x->markdown_size > MARKDOWN_UNIT ? x->markdown_size : MARKDOWN_UNIT;
        size_t budget = HTML_FIXED + (size_t)((uint64_t)units * HTML_PER_MARKDOWN / MARKDOWN_UNIT);
        size_t styles = measured(c, &css, x->page.css),
               scripts = measured(c, &script, x->page.script);
        if (x->markdown_size && x->page.size > budget)
            over(c, x->url, "HTML, gzip bytes", x->page.size, budget);
        if (styles > CSS_BYTES)
            over(c, x->url, "stylesheets, gzip bytes", styles, CSS_BYTES);
        if (scripts > SCRIPT_BYTES)
            over(c, x->url, "deferred scripts, gzip bytes", scripts, SCRIPT_BYTES);
        if (x->page.requests > REQUESTS)
            over(c, x->url, "requests", x->page.requests, REQUESTS);
        if (x->page.size > c->out->largest_page)
            c->out->largest_page = x->page.size;
        if (styles > c->out->css)
            c->out->css = styles;
        if (scripts > c->out->script)
            c->out->script = scripts;
    }
}

static bool run(struct checking *c, unsigned jobs)
{
    if (fs_walk(c->output.ptr, NULL, &c->arena, &c->files, NULL) < 0) {
        for (size_t i = 0; i < c->files.bad_count; i++) {
            const struct fs_bad *b = &c->files.bad[i];
            str file = b->path.len ? path_of(c, b->path, &c->arena) : c->output;
            diag_add(c->d, D_IO_READ, DIAG_FILE(file), "%s", strerror(b->error));
        }
        return false;
    }
    list_files(c);
    read_manifest(c);
    if (!check_pages(c, jobs)) {
        diag_add(c->d, D_IO_READ, DIAG_FILE(c->output), "no worker: %s", strerror(errno));
        return false;
    }
    for (size_t i = 0; i < c->page_count; i++) {
        const struct checked *x = &c->all[c->pages[i]];
        for (size_t k = 0; k < x->page.link_count; k++)
            check_link(c, x, &x->page.links[k]);
    }
    for (size_t i = 0; i < c->files.count; i++)
        if (str_ends(c->all[i].url, STR(".css")))
            follow_stylesheet(c, c->all[i].url);
    for (size_t i = 0; i < c->files.count; i++)
        if (!c->all[i].links_here && !map_has(&c->statics, c->all[i].url) && needs_link(&c->all[i]))
            diag_add(c->d, D_FILE_ORPHAN, DIAG_FILE(path_of(c, c->all[i].url, &c->arena)),
                     DIAG_PLAIN);
    check_budgets(c);
    c->out->files = c->files.count;
    c->out->pages = c->page_count;
    return diag_count(c->d, DIAG_ERROR) == 0;
}

bool check_site(str output, unsigned jobs, struct diag *d, struct check_summary *out)
{
    struct checking c = {.d = d, .out = out, .arena = ARENA_INIT};
    *out = (struct check_summary){0};
    c.output = arena_str(&c.arena, output);
    bool ok = run(&c, jobs);
    arena_free(&c.arena);
    return ok;
}
