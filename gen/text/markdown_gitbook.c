// Tags of GitBook: boxes become containers, whose lines the parser knows; links are put into the
// tree. Every other tag is syntax that is not read.
#include <string.h>

#include "gen/base/path.h"
#include "gen/text/markdown_foreign_hide.h"
#include "gen/text/markdown_foreign_show.h"

enum tag_how { BOX, HINT, LINK };

static const struct known {
    str name;
    enum tag_how how;
    str attribute;
} known[] = {
#define X(name, how, attribute) {STR(name), how, STR(attribute)},
#include "gen/text/markdown_gitbook.def"
#undef X
};

// "{% endtab %}" is the end of tab.
static const struct known *find(str tag, bool *end)
{
    str inside = str_trim(str_slice(tag, 2, tag.len - 2)), name;
    if (!str_cut(&inside, ' ', &name))
        return NULL;
    *end = str_starts(name, STR("end"));
    name = str_slice(name, *end ? 3 : 0, name.len);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_eq(name, known[i].name))
            return &known[i];
    return NULL;
}

bool md_gitbook_box(char *text, str body, size_t from, size_t to)
{
    bool end = false;
    str tag = str_slice(body, from, to);
    const struct known *k = find(tag, &end);
    if (!k || k->how == LINK)
        return false;
    str words = end || !k->attribute.len ? STR_NONE : md_tag_attribute(tag, k->attribute);
    str name = k->how == HINT && !end ? (words.len ? words : STR("info")) : k->name;
    buf line = BUF_INIT;
    buf_lit(&line, ":::");
    if (!end)
        buf_str(&line, name);
    if (k->how == BOX && words.len)
        buf_char(&line, ' '), buf_str(&line, words);
    bool fits = line.len <= to - from && memchr(line.ptr, '\n', line.len) == NULL;
    if (fits) {
        md_hide_blank(text, from, to);
        memcpy(text + from, line.ptr, line.len);
    }
    buf_free(&line);
    return fits;
}

enum shown_as md_gitbook_as(str tag, str *words, str *href)
{
    bool end = false;
    const struct known *k = find(tag, &end);
    *words = *href = STR_NONE;
    if (!k)
        return md_show_is_raw(tag) ? AS_NOTHING : AS_CODE;
    if (end || k->how != LINK)
        return AS_NOTHING;
    *href = md_tag_attribute(tag, k->attribute);
    *words = str_eq(k->name, STR("file")) ? path_name(*href) : *href;
    return href->len ? AS_LINK : AS_CODE;
}
