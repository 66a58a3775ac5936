// What the two files share that put hidden syntax back into the tree.
#ifndef GEN_TEXT_MARKDOWN_FOREIGN_SHOW_H
#define GEN_TEXT_MARKDOWN_FOREIGN_SHOW_H

#include "gen/text/markdown_foreign.h"

enum shown_as { AS_NOTHING, AS_LABEL, AS_LINK, AS_CODE, AS_WORDS, AS_IMAGE, AS_OPENED, AS_CLOSED };

struct showing {
    struct md *r;
    cmark_node *block;  // whose inlines are walked
    bool alone;         // the tag is all that its paragraph has
    struct map closed;  // names of all end tags of the page
    struct md_exports exports;
    str first;  // the first tag that is shown as code
    size_t first_at, count;
    str icon;    // the name of the last icon that shows nothing
    str opened;  // the last tag that encloses words, the node that it is in, and what is before it
    cmark_node *opened_in, *opened_behind;
    struct map icons;  // names that the page imports from packages of icons
    bool icons_read;
};

static inline bool md_is_hidden_start(char c)
{
    return c == MD_HIDDEN_TAG || c == MD_HIDDEN_BRACKET || c == MD_HIDDEN_BANG ||
           c == MD_HIDDEN_COLON || c == MD_HIDDEN_BRACE;
}

// Counts a tag that is shown as code.
void md_show_unread(struct showing *s, str tag);
// What an element is shown as: nothing when what it encloses is shown, words in bold or with a
// link, else its tag as code.
enum shown_as md_show_element_as(struct showing *s, str tag, str *words, str *href);
// The picture that a component shows, <ThemedImage sources={{light: '/x.png', ...}} />; NULL for
// any other.
cmark_node *md_component_picture(struct showing *s, str tag);
bool md_show_is_raw(str tag);  // {% raw %} or its end
// Puts a wiki link, its brackets included, in front of place, as a link or a picture.
void md_wiki_show(struct md *r, cmark_node *place, str tag);
// What a tag that may be known is shown as: a link or picture of href, words; nothing for the tag
// of a block, code for one that is not known.
enum shown_as md_shortcode_as(struct md *r, str tag, str *words, str *href);
// What stands between the tag that was opened last and place becomes a link to href, or bold.
void md_show_enclose(struct showing *s, cmark_node *place, str href, bool strong);
// Notes that a tag is opened at place.
void md_show_open(struct showing *s, cmark_node *place, str tag);
// Puts that in front of place; false for one that is not known.
bool md_shortcode_show(struct showing *s, cmark_node *place, str tag);
// {% raw %} in a block of code keeps Liquid from reading it, and is not shown.
void md_raw_lines_drop(cmark_node *n);
// Shows {{</* name */>}} of a listing as it is meant.
void md_shortcode_unescape(struct md *r, cmark_node *n);
static inline bool md_may_be_shortcode(const struct md *r, str tag)
{
    unsigned on = r->o->foreign;
    return str_starts(tag, STR("{%")) ? on & (MD_FOREIGN_GITBOOK | MD_FOREIGN_LIQUID)
                                      : on & MD_FOREIGN_SHORTCODES && str_starts(tag, STR("{{"));
}
void *md_show_own(void);  // the user data of a node that was put in
// What is shown for a short name between colons.
str md_show_emoji(struct showing *s, str tag);
// The value of {NAME} that the page itself gives.
bool md_show_value(struct showing *s, str tag, str *words);
// What was hidden in a block's text becomes code, what was hidden in its tags is put back.
void md_show_html_block(struct showing *s, cmark_node *n);

#endif
