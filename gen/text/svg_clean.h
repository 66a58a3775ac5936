// Pictures in SVG that others wrote, without what runs when one is opened in a browser by itself.
#ifndef GEN_TEXT_SVG_CLEAN_H
#define GEN_TEXT_SVG_CLEAN_H

#include "gen/base/buf.h"

enum svg_clean {
    SVG_SAME,     // nothing was left out: out has the same bytes
    SVG_CLEANED,  // scripts, event attributes, addresses that run or other documents were left out
    SVG_UNREADABLE,  // not the plain XML in UTF-8 that this reads: out has an empty picture
};

// Appends the picture to out. *place: offset in svg of the first thing that was left out, or that
// cannot be read.
enum svg_clean svg_clean(str svg, buf *out, size_t *place);

#endif
