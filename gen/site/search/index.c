// Collects the words of a language's pages: terms become forms, forms of one stem a group, and each
// group knows its units.
#include "gen/site/search/index.h"

#include <endian.h>
#include <libstemmer.h>
#include <stdlib.h>
#include <string.h>

// Snowball's name of a language is its code, but for Norwegian's two.
static struct sb_stemmer *stemmer_of(str tag)
{
    char code[8] = "";
    size_t n = str_find(tag, '-');
    if (n >= sizeof code)
        return NULL;
    memcpy(code, tag.ptr, n);
    if (!strcmp(code, "nb") || !strcmp(code, "nn"))
        memcpy(code, "no", 3);
    return sb_stemmer_new(code, "UTF_8");
}

struct index *index_new(void)
{
    struct index *x = calloc(1, sizeof *x);
    if (!x)
        buf_no_memory();
    x->terms = terms_new();
    x->folds = terms_folds_new();
    x->folded = x->stem = BUF_INIT;
    return x;
}

// Room for one item more behind count of them; what is there is kept for the next language.
static void *more(void *items, size_t count, size_t *cap, size_t size)
{
    if (count < *cap)
        return items;
    *cap = *cap ? *cap * 2 : 1024;
    items = realloc(items, *cap * size);
    if (!items)
        buf_no_memory();
    return items;
}

uint32_t *index_codes(struct index *x)
{
    if (x->code_cap < x->posting_cap) {
        free(x->codes);
        x->code_cap = x->posting_cap;
        x->codes = malloc(x->code_cap * sizeof *x->codes);
        if (!x->codes)
            buf_no_memory();
    }
    return x->codes;
}

static uint32_t new_group(struct index *x)
{
    x->groups = more(x->groups, x->group_count, &x->group_cap, sizeof *x->groups);
    x->newest = more(x->newest, x->group_count, &x->newest_cap, sizeof *x->newest);
    x->groups[x->group_count] = (struct word_group){0};
    x->newest[x->group_count] = (struct newest){0};
    return (uint32_t)x->group_count++;
}

static void grow_table(struct index *x)
{
    struct word *old = x->words;
    size_t count = x->slot_count;
    x->slot_count = count ? count * 2 : 4096;
    x->words = calloc(x->slot_count, sizeof *x->words);
    if (!x->words)
        buf_no_memory();
    for (size_t i = 0; i < count; i++) {
        if (!old[i].group)
            continue;
        size_t k = old[i].hash & (x->slot_count - 1);
        while (x->words[k].group)
            k = (k + 1) & (x->slot_count - 1);
        x->words[k] = old[i];
    }
    free(old);
}

void index_begin(struct index *x, str tag)
{
    if (x->stemmer)
        sb_stemmer_delete(x->stemmer);
    x->stemmer = stemmer_of(tag);
    arena_reset(&x->arena);
    if (x->word_count)
        memset(x->words, 0, x->slot_count * sizeof *x->words);
    if (!x->slot_count)
        grow_table(x);
    x->by_stem = (struct map){0};
    x->word_count = x->name_count = x->group_count = x->posting_count = x->form_count =
        x->unit_count = x->page_count = 0;
    new_group(x);
}

static bool has_digit(str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (ascii_is_digit(s.ptr[i]))
            return true;
    return false;
}

// The group of a form that is met for the first time.
static uint32_t group_of_stem(struct index *x, str term, str folded)
{
    str key = folded;
    bool is_new;
    if (x->stemmer && !has_digit(folded)) {
        const sb_symbol *s =
            sb_stemmer_stem(x->stemmer, (const sb_symbol *)term.ptr, (int)term.len);
        if (!s)
            buf_no_memory();
        buf_clear(&x->stem);
        terms_fold(x->folds, (str){(const char *)s, (size_t)sb_stemmer_length(x->stemmer)},
                   &x->stem);
        if (x->stem.len)
            key = buf_view(&x->stem);
    }
    void **slot = map_put(&x->by_stem, &x->arena, key, &is_new);
    if (is_new)
        *slot = (void *)(uintptr_t)(new_group(x) + 1);
    return (uint32_t)(uintptr_t)*slot - 1;
}

// One to eight bytes as a number.
static uint64_t packed8(const char *p, size_t n)
{
    if (n < 4)
        return (uint64_t)(uint8_t)p[0] | (uint64_t)(uint8_t)p[n / 2] << n / 2 * 8 |
               (uint64_t)(uint8_t)p[n - 1] << (n - 1) * 8;
    uint32_t head, tail;
    memcpy(&head, p, 4);
    memcpy(&tail, p + n - 4, 4);
    return le32toh(head) | (uint64_t)le32toh(tail) << (n - 4) * 8;
}

// Eight bytes at a time, each time multiplied by an odd number with many bits (2^64 / golden
// ratio). No two words of eight bytes at most have the same: each step can be undone, and no byte
// is 0.
static inline uint64_t hash_of(str s)
{
    uint64_t h = 0;
    for (size_t i = 0; i < s.len; i += 8) {
        h = (h ^ packed8(s.ptr + i, s.len - i < 8 ? s.len - i : 8)) * 0x9E3779B97F4A7C15u;
        h ^= h >> 32;
    }
    return h;
}

// The slot of a word of one of these kinds, or the empty one where it would go.
static inline struct word *find_word(const struct index *x, str text, uint64_t hash, unsigned kinds)
{
    for (size_t k = hash & (x->slot_count - 1);; k = (k + 1) & (x->slot_count - 1)) {
        struct word *w = &x->words[k];
        if (!w->group || (w->hash == hash && w->kinds & kinds &&
                          (w->name ? str_eq(x->names[w->name - 1], text) : text.len <= 8)))
            return w;
    }
}

// text lives as long as the index.
static void add_word(struct index *x, str text, uint64_t hash, unsigned kinds, uint32_t group)
{
    uint32_t name = 0;
    if (x->word_count * 2 >= x->slot_count)
        grow_table(x);
    if (text.len > 8) {
        x->names = more(x->names, x->name_count, &x->name_cap, sizeof *x->names);
        x->names[x->name_count++] = text;
        name = (uint32_t)x->name_count;
    }
    *find_word(x, text, hash, kinds) = (struct word){
        .hash = hash, .group = group + 1, .name = name & 0x3FFFFFFF, .kinds = kinds & 3};
    x->word_count++;
}

static uint32_t new_form(struct index *x, str text, uint32_t group)
{
    x->forms = more(x->forms, x->form_count, &x->form_cap, sizeof *x->forms);
    x->forms[x->form_count++] = (struct form){.text = text, .group = group};
    return group;
}

// The group of a word that is met for the first time; 0 when folding leaves no word of it. kinds:
// the form that it is, too, is added to them; another one is a word of its own.
static uint32_t group_of(struct index *x, str word, uint64_t hash, unsigned *kinds)
{
    buf_clear(&x->folded);
    terms_fold(x->folds, word, &x->folded);
    str form = buf_view(&x->folded);
    bool own = str_eq(form, word);
    if (terms_is_letter(form))
        return 0;
    hash = own ? hash : hash_of(form);
    const struct word *known = find_word(x, form, hash, AS_FORM);
    if (known->group)
        return known->group - 1;
    form = own ? word : arena_str(&x->arena, form);
    uint32_t group = new_form(x, form, group_of_stem(x, word, form));
    if (own)
        *kinds |= AS_FORM;
    else
        add_word(x, form, hash, AS_FORM, group);
    return group;
}

static uint32_t new_word(struct index *x, str term, uint64_t hash)
{
    str word = arena_str(&x->arena, term);
    unsigned kinds = AS_WRITTEN;
    // A pair of letters is a form as it is.
    uint32_t group =
        terms_is_pair(word) ? new_form(x, word, new_group(x)) : group_of(x, word, hash, &kinds);
    add_word(x, word, hash, kinds, group);
    return group;
}

static uint32_t find_group(struct index *x, str term)
{
    uint64_t hash = hash_of(term);
    const struct word *known = find_word(x, term, hash, AS_WRITTEN);
    return known->group ? known->group - 1 : new_word(x, term, hash);
}

static void new_posting(struct index *x, uint32_t group, uint32_t unit)
{
    x->postings = more(x->postings, x->posting_count, &x->posting_cap, sizeof *x->postings);
    x->postings[x->posting_count++] = (struct posting){.group = group, .unit = unit};
    x->newest[group] = (struct newest){(uint32_t)x->posting_count, unit};
}

static void add_term(void *ctx, str term)
{
    struct index *x = ctx;
    struct indexed_unit *u = &x->units[x->unit_count - 1];
    uint32_t unit = (uint32_t)x->unit_count - 1, group = find_group(x, term);
    if (!x->newest[group].posting || x->newest[group].unit != unit)
        new_posting(x, group, unit);
    struct posting *p = &x->postings[x->newest[group].posting - 1];
    if (x->in_heading) {
        u->heading_words++;
        p->in_heading = 1;
    } else {
        u->words++;
        p->count = (uint8_t)(p->count + (p->count < 255));
    }
}

void index_page(struct index *x, str url, str title, str packed)
{
    struct units units = units_open(packed);
    struct unit u;
    x->pages = more(x->pages, x->page_count, &x->page_cap, sizeof *x->pages);
    x->pages[x->page_count++] = (struct indexed_page){url, title, (uint32_t)x->unit_count};
    while (units_next(&units, &u)) {
        x->units = more(x->units, x->unit_count, &x->unit_cap, sizeof *x->units);
        x->units[x->unit_count++] =
            (struct indexed_unit){u.anchor, u.heading, u.text, 0, 0, (uint32_t)x->page_count - 1};
        x->in_heading = true;
        terms_scan(x->terms, u.heading, add_term, x);
        x->in_heading = false;
        terms_scan(x->terms, u.text, add_term, x);
    }
}
