// Pages that stand for several. `each: gpu` in the front matter makes one for every kind of GPU
// that has records; `each: NAME` one for every line of NAME.tsv beside the page: what it is about,
// then, behind a tab, noindex where search engines are to pass it by.
#ifndef GEN_SITE_EACH_H
#define GEN_SITE_EACH_H

#include "gen/site/source/site.h"

// Whether `each` knows the word on this page: gpu, or the name of a list that lies beside it.
bool each_knows(const struct site *site, const struct page *p, str word);
// Puts, for every page with such a word, one page for each subject in its place: its key is the
// subject's beside it ("records/gpu" gives "records/nvidia-h200"), and {NAME} in title and
// description is the subject's name. Those of a list are in its order.
void each_expand(struct site *site);
// What is known of a file goes to all pages that are made of it: when it was changed, and its
// sidecar.
void each_share(struct site *site);
// Whether a page is one of many alike, of a list: feeds leave it out, and search knows it by its
// title alone.
bool each_listed(const struct page *p);
// Whether it is the page of a kind of GPU that has records.
bool each_recorded(const struct page *p);

#endif
