// Takes from a script what only its authors read, as far as that shows without parsing it.
#include "gen/text/script.h"

// Within a literal of several lines, a line that begins with // is no comment and its indentation
// counts.
static bool may_go_over_lines(str js)
{
    if (str_find(js, '`') < js.len)
        return true;
    for (str rest = js; (rest = str_slice(rest, str_find(rest, '\\'), rest.len)).len > 1;
         rest = str_slice(rest, 1, rest.len))
        if (rest.ptr[1] == '\n' || rest.ptr[1] == '\r')
            return true;
    return false;
}

void script_shorten(str js, buf *out)
{
    str line;
    if (may_go_over_lines(js)) {
        buf_str(out, js);
        return;
    }
    while (str_cut(&js, '\n', &line)) {
        line = str_trim(line);
        bool ends = str_has(line, STR("*/"));  // a comment that began above
        if (!line.len || (str_starts(line, STR("//")) && !ends))
            continue;
        buf_str(out, line);
        buf_char(out, '\n');
    }
}
