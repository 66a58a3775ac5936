// Templates: HTML with Lua in it, compiled to one Lua chunk whose lines are the template's lines.
#ifndef GEN_TEXT_TEMPLATE_H
#define GEN_TEXT_TEMPLATE_H

#include "gen/base/diag.h"

// The syntax is described in templates/README.md. Appends Lua source to out: a function body that calls the emitter
// functions text, attr, url, js (escaping by the context the value stands in) and raw. False after template-syntax.
bool template_compile(str source, str file, struct diag *d, buf *out);

#endif
