// Collects the words of a language's pages: terms become forms, forms of one stem a group, and each group knows its units.
#include "gen/site/search/index.h"

#include <libstemmer.h>
#include <string.h>

#include "gen/text/terms.h"

// Snowball's name of a language is its code, but for Norwegian's two.
static struct sb_stemmer *stemmer_of(str tag)
{
    char code[8] = "";
    size_t n = str_find(tag, '-');
    if (n >= sizeof code) return NULL;
    memcpy(code, tag.ptr, n);
    if (!strcmp(code, "nb") || !strcmp(code, "nn")) memcpy(code, "no", 3);
    return sb_stemmer_new(code, "UTF_8");
}

void index_begin(struct index *x, str tag)
{
    *x = (struct index){.stemmer = stemmer_of(tag)};
}

void index_end(struct index *x)
{
    if (x->stemmer) sb_stemmer_delete(x->stemmer);
    arena_free(&x->arena);
}

static bool has_digit(str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] >= '0' && s.ptr[i] <= '9') return true;
    return false;
}

// Whether a form is a single letter, which a mark had beside it: no word.
static bool is_letter(str form)
{
    size_t n = 0;
    if (form.len) utf8_next(form, &n);
    return n == form.len && !has_digit(form) && !terms_is_pair(form);
}

// The group of a form that is met for the first time.
static struct word_group *group_of_stem(struct index *x, str term, str folded)
{
    buf stem = BUF_INIT;
    str key = folded;
    if (x->stemmer && !has_digit(folded) && !terms_is_pair(folded)) {
        const sb_symbol *s = sb_stemmer_stem(x->stemmer, (const sb_symbol *)term.ptr, (int)term.len);
        if (!s) buf_no_memory();
        terms_fold((str){(const char *)s, (size_t)sb_stemmer_length(x->stemmer)}, &stem);
        if (stem.len) key = buf_view(&stem);
    }
    void **slot = map_put(&x->by_stem, &x->arena, key, NULL);
    if (!*slot) *slot = arena_new(&x->arena, struct word_group, 1);
    buf_free(&stem);
    return *slot;
}

static struct word_group *group_of_term(struct index *x, str term)
{
    bool is_new;
    void **slot = map_put(&x->by_term, &x->arena, term, &is_new);
    if (!is_new) return *slot;
    buf folded = BUF_INIT;
    terms_fold(term, &folded);
    struct word_group *g = NULL;
    if (!is_letter(buf_view(&folded))) {
        void **form = map_put(&x->by_form, &x->arena, buf_view(&folded), &is_new);
        if (is_new) {
            str text = x->by_form.entries[x->by_form.count - 1].key;
            *form = group_of_stem(x, term, text);
            x->forms = arena_grow(&x->arena, x->forms, x->form_count, &x->form_cap, x->form_count + 1, sizeof *x->forms);
            x->forms[x->form_count++] = (struct form){text, *form};
        }
        g = *form;
    }
    buf_free(&folded);
    return *slot = g;
}

static void add_posting(struct index *x, struct word_group *g, uint32_t unit, const struct unit_term *t)
{
    struct posting *last = g->count ? &g->postings[g->count - 1] : NULL;
    if (!last || last->unit != unit) {
        g->postings = arena_grow(&x->arena, g->postings, g->count, &g->cap, g->count + 1, sizeof *g->postings);
        last = &g->postings[g->count++];
        *last = (struct posting){.unit = unit};
    }
    last->count = (uint8_t)(last->count + t->count < 255 ? last->count + t->count : 255);
    last->in_heading |= t->in_heading;
}

static void add_unit(struct index *x, struct unit *u)
{
    struct unit_term t;
    uint32_t number = (uint32_t)x->unit_count;
    x->units = arena_grow(&x->arena, x->units, x->unit_count, &x->unit_cap, x->unit_count + 1, sizeof *x->units);
    x->units[x->unit_count++] = (struct indexed_unit){u->anchor, u->heading, u->text, u->heading_words, u->words,
                                                      (uint32_t)x->page_count - 1};
    while (unit_next_term(u, &t)) {
        struct word_group *g = group_of_term(x, t.term);
        if (g) add_posting(x, g, number, &t);
    }
}

void index_page(struct index *x, str url, str title, str packed)
{
    struct units units = units_open(packed);
    struct unit u;
    x->pages = arena_grow(&x->arena, x->pages, x->page_count, &x->page_cap, x->page_count + 1, sizeof *x->pages);
    x->pages[x->page_count++] = (struct indexed_page){url, title, (uint32_t)x->unit_count};
    while (units_next(&units, &u)) add_unit(x, &u);
}
