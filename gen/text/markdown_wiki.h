// Wiki links: [[Note#Heading|words]] and ![[picture.png]], as Obsidian has them.
#ifndef GEN_TEXT_MARKDOWN_WIKI_H
#define GEN_TEXT_MARKDOWN_WIKI_H

#include "gen/base/arena.h"

struct wiki_link {
    str target;  // "Note#Heading"
    str words;   // that it shows
    bool is_picture;
};

// The parts of a wiki link that is written as tag, its brackets included, "!" in front of them or
// not. What is made lives in a.
struct wiki_link wiki_parse(str tag, arena *a);
// The end of the wiki link at s[at], which is '[' or the '!' in front; 0 for none.
size_t wiki_end(str s, size_t at);

// The id of the block that is named "^name".
str wiki_block_id(str name, arena *a);
// A text with the words of its wiki links in their place. Lives in a.
str wiki_plain(str s, arena *a);

#endif
