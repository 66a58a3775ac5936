// Blocks that cells make, as Markdown: captions, headings and tables; drawings are left out, as
// their numbers are in a table.
#include "gen/site/page/page_markdown.h"
#include "gen/text/html_names.h"

bool page_markdown_is_block(str html)
{
    return str_starts(html, STR("<figure")) || str_starts(html, STR("<div class=\"block\""));
}

// What replaces a tag; cells counts those of the row that is open.
static void put_tag(str tag, size_t *cells, bool *head, buf *out)
{
    static const struct {
        str tag, text;
    } marks[] = {
        {STR("<h2"), STR("## ")},     {STR("<h3"), STR("### ")},
        {STR("</h2>"), STR("\n\n")},  {STR("</h3>"), STR("\n\n")},
        {STR("</p>"), STR("\n\n")},   {STR("</figcaption>"), STR("\n\n")},
        {STR("</table>"), STR("\n")}, {STR("<code"), STR("`")},
        {STR("</code>"), STR("`")},   {STR("</td>"), STR(" ")},
        {STR("</th>"), STR(" ")},
    };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (str_starts(tag, marks[i].tag))
            buf_str(out, marks[i].text);
    if (str_starts(tag, STR("<thead")))
        *head = true;
    else if (str_starts(tag, STR("<td")) || str_starts(tag, STR("<th"))) {
        buf_lit(out, "| ");
        ++*cells;
    } else if (str_starts(tag, STR("</tr>"))) {
        buf_lit(out, "|\n");
        for (size_t i = 0; *head && i < *cells; i++)
            buf_lit(out, "|---");
        if (*head)
            buf_lit(out, "|\n");
        *cells = 0;
        *head = false;
    }
}

// The length of what is passed over at the head of html: a drawing, the summary of a fold, a
// slider.
static size_t passed_over(str html)
{
    static const str from[] = {STR("<svg"), STR("<summary"), STR("<div class=\"slider")};
    static const str to[] = {STR("</svg>"), STR("</summary>"), STR("</div>")};
    for (size_t i = 0; i < 3; i++)
        if (str_starts(html, from[i]))
            return str_search(html, to[i]) + to[i].len - 1;
    return 0;
}

void page_markdown_block(str html, buf *out)
{
    buf text = BUF_INIT;
    size_t cells = 0;
    bool head = false;
    for (size_t i = 0; i < html.len; i++) {
        str rest = str_slice(html, i, html.len);
        size_t over = passed_over(rest);
        if (over)
            i += over;
        else if (html.ptr[i] == '<') {
            put_tag(rest, &cells, &head, &text);
            i += str_find(rest, '>');
        } else if (html.ptr[i] != '\n') {
            if (html.ptr[i] == '|')
                buf_char(&text, '\\');  // of a table's cell
            buf_char(&text, html.ptr[i]);
        }
    }
    html_unescape(str_trim(buf_view(&text)), out);
    buf_free(&text);
}
