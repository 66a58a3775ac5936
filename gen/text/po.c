// Reads and writes PO files: https://www.gnu.org/software/gettext/manual/html_node/PO-Files.html
#include "gen/text/po.h"

#include <string.h>

#include "gen/base/map.h"

// Strings of an entry while it is read. PREVIOUS_CONTEXT is read and forgotten.
enum part { NOTHING, CONTEXT, ID, TEXT, PREVIOUS, PREVIOUS_CONTEXT, PART_COUNT };

struct reader {
    str text, file;
    arena *a;
    struct diag *d;
    struct po *po;
    struct map contexts;  // context, a 4, id -> entry: what has been read
    struct po_entry entry;
    buf parts[PART_COUNT];
    bool given[PART_COUNT];
    buf comment, extracted, reference;
    enum part open;  // the string that a line of quotes alone goes on with
    bool ok, any;
};

static void bad(struct reader *r, size_t offset, const char *what)
{
    diag_add(r->d, D_PO_SYNTAX, DIAG_AT(r->file, r->text, offset), "%s", what);
    r->ok = false;
}

// \NNN and \xHH; the length behind the backslash, 0 when it is none.
static size_t number_escape(str s, buf *out)
{
    unsigned value = 0;
    size_t n = 0;
    if (s.len && s.ptr[0] == 'x') {
        for (n = 1; n < s.len && n < 3 && ascii_hex(s.ptr[n]) >= 0; n++)
            value = value * 16 + (unsigned)ascii_hex(s.ptr[n]);
        n = n > 1 ? n : 0;
    } else {
        for (; n < s.len && n < 3 && s.ptr[n] >= '0' && s.ptr[n] <= '7'; n++)
            value = value * 8 + (unsigned)(s.ptr[n] - '0');
    }
    if (!value || value > 255)
        return 0;
    buf_char(out, (char)value);
    return n;
}

// One escape behind its backslash; its length, 0 when there is no such escape.
static size_t unescape(str s, buf *out)
{
    static const char letters[] = "ntrabfv\"\\", meanings[] = "\n\t\r\a\b\f\v\"\\";
    const char *known = s.len && s.ptr[0] ? strchr(letters, s.ptr[0]) : NULL;
    if (!known)
        return number_escape(s, out);
    buf_char(out, meanings[known - letters]);
    return 1;
}

// "..." and nothing behind it.
static void read_quoted(struct reader *r, str s, size_t offset, buf *out)
{
    size_t i = 1;
    while (i < s.len && s.ptr[i] != '"') {
        if (s.ptr[i] != '\\') {
            buf_char(out, s.ptr[i++]);
            continue;
        }
        size_t n = unescape(str_slice(s, i + 1, s.len), out);
        if (!n) {
            bad(r, offset + i, "no such escape: \\n, \\t, \\\", \\\\ are known");
            return;
        }
        i += n + 1;
    }
    if (i >= s.len)
        bad(r, offset + s.len, "a string without its closing quote");
    else if (str_trim(str_slice(s, i + 1, s.len)).len)
        bad(r, offset + i + 1, "text behind a string");
}

static str kept(struct reader *r, const buf *b)
{
    return b->len ? arena_str(r->a, buf_view(b)) : STR_NONE;
}

static void begin_entry(struct reader *r)
{
    for (size_t i = 0; i < PART_COUNT; i++) {
        buf_clear(&r->parts[i]);
        r->given[i] = false;
    }
    buf_clear(&r->comment);
    buf_clear(&r->extracted);
    buf_clear(&r->reference);
    r->entry = (struct po_entry){0};
    r->open = NOTHING;
    r->any = false;
}

static bool is_new(struct reader *r, const struct po_entry *e)
{
    bool fresh;
    map_put(&r->contexts, r->a, arena_join(r->a, e->context, STR("\x04"), e->id), &fresh);
    return fresh;
}

static void keep_entry(struct reader *r)
{
    struct po_entry *e = &r->entry;
    e->context = kept(r, &r->parts[CONTEXT]);
    e->id = kept(r, &r->parts[ID]);
    e->text = kept(r, &r->parts[TEXT]);
    e->previous = kept(r, &r->parts[PREVIOUS]);
    e->comment = kept(r, &r->comment);
    e->extracted = kept(r, &r->extracted);
    e->reference = kept(r, &r->reference);
    struct po *po = r->po;
    const str read[] = {e->context, e->id, e->text, e->previous};
    bool valid = true;
    for (size_t i = 0; i < sizeof read / sizeof *read; i++)
        valid = valid && utf8_invalid(read[i]) == read[i].len;
    if (!valid) {
        bad(r, e->text_offset, "its escapes are not UTF-8");
    } else if (!is_new(r, e)) {
        bad(r, e->offset, "an entry that has been before");
    } else if (!e->id.len && !e->context.len) {
        po->header = *e;
    } else {
        po->entries =
            arena_grow(r->a, po->entries, po->count, &po->cap, po->count + 1, sizeof *po->entries);
        po->entries[po->count++] = *e;
    }
}

static void end_entry(struct reader *r, size_t offset)
{
    if (r->given[ID] && r->given[TEXT])
        keep_entry(r);
    else if (r->given[ID] || r->given[CONTEXT])
        bad(r, offset, r->given[ID] ? "msgstr is missing" : "msgid is missing");
    begin_entry(r);
}

static void add_line(buf *b, str line)
{
    if (b->len)
        buf_char(b, '\n');
    buf_str(b, str_trim(line));
}

static const struct {
    str word;
    enum part part;
} keywords[] = {
    {STR("msgctxt"), CONTEXT},
    {STR("msgid"), ID},
    {STR("msgstr"), TEXT},
};

static enum part keyword_of(str s, size_t *length)
{
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        str word = keywords[i].word;
        bool ends = s.len > word.len &&
                    (s.ptr[word.len] == ' ' || s.ptr[word.len] == '\t' || s.ptr[word.len] == '"');
        if (str_starts(s, word) && ends) {
            *length = word.len;
            return keywords[i].part;
        }
    }
    return NOTHING;
}

// A keyword and its string. previous: behind #|, which is the source as it was.
static void read_keyword(struct reader *r, str s, size_t offset, bool previous)
{
    size_t length = 0;
    enum part part = keyword_of(s, &length);
    if (str_starts(s, STR("msgid_plural")) || str_starts(s, STR("msgstr["))) {
        bad(r, offset, "plural forms, which no block of a document has");
        return;
    }
    str rest = str_slice(s, length, s.len), value = str_trim(rest);
    if (part == NOTHING || !value.len || value.ptr[0] != '"' || (previous && part == TEXT)) {
        bad(r, offset, "neither a comment nor msgctxt, msgid or msgstr with a string");
        return;
    }
    if (!previous && r->given[TEXT])
        end_entry(r, offset);
    if (!previous &&
        (r->given[part] || (part == CONTEXT && r->given[ID]) || (part == TEXT && !r->given[ID])))
        bad(r, offset, "msgctxt, msgid and msgstr come once each, in this order");
    if (!previous && part != TEXT && !r->given[CONTEXT])
        r->entry.offset = offset;
    if (part == TEXT)
        r->entry.text_offset = offset;
    part = !previous ? part : part == ID ? PREVIOUS : PREVIOUS_CONTEXT;
    r->given[part] = true;
    r->open = part;
    read_quoted(r, value, offset + (size_t)(value.ptr - s.ptr), &r->parts[part]);
}

static void read_string(struct reader *r, str s, size_t offset, bool previous)
{
    bool fits =
        r->open != NOTHING && previous == (r->open == PREVIOUS || r->open == PREVIOUS_CONTEXT);
    if (fits)
        read_quoted(r, s, offset, &r->parts[r->open]);
    else
        bad(r, offset, "a string without a keyword before it");
}

static void read_flags(struct reader *r, str flags)
{
    for (str flag; str_cut(&flags, ',', &flag);)
        if (str_eq(str_trim(flag), STR("fuzzy")))
            r->entry.fuzzy = true;
}

static void read_comment(struct reader *r, str s, size_t offset)
{
    char kind = s.len > 1 ? s.ptr[1] : ' ';
    str rest = str_slice(s, 2, s.len), inner = str_trim(rest);
    if (kind == '~')
        return;
    if (r->given[TEXT])
        end_entry(r, offset);
    if (kind == '.')
        add_line(&r->extracted, rest);
    else if (kind == ':')
        add_line(&r->reference, rest);
    else if (kind == ',')
        read_flags(r, rest);
    else if (kind != '|')
        add_line(&r->comment, str_slice(s, 1, s.len));
    else if (inner.len && inner.ptr[0] == '"')
        read_string(r, inner, offset + (size_t)(inner.ptr - s.ptr), true);
    else if (inner.len)
        read_keyword(r, inner, offset + (size_t)(inner.ptr - s.ptr), true);
}

static void read_line(struct reader *r, str line)
{
    str s = str_trim(line);
    size_t offset = (size_t)(s.ptr - r->text.ptr);
    if (!s.len)
        return;
    if (s.ptr[0] == '#')
        read_comment(r, s, offset);
    else if (s.ptr[0] == '"')
        read_string(r, s, offset, false);
    else
        read_keyword(r, s, offset, false);
}

static void check_charset(struct reader *r)
{
    str type = po_field(r->po, STR("Content-Type")), charset = STR("charset=");
    size_t at = str_search(type, charset);
    str name = at < type.len ? str_slice(type, at + charset.len, type.len) : STR("UTF-8");
    if (!str_eq_nocase(name, STR("UTF-8")) && !str_eq_nocase(name, STR("utf8")))
        bad(r, r->po->header.offset, "another charset than UTF-8; msgconv -t UTF-8 makes it that");
}

bool po_parse(str text, str file, arena *a, struct diag *d, struct po *out)
{
    struct reader r = {.text = text,
                       .file = file,
                       .a = a,
                       .d = d,
                       .po = out,
                       .ok = true,
                       .comment = BUF_INIT,
                       .extracted = BUF_INIT,
                       .reference = BUF_INIT};
    size_t invalid = utf8_invalid(text), from = str_starts(text, STR("\xEF\xBB\xBF")) ? 3 : 0;
    *out = (struct po){0};
    if (invalid < text.len) {
        diag_add(d, text.ptr[invalid] ? D_UTF8_INVALID : D_UTF8_NUL, DIAG_AT(file, text, invalid),
                 DIAG_PLAIN);
        return false;
    }
    for (size_t i = 0; i < PART_COUNT; i++)
        r.parts[i] = BUF_INIT;
    begin_entry(&r);
    str rest = str_slice(text, from, text.len);
    for (str line; str_line(&rest, &line);)
        read_line(&r, line);
    end_entry(&r, text.len);
    check_charset(&r);
    for (size_t i = 0; i < PART_COUNT; i++)
        buf_free(&r.parts[i]);
    buf_free(&r.comment);
    buf_free(&r.extracted);
    buf_free(&r.reference);
    return r.ok;
}

str po_field(const struct po *po, str name)
{
    str rest = po->header.text;
    for (str line, key; str_line(&rest, &line);)
        if (str_cut(&line, ':', &key) && str_eq_nocase(str_trim(key), name))
            return str_trim(line);
    return STR_NONE;
}
