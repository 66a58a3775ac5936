// Shows messages: as text with the source line and a caret, or as JSON lines. The only writer to
// stderr.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "gen/base/diag_message.h"
#include "gen/base/escape.h"

struct words {
    const char *slug, *text;
};

static const struct words words[] = {
#define X(id, level, slug, text, strict) {slug, text},
#include "gen/base/diag.def"
#undef X
};

static const char *const level_names[] = {"note", "warning", "error"};
static const char *const level_colors[] = {"\033[36m", "\033[33m", "\033[31m"};

// Bytes from a file must not steer the terminal: control characters become U+FFFD, a tab becomes a
// space.
static void put_safe(buf *out, str s)
{
    while (s.len) {
        size_t n;
        uint32_t c = utf8_next(s, &n);
        if (c == '\t')
            buf_char(out, ' ');
        else if (c < 0x20 || (c >= 0x7f && c < 0xa0))
            buf_utf8(out, 0xfffd);
        else
            buf_utf8(out, c);
        s = str_slice(s, n, s.len);
    }
}

static void put_caret(buf *out, const struct diag_message *r, bool color)
{
    buf_lit(out, "    ");
    put_safe(out, r->source);
    buf_lit(out, "\n    ");
    for (size_t i = 0; i < r->caret; i++)
        if (((unsigned char)r->source.ptr[i] & 0xc0) != 0x80)
            buf_char(out, ' ');
    buf_printf(out, "%s^%s\n", color ? "\033[32m" : "", color ? "\033[0m" : "");
}

// A row's text is "what; what to do": the detail is between the two.
static void put_message(buf *out, const struct diag_message *r)
{
    str text = str_c(words[r->id].text);
    size_t semicolon = str_find(text, ';');
    buf_str(out, str_slice(text, 0, semicolon));
    if (r->detail.len) {
        buf_lit(out, ": ");
        put_safe(out, r->detail);
    }
    buf_str(out, str_slice(text, semicolon, text.len));
}

static void put_text(buf *out, const struct diag_message *r, bool color)
{
    if (color)
        buf_lit(out, "\033[1m");
    put_safe(out, r->file.len ? r->file : STR("vramdoc"));
    if (r->line)
        buf_printf(out, ":%u", r->line);
    if (r->line && r->col)
        buf_printf(out, ":%u", r->col);
    buf_printf(out, ": %s%s:%s ", color ? level_colors[r->level] : "", level_names[r->level],
               color ? "\033[0m" : "");
    put_message(out, r);
    buf_printf(out, " [%s]\n", words[r->id].slug);
    if (r->source.len)
        put_caret(out, r, color);
}

// A file's name and a detail may have bytes that are not UTF-8, which JSON must be.
static void put_json_string(buf *out, str s)
{
    buf valid = BUF_INIT;
    for (size_t n; s.len; s = str_slice(s, n, s.len))
        buf_utf8(&valid, utf8_next(s, &n));
    buf_char(out, '"');
    escape_json(out, buf_view(&valid));
    buf_char(out, '"');
    buf_free(&valid);
}

static void put_json(buf *out, const struct diag_message *r)
{
    buf_printf(out, "{\"level\":\"%s\",\"id\":\"%s\",\"file\":", level_names[r->level],
               words[r->id].slug);
    put_json_string(out, r->file);
    if (r->line)
        buf_printf(out, ",\"line\":%u", r->line);
    if (r->line && r->col)
        buf_printf(out, ",\"col\":%u", r->col);
    buf message = BUF_INIT;
    put_message(&message, r);
    buf_lit(out, ",\"message\":");
    put_json_string(out, buf_view(&message));
    buf_free(&message);
    buf_lit(out, "}\n");
}

// Warnings of one kind in one file: the first of them are shown, the others are counted.
enum { SHOWN = 5 };

struct alike {
    size_t count, shown;
};

static struct alike *alike_of(struct map *m, arena *a, const struct diag_message *r)
{
    buf key = BUF_INIT;
    bool is_new;
    buf_printf(&key, "%d:%.*s", (int)r->id, STR_ARG(r->file));
    void **place = map_put(m, a, buf_view(&key), &is_new);
    buf_free(&key);
    if (is_new)
        *place = arena_new(a, struct alike, 1);
    return *place;
}

static bool is_counted(const struct diag *d, const struct diag_message *r)
{
    return r->level == DIAG_WARNING && r->file.len && !d->options.json && !d->options.verbose;
}

// One that has many like it before it: the last says how many there are.
static bool put_rest(const struct diag *d, buf *out, struct alike *x, const struct diag_message *r)
{
    struct diag_message rest = {.id = r->id, .level = r->level, .file = r->file};
    if (x->count <= SHOWN + 1 || x->shown++ < SHOWN)
        return false;
    if (x->shown < x->count)
        return true;
    buf detail = BUF_INIT;
    buf_printf(&detail, "%zu more in this file", x->count - SHOWN);
    rest.detail = buf_view(&detail);
    put_text(out, &rest, d->options.color);
    buf_free(&detail);
    return true;
}

void diag_flush(struct diag *d)
{
    buf out = BUF_INIT;
    arena a = ARENA_INIT;
    struct map alike = {0};
    diag_sort(d->messages + d->printed, d->count - d->printed);
    for (size_t i = d->printed; i < d->count; i++)
        if (is_counted(d, &d->messages[i]))
            alike_of(&alike, &a, &d->messages[i])->count++;
    for (; d->printed < d->count; d->printed++) {
        const struct diag_message *r = &d->messages[d->printed];
        bool counted = is_counted(d, r);
        if (d->options.quiet && r->level < DIAG_ERROR)
            continue;
        if (counted && put_rest(d, &out, alike_of(&alike, &a, r), r))
            continue;
        if (d->options.json)
            put_json(&out, r);
        else
            put_text(&out, r, d->options.color);
    }
    diag_say(buf_view(&out));
    buf_free(&out);
    arena_free(&a);
}

void diag_text(const struct diag *d, buf *out)
{
    buf copy = BUF_INIT;
    buf_put(&copy, d->messages, d->count * sizeof *d->messages);
    struct diag_message *messages = (struct diag_message *)(void *)copy.ptr;
    diag_sort(messages, d->count);
    for (size_t i = 0; i < d->count; i++)
        put_text(out, &messages[i], false);
    buf_free(&copy);
}

bool diag_may_color(void)
{
    const char *no_color = getenv("NO_COLOR");
    return isatty(STDERR_FILENO) && !(no_color && *no_color);
}

void diag_say(str text)
{
    if (text.len == 0)
        return;
    // A message that cannot be shown cannot be reported either.
    size_t shown = fwrite(text.ptr, 1, text.len, stderr);
    (void)shown;
    fflush(stderr);
}
