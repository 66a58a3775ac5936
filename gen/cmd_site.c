// Opening a site for commands that only look at it, drafts included: a draft has figures and
// translations like any page.
#include "gen/cmd_site.h"

#include <errno.h>
#include <string.h>

#include "gen/cmd.h"
#include "gen/site/output/build.h"
#include "gen/site/documents/load.h"
#include "gen/site/source/scan.h"
#include "gen/site/source/settings.h"

static str path_of(const char *s)
{
    return s ? str_c(s) : STR_NONE;
}

struct diag *site_options_diag(const struct site_options *o)
{
    return diag_new(
        (struct diag_options){.strict = o->strict != NULL,
                              .strict_measured = o->strict && !strcmp(o->strict, "measured"),
                              .json = o->json,
                              .color = diag_may_color()});
}

bool site_options_open(const struct site_options *o, bool as_written, struct site *site,
                       struct diag *d)
{
    *site = (struct site){.arena = ARENA_INIT, .diag = d};
    struct settings_paths paths = {
        .file = path_of(o->settings), .content = path_of(o->source), .i18n = path_of(o->i18n)};
    struct load_options load = {.drafts = true, .as_written = as_written};
    md_init();
    return settings_load(&site->settings, &paths, build_program_dir(&site->arena), &site->arena,
                         d) &&
           site_open(site, &load);
}

struct document *site_document(const struct site *site, str name)
{
    str root = site->settings.content_dir;
    while (name.len && name.ptr[name.len - 1] == '/')
        name.len--;
    if (str_starts(name, root) && name.len > root.len && name.ptr[root.len] == '/')
        name = str_slice(name, root.len + 1, name.len);
    if (str_eq(name, STR("index")))
        name = STR("");  // the start page's key
    for (size_t i = 0; i < site->document_count; i++)
        if (str_eq(site->documents[i]->key, name))
            return site->documents[i];
    return NULL;
}

str site_document_name(const struct document *doc)
{
    return doc->key.len ? doc->key : STR("index");
}

bool site_scan_page(struct site *site, const struct page *p, struct scanned *out)
{
    arena *a = &site->arena;
    buf bytes = BUF_INIT;
    struct diag *quiet = diag_new((struct diag_options){.quiet = true});
    struct md_options o = site_markdown(site, p);
    o.keep_text = true;
    *out = (struct scanned){.file = site_path(site, p->source, a)};
    bool ok = fs_read(out->file.ptr, site->settings.max_page_bytes, &bytes) == 0;
    if (ok) {
        include_text(site, p->source, arena_str(a, buf_view(&bytes)), a, NULL, &out->page);
        out->text = out->page.text;
        md_scan(out->text, p->body < out->text.len ? p->body : out->text.len, out->file, &o, a,
                quiet, &out->md);
    } else {
        diag_add(site->diag, D_IO_READ, DIAG_FILE(out->file), "%s", strerror(errno));
    }
    diag_free(quiet);
    buf_free(&bytes);
    return ok;
}

static struct diag_pos place_of(const struct scanned *s, size_t offset)
{
    return s->page.count ? diag_origin(s->page.pieces, s->page.count, offset)
                         : DIAG_AT(s->file, s->text, offset);
}

unsigned scanned_line(const struct scanned *s, size_t offset, str *file)
{
    struct diag_pos at = place_of(s, offset);
    uint32_t line, column;
    diag_line_col(at.text, at.offset, &line, &column);
    *file = at.file;
    return line;
}

bool scanned_own(const struct scanned *s, size_t from, size_t to, size_t *at)
{
    size_t n = to - from;
    str file = s->page.count ? s->page.file : s->file;
    struct diag_pos place = place_of(s, from);
    if (n == 0 && from == s->text.len)  // behind all that is read is behind all of the file
        return *at = s->page.own.len, true;
    if (n == 0 && !str_eq(place.file, file) && from)  // in front of what a mark puts in
        place = place_of(s, from - 1), place.offset++;
    *at = place.offset;
    // Text that stands for other text, and what goes on in another file, is not the same there.
    return str_eq(place.file, file) && place.offset + n <= s->page.own.len &&
           str_eq(str_slice(s->page.own, place.offset, place.offset + n),
                  str_slice(s->text, from, to));
}

int site_write_file(struct site *site, str path, str bytes)
{
    int rc = fs_write(path.ptr, bytes);
    if (rc < 0)
        diag_add(site->diag, D_IO_WRITE, DIAG_FILE(path), "%s", strerror(errno));
    return rc;
}
