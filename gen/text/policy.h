// The policy under which browsers show a page: what it may load, and from where.
#ifndef GEN_TEXT_POLICY_H
#define GEN_TEXT_POLICY_H

#include "gen/base/buf.h"

// The value of Content-Security-Policy. hosts: addresses of other sites' hosts, "https://a.example
// https://b.example", whose pictures and videos are shown; "" for none. media: the page has videos
// of its own or of them.
void policy_write(str hosts, bool media, buf *out);
// The host of an address as the policy names it, "https://a.example:8080"; STR_NONE when it has
// none that may be there.
str policy_host(str address);
// Whether one of hosts is host.
bool policy_has(str hosts, str host);

#endif
