// The units of a page: its sections, long ones in parts. A hit of a search is a unit.
#ifndef GEN_SITE_SEARCH_UNITS_H
#define GEN_SITE_SEARCH_UNITS_H

#include "gen/base/arena.h"
#include "gen/base/buf.h"
#include "gen/base/packed_values.h"

// What a worker keeps from page to page. Zero-initialise, but for text: BUF_INIT.
struct unit_maker {
    arena arena;
    buf text, units;
};

void unit_maker_free(struct unit_maker *m);
// What search knows of a page: its title, its headings as well, or all words.
enum units_extent { UNITS_TITLE, UNITS_HEADINGS, UNITS_WORDS };
// Appends the packed units of a page. html: its body. description is in for a text before the first
// heading where there is none.
void units_pack(struct unit_maker *m, str title, str description, str html,
                enum units_extent extent, buf *out);

struct unit {
    str anchor, text;
    str heading;  // "" of a section's other parts; the page's title of its first unit
};

struct units {
    struct unpack packed;
    size_t left;
};
struct units units_open(str packed);
bool units_next(struct units *u, struct unit *out);

#endif
