// Templates: HTML with Lua in it, compiled to one Lua chunk whose lines are the template's lines.
#ifndef GEN_TEXT_TEMPLATE_H
#define GEN_TEXT_TEMPLATE_H

#include "gen/base/diag.h"

struct template_include {
    str name;
    size_t offset;  // of the tag in the template
};

struct template
{
    struct template_include *includes;
    size_t include_count;
    uint32_t once_count;  // {% once %} blocks, numbered on from first_once
};

// The syntax is described in templates/README.md. Appends Lua source to out: a chunk that takes the
// emitters as arguments, in this order, and returns the function that renders. A value is emitted
// behind `before`, static text that goes out first and may be absent.
//
//   static(text)              as it is
//   text(value, before)       escaped for text
//   plain(value, before)      escaped for text where no element can be: title, textarea, comment
//   attribute(value, before)  inside quotes
//   url(value, before)        a URL attribute's whole value, or its beginning
//   url_part(value, before)   behind a part of a path: as url, but no scheme can begin here
//   url_query(value, before)  behind a "?": also & and = are encoded
//   js_string(value, before)  inside a quoted JavaScript string
//   js_value(value, before)   as a JavaScript literal
//   once(scope, number, body) {% once "scope" %}
//   include(name)
//   field(name, how, before)  text(page.name, before) and so on by enum html_emitter: {{ page.name
//   }}
//
// What *result points to lives in a. False after template-syntax.
bool template_compile(str source, str file, uint32_t first_once, arena *a, struct diag *d,
                      struct template *result, buf *out);

#endif
