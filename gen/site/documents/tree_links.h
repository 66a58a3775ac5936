// Links of trees of others: by the addresses that a page has in its own generator, in another case,
// or beside the source's page.
#ifndef GEN_SITE_TREE_LINKS_H
#define GEN_SITE_TREE_LINKS_H

#include "gen/site/documents/assets.h"
#include "gen/site/source/site.h"

// What a destination means before it is looked for: Liquid's {{ site.baseurl }}, {% link FILE %}
// and their like, @site/FILE, the tree's base path. Lives in a. *unread: it holds unknown syntax.
str tree_destination(const struct site *site, str destination, bool *unread, arena *a);

struct tree_target {
    const struct page *page;          // or asset; neither: nothing was found
    const struct language *language;  // that the destination names; NULL for none
    struct asset *asset;
    bool other_case;  // found only without regard to capital letters
};

// Whether a destination leads above the top of the site: from the page's address, or to an address
// of the host that does not begin with the tree's base path. Others serve what is there.
bool tree_climbs_out(const struct site *site, const struct page *p, str written, arena *a);

// What path means in page p: absolute with a slash in front, else relative. d as for link_resolve.
struct tree_target tree_find(const struct site *site, const struct page *p, str path, arena *a,
                             struct diag *d);

// Whether an absolute path is an address that page p itself has: translations may share one.
bool tree_is_own(const struct site *site, const struct page *p, str path, arena *a);
// Whether path leads below an address whose files the settings take from where there is nothing: a
// submodule, or what a script fetches.
bool tree_is_absent(const struct site *site, const struct page *p, str path, arena *a);
// Whether path means a page that the tree's generator makes of HTML, which is not read: donate.html
// for /donate/.
bool tree_is_html(const struct site *site, const struct page *p, str path, arena *a);
// The file of ours in place of one that other generators write: the feed of language l for
// /feed.xml, the page for what is not there for /404. "" for any other path.
str tree_made(const struct site *site, const struct language *l, str path, arena *a);

#endif
