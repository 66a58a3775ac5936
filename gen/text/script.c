// Takes from a script what only its authors read, as far as that shows without parsing it.
#include "gen/text/script.h"

// Within a literal of several lines, a line that begins with // is no comment and its indentation counts.
static bool may_go_over_lines(str js)
{
    return str_find(js, '`') < js.len || str_search(js, STR("\\\n")) < js.len || str_search(js, STR("\\\r")) < js.len;
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
        if (!line.len || str_starts(line, STR("//"))) continue;
        buf_str(out, line);
        buf_char(out, '\n');
    }
}
