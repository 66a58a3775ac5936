// Cuts a page into units.
#include "gen/site/search/units.h"

#include "gen/text/page_text.h"

enum { UNIT_BYTES = 1500 };

void unit_maker_free(struct unit_maker *m)
{
    buf_free(&m->text), buf_free(&m->units);
    arena_free(&m->arena);
}

// Where a part of text that is as long as may be ends: with a line, else a word, else a letter.
static size_t part_end(str text)
{
    if (text.len <= UNIT_BYTES)
        return text.len;
    str most = str_slice(text, 0, UNIT_BYTES);
    size_t line = str_rfind(most, '\n'), word = str_rfind(most, ' '), end = UNIT_BYTES;
    if (line < most.len && line > UNIT_BYTES / 2)
        return line;
    if (word < most.len && word > UNIT_BYTES / 2)
        return word;
    while (((unsigned char)text.ptr[end] & 0xC0) == 0x80)
        end--;
    return end;
}

// The number of parts.
static size_t put_section(buf *out, str anchor, str heading, str text)
{
    size_t parts = 0;
    do {
        size_t end = part_end(text);
        pack_str(out, anchor);
        pack_str(out, parts ? STR_NONE : heading);
        pack_str(out, str_trim(str_slice(text, 0, end)));
        text = str_trim(str_slice(text, end, text.len));
        parts++;
    } while (text.len);
    return parts;
}

void units_pack(struct unit_maker *m, str title, str description, str html,
                enum units_extent extent, buf *out)
{
    size_t count, parts = 0;
    buf_clear(&m->text), buf_clear(&m->units);
    struct text_section *s = page_text_sections(html, &m->arena, &m->text, &count);
    if (extent == UNITS_TITLE && count > 1)
        count = 1;
    for (size_t i = 0; i < count; i++) {
        str text = extent == UNITS_WORDS ? s[i].text : STR_NONE;
        if (!i && !text.len && extent != UNITS_TITLE)
            text = description;
        parts += put_section(&m->units, s[i].anchor, i ? s[i].heading : title, text);
    }
    pack_uint(out, parts);
    buf_str(out, buf_view(&m->units));
    arena_reset(&m->arena);
}

struct units units_open(str packed)
{
    struct units u = {.packed = unpack_from(packed)};
    u.left = packed.len ? unpack_count(&u.packed) : 0;
    return u;
}

bool units_next(struct units *u, struct unit *out)
{
    if (!u->left || u->packed.bad)
        return false;
    u->left--;
    out->anchor = unpack_str(&u->packed);
    out->heading = unpack_str(&u->packed);
    out->text = unpack_str(&u->packed);
    return !u->packed.bad;
}
