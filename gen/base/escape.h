// Bytes made safe for the place they go to: text, attribute, URL, JavaScript, XML, JSON.
#ifndef GEN_BASE_ESCAPE_H
#define GEN_BASE_ESCAPE_H

#include "gen/base/buf.h"

void escape_text(buf *out, str s);       // & < >
void escape_quoted(buf *out, str s);     // & < > ": text, or an attribute in double quotes
void escape_attribute(buf *out, str s);  // & < > " '
// %2F for '/': a byte of an address that would mean something there.
void escape_percent(buf *out, uint8_t byte);
// All but ASCII letters, digits, - . _ ~ and the bytes of kept so.
void escape_part(buf *out, str s, const char *kept);
// Percent-encodes what may not be in an address; any scheme passes.
void escape_href(buf *out, str s);
// A URL for an attribute: percent-encodes what may not be there, then escapes. An unsafe scheme
// (javascript:, vbscript:, data: other than images, file:) gives "#".
void escape_url(buf *out, str s);
bool url_is_safe(str s);
void escape_js(buf *out, str s);    // inside a quoted JavaScript string within HTML
void escape_json(buf *out, str s);  // inside a quoted JSON string; also safe within <script>
void escape_xml(buf *out, str s);   // text and attributes of XML; drops what XML 1.0 forbids

#endif
