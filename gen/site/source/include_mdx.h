// Listings of MDX that are shown by a component: <Code code={name} lang="js" /> of Starlight,
// <CodeBlock language="js">{name}</CodeBlock> of Docusaurus. Files of MDX that are components.
#ifndef GEN_SITE_INCLUDE_MDX_H
#define GEN_SITE_INCLUDE_MDX_H

#include "gen/base/arena.h"

struct include_listing {
    size_t end;    // behind the component
    str path;      // of the file that the page imports as text; "" for words
    str words;     // that stand in the page itself
    str language;  // "" for the file's own
    bool escaped;  // words are as a program writes them: \` and \$ are ` and $
};

// The listing whose component begins at text[at], at the head of a line. False when there is none,
// or what it shows would have to be run to be known. searched: bytes that were looked through for
// the page so far; past 64 MiB no further listing is found. What is found lives in the text or in
// a.
bool include_listing(str text, size_t at, size_t *searched, struct include_listing *out, arena *a);

// The listing that is all that a component of Astro shows, whose file is text: <Code code={code} />
// below const code = `words`. False for any other component.
bool include_component(str text, size_t *searched, struct include_listing *out, arena *a);

// The part of pages whose component begins at text[at], <Part /> of import Part from "./_part.mdx",
// or from "./Part.astro": its path, and the end behind the component. Props are
// not filled in. searched: as above.
bool include_partial(str text, size_t at, size_t *searched, str *path, size_t *end, arena *a);

#endif
