// What a link in the text leads to.
#ifndef GEN_SITE_LINKS_H
#define GEN_SITE_LINKS_H

#include "gen/site/source/site.h"

enum link_kind {
    LINK_OUTSIDE,  // target: an address of another site, or of a mailbox
    LINK_HERE,     // an anchor of the same page
    LINK_PAGE,     // target: the address of a page
    LINK_ASSET,    // target: the address of a copied file, which is asset
    LINK_MADE,  // target: a file that the build writes of itself: a feed, the page for what is not
                // there
    LINK_MISSING,      // nothing that the site has
    LINK_PRIVATE,      // a file that is there and is not published: why
    LINK_HIDDEN,       // the same of Markdown, because a name in its path begins with a dot:
                       // .github/CONTRIBUTING.md
    LINK_OUT_OF_SITE,  // climbs above the content folder
    LINK_UNWRITTEN,    // of a vault, to a note that is not there yet
    LINK_UNREAD,       // syntax of another generator that is not read
};

struct link {
    enum link_kind kind;
    str target;  // below the output folder, but for LINK_OUTSIDE
    str anchor;  // without '#', decoded; "" for none
    str tail;    // "?query#anchor" as written
    // Of LINK_PAGE, NULL when the address is a page's without a document.
    const struct document *document;
    bool untranslated;  // the language has no page of it
    struct asset *asset;
    const char *why;
    bool other_case;  // the file's name has other capital letters
};

// What destination means in a page whose source is p, shown in language l. Strings live in a. d
// (may be NULL) takes errors of a file that cannot be read.
struct link link_resolve(const struct site *site, const struct page *p, const struct language *l,
                         str destination, arena *a, struct diag *d);

#endif
