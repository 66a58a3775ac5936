// Worked examples: code that runs, beside the output that its file wants; a difference is an error
// with both sides.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gen/site/figures/figures_lib.h"
#include "gen/site/figures/figures_run.h"
#include "gen/text/cells.h"
#include "gen/base/escape.h"
#include "gen/text/highlight.h"

#define DIFF_LINES 4

static str without_end(str s)
{
    while (s.len && (s.ptr[s.len - 1] == '\n' || s.ptr[s.len - 1] == '\r'))
        s.len--;
    return s;
}

static void put_side(const char *who, bool there, str line, buf *out)
{
    if (there)
        buf_printf(out, "%s \"%.*s\"", who, STR_ARG(line));
    else
        buf_printf(out, "%s nothing", who);
}

// The first lines that differ, at most DIFF_LINES of them, in one line of text.
static void put_diff(str wanted, str got, buf *out)
{
    str w = STR(""), g = STR("");
    bool more_wanted = str_line(&wanted, &w), more_got = str_line(&got, &g);
    size_t shown = 0;
    for (size_t line = 1; (more_wanted || more_got) && shown < DIFF_LINES; line++) {
        if (!(more_wanted && more_got && str_eq(w, g))) {
            buf_printf(out, "%sline %zu: ", shown++ ? "; " : "", line);
            put_side("wanted", more_wanted, w, out);
            put_side(", printed", more_got, g, out);
        }
        more_wanted = more_wanted && str_line(&wanted, &w);
        more_got = more_got && str_line(&got, &g);
    }
}

// A fence's line: its sign, repeated, and its info string. False for another line.
static bool fence_line(str line, str *fence, str *info)
{
    str s = str_trim(line);
    size_t n = 0;
    while (n < s.len && (s.ptr[n] == '`' || s.ptr[n] == '~') && s.ptr[n] == s.ptr[0])
        n++;
    *fence = str_slice(s, 0, n);
    *info = str_trim(str_slice(s, n, s.len));
    return n >= 3;
}

// Whether line closes fence.
static bool closes(str line, str fence)
{
    str other, info;
    return fence_line(line, &other, &info) && other.len >= fence.len &&
           other.ptr[0] == fence.ptr[0] && !info.len;
}

// Takes a fenced block whose opening line has been read: its inside, and *rest behind its end.
static str take_block(str *rest, str fence)
{
    str inside = *rest, line;
    while (rest->len) {
        size_t end = (size_t)(rest->ptr - inside.ptr);
        if (!str_line(rest, &line) || closes(line, fence))
            return str_slice(inside, 0, end);
    }
    return inside;
}

// Copies text to out with the output of the example whose code is `code` replaced by got. False
// when it is not there.
static bool rewrite(str text, str code, str got, buf *out)
{
    str rest = text, line, fence, info;
    while (str_line(&rest, &line)) {
        if (!fence_line(line, &fence, &info))
            continue;
        str inside = take_block(&rest, fence);
        if (!cell_fence(info) || !str_eq(without_end(inside), without_end(code)))
            continue;
        size_t behind = (size_t)(rest.ptr - text.ptr);
        str after = rest;
        while (str_line(&after, &line) && !str_trim(line).len)
            ;
        bool has_output = fence_line(line, &fence, &info) && cell_output(info);
        if (has_output)
            take_block(&after, fence);
        buf_str(out, str_slice(text, 0, behind));
        if (got.len)
            buf_printf(out, "%.*s%s\n%.*s\n%.*s\n", 3, "```", "output", STR_ARG(got), 3, "```");
        buf_str(out, has_output ? after : rest);
        return true;
    }
    return false;
}

static bool update_file(const struct figures *f, str code, str got, struct diag_pos at)
{
    buf text = BUF_INIT, changed = BUF_INIT;
    char *path = arena_c((arena *)&f->arena, at.file);
    bool ok = fs_read(path, 0, &text) == 0 && rewrite(buf_view(&text), code, got, &changed) &&
              fs_write(path, buf_view(&changed)) >= 0;
    if (!ok)
        diag_add(f->d, D_IO_WRITE, at, "%s", strerror(errno));
    buf_free(&text);
    buf_free(&changed);
    return ok;
}

static void put_code(str code, buf *out)
{
    buf_lit(out, "<pre tabindex=\"0\"><code class=\"language-lua\">");
    highlight(STR("lua"), code, out);
    buf_lit(out, "</code></pre>\n");
}

static void put_output(str output, buf *out)
{
    buf_lit(out, "<pre class=\"output\" tabindex=\"0\"><samp>");
    escape_text(out, output);
    buf_lit(out, "</samp></pre>\n");
}

static bool compare(struct figures *f, str code, str wanted, str got, struct diag_pos at)
{
    if (str_eq(wanted, got))
        return true;
    const char *update = getenv("UPDATE");
    if (update && strcmp(update, "1") == 0)
        return update_file(f, code, got, at);
    buf diff = BUF_INIT;
    put_diff(wanted, got, &diff);
    diag_add(f->d, D_EXAMPLE_DIFFERS, at, "%.*s", STR_ARG(buf_view(&diff)));
    buf_free(&diff);
    return false;
}

bool figures_example(struct figures *f, const struct page *page, str code, str wanted,
                     struct diag_pos at, buf *out)
{
    buf printed = BUF_INIT;
    f->page = page;
    bool ok = figures_print(f, code, at, &printed);
    str got = without_end(buf_view(&printed));
    if (ok)
        ok = compare(f, code, without_end(wanted), got, at);
    buf_lit(out, "<div class=\"example\">\n");
    if (got.len) {
        put_output(got, out);
        buf_lit(out, "<details><summary>");
        if (!catalog_format(page->language->catalog, STR("code.check"), NULL, 0, out, NULL))
            buf_lit(out, "Check it yourself");
        buf_lit(out, "</summary>\n");
    }
    put_code(code, out);
    buf_str(out, got.len ? STR("</details>\n</div>\n") : STR("</div>\n"));
    buf_free(&printed);
    return ok;
}
