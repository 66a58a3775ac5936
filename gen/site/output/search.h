// The search index of a language: a classic script that sets a variable, made from what each page's render left.
#ifndef GEN_SITE_SEARCH_H
#define GEN_SITE_SEARCH_H

#include "gen/site/output/build_state.h"

// Whether a page of this site is searched by all its words; else by its title, headings and description.
bool search_is_full(const struct site *site, const struct language *l);
// What a worker keeps between pages.
struct search_words;
struct search_words *search_words_new(void);
void search_words_free(struct search_words *w);
// Fills out, which is empty, with what the index needs of a page: its words, lower-cased, each once, a line feed behind each.
void search_page(struct search_words *w, const struct site *site, const struct language *l, const struct page *p,
                 const struct page_output *o, buf *out);
// Of what the index shows of a page beside its title: url, description, search.
uint64_t search_hash(const struct rendered_page *p);
// Writes the index of every language; view_site.search_index has the urls.
void search_write(struct build *b);
// Address of a language's index; "" when the settings want none.
str search_url(const struct site *site, const struct language *l, arena *a);

#endif
