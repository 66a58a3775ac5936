// The search index of a language: the forms of its words, which units have them and how much, and the units' texts.
#ifndef GEN_SITE_SEARCH_INDEX_H
#define GEN_SITE_SEARCH_INDEX_H

#include "gen/base/arena.h"
#include "gen/base/map.h"
#include "gen/site/search/units.h"

// A unit that has a word: how often in its text, whether in its heading.
struct posting { uint32_t unit; uint8_t count, in_heading; };

// Forms of one stem, and where they occur.
struct word_group { struct posting *postings; size_t count, cap; str code; };

struct form { str text; struct word_group *group; };   // folded

struct indexed_unit { str anchor, heading, text; uint32_t heading_words, words, page; };
struct indexed_page { str url, title; uint32_t first; };   // first: of its units

struct index {
    arena arena;
    struct map by_term, by_form, by_stem;   // -> struct word_group *; by_term: as pages have it, not folded
    struct form *forms; size_t form_count, form_cap;
    struct indexed_unit *units; size_t unit_count, unit_cap;
    struct indexed_page *pages; size_t page_count, page_cap;
    void *stemmer;                          // NULL: words of this language match as they are
};

// tag: of the language.
void index_begin(struct index *x, str tag);
void index_end(struct index *x);
// Adds a page that units_pack() has packed. The strings must live as long as x.
void index_page(struct index *x, str url, str title, str packed);

// Of chunks.c: hands each of the index's files to put, the first one last. name: "" of the first, which names the others; bytes:
// a script that calls vramdocSearch(name, ...). synonyms: as the settings have them.
void index_files(struct index *x, str synonyms, void (*put)(void *ctx, str name, str bytes), void *ctx);

#endif
