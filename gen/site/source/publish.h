// What of the source is published: which pages, which files beside them, and why the others are
// left out.
#ifndef GEN_SITE_PUBLISH_H
#define GEN_SITE_PUBLISH_H

#include "gen/site/source/site.h"

// X(ID, why): what the last line of a build counts and --verbose says.
#define PUBLISH_LEFT(X) \
    X(DRAFT, "a draft") \
    X(LATER, "its date is to come") \
    X(UNDERSCORE, "its name or its folder's begins with _") \
    X(UNREADABLE, "it cannot be read") \
    X(UNUSED, "nothing refers to it") \
    X(OUTSIDE, "a link that leads out of the content folder") \
    X(NOWHERE, "a link that leads nowhere") \
    X(HIDDEN, "a hidden file") \
    X(KEY, "a key") \
    X(INPUT, "only vramdoc reads it") \
    X(SOURCELESS, "a translation whose source is not there") \
    X(BARE, "it has no front matter") \
    X(TWICE, "another file is the same document") \
    X(NEVER, "its front matter says that it is not rendered") \
    X(IGNORED, "the settings leave it out")

enum publish {
    PUBLISH,
#define X(id, why) LEFT_##id,
    PUBLISH_LEFT(X)
#undef X
};

const char *publish_why(enum publish p);
// Whether the source is a tree of another generator, or a folder without settings of ours: its
// owner did not write it for us, and nothing but what is wrong for certain is an error.
bool site_is_others(const struct site *site);
// Seconds of Unix time: SOURCE_DATE_EPOCH where it is set, else the clock.
int64_t publish_now(void);
// Whether a page is published, by its path, its front matter and the time. Narrows site->since and
// site->until to the time in which the same pages are published.
enum publish publish_page(struct site *site, const struct page *p, const struct front *f);
// The same by its path alone.
enum publish publish_path(const struct site *site, const struct page *p);
// Whether a file that is called as keys are holds nothing but certificates and public keys. path is
// from the current folder.
bool publish_is_public(const char *path);
// Whether a file that is no page may be published at all, by its path.
enum publish publish_file(str path);
// The same in a tree whose files may lie in one hidden folder, .gitbook.
enum publish publish_in_tree(const struct site *site, str path);
// Whether a file that a link names, and that the site does not have, is there all the same, and why
// it is not published: PUBLISH when there is no such file.
enum publish publish_missing(const struct site *site, str path, arena *a);
// Whether a file keeps its name at the root of the site because of what it is called: CNAME,
// robots.txt, .well-known/... in the content folder or its docs/. *url is then its address.
bool publish_at_root(str path, str *url);
// Whether a link in the source may lead to a file or folder of it: never to a key or into .git,
// whatever the link is called.
bool publish_target(void *ctx, str path, bool is_dir);
// Whether a hidden name is read all the same: those that publish_at_root knows, and the open folder
// of the tree. ctx: the site, NULL for no tree.
bool publish_hidden(void *ctx, str path);

#endif
