// A translation with what a PO file says of its blocks: each text put where the block is, then
// checked by reading the whole again. What was not changed keeps its bytes.
#include <stdlib.h>
#include <string.h>

#include "gen/i18n_import.h"
#include "gen/base/escape.h"
#include "gen/site/source/scan.h"
#include "gen/text/front.h"

static void refuse(struct po_work *w, const struct po_entry *e, const char *why)
{
    diag_add(w->site->diag, D_PO_BLOCK, DIAG_AT(w->doc->po_file, w->doc->po_text, e->text_offset),
             "%.*s: %s", STR_ARG(e->context), why);
}

// NULL where the bytes are not in the translation's own file.
static struct po_text_edit *add_edit(struct po_work *w, size_t start, size_t end,
                                     const struct po_entry *e, size_t block)
{
    size_t at;
    if (!scanned_own(&w->doc->t->own, start, end, &at))
        return NULL;
    w->edits = arena_grow(w->a, w->edits, w->count, &w->cap, w->count + 1, sizeof *w->edits);
    w->edits[w->count] = (struct po_text_edit){
        .start = start, .end = end, .at = at, .order = w->count, .entry = e, .block = block};
    return &w->edits[w->count++];
}

static size_t line_start(str text, size_t at)
{
    while (at && text.ptr[at - 1] != '\n')
        at--;
    return at;
}

// What a line below begins with so that it belongs to the same list item or quote.
static void put_prefix(str text, size_t at, buf *out)
{
    for (size_t i = line_start(text, at); i < at; i++)
        if ((text.ptr[i] & 0xC0) != 0x80)
            buf_char(out, text.ptr[i] == '>' || text.ptr[i] == '\t' ? text.ptr[i] : ' ');
}

// Running text in one line, but for hard breaks.
static void put_prose(str s, str own, size_t at, buf *out)
{
    for (str line; str_line(&s, &line);) {
        bool hard = s.len && (str_ends(line, STR("\\")) || str_ends(line, STR("  ")));
        if (!str_trim(line).len)
            continue;
        buf_str(out, hard ? line : str_trim(line));
        if (hard) {
            buf_char(out, '\n');
            put_prefix(own, at, out);
        } else if (str_trim(s).len) {
            buf_char(out, ' ');
        }
    }
}

static void put_code(str s, str own, size_t at, buf *out)
{
    bool first = true;
    for (str line; str_line(&s, &line); first = false) {
        if (!first)
            buf_char(out, '\n');
        if (line.len)
            put_prefix(own, at, out);
        buf_str(out, line);
    }
}

// The text of an entry as lines of the file; own and block say where they will stand.
static str lines_of(struct po_work *w, const struct po_entry *e, str own,
                    const struct md_block *block)
{
    buf out = BUF_INIT;
    bool code = !md_block_is_prose(block->kind) && line_start(own, block->start) == block->start;
    if (code) {
        put_code(e->text, own, block->offset, &out);
    } else if (block->kind == 'r') {
        buf_lit(&out, "| ");
        buf_str(&out, str_trim(e->text));
    } else {
        put_prose(e->text, own, block->start, &out);
    }
    str s = arena_str(w->a, buf_view(&out));
    buf_free(&out);
    return s;
}

// The file of an included block may be another page's, too.
static void refuse_included(struct po_work *w, size_t i, const struct po_entry *e, size_t offset)
{
    str file;
    scanned_line(&w->doc->t->own, offset, &file);
    refuse(w, e,
           arena_printf(w->a, "the page includes it from %.*s; translate it there", STR_ARG(file))
               .ptr);
    w->refused[i] = true;
}

static void replace_block(struct po_work *w, size_t i, const struct po_entry *e)
{
    const struct scanned *own = &w->doc->t->own;
    const struct md_block *b = &own->md.blocks[w->partner[i]];
    if (str_eq(b->text, e->text))
        return;
    if (b->end <= b->start) {
        refuse(w, e, "its place in the translation is not known; change it there");
        w->refused[i] = true;
        return;
    }
    struct po_text_edit *edit = add_edit(w, b->start, b->end, e, i);
    if (!edit) {
        refuse_included(w, i, e, b->start);
        return;
    }
    w->changed[i] = true;
    edit->text = lines_of(w, e, own->text, b);
}

// The block of the translation that is behind a source's block that has none: the partner of
// the next that has one.
static size_t place_of(const struct po_work *w, size_t i)
{
    for (size_t next = i + 1; next < w->doc->t->source.md.block_count; next++)
        if (w->partner[next] != SIZE_MAX)
            return w->doc->t->own.md.blocks[w->partner[next]].offset;
    return w->doc->t->own.text.len;
}

// The lines of a block in the source, with another text in its place.
static str whole_block(struct po_work *w, size_t i, const struct po_entry *e)
{
    const struct scanned *source = &w->doc->t->source;
    const struct md_block *b = &source->md.blocks[i];
    str text = source->text, lines = lines_of(w, e, text, b);
    size_t from = line_start(text, b->offset), to = b->end;
    bool fenced = !md_block_is_prose(b->kind) && line_start(text, b->start) == b->start &&
                  b->start > b->offset;
    while (to < text.len && text.ptr[to] != '\n')
        to++;
    str tail = str_slice(text, b->end, to), rest = str_slice(text, to + 1, text.len), line;
    if (fenced && str_line(&rest, &line))
        tail = arena_printf(w->a, "%.*s\n%.*s", STR_ARG(tail), STR_ARG(line));
    str whole = arena_join(w->a, str_slice(text, from, b->start), lines, tail);
    return arena_join(w->a, whole, b->kind == 'r' || b->kind == 'i' ? STR("\n") : STR("\n\n"),
                      STR_NONE);
}

static void insert_block(struct po_work *w, size_t i, const struct po_entry *e)
{
    const struct scanned *own = &w->doc->t->own;
    const struct md_block *b = &w->doc->t->source.md.blocks[i];
    str file = own->page.own;
    size_t place = place_of(w, i),
           at = place < own->text.len ? line_start(own->text, place) : place;
    if (b->end <= b->start)
        return;
    struct po_text_edit *edit = add_edit(w, at, at, e, i);
    bool last = edit && edit->at == file.len;
    if (!edit || (!last && line_start(file, edit->at) != edit->at)) {
        refuse_included(w, i, e, at);
        w->count -= edit != NULL;
        return;
    }
    edit->text = whole_block(w, i, e);
    edit->inserted = true;
    if (last && file.len)
        edit->text = arena_join(w->a, file.ptr[file.len - 1] == '\n' ? STR("\n") : STR("\n\n"),
                                str_trim(edit->text), STR("\n"));
}

static void collect(struct po_work *w)
{
    const struct po_document *doc = w->doc;
    w->count = 0;
    for (size_t i = 0; i < doc->t->source.md.block_count; i++) {
        const struct po_entry *e = doc->of[i];
        if (!e || !e->text.len || w->refused[i])
            continue;
        if (w->partner[i] != SIZE_MAX)
            replace_block(w, i, e);
        else
            insert_block(w, i, e);
    }
}

// Quoted as JSON is, which YAML and TOML read alike.
static str quoted(struct po_work *w, str value)
{
    buf out = BUF_INIT;
    buf_char(&out, '"');
    escape_json(&out, value);
    buf_char(&out, '"');
    str s = arena_str(w->a, buf_view(&out));
    buf_free(&out);
    return s;
}

// The value of the pair becomes another, when it is in one line behind its key, which has no
// quotes.
static bool edit_pair(struct po_work *w, const struct po_entry *e, const struct front_pair *pair,
                      str value)
{
    str own = w->doc->t->own.text;
    size_t at = pair->offset + pair->key.len,
           end = at + str_find(str_slice(own, at, own.len), '\n');
    if (!str_starts(str_slice(own, pair->offset, own.len), pair->key))
        return false;
    while (at < end && strchr(" :=", own.ptr[at]))
        at++;
    bool more = end + 1 < own.len && strchr(" \t", own.ptr[end + 1]);
    if (at == end || more || strchr("|>[{", own.ptr[at]))
        return false;
    struct po_text_edit *edit = add_edit(w, at, end, e, SIZE_MAX);
    if (edit)
        edit->text = quoted(w, value);
    return edit != NULL;
}

static const struct front_pair *pair_of(const struct front *front, const char *name)
{
    for (size_t i = 0; i < front->pair_count; i++)
        if (str_eq(front->pairs[i].key, str_c(name)))
            return &front->pairs[i];
    return NULL;
}

// A title that the front matter does not have is the first heading.
static bool edit_heading(struct po_work *w, const struct po_entry *e, size_t body)
{
    str own = w->doc->t->own.text;
    while (body < own.len && own.ptr[body] == '\n')
        body++;
    str rest = str_slice(own, body, own.len);
    if (!str_starts(rest, STR("# ")))
        return false;
    struct po_text_edit *edit = add_edit(w, body + 2, body + str_find(rest, '\n'), e, SIZE_MAX);
    if (edit)
        edit->text = e->text;
    return edit != NULL;
}

static bool edit_field(struct po_work *w, const struct front *front, const struct po_entry *e,
                       const char *name, str now)
{
    if (!e || !e->text.len || str_eq(e->text, now))
        return true;
    const struct front_pair *pair = pair_of(front, name);
    if (pair)
        return edit_pair(w, e, pair, e->text);
    if (!strcmp(name, "title") && edit_heading(w, e, front->body))
        return true;
    if (!front->pair_count)
        return false;
    bool toml = str_starts(w->doc->t->own.text, STR("+++"));
    size_t at = front->pairs[0].offset;
    struct po_text_edit *edit = add_edit(w, at, at, e, SIZE_MAX);
    if (edit)
        edit->text = arena_printf(w->a, "%s%s%.*s\n", name, toml ? " = " : ": ",
                                  STR_ARG(quoted(w, e->text)));
    return edit != NULL;
}

static void edit_front(struct po_work *w)
{
    const struct po_document *doc = w->doc;
    struct diag *quiet = diag_new((struct diag_options){.quiet = true});
    struct front front;
    bool read = front_parse(doc->t->own.text, doc->t->own.file, w->a, quiet, &front);
    const struct front_pair *lang = read && doc->is_new ? pair_of(&front, "lang") : NULL;
    diag_free(quiet);
    if (doc->title && !(read && edit_field(w, &front, doc->title, "title", doc->t->page->title)))
        refuse(w, doc->title, "the front matter has no place for it");
    if (doc->description && !(read && edit_field(w, &front, doc->description, "description",
                                                 doc->t->page->description)))
        refuse(w, doc->description, "the front matter has no place for it");
    if (lang)
        edit_pair(w, NULL, lang, doc->t->page->language->tag);
}

static int by_place(const void *x, const void *y)
{
    const struct po_text_edit *a = x, *b = y;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static str edited(struct po_work *w)
{
    str own = w->doc->t->own.page.own;
    buf out = BUF_INIT;
    size_t at = 0;
    if (w->count)
        qsort(w->edits, w->count, sizeof *w->edits, by_place);
    for (size_t i = 0; i < w->count; i++) {
        const struct po_text_edit *e = &w->edits[i];
        if (e->at < at)
            continue;
        buf_str(&out, str_slice(own, at, e->at));
        buf_str(&out, e->text);
        at = e->at + (e->end - e->start);
    }
    buf_str(&out, str_slice(own, at, own.len));
    str text = arena_str(w->a, buf_view(&out));
    buf_free(&out);
    return text;
}

// Reads the new text. Its Markdown begins as far behind the old place as the front matter has
// grown.
static void scan(struct po_work *w, str own, struct md_result *out)
{
    struct included page;
    include_text(w->site, w->doc->t->page->source, own, w->a, NULL, &page);
    struct diag *quiet = diag_new((struct diag_options){.quiet = true});
    struct md_options o = site_markdown(w->site, w->doc->t->page);
    size_t body = w->doc->t->page->body;
    o.keep_text = true;
    if (o.title.len && w->doc->title && w->doc->title->text.len)
        o.title = w->doc->title->text;
    for (size_t i = 0; i < w->count; i++)
        if (w->edits[i].block == SIZE_MAX)
            body += w->edits[i].text.len - (w->edits[i].end - w->edits[i].start);
    md_scan(page.text, body < page.text.len ? body : page.text.len, w->doc->t->own.file, &o, w->a,
            quiet, out);
    diag_free(quiet);
}

// Blocks that are put in before own block o.
static size_t inserted_before(struct po_work *w, size_t o, struct po_origin *out)
{
    const struct md_result *own = &w->doc->t->own.md, *source = &w->doc->t->source.md;
    size_t place = o < own->block_count ? own->blocks[o].offset : SIZE_MAX, n = 0;
    for (size_t k = 0; k < w->count; k++) {
        const struct po_text_edit *e = &w->edits[k];
        if (e->inserted && (o == 0 || e->start > own->blocks[o - 1].offset) && e->start <= place)
            out[n++] = (struct po_origin){e->block, SIZE_MAX, source->blocks[e->block].kind};
    }
    return n;
}

// The blocks as they should be.
static size_t expected(struct po_work *w, struct po_origin *out)
{
    const struct md_result *own = &w->doc->t->own.md;
    size_t *source_of = arena_new(w->a, size_t, own->block_count + 1), n = 0;
    for (size_t o = 0; o < own->block_count; o++)
        source_of[o] = SIZE_MAX;
    for (size_t i = 0; i < w->doc->t->source.md.block_count; i++)
        if (w->partner[i] != SIZE_MAX)
            source_of[w->partner[i]] = i;
    for (size_t o = 0; o <= own->block_count; o++) {
        n += inserted_before(w, o, out + n);
        if (o < own->block_count)
            out[n++] = (struct po_origin){source_of[o], o, own->blocks[o].kind};
    }
    return n;
}

// The first block that is not as it should be: its index, or SIZE_MAX.
static size_t first_wrong(const struct md_result *now, const struct po_origin *wanted, size_t n)
{
    size_t i = 0;
    while (i < n && i < now->block_count && now->blocks[i].kind == wanted[i].kind)
        i++;
    return i == n && now->block_count == n ? SIZE_MAX : i;
}

static bool refuse_block(struct po_work *w, size_t source)
{
    if (source == SIZE_MAX)
        return false;
    for (size_t k = 0; k < w->count; k++)
        if (w->edits[k].block == source) {
            refuse(w, w->edits[k].entry, "it would change the structure of the document");
            w->changed[source] = false;
            return w->refused[source] = true;
        }
    return false;
}

// Refuses the text of the block at or before the i-th, else of any behind it. False when no text is
// left to refuse.
static bool refuse_near(struct po_work *w, const struct po_origin *wanted, size_t n, size_t i)
{
    for (size_t k = i < n ? i + 1 : n; k-- > 0;)
        if (refuse_block(w, wanted[k].source))
            return true;
    for (size_t k = i; k < n; k++)
        if (refuse_block(w, wanted[k].source))
            return true;
    return false;
}

static void find_partners(struct po_work *w)
{
    const struct translation *t = w->doc->t;
    size_t n = t->source.md.block_count;
    w->partner = arena_new(w->a, size_t, n + 1);
    w->refused = arena_new(w->a, bool, n + 1);
    w->changed = arena_new(w->a, bool, n + 1);
    if (!t->staleness) {
        memcpy(w->partner, staleness_pair_up(&t->source.md, &t->own.md, w->a),
               n * sizeof *w->partner);
        return;
    }
    for (size_t i = 0; i < n; i++)
        w->partner[i] = SIZE_MAX;
    for (size_t o = 0; o < t->staleness->count; o++)
        if (t->staleness->blocks[o].source != SIZE_MAX)
            w->partner[t->staleness->blocks[o].source] = o;
}

static bool says_anything(const struct po_document *doc)
{
    bool any = doc->title && doc->title->text.len;
    for (size_t i = 0; !any && i < doc->t->source.md.block_count; i++)
        any = doc->of[i] && doc->of[i]->text.len;
    return any;
}

bool po_apply(const struct po_document *doc, struct site *site, str *text, struct sidecar *next,
              arena *a)
{
    struct po_work w = {.doc = doc, .site = site, .a = a};
    struct po_origin *wanted = arena_new(
        a, struct po_origin, doc->t->source.md.block_count + doc->t->own.md.block_count + 1);
    struct md_result now;
    size_t n, wrong;
    if (!says_anything(doc))
        return false;
    find_partners(&w);
    do {
        collect(&w);
        edit_front(&w);
        *text = edited(&w);
        scan(&w, *text, &now);
        n = expected(&w, wanted);
        wrong = first_wrong(&now, wanted, n);
    } while (wrong != SIZE_MAX && refuse_near(&w, wanted, n, wrong));
    if (wrong != SIZE_MAX)
        return false;  // the title would be a block: its message is there
    po_record(&w, &now, wanted, next);
    return true;
}
