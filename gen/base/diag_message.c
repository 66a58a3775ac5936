// Records messages, sorts them, counts them by level, and carries them between processes.
#include "gen/base/diag_message.h"

#include <stdlib.h>
#include <string.h>

struct diag_row {
    str slug;
    enum diag_level level;
    enum { NEVER, CONTENT, MEASURED } strict;
};

static const struct diag_row rows[] = {
#define X(id, level, slug, text, strict) {STR(slug), DIAG_##level, strict},
#include "gen/base/diag.def"
#undef X
};

struct diag *diag_new(struct diag_options options)
{
    struct diag *d = calloc(1, sizeof *d);
    if (!d)
        buf_no_memory();
    d->options = options;
    return d;
}

void diag_free(struct diag *d)
{
    if (!d)
        return;
    arena_free(&d->arena);
    free(d);
}

enum diag_id diag_named(str slug)
{
    for (size_t i = 0; i < DIAG_COUNT; i++)
        if (str_eq(slug, rows[i].slug))
            return (enum diag_id)i;
    return DIAG_COUNT;
}

void diag_set_level(struct diag *d, enum diag_id id, enum diag_level level)
{
    d->levels[id] = (uint8_t)(level + 1);
}

void diag_set_links(struct diag *d, enum diag_level level)
{
    for (size_t i = 0; i < DIAG_COUNT; i++)
        if (str_starts(rows[i].slug, STR("link-")) && rows[i].strict != NEVER)
            diag_set_level(d, (enum diag_id)i, level);
}

static enum diag_level level_of(const struct diag *d, enum diag_id id)
{
    const struct diag_row *row = &rows[id];
    enum diag_level level = d->levels[id] ? (enum diag_level)(d->levels[id] - 1) : row->level;
    bool raised = (row->strict == CONTENT && d->options.strict) ||
                  (row->strict == MEASURED && d->options.strict_measured);
    return level == DIAG_WARNING && raised ? DIAG_ERROR : level;
}

void diag_advance(struct diag_cursor *c, str text, size_t offset)
{
    if (offset > text.len)
        offset = text.len;
    if (offset < c->at || !c->line)
        *c = (struct diag_cursor){0, 1, 1};
    for (const char *end;
         c->at < offset && (end = memchr(text.ptr + c->at, '\n', offset - c->at)) != NULL;
         c->line++, c->col = 1)
        c->at = (size_t)(end - text.ptr) + 1;
    for (; c->at < offset; c->at++)
        c->col += ((unsigned char)text.ptr[c->at] & 0xc0) !=
                  0x80;  // what goes on with a code point begins none
}

void diag_line_col(str text, size_t offset, uint32_t *line, uint32_t *col)
{
    struct diag_cursor c = {0};
    diag_advance(&c, text, offset);
    *line = c.line;
    *col = c.col;
}

// The part of the line around offset that is worth printing; *caret is where offset falls in it.
static str line_around(str text, size_t offset, size_t *caret)
{
    if (offset > text.len)
        offset = text.len;
    size_t from = offset, to = offset;
    while (from > 0 && text.ptr[from - 1] != '\n' && offset - from < DIAG_BEFORE)
        from--;
    while (to < text.len && text.ptr[to] != '\n' && text.ptr[to] != '\r' &&
           to - offset < DIAG_BEHIND)
        to++;
    while (from < offset && ((unsigned char)text.ptr[from] & 0xc0) == 0x80)
        from++;
    while (to > offset && to < text.len && ((unsigned char)text.ptr[to] & 0xc0) == 0x80)
        to--;
    *caret = offset - from;
    return str_slice(text, from, to);
}

static void keep(struct diag *d, struct diag_message r)
{
    buf key = BUF_INIT;
    buf_printf(&key, "%d:%u:%u:", (int)r.id, r.line, r.col);
    buf_str(&key, r.file);
    buf_char(&key, 0);
    buf_str(&key, r.detail);
    bool is_new;
    map_put(&d->known, &d->arena, buf_view(&key), &is_new);
    buf_free(&key);
    if (!is_new)
        return;
    r.level = level_of(d, r.id);
    d->counts[r.level]++;
    r.file = arena_str(&d->arena, r.file);
    r.detail = arena_str(&d->arena, r.detail);
    r.source = arena_str(&d->arena, r.source);
    d->messages =
        arena_grow(&d->arena, d->messages, d->count, &d->cap, d->count + 1, sizeof *d->messages);
    d->messages[d->count++] = r;
}

void diag_pieces(struct diag *d, str whole, const struct diag_piece *pieces, size_t count)
{
    struct diag_made *made = arena_new(&d->arena, struct diag_made, 1);
    *made = (struct diag_made){whole, pieces, count, d->made};
    d->made = made;
}

struct diag_pos diag_origin(const struct diag_piece *pieces, size_t count, size_t offset)
{
    size_t low = 0, high = count;  // the last piece that begins no later
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (pieces[middle].at <= offset)
            low = middle;
        else
            high = middle;
    }
    const struct diag_piece *p = &pieces[low];
    return DIAG_AT(p->file, p->text, p->offset + (offset - p->at));
}

// The place that a place of a made text is from.
static struct diag_pos origin(const struct diag *d, struct diag_pos pos)
{
    const struct diag_made *made = d->made;
    while (made && made->whole.ptr != pos.text.ptr)
        made = made->next;
    return made && made->count ? diag_origin(made->pieces, made->count, pos.offset) : pos;
}

static void find_line(struct diag *d, struct diag_pos pos, struct diag_message *r)
{
    uint64_t file = str_hash(pos.file);
    if (d->last_file != file || d->last_text.ptr != pos.text.ptr ||
        d->last_text.len != pos.text.len)
        d->last = (struct diag_cursor){0};
    d->last_file = file;
    d->last_text = pos.text;
    diag_advance(&d->last, pos.text, pos.offset);
    r->line = d->last.line;
    r->col = d->last.col;
}

void diag_add(struct diag *d, enum diag_id id, struct diag_pos pos, const char *format, ...)
{
    if (d->made && pos.text.ptr && !pos.line)
        pos = origin(d, pos);
    struct diag_message r = {.id = id, .file = pos.file, .line = pos.line, .col = pos.col};
    if (pos.text.ptr) {
        if (!pos.line)
            find_line(d, pos, &r);
        r.source = line_around(pos.text, pos.offset, &r.caret);
    }
    buf detail = BUF_INIT;
    va_list list;
    va_start(list, format);
    buf_vprintf(&detail, format, list);
    va_end(list);
    r.detail = buf_view(&detail);
    keep(d, r);
    buf_free(&detail);
}

bool diag_has(const struct diag *d, enum diag_id id)
{
    for (size_t i = 0; i < d->count; i++)
        if (d->messages[i].id == id)
            return true;
    return false;
}

size_t diag_count(const struct diag *d, enum diag_level at_least)
{
    size_t n = 0;
    for (int level = at_least; level <= DIAG_ERROR; level++)
        n += d->counts[level];
    return n;
}

bool diag_has_io(const struct diag *d)
{
    for (size_t i = 0; i < d->count; i++)
        if (d->messages[i].id == D_IO_READ || d->messages[i].id == D_IO_WRITE)
            return true;
    return false;
}

static int by_place(const void *a, const void *b)
{
    const struct diag_message *x = a, *y = b;
    int order = str_cmp(x->file, y->file);
    if (order)
        return order;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    if (x->col != y->col)
        return x->col < y->col ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return str_cmp(x->detail, y->detail);
}

void diag_sort(struct diag_message *messages, size_t count)
{
    if (count)
        qsort(messages, count, sizeof *messages, by_place);
}

// What a message is on its way between processes: these numbers, then the bytes of file, detail and
// source.
struct packed {
    uint32_t id, line, col, caret;
    uint32_t file, detail, source;
};

void diag_pack(const struct diag *d, buf *out)
{
    for (size_t i = 0; i < d->count; i++) {
        const struct diag_message *r = &d->messages[i];
        struct packed p = {r->id,
                           r->line,
                           r->col,
                           (uint32_t)r->caret,
                           (uint32_t)r->file.len,
                           (uint32_t)r->detail.len,
                           (uint32_t)r->source.len};
        buf_put(out, &p, sizeof p);
        buf_str(out, r->file);
        buf_str(out, r->detail);
        buf_str(out, r->source);
    }
}

static bool take(str *rest, size_t n, str *out)
{
    if (rest->len < n)
        return false;
    *out = str_slice(*rest, 0, n);
    *rest = str_slice(*rest, n, rest->len);
    return true;
}

bool diag_unpack(struct diag *d, str rest)
{
    while (rest.len) {
        struct packed p;
        str head;
        if (!take(&rest, sizeof p, &head))
            return false;
        memcpy(&p, head.ptr, sizeof p);
        struct diag_message r = {
            .id = (enum diag_id)p.id, .line = p.line, .col = p.col, .caret = p.caret};
        if (p.id >= DIAG_COUNT || !take(&rest, p.file, &r.file) ||
            !take(&rest, p.detail, &r.detail) || !take(&rest, p.source, &r.source) ||
            p.caret > p.source)
            return false;
        keep(d, r);
    }
    return true;
}

str diag_hand_over(struct diag *from, struct diag *d, arena *a)
{
    buf packed = BUF_INIT;
    diag_pack(from, &packed);
    str said = arena_str(a, buf_view(&packed));
    buf_free(&packed);
    diag_free(from);
    diag_unpack(d, said);
    return said;
}
