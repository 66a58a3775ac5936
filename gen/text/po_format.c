// PO files written: one string a line of text, no other wrapping.
#include <string.h>

#include "gen/text/po.h"

static void put_escaped(str s, buf *out)
{
    static const char letters[] = "ntrabfv\"\\", meanings[] = "\n\t\r\a\b\f\v\"\\";
    for (size_t i = 0; i < s.len; i++) {
        const char *special = strchr(meanings, s.ptr[i]);
        if (special && *special) {
            buf_char(out, '\\');
            buf_char(out, letters[special - meanings]);
        } else if ((unsigned char)s.ptr[i] < ' ') {
            buf_printf(out, "\\%03o", (unsigned)(unsigned char)s.ptr[i]);
        } else {
            buf_char(out, s.ptr[i]);
        }
    }
}

// A text of several lines begins with an empty string, as gettext's own tools write it.
static void put_string(const char *prefix, const char *keyword, str s, buf *out)
{
    size_t first = str_find(s, '\n');
    buf_printf(out, "%s%s ", prefix, keyword);
    if (first + 1 < s.len)
        buf_printf(out, "\"\"\n%s", prefix);
    do {
        size_t n = str_find(s, '\n');
        n += n < s.len;
        buf_char(out, '"');
        put_escaped(str_slice(s, 0, n), out);
        buf_lit(out, "\"\n");
        s = str_slice(s, n, s.len);
        if (s.len)
            buf_printf(out, "%s", prefix);
    } while (s.len);
}

static void put_comment(const char *mark, str lines, buf *out)
{
    for (str line; str_line(&lines, &line);)
        buf_printf(out, "%s%s%.*s\n", mark, line.len ? " " : "", STR_ARG(line));
}

static void put_entry(const struct po_entry *e, bool header, buf *out)
{
    put_comment("#", e->comment, out);
    put_comment("#.", e->extracted, out);
    put_comment("#:", e->reference, out);
    if (e->fuzzy)
        buf_lit(out, "#, fuzzy\n");
    if (e->previous.len)
        put_string("#| ", "msgid", e->previous, out);
    if (!header)
        put_string("", "msgctxt", e->context, out);
    put_string("", "msgid", e->id, out);
    put_string("", "msgstr", e->text, out);
}

void po_format(const struct po *po, buf *out)
{
    put_entry(&po->header, true, out);
    for (size_t i = 0; i < po->count; i++) {
        buf_char(out, '\n');
        put_entry(&po->entries[i], po->entries[i].context.len == 0, out);
    }
}
