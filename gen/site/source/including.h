// What the parts of the include share: the page that is read, and where its lines are put
// (include.c).
#ifndef GEN_SITE_INCLUDING_H
#define GEN_SITE_INCLUDING_H

#include "gen/base/diag.h"
#include "gen/site/source/site.h"

struct include_source {
    str path, file;  // below the content folder; as messages name it
    str text;
};

struct including {
    const struct site *site;
    const struct tree *tree;
    int root;
    buf out;
    struct diag_piece *pieces;
    size_t count, cap;
    unsigned depth;
    size_t searched;  // for listings of MDX
    struct include_source page;
    size_t body;                    // where the page's text begins
    struct map files;               // path -> what was read, or why nothing was
    size_t put;                     // files that were put in
    const struct yaml_node *front;  // the page's, once it was needed
    bool front_read;
    struct map data;  // path -> const struct yaml_node *: files whose values were needed
    str arguments;    // of the shortcode that puts in what is being put
    bool raw;         // within {% raw %}
    arena *a;
    struct diag *d;
};

// Where the line at s[at] ends, behind its line feed, and the line itself.
size_t include_line_end(str s, size_t at);
str include_line_at(str s, size_t at);
// Where a page's text begins, behind its front matter.
size_t include_behind_front(str text);
// The longest row of backticks in a text, and the ending of a path.
size_t include_longest_ticks(str text);
str include_extension_of(str path);

// Puts the source's bytes [from, to), or text that stands for what is at offset.
void include_put(struct including *g, const struct include_source *s, size_t from, size_t to);
void include_put_made(struct including *g, const struct include_source *s, size_t offset, str made);
// The same of lines with marks of files in them, behind an indentation.
void include_put_lines(struct including *g, const struct include_source *s, size_t from, size_t to,
                       str indent);
void include_put_fence(struct including *g, const struct include_source *s, size_t at, str language,
                       size_t ticks, str indent);
// Reads the file that a page names. NULL, or why it is none.
const char *include_find_file(struct including *g, const struct include_source *s, str path,
                              struct include_source *out);

// The same of a path below the content folder.
const char *include_read_file(struct including *g, str path, struct include_source *out);
// A path below the content folder; "" when it climbs out.
str include_join(struct including *g, str folder, str path);

#endif
