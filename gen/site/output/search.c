// The search index of a language: words of its pages, broken by ICU where a script has no spaces, and where they occur.
#include "gen/site/output/search.h"

#include <stdlib.h>
#include <string.h>
#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>

#include "gen/site/documents/nav.h"
#include "gen/site/output/rendered.h"
#include "gen/base/escape.h"

enum { FULL_PAGES = 300, MAX_WORD = 40, MIN_WORD = 2 };

#define NO_SIGN UINT32_MAX   // a mark that is left out

bool search_is_full(const struct site *site, const struct language *l)
{
    (void)l;
    if (site->settings.search != SEARCH_AUTO) return site->settings.search == SEARCH_FULL;
    return site->page_count <= FULL_PAGES * site->language_count;
}

str search_url(const struct site *site, const struct language *l, arena *a)
{
    if (site->settings.search == SEARCH_NONE) return STR_NONE;
    return site->by_folder ? arena_printf(a, "%.*s/search.js", STR_ARG(l->tag)) : STR("search.js");
}

// A set of words in order of first use, as places in out. The table is kept from page to page: what is in it counts only
// when it is of this round.
struct search_words {
    struct slot { uint32_t round, place, hash; } *slots;
    size_t slot_count, count;
    uint32_t round;
    buf *out;
};

struct search_words *search_words_new(void)
{
    struct search_words *w = calloc(1, sizeof *w);
    if (!w) buf_no_memory();
    return w;
}

void search_words_free(struct search_words *w)
{
    free(w->slots);
    free(w);
}

static void words_grow(struct search_words *w)
{
    struct slot *old = w->slots;
    size_t count = w->slot_count;
    w->slot_count = count ? count * 2 : 2048;
    w->slots = calloc(w->slot_count, sizeof *w->slots);
    if (!w->slots) buf_no_memory();
    for (size_t i = 0; i < count; i++) {
        if (old[i].round != w->round) continue;
        size_t k = old[i].hash & (w->slot_count - 1);
        while (w->slots[k].round == w->round) k = (k + 1) & (w->slot_count - 1);
        w->slots[k] = old[i];
    }
    free(old);
}

static void words_begin(struct search_words *w, buf *out)
{
    w->out = out;
    w->count = 0;
    w->round++;
}

static void words_add(struct search_words *w, const char *word, size_t len, uint32_t hash)
{
    if (w->count * 2 >= w->slot_count) words_grow(w);
    size_t i = hash & (w->slot_count - 1);
    for (; w->slots[i].round == w->round; i = (i + 1) & (w->slot_count - 1)) {
        const char *there = w->out->ptr + w->slots[i].place;
        if (w->slots[i].hash == hash && !memcmp(there, word, len) && there[len] == '\n') return;
    }
    w->slots[i] = (struct slot){w->round, (uint32_t)w->out->len, hash};
    buf_put(w->out, word, len);
    buf_char(w->out, '\n');
    w->count++;
}

static bool has_spaces(const struct language *l)
{
    static const char *const without[] = {"Hans", "Hant", "Jpan", "Thai", "Khmr", "Laoo", "Mymr", "Tibt"};
    str script = locale_script(l->locale);
    for (size_t i = 0; i < sizeof without / sizeof without[0]; i++)
        if (str_eq(script, str_c(without[i]))) return false;
    return true;
}

// One code point beyond ASCII as it is looked for: lower case, without accents of Latin, Greek and Cyrillic letters.
// 0 ends a word.
static uint32_t folded(uint32_t c, const UNormalizer2 *nfd)
{
    int8_t type = u_charType((UChar32)c);
    bool mark = type == U_NON_SPACING_MARK || type == U_COMBINING_SPACING_MARK;
    if (!mark && !u_isalnum((UChar32)c)) return 0;
    if (c < 0x590) {
        UChar parts[8];
        UErrorCode e = U_ZERO_ERROR;
        int32_t n = unorm2_getDecomposition(nfd, (UChar32)c, parts, 8, &e);
        if (n > 0 && U_SUCCESS(e)) c = parts[0];
        if (c >= 0x300 && c < 0x370) return NO_SIGN;
        if (c < 0x80) return (uint32_t)(unsigned char)u_tolower((UChar32)c);
    }
    return (uint32_t)u_foldCase((UChar32)c, U_FOLD_CASE_DEFAULT);
}

// What an ASCII byte is in a word; 0 ends it.
static const char ascii_folded[128] = {
    ['0'] = '0', ['1'] = '1', ['2'] = '2', ['3'] = '3', ['4'] = '4', ['5'] = '5', ['6'] = '6', ['7'] = '7', ['8'] = '8',
    ['9'] = '9', ['a'] = 'a', ['b'] = 'b', ['c'] = 'c', ['d'] = 'd', ['e'] = 'e', ['f'] = 'f', ['g'] = 'g', ['h'] = 'h',
    ['i'] = 'i', ['j'] = 'j', ['k'] = 'k', ['l'] = 'l', ['m'] = 'm', ['n'] = 'n', ['o'] = 'o', ['p'] = 'p', ['q'] = 'q',
    ['r'] = 'r', ['s'] = 's', ['t'] = 't', ['u'] = 'u', ['v'] = 'v', ['w'] = 'w', ['x'] = 'x', ['y'] = 'y', ['z'] = 'z',
    ['A'] = 'a', ['B'] = 'b', ['C'] = 'c', ['D'] = 'd', ['E'] = 'e', ['F'] = 'f', ['G'] = 'g', ['H'] = 'h', ['I'] = 'i',
    ['J'] = 'j', ['K'] = 'k', ['L'] = 'l', ['M'] = 'm', ['N'] = 'n', ['O'] = 'o', ['P'] = 'p', ['Q'] = 'q', ['R'] = 'r',
    ['S'] = 's', ['T'] = 't', ['U'] = 'u', ['V'] = 'v', ['W'] = 'w', ['X'] = 'x', ['Y'] = 'y', ['Z'] = 'z',
};

struct word { char bytes[MAX_WORD + 4]; size_t len; };

static void word_add(struct word *word, uint32_t c)
{
    char bytes[4];
    size_t n = 0;
    if (c < 0x800) {
        bytes[n++] = (char)(0xC0 | c >> 6);
    } else {
        if (c < 0x10000) bytes[n++] = (char)(0xE0 | c >> 12);
        else bytes[n++] = (char)(0xF0 | c >> 18), bytes[n++] = (char)(0x80 | (c >> 12 & 0x3F));
        bytes[n++] = (char)(0x80 | (c >> 6 & 0x3F));
    }
    bytes[n++] = (char)(0x80 | (c & 0x3F));
    if (word->len + n > MAX_WORD) return;
    memcpy(word->bytes + word->len, bytes, n);
    word->len += n;
}

static void word_end(struct search_words *w, struct word *word)
{
    uint32_t hash = 2166136261u;   // FNV-1a
    if (word->len >= MIN_WORD) {
        for (size_t i = 0; i < word->len; i++) hash = (hash ^ (unsigned char)word->bytes[i]) * 16777619u;
        words_add(w, word->bytes, word->len, hash ^ hash >> 15);
    }
    word->len = 0;
}

static void put_words(struct search_words *w, str text, const UNormalizer2 *nfd)
{
    struct word word = {.len = 0};
    for (size_t i = 0, n; i < text.len; i += n) {
        unsigned char byte = (unsigned char)text.ptr[i];
        n = 1;
        if (byte < 0x80) {
            char c = ascii_folded[byte];
            if (!c) word_end(w, &word);
            else if (word.len < MAX_WORD) word.bytes[word.len++] = c;
            continue;
        }
        uint32_t c = folded(utf8_next(str_slice(text, i, text.len), &n), nfd);
        if (!c) word_end(w, &word);
        else if (c < 0x80 && word.len < MAX_WORD) word.bytes[word.len++] = (char)c;
        else if (c >= 0x80 && c != NO_SIGN) word_add(&word, c);
    }
    word_end(w, &word);
}

// Words as ICU's dictionaries find them, in a run without ASCII.
static void put_broken(struct search_words *w, str text, const struct language *l, const UNormalizer2 *nfd)
{
    UErrorCode e = U_ZERO_ERROR;
    char tag[32] = "";
    memcpy(tag, l->tag.ptr, l->tag.len < sizeof tag ? l->tag.len : sizeof tag - 1);
    UText *u = utext_openUTF8(NULL, text.ptr, (int64_t)text.len, &e);
    UBreakIterator *it = ubrk_open(UBRK_WORD, tag, NULL, 0, &e);
    ubrk_setUText(it, u, &e);
    if (U_SUCCESS(e)) {
        int32_t from = ubrk_first(it), to;
        for (; (to = ubrk_next(it)) != UBRK_DONE; from = to) {
            if (ubrk_getRuleStatus(it) < UBRK_WORD_NUMBER) continue;
            put_words(w, str_slice(text, (size_t)from, (size_t)to), nfd);
        }
    }
    ubrk_close(it);
    utext_close(u);
}

// Text without spaces goes to ICU; what is ASCII in it does not need to.
static void put_unspaced(struct search_words *w, str text, const struct language *l, const UNormalizer2 *nfd)
{
    for (size_t i = 0; i < text.len;) {
        size_t end = i;
        while (end < text.len && (unsigned char)text.ptr[end] < 0x80) end++;
        if (end > i) put_words(w, str_slice(text, i, end), nfd);
        for (i = end; end < text.len && ((unsigned char)text.ptr[end] >= 0x80 || text.ptr[end] == '\n'); end++) {}
        if (end > i) put_broken(w, str_slice(text, i, end), l, nfd);
        i = end;
    }
}

static void put_text(struct search_words *w, str text, const struct language *l, const UNormalizer2 *nfd)
{
    if (has_spaces(l)) put_words(w, text, nfd);
    else put_unspaced(w, text, l, nfd);
}

void search_page(struct search_words *w, const struct site *site, const struct language *l, const struct page *p,
                 const struct page_output *o, buf *out)
{
    UErrorCode e = U_ZERO_ERROR;
    const UNormalizer2 *nfd = unorm2_getNFDInstance(&e);
    if (site->settings.search == SEARCH_NONE) return;
    words_begin(w, out);
    put_text(w, p->title, l, nfd);
    if (search_is_full(site, l)) {
        put_text(w, buf_view(&o->markdown), l, nfd);
        return;
    }
    put_text(w, o->description, l, nfd);
    for (size_t i = 0; i < o->md.heading_count; i++) put_text(w, o->md.headings[i].text, l, nfd);
}

// A language's index while it is made: its pages, and for each word the pages that have it.
struct posting { uint32_t page; struct posting *next; };
struct term { str word; struct posting *first, *last; uint32_t count; };

struct indexing {
    arena arena;
    struct map terms;       // word -> struct term *
    buf docs;
    uint32_t pages;
};

static void index_words(struct indexing *x, str words)
{
    str word;
    while (str_line(&words, &word)) {
        if (!word.len) continue;
        void **slot = map_put(&x->terms, &x->arena, word, NULL);
        struct term *t = *slot;
        if (!t) {
            t = *slot = arena_new(&x->arena, struct term, 1);
            t->word = word;
        }
        struct posting *p = arena_new(&x->arena, struct posting, 1);
        p->page = x->pages;
        if (t->last) t->last->next = p;
        else t->first = p;
        t->last = p;
        t->count++;
    }
}

static void put_quoted(buf *out, str s)
{
    buf_char(out, '"');
    escape_json(out, s);
    buf_char(out, '"');
}

static void index_page(struct indexing *x, const struct page *p, const struct rendered_page *r)
{
    enum { SHOWN = 120 };
    str description = r->description;
    if (description.len > SHOWN) {
        size_t end = SHOWN;
        while (end && ((unsigned char)description.ptr[end] & 0xC0) == 0x80) end--;
        description.len = end;
    }
    if (x->pages) buf_char(&x->docs, ',');
    buf_lit(&x->docs, "\n[");
    put_quoted(&x->docs, r->url);
    buf_char(&x->docs, ',');
    put_quoted(&x->docs, p->title);
    buf_char(&x->docs, ',');
    put_quoted(&x->docs, description);
    buf_char(&x->docs, ']');
    index_words(x, r->search);
    x->pages++;
}

static int by_word(const void *a, const void *b)
{
    return str_cmp((*(struct term *const *)a)->word, (*(struct term *const *)b)->word);
}

static void put_terms(struct indexing *x, buf *out)
{
    struct term **terms = arena_new(&x->arena, struct term *, x->terms.count);
    for (size_t i = 0; i < x->terms.count; i++) terms[i] = x->terms.entries[i].value;
    qsort(terms, x->terms.count, sizeof *terms, by_word);
    for (size_t i = 0; i < x->terms.count; i++) {
        if (i) buf_char(out, ',');
        buf_char(out, '\n');
        put_quoted(out, terms[i]->word);
        buf_lit(out, ":[");
        for (const struct posting *p = terms[i]->first; p; p = p->next) {
            buf_u64(out, p->page);
            if (p->next) buf_char(out, ',');
        }
        buf_char(out, ']');
    }
}

static void make_index(struct build *b, void *ctx, buf *out)
{
    const struct language *l = ctx;
    const struct site *site = &b->site;
    struct indexing x = {.arena = ARENA_INIT, .docs = BUF_INIT};
    for (size_t i = 0; i < site->document_count; i++) {
        const struct page *p = nav_page(site, site->documents[i], l);
        const struct rendered_page *r = rendered_of(b, i, l->index);
        if (p && r) index_page(&x, p, r);
    }
    buf_lit(out, "window.vramdocIndex={\"docs\":[");
    buf_str(out, buf_view(&x.docs));
    buf_lit(out, "],\n\"terms\":{");
    put_terms(&x, out);
    buf_lit(out, "}};\n");
    buf_free(&x.docs);
    arena_free(&x.arena);
}

uint64_t search_hash(const struct rendered_page *p)
{
    uint64_t parts[3] = {str_hash(p->url), str_hash(p->description), str_hash(p->search)};
    return str_hash((str){(const char *)parts, sizeof parts});
}

// Of all that the index shows: each page's address, title, description and words.
static uint64_t index_digest(const struct build *b, const struct language *l)
{
    uint64_t h = 0;
    for (size_t i = 0; i < b->site.document_count; i++) {
        const struct page *p = nav_page(&b->site, b->site.documents[i], l);
        const struct rendered_page *r = rendered_of(b, i, l->index);
        if (!p || !r) continue;
        uint64_t parts[3] = {h, str_hash(p->title), r->search_hash};
        h = str_hash((str){(const char *)parts, sizeof parts});
    }
    return h;
}

void search_write(struct build *b)
{
    const struct site *site = &b->site;
    for (size_t i = 0; i < site->language_count; i++) {
        str url = b->view_site.search_index[i];
        if (url.len) build_output(b, url, index_digest(b, site->languages[i]), make_index, site->languages[i]);
    }
}
