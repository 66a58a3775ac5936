// Cuts a page into units and counts the terms of each.
#include "gen/site/search/units.h"

#include <stdlib.h>
#include <string.h>

#include "gen/text/page_text.h"
#include "gen/text/terms.h"

enum { UNIT_BYTES = 1500, MAX_TERM = 255 };

// A table of the unit's terms: what is in it counts only when it is of this round. place: of its entry in terms.
struct slot { uint32_t round, place, hash; };

struct unit_maker {
    struct terms *letters;
    struct slot *slots;
    size_t slot_count, count;
    uint32_t round;
    buf terms, text;           // of the unit, of the page
    uint32_t words;
    bool in_heading;
    arena arena;
};

struct unit_maker *unit_maker_new(void)
{
    struct unit_maker *m = calloc(1, sizeof *m);
    if (!m) buf_no_memory();
    m->letters = terms_new();
    m->terms = m->text = BUF_INIT;
    return m;
}

void unit_maker_free(struct unit_maker *m)
{
    if (!m) return;
    terms_free(m->letters);
    buf_free(&m->terms), buf_free(&m->text);
    arena_free(&m->arena);
    free(m->slots);
    free(m);
}

static void grow(struct unit_maker *m)
{
    struct slot *old = m->slots;
    size_t count = m->slot_count;
    m->slot_count = count ? count * 2 : 1024;
    m->slots = calloc(m->slot_count, sizeof *m->slots);
    if (!m->slots) buf_no_memory();
    for (size_t i = 0; i < count; i++) {
        if (old[i].round != m->round) continue;
        size_t k = old[i].hash & (m->slot_count - 1);
        while (m->slots[k].round == m->round) k = (k + 1) & (m->slot_count - 1);
        m->slots[k] = old[i];
    }
    free(old);
}

// An entry: length, count, whether it is in the heading, bytes.
static void add_term(void *ctx, str term)
{
    struct unit_maker *m = ctx;
    uint32_t hash = 2166136261u;   // FNV-1a
    if (term.len > MAX_TERM) return;
    m->words++;
    for (size_t i = 0; i < term.len; i++) hash = (hash ^ (unsigned char)term.ptr[i]) * 16777619u;
    hash ^= hash >> 15;
    if (m->count * 2 >= m->slot_count) grow(m);
    size_t i = hash & (m->slot_count - 1);
    for (; m->slots[i].round == m->round; i = (i + 1) & (m->slot_count - 1)) {
        unsigned char *e = (unsigned char *)m->terms.ptr + m->slots[i].place;
        if (m->slots[i].hash != hash || e[0] != term.len || memcmp(e + 3, term.ptr, term.len) != 0) continue;
        e[1] = (unsigned char)(e[1] + (!m->in_heading && e[1] < 255));
        return;
    }
    m->slots[i] = (struct slot){m->round, (uint32_t)m->terms.len, hash};
    char head[3] = {(char)term.len, (char)!m->in_heading, (char)m->in_heading};
    buf_put(&m->terms, head, 3);
    buf_str(&m->terms, term);
    m->count++;
}

static void put_unit(struct unit_maker *m, str anchor, str heading, str text, buf *out)
{
    m->round++, m->count = 0, m->words = 0, m->in_heading = true;
    buf_clear(&m->terms);
    terms_scan(m->letters, heading, add_term, m);
    uint32_t heading_words = m->words;
    m->words = 0, m->in_heading = false;
    terms_scan(m->letters, text, add_term, m);
    pack_str(out, anchor);
    pack_str(out, heading);
    pack_str(out, text);
    pack_uint(out, heading_words);
    pack_uint(out, m->words);
    pack_str(out, buf_view(&m->terms));
}

// Where a part of text that is as long as may be ends: with a line, else a word, else a letter.
static size_t part_end(str text)
{
    if (text.len <= UNIT_BYTES) return text.len;
    str most = str_slice(text, 0, UNIT_BYTES);
    size_t line = str_rfind(most, '\n'), word = str_rfind(most, ' '), end = UNIT_BYTES;
    if (line < most.len && line > UNIT_BYTES / 2) return line;
    if (word < most.len && word > UNIT_BYTES / 2) return word;
    while (((unsigned char)text.ptr[end] & 0xC0) == 0x80) end--;
    return end;
}

static size_t put_section(struct unit_maker *m, str anchor, str heading, str text, buf *out)
{
    size_t parts = 0;
    do {
        size_t end = part_end(text);
        put_unit(m, anchor, parts ? STR_NONE : heading, str_trim(str_slice(text, 0, end)), out);
        text = str_trim(str_slice(text, end, text.len));
        parts++;
    } while (text.len);
    return parts;
}

void units_pack(struct unit_maker *m, str title, str description, str html, bool titles_only, buf *out)
{
    buf units = BUF_INIT;
    size_t count, parts = 0;
    buf_clear(&m->text);
    struct text_section *s = page_text_sections(html, &m->arena, &m->text, &count);
    for (size_t i = 0; i < count; i++) {
        str text = titles_only ? STR_NONE : s[i].text;
        if (!i && !text.len) text = description;
        parts += put_section(m, s[i].anchor, i ? s[i].heading : title, text, &units);
    }
    pack_uint(out, parts);
    buf_str(out, buf_view(&units));
    buf_free(&units);
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
    if (!u->left || u->packed.bad) return false;
    u->left--;
    out->anchor = unpack_str(&u->packed);
    out->heading = unpack_str(&u->packed);
    out->text = unpack_str(&u->packed);
    out->heading_words = (uint32_t)unpack_uint(&u->packed);
    out->words = (uint32_t)unpack_uint(&u->packed);
    out->terms = unpack_from(unpack_str(&u->packed));
    return !u->packed.bad;
}

bool unit_next_term(struct unit *u, struct unit_term *out)
{
    struct unpack *t = &u->terms;
    if (t->end - t->at < 3) return false;
    const unsigned char *e = (const unsigned char *)t->at;
    if (t->end - t->at < 3 + e[0]) return false;
    *out = (struct unit_term){{t->at + 3, e[0]}, e[1], e[2]};
    t->at += 3 + e[0];
    return true;
}
