// The search index of a language: words of its pages, broken by ICU where a script has no spaces, and where they occur.
#include "gen/site/search.h"

#include <stdlib.h>
#include <string.h>
#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>

#include "gen/site/nav.h"
#include "gen/site/record.h"
#include "gen/text/escape.h"

enum { FULL_PAGES = 300, MAX_WORD = 40, MIN_ASCII_WORD = 2 };

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

// A set of words in order of first use, as offsets into out; its table grows with it.
struct words {
    buf *out;
    uint32_t *slots;
    size_t slot_count, count;
};

static void words_add(struct words *w, str word);

static void words_grow(struct words *w)
{
    str all = buf_view(w->out), word;
    buf copy = BUF_INIT;
    buf_str(&copy, all);
    free(w->slots);
    w->slot_count = w->slot_count ? w->slot_count * 4 : 256;
    w->slots = calloc(w->slot_count, sizeof *w->slots);
    if (!w->slots) buf_no_memory();
    w->count = 0;
    buf_clear(w->out);
    for (str rest = buf_view(&copy); str_line(&rest, &word);) words_add(w, word);
    buf_free(&copy);
}

static void words_add(struct words *w, str word)
{
    if (w->count * 2 >= w->slot_count) words_grow(w);
    size_t i = str_hash(word) & (w->slot_count - 1);
    for (; w->slots[i]; i = (i + 1) & (w->slot_count - 1)) {
        const char *there = w->out->ptr + w->slots[i] - 1;
        if (!memcmp(there, word.ptr, word.len) && there[word.len] == '\n') return;
    }
    w->slots[i] = (uint32_t)w->out->len + 1;
    buf_str(w->out, word);
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

// One code point as it is looked for: lower case, without accents of Latin, Greek and Cyrillic letters. 0 ends a word.
static uint32_t folded(uint32_t c, const UNormalizer2 *nfd)
{
    if (c < 0x80) {
        if (c >= 'A' && c <= 'Z') return c + 32;
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : 0;
    }
    int8_t type = u_charType((UChar32)c);
    bool mark = type == U_NON_SPACING_MARK || type == U_COMBINING_SPACING_MARK;
    if (!mark && !u_isalnum((UChar32)c)) return 0;
    if (c < 0x590) {
        UChar parts[8];
        UErrorCode e = U_ZERO_ERROR;
        int32_t n = unorm2_getDecomposition(nfd, (UChar32)c, parts, 8, &e);
        if (n > 0 && U_SUCCESS(e)) c = parts[0];
        if (c >= 0x300 && c < 0x370) return UINT32_MAX;
    }
    return (uint32_t)u_foldCase((UChar32)c, U_FOLD_CASE_DEFAULT);
}

static void put_words(struct words *w, str text, const UNormalizer2 *nfd)
{
    char word[MAX_WORD + 4];
    size_t len = 0, n;
    for (size_t i = 0; i <= text.len; i += n) {
        uint32_t c = 0;
        n = 1;
        if (i < text.len) {
            unsigned char byte = (unsigned char)text.ptr[i];
            if (byte >= 0x80) c = folded(utf8_next(str_slice(text, i, text.len), &n), nfd);
            else c = folded(byte, nfd);
        }
        if (c == UINT32_MAX) continue;
        if (c && c < 0x80) {
            if (len < MAX_WORD) word[len++] = (char)c;
        } else if (c) {
            buf one = BUF_INIT;
            buf_utf8(&one, c);
            if (len + one.len <= MAX_WORD) memcpy(word + len, one.ptr, one.len), len += one.len;
            buf_free(&one);
        } else {
            if (len >= MIN_ASCII_WORD) words_add(w, (str){word, len});
            len = 0;
        }
    }
}

// Words as ICU's dictionaries find them.
static void put_broken(struct words *w, str text, const struct language *l, const UNormalizer2 *nfd)
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

static void put_text(struct words *w, str text, const struct language *l, const UNormalizer2 *nfd)
{
    if (has_spaces(l)) put_words(w, text, nfd);
    else put_broken(w, text, l, nfd);
}

void search_page(const struct site *site, const struct language *l, const struct page *p, const struct page_output *o, buf *out)
{
    struct words w = {.out = out};
    UErrorCode e = U_ZERO_ERROR;
    const UNormalizer2 *nfd = unorm2_getNFDInstance(&e);
    if (site->settings.search == SEARCH_NONE) return;
    put_text(&w, p->title, l, nfd);
    put_text(&w, o->description, l, nfd);
    for (size_t i = 0; i < o->md.heading_count; i++) put_text(&w, o->md.headings[i].text, l, nfd);
    if (search_is_full(site, l)) put_text(&w, str_slice(buf_view(&o->twin), 0, o->twin.len), l, nfd);
    free(w.slots);
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

static void index_page(struct indexing *x, const struct page *p, const struct record_page *r)
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
        const struct record_page *r = record_of(b, i, l->index);
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

// Of all that the index shows: each page's address, title, description and words.
static uint64_t index_digest(const struct build *b, const struct language *l)
{
    uint64_t h = 0;
    for (size_t i = 0; i < b->site.document_count; i++) {
        const struct page *p = nav_page(&b->site, b->site.documents[i], l);
        const struct record_page *r = record_of(b, i, l->index);
        if (!p || !r) continue;
        uint64_t parts[5] = {h, str_hash(r->url), str_hash(p->title), str_hash(r->description), str_hash(r->search)};
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
