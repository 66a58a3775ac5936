// The text of blocks for people and tools that translate them: how it is shown, what its hash is,
// and where it is in the source.
#include <string.h>

#include "gen/text/markdown_foreign.h"
#include "gen/text/markdown_foreign_show.h"
#include "gen/text/markdown_render.h"

#define CELL_END '\x1f'  // behind a cell of a row's content

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

bool md_block_is_prose(uint8_t kind)
{
    return !strchr("cxm", kind);
}

// A row's text back into what its hash is of.
static void row_content(str text, buf *out)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i], next = i + 1 < text.len ? text.ptr[i + 1] : 0;
        bool taken = (c == '\\' || c == ' ') && next == '|';
        buf_char(out, !taken ? c : c == ' ' ? CELL_END : '|');
        i += taken;
    }
}

uint64_t md_block_hash(uint8_t kind, str text)
{
    buf content = BUF_INIT, normal = BUF_INIT;
    if (kind == 'r')
        row_content(text, &content);
    else
        buf_str(&content, text);
    str rest = str_trim(buf_view(&content));
    if (!md_block_is_prose(kind)) {
        buf_str(&normal, rest);
        rest = STR_NONE;
    }
    for (size_t i = 0; i < rest.len; i++)
        if (!is_space(rest.ptr[i]))
            buf_char(&normal, rest.ptr[i]);
        else if (!is_space(rest.ptr[i - 1]))
            buf_char(&normal, ' ');
    uint64_t hash = str_hash(buf_view(&normal));
    buf_free(&content);
    buf_free(&normal);
    return hash;
}

static void put_row(str content, buf *out)
{
    for (size_t i = 0; i < content.len; i++)
        if (content.ptr[i] == CELL_END)
            buf_lit(out, " |");
        else if (content.ptr[i] == '|')
            buf_lit(out, "\\|");
        else
            buf_char(out, content.ptr[i]);
}

// Soft line ends become spaces; hard ones, behind a backslash or two spaces, stay.
static void put_prose(str content, buf *out)
{
    for (str line; str_line(&content, &line);) {
        bool last = !content.len;
        bool hard = !last && (str_ends(line, STR("\\")) || str_ends(line, STR("  ")));
        str words = str_trim(line);
        buf_str(out, words);
        if (hard && str_ends(words, STR("\\")))
            buf_char(out, '\n');
        else if (hard)
            buf_lit(out, "  \n");
        else if (!last)
            buf_char(out, ' ');
    }
}

static str without_tail(str s)
{
    while (s.len && is_space(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

// A block's content as it is shown and kept: running text in one line but for hard breaks, a
// table's row with " |" behind each cell and \| in them, code as it is. Lives in a.
static str block_text(uint8_t kind, str content, arena *a)
{
    buf out = BUF_INIT;
    if (kind == 'r')
        put_row(str_trim(content), &out);
    else if (md_block_is_prose(kind))
        put_prose(str_trim(content), &out);
    else
        buf_str(&out, without_tail(content));
    str text = arena_str(a, buf_view(&out));
    buf_free(&out);
    return text;
}

static size_t offset_of(const struct md *r, str line)
{
    return line.ptr ? (size_t)(line.ptr - r->text.ptr) : r->text.len;
}

// A row is in one line; its text is what is between white space.
static void row_place(struct md *r, struct md_block *b)
{
    str rest = str_slice(r->text, b->offset, r->text.len), line;
    str_line(&rest, &line);
    str row = str_trim(line);
    b->start = b->offset + (row.len ? (size_t)(row.ptr - line.ptr) : 0);
    b->end = b->start + row.len;
}

static size_t line_count(str s)
{
    size_t n = s.len && s.ptr[s.len - 1] != '\n';
    for (size_t i = 0; i < s.len; i++)
        n += s.ptr[i] == '\n';
    return n;
}

// The lines of code from the first to the last, fences left out.
static void code_place(struct md *r, cmark_node *n, struct md_block *b)
{
    int length, indent;
    char fence;
    const char *literal = cmark_node_get_literal(n);
    size_t first = (size_t)cmark_node_get_start_line(n);
    first += cmark_node_get_fenced(n, &length, &indent, &fence) ? 1 : 0;
    b->start = offset_of(r, md_line_at(r, first));
    b->end = offset_of(r, md_line_at(r, first + line_count(literal ? str_c(literal) : STR_NONE)));
    while (b->end > b->start &&
           (r->text.ptr[b->end - 1] == '\n' || r->text.ptr[b->end - 1] == '\r'))
        b->end--;
}

// A title's line holds more than its text, and so do the lines of a formula: where one is not found
// as it is, its place is empty.
static void part_place(struct md *r, cmark_node *n, str text, struct md_block *b)
{
    size_t line = (size_t)cmark_node_get_start_line(n);
    str rest = str_slice(r->text, offset_of(r, md_line_at(r, line)), r->text.len);
    rest = str_slice(rest, 0, text.len + 200);
    size_t at = text.len ? str_search(rest, text) : rest.len;
    b->start = offset_of(r, rest) + (at < rest.len ? at : 0);
    b->end = b->start + (at < rest.len ? text.len : 0);
}

// A formula that no fence holds.
static bool is_bare_formula(cmark_node *n)
{
    return cmark_node_get_type(n) != CMARK_NODE_CODE_BLOCK || md_formula_of(n);
}

str md_block_as_written(struct md *r, str content)
{
    size_t at = 0, end;
    if (!r->hidden)
        return content;
    while (at < content.len && !md_is_hidden_start(content.ptr[at]))
        at++;
    if (at == content.len)
        return content;
    bool leaf = content.ptr == r->leaf_content.ptr;
    char *text = arena_c(r->a, content);
    for (; at < content.len; at = end) {
        str rest = str_slice(content, at, content.len);
        end = at + 1;
        if (!md_is_hidden_start(content.ptr[at]))
            continue;
        end = at + str_find(rest, MD_HIDDEN_END);
        end += end < content.len;
        md_foreign_put_back(text + at, end - at);
        for (; leaf && at < end; at++) {
            size_t place = md_content_offset(r, at);
            text[at] = place < r->text.len ? r->text.ptr[place] : text[at];
        }
    }
    return (str){text, content.len};
}

void md_block_keep(struct md *r, cmark_node *n, str content, struct md_block *block)
{
    block->text = block_text(block->kind, content, r->a);
    cmark_node_type type = cmark_node_get_type(n);
    if (block->kind == 'r') {
        row_place(r, block);
    } else if (type == CMARK_NODE_CUSTOM_BLOCK || (block->kind == 'm' && is_bare_formula(n))) {
        part_place(r, n, str_trim(content), block);
    } else if (type == CMARK_NODE_CODE_BLOCK) {
        code_place(r, n, block);
    } else {
        size_t last = r->leaf_content.len;  // which n is
        while (last && is_space(r->leaf_content.ptr[last - 1]))
            last--;
        block->start = md_content_offset(r, 0);
        block->end = last ? md_content_offset(r, last - 1) + 1 : block->start;
    }
}
