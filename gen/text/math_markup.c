// Writes empty elements without end tags, puts into one row what stands side by side, and names
// letters of other alphabets.
#include "gen/text/math_markup.h"

#include "gen/text/math_letters.h"

// Copies the elements, and counts those that are in no other.
static size_t put_elements(str inside, buf *out)
{
    size_t depth = 0, count = 0;
    bool opened = false;  // the tag that was written last began an element that is empty so far
    while (inside.len) {
        size_t tag = str_find(inside, '<');
        str text = str_slice(inside, 0, tag), rest = str_slice(inside, tag, inside.len);
        size_t end = str_find(rest, '>') + 1;
        bool closes = str_starts(rest, STR("</"));
        buf_str(out, text);
        if (closes && opened && !text.len) {
            out->len--;
            buf_lit(out, "/>");
        } else {
            buf_str(out, str_slice(rest, 0, end));
        }
        count += !closes && rest.len && depth == 0;
        depth += closes ? (size_t)-1 : rest.len > 0;
        opened = !closes;
        inside = str_slice(rest, end, rest.len);
    }
    return count;
}

void math_markup(str inside, bool display, buf *out)
{
    buf elements = BUF_INIT;
    size_t count = put_elements(inside, &elements);
    buf_str(out, display ? STR("<math display=\"block\">") : STR("<math>"));
    if (count > 1)
        buf_lit(out, "<mrow>");
    math_letters(buf_view(&elements), out);
    if (count != 1)
        buf_str(out, count ? STR("</mrow>") : STR("<mrow/>"));
    buf_lit(out, "</math>");
    buf_free(&elements);
}
