// Writes an index as scripts: dictionaries by the first letters of words, texts by units, and the
// first file, which says where each begins. What templates/search.js reads.
#include <endian.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gen/site/search/index.h"
#include "gen/base/escape.h"
#include "gen/text/terms.h"

// A reader loads a dictionary for each word and a text for each hit. A small site's are small, so
// that the eight hits of a search come with 15 kB (brotli, tests/search_rank.sh); a larger one's
// hold more, since each is a file: a language has about TEXTS of them, until they are LARGE_TEXT.
enum {
    SMALL_SITE = 500000,
    SMALL_DICTIONARY = 1000,
    LARGE_DICTIONARY = 2500,
    TEXTS = 200,
    SMALL_TEXT = 800,
    LARGE_TEXT = 6000,
    SAME_LETTERS = 4,  // forms that begin alike stay in one dictionary, where what is not there
                       // looks for its like
    MOST_POSTINGS = 512,
    LEVELS = 8
};

struct unit_weight {
    double length, heading;
};

struct writing {
    struct index *x;
    double mean_words;
    struct unit_weight *weights;          // of each unit
    uint32_t *codes;                      // postings of all groups, one behind the other
    uint32_t *first;                      // of each group
    size_t dictionary_bytes, text_bytes;  // of one, about
    buf first_forms, texts;  // of each dictionary, of each text: what the first file says
    buf name, bytes, line;   // of the file that is written
    void (*put)(void *ctx, str name, str bytes);
    void *ctx;
};

enum { MOST_SIGNS = 7 };  // of 2^32 - 1

// Numbers as printable signs without quote and backslash: the last digit in 57 signs from '#',
// those before it, the lowest first, in 34 from ']'. Returns their end.
static char *write_number(char *to, uint32_t v)
{
    for (; v >= 57; v = (v - 57) / 34)
        *to++ = (char)(']' + (v - 57) % 34);
    *to++ = (char)('#' + v);
    return to;
}

static void put_number(buf *out, uint32_t v)
{
    char signs[MOST_SIGNS];
    buf_put(out, signs, (size_t)(write_number(signs, v) - signs));
}

static void put_quoted(buf *out, str s)
{
    buf_char(out, '"');
    escape_json(out, s);
    buf_char(out, '"');
}

// What is the same for all words of a unit: its length in BM25 (k 1.2, b 0.6), and what a word in
// its heading is worth, the more, the fewer they are.
static void weigh_units(struct writing *w)
{
    struct index *x = w->x;
    w->weights = arena_new(&x->arena, struct unit_weight, x->unit_count);
    for (size_t i = 0; i < x->unit_count; i++) {
        const struct indexed_unit *u = &x->units[i];
        w->weights[i].length = 1.2 * (0.4 + 0.6 * (u->words / w->mean_words));
        w->weights[i].heading = 5.0 / sqrt(u->heading_words ? u->heading_words : 1);
    }
}

// How much a unit is about a word, 1 to 7: BM25's saturation of the count, and more for one in the
// heading.
static uint32_t level_of(const struct writing *w, const struct posting *p)
{
    const struct unit_weight *u = &w->weights[p->unit];
    double count = p->count, value = count * 2.2 / (count + u->length);
    if (p->in_heading)
        value += u->heading;
    uint32_t level = (uint32_t)(value * 1.5 + 0.5);
    return level < 1 ? 1 : level < LEVELS ? level : LEVELS - 1;
}

// Of a word that is nearly everywhere, only the units that are most about it are kept: its number
// stays.
static uint32_t least_level(const uint32_t *codes, size_t count)
{
    size_t of[LEVELS] = {0}, sum = 0;
    if (count <= MOST_POSTINGS)
        return 1;
    for (size_t i = 0; i < count; i++)
        of[codes[i] % LEVELS]++;
    for (uint32_t level = LEVELS - 1; level; level--)
        if ((sum += of[level]) >= MOST_POSTINGS)
            return level;
    return 1;
}

static void encode(struct writing *w, struct word_group *g)
{
    const uint32_t *codes = &w->codes[w->first[g - w->x->groups]];
    uint32_t least = least_level(codes, g->count), before = 0;
    size_t left = MOST_POSTINGS * 2;  // where very many are alike
    buf_clear(&w->line);
    buf_reserve(&w->line, ((g->count < left ? g->count : left) + 1) * MOST_SIGNS);
    char *to = write_number(w->line.ptr, g->count);
    for (size_t i = 0; i < g->count && left; i++) {
        if (codes[i] % LEVELS < least)
            continue;
        to = write_number(to, codes[i] - before);
        before = codes[i] - codes[i] % LEVELS;
        left--;
    }
    g->code = arena_str(&w->x->arena, (str){w->line.ptr, (size_t)(to - w->line.ptr)});
}

static void begin_file(struct writing *w, char kind, size_t number)
{
    buf_clear(&w->name), buf_clear(&w->bytes);
    buf_char(&w->name, kind);
    buf_u64(&w->name, number);
    buf_lit(&w->bytes, "vramdocSearch(\"");
    buf_str(&w->bytes, buf_view(&w->name));
    buf_lit(&w->bytes, "\",");
}

static void end_file(struct writing *w)
{
    buf_lit(&w->bytes, ")\n");
    w->put(w->ctx, buf_view(&w->name), buf_view(&w->bytes));
}

// A form's place in an order: its first bytes as a number that sorts as they do.
struct place {
    uint64_t head;
    const struct form *form;
};

static uint64_t head_of(str text)
{
    uint64_t head = 0;
    if (text.len >= 8) {
        memcpy(&head, text.ptr, 8);
        return be64toh(head);
    }
    for (size_t i = 0; i < 8; i++)
        head = head << 8 | (i < text.len ? (unsigned char)text.ptr[i] : 0);
    return head;
}

static int by_text(const void *a, const void *b)
{
    return str_cmp(((const struct place *)a)->form->text, ((const struct place *)b)->form->text);
}

// By heads, a byte of them at a time, the last first; then those with the same head by their texts.
// A third of the instructions of comparing them all.
static void sort_places(struct place *places, struct place *spare, size_t count)
{
    for (unsigned shift = 0; shift < 64; shift += 8) {
        size_t next[257] = {0};
        for (size_t i = 0; i < count; i++)
            next[(places[i].head >> shift & 255) + 1]++;
        for (size_t i = 1; i < 256; i++)
            next[i] += next[i - 1];
        for (size_t i = 0; i < count; i++)
            spare[next[places[i].head >> shift & 255]++] = places[i];
        struct place *filled = spare;
        spare = places, places = filled;
    }
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && places[end].head == places[i].head;)
            end++;
        if (end - i > 1)
            qsort(places + i, end - i, sizeof *places, by_text);
    }
}

static void sort_forms(struct index *x)
{
    struct place *places = arena_new(&x->arena, struct place, x->form_count);
    struct place *spare = arena_new(&x->arena, struct place, x->form_count);
    struct form *sorted = arena_new(&x->arena, struct form, x->form_count);
    for (size_t i = 0; i < x->form_count; i++)
        places[i] = (struct place){head_of(x->forms[i].text), &x->forms[i]};
    sort_places(places, spare, x->form_count);  // eight times from one to the other
    for (size_t i = 0; i < x->form_count; i++)
        sorted[i] = *places[i].form;
    if (x->form_count)
        memcpy(x->forms, sorted, x->form_count * sizeof *sorted);
}

// How many bytes two forms begin with alike, as far as dictionaries are not divided.
static bool begin_alike(str a, str b)
{
    size_t i = 0, letters = 0, n = 0, most = terms_is_pair(b) ? 1 : SAME_LETTERS;
    while (letters < most && i < a.len && i < b.len && a.ptr[i] == b.ptr[i]) {
        utf8_next(str_slice(b, i, b.len), &n);
        if (str_cmp(str_slice(a, i, i + n), str_slice(b, i, i + n)))
            return false;
        i += n;
        letters++;
    }
    return letters == most;
}

// Groups of the forms from..to, each at its first form: the forms with a space behind each, the
// code, a tab.
static void put_groups(struct writing *w, size_t from, size_t to, uint32_t number)
{
    struct form *forms = w->x->forms;
    for (size_t i = from; i < to; i++) {
        struct word_group *g = &w->x->groups[forms[i].group];
        if (g->chunk != number)
            g->first_form = (uint32_t)i;
        else
            forms[g->last_form].next = (uint32_t)i;
        g->chunk = number;
        g->last_form = (uint32_t)i;
        forms[i].next = 0;
    }
    buf_char(&w->bytes, '"');
    for (size_t i = from; i < to; i++) {
        struct word_group *g = &w->x->groups[forms[i].group];
        if (g->first_form != i)
            continue;
        if (i > from)
            buf_char(&w->bytes, '\t');
        size_t k = i;
        do {
            buf_str(&w->bytes, forms[k].text);
            buf_char(&w->bytes, ' ');
        } while ((k = forms[k].next));
        if (!g->code.len)
            encode(w, g);
        buf_str(&w->bytes, g->code);
    }
    buf_char(&w->bytes, '"');
}

// The shortest beginning of the form at place that no form before it has.
static str beginning_of(const struct index *x, size_t place)
{
    str own = x->forms[place].text, before = place ? x->forms[place - 1].text : STR_NONE;
    size_t i = 0, n;
    while (i < own.len && i < before.len && own.ptr[i] == before.ptr[i])
        i++;
    while (i && ((unsigned char)own.ptr[i] & 0xC0) == 0x80)
        i--;
    utf8_next(str_slice(own, i, own.len), &n);
    return str_slice(own, 0, i + n);
}

static void put_dictionaries(struct writing *w)
{
    struct index *x = w->x;
    size_t number = 0;
    sort_forms(x);
    for (size_t from = 0, to; from < x->form_count; from = to) {
        size_t bytes = 0;
        for (to = from; to < x->form_count; to++) {
            if (bytes >= w->dictionary_bytes &&
                !begin_alike(x->forms[to - 1].text, x->forms[to].text))
                break;
            if (bytes >= 4 * w->dictionary_bytes)
                break;
            size_t count = x->groups[x->forms[to].group].count,
                   most = count < MOST_POSTINGS ? count : MOST_POSTINGS;
            bytes += x->forms[to].text.len + 2 + most * 2;
        }
        begin_file(w, 'd', number++);
        put_groups(w, from, to, (uint32_t)number);
        end_file(w);
        if (from)
            buf_char(&w->first_forms, ' ');
        buf_str(&w->first_forms, beginning_of(x, from));
    }
}

static void put_page_texts(struct writing *w, const struct indexed_page *p, size_t from, size_t to)
{
    buf *out = &w->bytes;
    buf_lit(out, "[");
    put_quoted(out, p->url);
    buf_char(out, ',');
    put_quoted(out, p->title);
    for (size_t i = from; i < to; i++) {
        const struct indexed_unit *u = &w->x->units[i];
        str heading = u->heading;
        for (size_t k = i;
             !heading.len && u->anchor.len && k-- > 0 && str_eq(w->x->units[k].anchor, u->anchor);)
            heading = w->x->units[k].heading;  // of the section that this is a part of
        buf_lit(out, ",\n");
        put_quoted(out, u->anchor);
        buf_char(out, ',');
        put_quoted(out, u->anchor.len ? heading : STR_NONE);
        buf_char(out, ',');
        put_quoted(out, u->text);
    }
    buf_lit(out, "]");
}

static void put_texts(struct writing *w)
{
    const struct index *x = w->x;
    size_t number = 0, before = 0;
    for (size_t from = 0, to; from < x->unit_count; from = to) {
        size_t bytes = 0;
        for (to = from;
             to < x->unit_count && (to == from || bytes + x->units[to].text.len <= w->text_bytes);
             to++)
            bytes += x->units[to].text.len + x->units[to].heading.len;
        begin_file(w, 't', number++);
        buf_char(&w->bytes, '[');
        for (size_t i = from, end; i < to; i = end) {
            uint32_t page = x->units[i].page;
            for (end = i; end < to && x->units[end].page == page; end++) {
            }
            if (i > from)
                buf_lit(&w->bytes, ",\n");
            put_page_texts(w, &x->pages[page], i, end);
        }
        buf_char(&w->bytes, ']');
        end_file(w);
        put_number(&w->texts, (uint32_t)(from - before));
        before = from;
    }
}

static void put_first(struct writing *w, str synonyms)
{
    buf pages = BUF_INIT;
    for (size_t i = 0; i < w->x->page_count; i++)
        put_number(&pages, w->x->pages[i].first - (i ? w->x->pages[i - 1].first : 0));
    buf_clear(&w->bytes);
    buf_printf(&w->bytes, "vramdocSearch(\"\",[%zu,\"", w->x->unit_count);
    buf_str(&w->bytes, buf_view(&w->first_forms));
    buf_lit(&w->bytes, "\",\"");
    buf_str(&w->bytes, buf_view(&w->texts));
    buf_lit(&w->bytes, "\",\"");
    buf_str(&w->bytes, buf_view(&pages));
    buf_lit(&w->bytes, "\",");
    put_quoted(&w->bytes, synonyms);
    buf_lit(&w->bytes, "])\n");
    w->put(w->ctx, STR_NONE, buf_view(&w->bytes));
    buf_free(&pages);
}

// Postings come by units; here they are put together by groups, each as a number: the unit, and how
// much it is about the word.
static void sort_postings(struct writing *w)
{
    struct index *x = w->x;
    uint32_t *next = arena_new(&x->arena, uint32_t, x->group_count), sum = 0;
    w->first = arena_new(&x->arena, uint32_t, x->group_count);
    w->codes = index_codes(x);
    for (size_t i = 0; i < x->posting_count; i++)
        x->groups[x->postings[i].group].count++;
    for (size_t i = 0; i < x->group_count; i++)
        w->first[i] = next[i] = sum, sum += x->groups[i].count;
    for (size_t i = 0; i < x->posting_count; i++) {
        const struct posting *p = &x->postings[i];
        w->codes[next[p->group]++] = p->unit * LEVELS + level_of(w, p);
    }
}

void index_files(struct index *x, str synonyms, void (*put)(void *ctx, str name, str bytes),
                 void *ctx)
{
    struct writing w = {.x = x,
                        .mean_words = 1,
                        .first_forms = BUF_INIT,
                        .texts = BUF_INIT,
                        .name = BUF_INIT,
                        .bytes = BUF_INIT,
                        .line = BUF_INIT,
                        .put = put,
                        .ctx = ctx};
    size_t words = 0, bytes = 0;
    for (size_t i = 0; i < x->unit_count; i++)
        words += x->units[i].words, bytes += x->units[i].text.len;
    w.dictionary_bytes = bytes < SMALL_SITE ? SMALL_DICTIONARY : LARGE_DICTIONARY;
    w.text_bytes = bytes / TEXTS < SMALL_TEXT   ? SMALL_TEXT
                   : bytes / TEXTS < LARGE_TEXT ? bytes / TEXTS
                                                : LARGE_TEXT;
    if (words)
        w.mean_words = (double)words / (double)x->unit_count;
    weigh_units(&w);
    sort_postings(&w);
    put_dictionaries(&w);
    put_texts(&w);
    put_first(&w, synonyms);
    buf_free(&w.first_forms), buf_free(&w.texts), buf_free(&w.name), buf_free(&w.bytes),
        buf_free(&w.line);
}
