// The search index of a language: the forms of its words, which units have them and how much, and
// the units' texts.
#ifndef GEN_SITE_SEARCH_INDEX_H
#define GEN_SITE_SEARCH_INDEX_H

#include "gen/base/arena.h"
#include "gen/base/map.h"
#include "gen/site/search/units.h"
#include "gen/text/terms.h"

// That a unit has a word: how often in its text (255 for more), whether in its heading.
struct posting {
    uint32_t group, unit;
    uint8_t count, in_heading;
};

// Forms of one stem. chunk: the dictionary that it was put into last, and its forms there.
struct word_group {
    uint32_t count, chunk, first_form, last_form;
    str code;
};

// The newest posting of a group, counted from 1, and its unit: what each word of a text asks for,
// so it is kept small.
struct newest {
    uint32_t posting, unit;
};

struct form {
    str text;  // folded
    uint32_t group, next;
};

struct indexed_unit {
    str anchor, heading, text;
    uint32_t heading_words, words, page;
};
struct indexed_page {
    str url, title;
    uint32_t first;  // of its units
};

// A table of words as pages have them, and of their folded forms; most are both. group: counted
// from 1, 0 where there is none. name: 0 of a word of eight bytes at most, which its hash tells
// from all others, else its place in names, counted from 1.
enum { AS_WRITTEN = 1, AS_FORM = 2 };
struct word {
    uint64_t hash;
    uint32_t group, name : 30, kinds : 2;
};

// One index after the other: what is kept of the last is memory. The arrays are malloc's, strings
// are in the arena.
struct index {
    arena arena;
    struct terms *terms;
    struct terms_folds *folds;
    buf folded, stem;
    struct word *words;
    size_t word_count, slot_count;
    str *names;
    size_t name_count, name_cap;
    struct map by_stem;  // -> number of a group, and 1
    struct word_group *groups;
    size_t group_count, group_cap;  // the first is of what is no word
    struct newest *newest;
    size_t newest_cap;  // of each group
    struct posting *postings;
    size_t posting_count, posting_cap;
    uint32_t *codes;
    size_t code_cap;
    struct form *forms;
    size_t form_count, form_cap;
    struct indexed_unit *units;
    size_t unit_count, unit_cap;
    struct indexed_page *pages;
    size_t page_count, page_cap;
    void *stemmer;    // NULL: words of this language match as they are
    bool in_heading;  // while a heading is read
};

struct index *index_new(void);
// Begins the index of a language.
void index_begin(struct index *x, str tag);
// Adds a page that units_pack() has packed. The strings must live as long as x.
void index_page(struct index *x, str url, str title, str packed);

// Room for a number of each posting.
uint32_t *index_codes(struct index *x);

// Of chunks.c: hands each of the index's files to put, the first one last. put is a sink: it
// decides nothing, and the files of a large site are never in memory together. name: "" of the
// first, which names the others; bytes: a script that calls vramdocSearch(name, ...). synonyms: as
// the settings have them.
void index_files(struct index *x, str synonyms, void (*put)(void *ctx, str name, str bytes),
                 void *ctx);

#endif
