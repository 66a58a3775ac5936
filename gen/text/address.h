// Addresses as text: those that authors write for pages, which stay below the site's folder, and
// those between pages.
#ifndef GEN_TEXT_ADDRESS_H
#define GEN_TEXT_ADDRESS_H

#include "gen/base/arena.h"
#include "gen/base/buf.h"

// Appends the parts of an address with one '/' between them: "/guide//./intro/" -> "guide/intro".
// False for one that has a part "..", a hidden one (but .well-known at its head), or a control
// character: it may not be written.
bool address_normalize(str address, buf *out);
// Whether a name is hidden where it is in a path: of the hidden ones only .well-known at the head
// of an address is none.
bool address_is_hidden(str part, bool first);
// A copy in which a dash replaces what may not be in an address, or means something there or on
// some disk.
str address_harmless(str path, arena *a);

// Appends the address of to (below the site) as it is written in the page from: "../de/x.html". Not
// escaped.
void address_relative(str from, str to, buf *out);
// Whether a link leads to another site: it has a scheme, or a host.
bool address_is_outside(str address);
// %41 -> A; what is no such escape stays. The result is s itself where nothing is to do.
str address_decode(str s, arena *a);
// The path of base_url, "/docs" of "https://example.org/docs"; "" for none.
str address_base_path(str base_url);

#endif
