// Pages that stand for several: `each: gpu` in the front matter makes one for every kind of GPU that has records.
#ifndef GEN_SITE_EACH_H
#define GEN_SITE_EACH_H

#include "gen/site/source/site.h"

// Whether `each` knows the word.
bool each_knows(str word);
// Puts, for every page whose subject is the word of its front matter, one page for each subject in its place: its key is the
// subject's beside it ("records/gpu" gives "records/nvidia-h200"), and {gpu} in title and description is the subject's name.
void each_expand(struct site *site);
// What is known of a file goes to all pages that are made of it: when it was changed, and its sidecar.
void each_share(struct site *site);

#endif
