// The units of a page: its sections, long ones in parts, each with the terms in it. A hit of a search is a unit.
#ifndef GEN_SITE_SEARCH_UNITS_H
#define GEN_SITE_SEARCH_UNITS_H

#include "gen/base/buf.h"
#include "gen/base/packed_values.h"

struct unit_maker;   // what a worker keeps from page to page

struct unit_maker *unit_maker_new(void);
void unit_maker_free(struct unit_maker *m);
// Appends the packed units of a page. html: its body; only headings are kept of it when titles_only is set. description stands in
// for a text before the first heading where there is none.
void units_pack(struct unit_maker *m, str title, str description, str html, bool titles_only, buf *out);

struct unit {
    str anchor, heading, text;   // heading: "" of a section's other parts; the page's title of its first unit
    uint32_t heading_words, words;
    struct unpack terms;
};

struct unit_term {
    str term;
    uint8_t count;               // in the text, 255 for more
    bool in_heading;
};

struct units { struct unpack packed; size_t left; };
struct units units_open(str packed);
bool units_next(struct units *u, struct unit *out);
bool unit_next_term(struct unit *u, struct unit_term *out);

#endif
