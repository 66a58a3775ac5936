// What a page's path says: its language, and the key that it shares with its translations.
#ifndef GEN_SITE_NAMES_H
#define GEN_SITE_NAMES_H

#include "gen/base/buf.h"
#include "gen/base/map.h"

// How a path can name a language.
enum name_form {
    NAME_PLAIN,
    NAME_FOLDER,         // docs/es/guide.md, es/guide.md
    NAME_FOLDER_SUFFIX,  // pages.es/guide.md, beside pages/guide.md
    NAME_SUFFIX,         // guide.es.md, beside guide.md
    NAME_STEM,           // guide/es.md
    NAME_DASH,           // guide-es.md, guide_es.md
};

struct name {
    enum name_form form;
    str tag;   // as written; "" for NAME_PLAIN
    str key;   // the path without tag, extension, _posts and the date of a post
    str date;  // "2026-05-31" of a post's name, or ""
};

struct names;

// Learns from all paths which tags are meant as languages: in a doubtful form only those that
// several names share, or that are listed. paths and everything found live in a.
struct names *names_learn(const str *paths, size_t count, const str *listed, size_t listed_count,
                          arena *a);
// lang: what the page's front matter says, or "": a tag in the path that equals it is believed in
// any form.
struct name names_split(const struct names *n, str path, str lang, arena *a);
// The same of a path whose language is known otherwise: no tag is looked for.
struct name names_plain(str path, arena *a);
// A key without Jekyll's folder _posts, and the date that a post's name begins with.
str names_strip_post(str key, str *date, arena *a);
// Whether path is a page by its extension.
bool names_is_page(str path);

#endif
