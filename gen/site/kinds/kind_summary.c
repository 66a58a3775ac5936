// Contents as a list of links in Markdown: SUMMARY.md of mdBook and of GitBook, and that of the
// plugin literate-nav of MkDocs.
#include <string.h>

#include "gen/site/kinds/kind_lib.h"
#include "gen/text/address.h"
#include "gen/text/markdown.h"

struct summary {
    struct tree *t;
    str folder;
    size_t indent[8];
    uint32_t depth;
    bool part;   // a title is above the chapters
    bool begun;  // the first title, or a chapter, has been read
    enum summary_of of;
};

// [Title](file.md) at the head of a line; [A long title](file.md "as the contents of GitBook show
// it").
static bool read_link(str line, enum summary_of of, str *title, str *file)
{
    if (!line.len || line.ptr[0] != '[')
        return false;
    size_t close = str_search(line, STR("]("));
    size_t end = close + str_find(str_slice(line, close, line.len), ')');
    if (end >= line.len)
        return false;
    *title = str_slice(line, 1, close);
    *file = str_trim(str_slice(line, close + 2, end));
    size_t quote = str_search(*file, STR(" \""));
    if (quote < file->len && of == SUMMARY_GITBOOK)
        *title = str_slice(*file, quote + 2, file->len - 1);
    file->len = quote;
    if (file->len > 1 && file->ptr[0] == '<')
        *file = str_slice(*file, 1, file->len - 1);
    return true;
}

// "# Part I": its words; "" for any other line.
static str heading_of(str line, enum summary_of of)
{
    size_t n = 0;
    while (n < line.len && line.ptr[n] == '#')
        n++;
    bool heading = n && n <= (of == SUMMARY_GITBOOK ? 6 : 1) && n < line.len && line.ptr[n] == ' ';
    return heading ? str_trim(str_slice(line, n, line.len)) : STR_NONE;
}

static void read_chapter(struct summary *s, size_t indent, bool numbered, str title, str file)
{
    struct tree *t = s->t;
    s->begun = true;
    while (s->depth && indent < s->indent[s->depth - 1])
        s->depth--;
    bool deeper = numbered && s->depth < 8 && (!s->depth || indent > s->indent[s->depth - 1]);
    if (deeper)
        s->indent[s->depth++] = indent;
    uint32_t depth = numbered ? s->depth - 1 + s->part : 0;
    bool outside = address_is_outside(file);
    str name = address_decode(str_slice(file, 0, str_find(file, '#')), t->a),
        path = file.len && !outside ? kind_join(t, s->folder, name) : STR_NONE;
    kind_nav(t, depth, md_words(title, STR_NONE, t->a), path, outside ? file : STR_NONE);
}

// How long the mark of an item is that a line begins with, "- " or "4. "; 0 for none.
static size_t item_mark(str line)
{
    size_t n = 0;
    while (n < line.len && ascii_is_digit(line.ptr[n]))
        n++;
    bool mark = n < line.len && strchr(n ? ".)" : "-*+", line.ptr[n]);
    return mark && n + 2 < line.len && line.ptr[n + 1] == ' ' ? n + 2 : 0;
}

static void read_line(struct summary *s, str line)
{
    size_t indent = 0;
    str title, file;
    while (indent < line.len && (line.ptr[indent] == ' ' || line.ptr[indent] == '\t'))
        indent += line.ptr[indent] == '\t' ? 4 : 1;
    line = str_trim(line);
    size_t item = item_mark(line);
    line = str_trim(str_slice(line, item, line.len));
    str heading = heading_of(line, s->of);
    if (read_link(line, s->of, &title, &file)) {
        if (!item)
            s->depth = 0, s->part = false;
        read_chapter(s, indent, item, title, file);
    } else if (item && s->of != SUMMARY_MDBOOK &&
               str_find(line, '*') == line.len) {  // no pattern of files
        read_chapter(s, indent, item, line, STR_NONE);
    } else if (heading.len && !s->begun) {
        s->begun = true;  // the book's own
    } else if (heading.len) {
        s->depth = 0;
        s->part = true;
        kind_nav(s->t, 0, md_words(heading, STR_NONE, s->t->a), STR_NONE, STR_NONE);
    }
}

bool kind_summary(struct tree *t, str folder, str file, enum summary_of of)
{
    struct summary s = {.t = t, .folder = folder, .of = of};
    str path = kind_join(t, folder, file), text = kind_has(t, path) ? kind_file(t, path) : STR_NONE,
        line;
    bool found = text.len > 0;
    while (str_line(&text, &line))
        read_line(&s, line);
    return found;
}
