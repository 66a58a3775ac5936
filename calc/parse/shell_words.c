// Owns the words of a shell script: quotes, expansions, redirections. A substitution of a command,
// a parameter, a name that no literal is bound to make a word unknown.

#include "calc/parse/shell_words.h"

#include "calc/base/text.h"
#include "calc/parse/pyexpr.h"

enum { TOTAL_MAX = 65536, NESTED_MAX = 4 };

static struct span rest(const struct shell *s)
{
    return (struct span){s->at, (size_t)(s->end - s->at)};
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

const struct shell_name *shell_find(const struct shell *s, struct span name)
{
    for (size_t i = s->name_count; i-- > 0;)
        if (span_same(s->names[i].name, name))
            return &s->names[i];
    return NULL;
}

// ---- the word that is being read -------------------------------------------------------------

static void begin(struct shell *s, const char *at)
{
    if (s->open)
        return;
    s->open = s->known = true;
    s->cut = false;
    s->len = 0;
    s->word_at = (size_t)(at - s->p->text);
}

static void put(struct shell *s, char c)
{
    if (s->len < PARSE_LIST_MAX)
        s->text[s->len++] = c;
    else
        s->known = false;
}

int shell_flush(struct shell *s)
{
    if (!s->open)
        return VRAM_OK;
    s->open = false;
    if (s->count == SHELL_WORDS || s->total == TOTAL_MAX)
        return err_set(&s->p->v->err, MESSAGE_too_many_words,
                       pairs_pos(s->out, s->p->file, s->word_at), NO_FIELD, NO_ARGS);
    struct span text = pairs_keep(s->out, (struct span){s->text, s->len});
    if (!text.at)
        return handle_no_memory(s->p->v);
    s->words[s->count++] = (struct shell_word){text, s->word_at, s->known};
    s->total++;
    return VRAM_OK;
}

// What stands for a value: in quotes as it is, else in as many words as it has.
static int put_value(struct shell *s, struct span value, bool quoted, const char *at)
{
    int rc = VRAM_OK;
    for (size_t i = 0; i < value.len && rc == VRAM_OK; i++) {
        if (!quoted && (is_blank(value.at[i]) || value.at[i] == '\n')) {
            rc = shell_flush(s);
            continue;
        }
        begin(s, at);
        put(s, value.at[i]);
    }
    return rc;
}

// ---- what begins with a dollar ---------------------------------------------------------------

const char *shell_skip(const char *at, const char *end, char open, char close)
{
    unsigned depth = 1;
    char quote = 0;
    for (; at < end; at++) {
        if (*at == '\\' && at + 1 < end)
            at++;
        else if (quote)
            quote = *at == quote ? 0 : quote;
        else if (*at == '"' || *at == '\'')
            quote = *at;
        else if (*at == open)
            depth++;
        else if (*at == close && --depth == 0)
            return at;
    }
    return end;
}

static bool find_number(const void *ctx, struct span name, struct py_value *out)
{
    const struct shell_name *b = shell_find(ctx, name);
    uint64_t n;
    bool overflow;
    if (!b || !b->known || !text_to_u64(b->value.at, b->value.len, &n, &overflow) || n > INT32_MAX)
        return false;
    *out = (struct py_value){.kind = PY_INT, .i = (int64_t)n};
    return true;
}

// As an expression of Python: names without dollars, division without a rest. 0: a parameter is in
// it ($1, $#), or it is too long.
static size_t plain_of(struct span source, char *plain, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < source.len && n + 1 < size; i++) {
        char byte = source.at[i];
        struct span name = span_skip(source, i + 1);
        if (byte == '$' && parse_name_len(span_skip(name, span_starts(name, "{"))) == 0)
            return 0;
        if (byte == '/')
            plain[n++] = byte;
        if (byte != '$' && byte != '{' && byte != '}' && byte != '\\')
            plain[n++] = byte;
    }
    return n + 1 < size ? n : 0;
}

// $((2 * GPUS)), $(expr 16 / $GPUS): whole numbers and names of them.
static int arithmetic(struct shell *s, struct span source, const char *at)
{
    char plain[128], digits[PY_NUMBER];
    size_t n = plain_of(source, plain, sizeof plain);
    struct py_value v = {.kind = PY_UNKNOWN};
    struct py_error error = {0};
    struct py_names names = {find_number, s, NULL};
    const char *stop = n > 0 ? py_eval(&names, true, plain, plain + n, &v, &error) : plain;
    begin(s, at);
    if (error.at || v.kind != PY_INT || stop != plain + n) {
        s->known = false;
        return VRAM_OK;
    }
    return put_value(s, py_text(digits, &v, span_trim((struct span){plain, n})), true, at);
}

static int read_words(struct shell *s, struct span source, const char *at);

static int put_name(struct shell *s, struct span name, bool quoted, const char *at)
{
    const struct shell_name *b = shell_find(s, name);
    if (b && b->known && b->list) {
        s->open = s->open && s->len > 0;  // "${LIST[@]}" is as many words as the list has
        return read_words(s, b->value, at);
    }
    if (b && b->known)
        return put_value(s, b->value, quoted, at);
    begin(s, at);
    s->known = false;
    return VRAM_OK;
}

// ${NAME}, ${NAME:-8}, ${NAMES[@]}; source is between the brackets.
static int braces(struct shell *s, struct span source, bool quoted, const char *at)
{
    size_t digit = 0, n = parse_name_len(source);
    while (n == 0 && digit < source.len && source.at[digit] >= '0' && source.at[digit] <= '9')
        digit++;
    struct span name = {source.at, n ? n : digit}, behind = span_skip(source, name.len);
    const struct shell_name *b = shell_find(s, name);
    if (behind.len == 0 || span_is(behind, "[@]") || span_is(behind, "[*]"))
        return put_name(s, name, quoted, at);
    if (span_starts(behind, ":"))
        behind = span_skip(behind, 1);
    bool stands_in = span_starts(behind, "-") || span_starts(behind, "=");
    if (name.len > 0 && stands_in && b && (!b->known || b->value.len > 0))
        return put_name(s, name, quoted, at);
    behind = span_skip(behind, 1);
    if (behind.len > 1 && (behind.at[0] == '"' || behind.at[0] == '\'') &&
        behind.at[behind.len - 1] == behind.at[0])
        behind = (struct span){behind.at + 1, behind.len - 2};
    bool literal = span_find(behind, "$") == behind.len && span_find(behind, "`") == behind.len;
    if (name.len > 0 && stands_in && literal)
        return put_value(s, behind, quoted, at);
    if (name.len > 0 && stands_in && behind.at[0] == '$' && parse_is_name(span_skip(behind, 1)))
        return put_name(s, span_skip(behind, 1), quoted, at);
    begin(s, at);
    s->known = false;
    return VRAM_OK;
}

// At a dollar: over all that belongs to it.
static int dollar(struct shell *s, bool quoted)
{
    const char *at = s->at++, *close;
    struct span after = rest(s);
    if (span_starts(after, "((")) {
        close = shell_skip(s->at + 2, s->end, '(', ')');
        struct span source = {s->at + 2, (size_t)(close - s->at - 2)};
        s->at = close + 2 < s->end ? close + 2 : s->end;
        return arithmetic(s, source, at);
    }
    if (span_starts(after, "(expr ")) {
        static const char expr[] = "(expr ";
        close = shell_skip(s->at + 1, s->end, '(', ')');
        struct span source = {after.at + sizeof expr - 1,
                              (size_t)(close - after.at) - (sizeof expr - 1)};
        s->at = close < s->end ? close + 1 : s->end;
        return arithmetic(s, source, at);
    }
    if (span_starts(after, "{")) {
        close = shell_skip(s->at + 1, s->end, '{', '}');
        struct span source = {s->at + 1, (size_t)(close - s->at - 1)};
        s->at = close < s->end ? close + 1 : s->end;
        return braces(s, source, quoted, at);
    }
    size_t n = parse_name_len(after);
    if (n > 0) {
        s->at += n;
        return put_name(s, (struct span){after.at, n}, quoted, at);
    }
    begin(s, at);
    if (span_starts(after, "(")) {
        close = shell_skip(s->at + 1, s->end, '(', ')');
        s->at = close < s->end ? close + 1 : s->end;
    } else if (after.len > 0 && !is_blank(after.at[0]) && after.at[0] != '\n' &&
               after.at[0] != '"' && after.at[0] != '\'')
        s->at++;  // $1, $@, $?
    s->known = false;
    return VRAM_OK;
}

static void backquote(struct shell *s)
{
    begin(s, s->at++);
    while (s->at < s->end && *s->at != '`')
        s->at++;
    s->at += s->at < s->end;
    s->known = false;
}

// ---- words -----------------------------------------------------------------------------------

// \" ends what \" began.
static bool closes(const struct shell *s, char quote)
{
    bool escaped = s->quoted && quote == '"' && s->end - s->at > 1 && *s->at == '\\';
    return *s->at == quote || (escaped && s->at[1] == quote);
}

static int quotes(struct shell *s)
{
    char quote = *s->at;
    const char *open = s->at++;
    int rc = VRAM_OK;
    begin(s, open);
    while (rc == VRAM_OK && s->at < s->end && !closes(s, quote)) {
        if (quote == '"' && *s->at == '\\' && s->end - s->at > 1) {
            s->at++;
            if (*s->at != '\n')
                put(s, *s->at);
            s->at++;
        } else if (quote == '"' && *s->at == '$')
            rc = dollar(s, true);
        else if (quote == '"' && *s->at == '`')
            backquote(s);
        else
            put(s, *s->at++);
    }
    if (rc == VRAM_OK && s->at == s->end)
        return err_set(&s->p->v->err, MESSAGE_open_quote,
                       pairs_pos(s->out, s->p->file, (size_t)(open - s->p->text)), NO_FIELD,
                       NO_ARGS);
    s->at += rc == VRAM_OK && *s->at != quote;
    s->at += s->at < s->end;
    return rc;
}

// A line goes on behind a backslash, blanks after it or not. false: the backslash is another.
static bool goes_on(struct shell *s)
{
    const char *at = s->at + 1;
    while (at < s->end && is_blank(*at))
        at++;
    if (at < s->end && *at != '\n')
        return false;
    s->at = at < s->end ? at + 1 : s->end;
    return true;
}

// <your_model>, {task}: a place where something is to be put in.
static bool placeholder(struct shell *s)
{
    char close = *s->at == '<' ? '>' : '}';
    const char *at = s->at + 1;
    while (at < s->end && (parse_is_name((struct span){at, 1}) || *at == '-' || *at == '.' ||
                           *at == ' ' || *at == '/' || (*at >= '0' && *at <= '9')))
        at++;
    if (at == s->end || *at != close || at == s->at + 1 || s->at[1] == ' ')
        return false;
    begin(s, s->at);
    s->known = false;
    s->at = at + 1;
    return true;
}

// > file, 2>&1, <<EOF: no words. The text behind << begins with the next line.
static void redirect(struct shell *s)
{
    bool out = *s->at == '>',
         here = s->end - s->at > 2 && s->at[0] == '<' && s->at[1] == '<' && s->at[2] != '<';
    while (s->at < s->end &&
           (*s->at == '<' || *s->at == '>' || *s->at == '&' || *s->at == '-' || is_blank(*s->at)))
        s->at++;
    const char *from = s->at;
    while (s->at < s->end && !is_blank(*s->at) && *s->at != '\n' && *s->at != ';' &&
           *s->at != '|' && *s->at != '&')
        s->at++;
    struct span word = {from, (size_t)(s->at - from)};
    if (here && word.len > 1 && (word.at[0] == '"' || word.at[0] == '\''))
        word = (struct span){word.at + 1, word.len - 2};
    if (here)
        s->here = word;
    if (out)
        s->target = word;
}

static bool is_redirect(const struct shell *s)
{
    bool digits = s->open && s->len == 1 && s->text[0] >= '0' && s->text[0] <= '9';
    return (*s->at == '>' || *s->at == '<') && (!s->open || digits);
}

int shell_step(struct shell *s)
{
    char c = *s->at;
    if (c == '\\') {
        if (goes_on(s))
            return s->open ? shell_flush(s) : VRAM_OK;
        bool quote = s->quoted && s->end - s->at > 1 && s->at[1] == '"';
        begin(s, s->at++);
        if (quote)
            return VRAM_OK;  // of a word within the quoted text
        s->known = s->known && !(s->at < s->end && *s->at == '$');  // for another shell
        put(s, s->at < s->end ? *s->at++ : '\\');
        return VRAM_OK;
    }
    if (is_blank(c)) {
        s->at++;
        return shell_flush(s);
    }
    if (c == '"' || c == '\'')
        return quotes(s);
    if (c == '$')
        return dollar(s, false);
    if (c == '`') {
        backquote(s);
        return VRAM_OK;
    }
    if ((c == '<' || c == '{') && placeholder(s))
        return VRAM_OK;
    if (c == '>' || is_redirect(s)) {
        if (is_redirect(s))
            s->open = false;  // 2>
        int rc = shell_flush(s);
        redirect(s);
        return rc;
    }
    begin(s, s->at++);
    put(s, c);
    return VRAM_OK;
}

// The words of a list's source, as if they stood at `at`.
static int read_words(struct shell *s, struct span source, const char *at)
{
    const char *before = s->at, *end = s->end;
    size_t place = (size_t)(at - s->p->text);
    int rc = shell_flush(s);
    if (s->nested == NESTED_MAX)
        return rc;
    s->nested++;
    s->at = source.at;
    s->end = source.at + source.len;
    while (rc == VRAM_OK && s->at < s->end) {
        size_t from = s->count;
        if (*s->at == '#' && !s->open)
            s->at += span_find(rest(s), "\n");
        else if (*s->at == '\n') {
            s->at++;
            rc = shell_flush(s);
        } else
            rc = shell_step(s);
        for (; from < s->count; from++)
            s->words[from].at = place;
    }
    size_t from = s->count;
    rc = rc ? rc : shell_flush(s);
    for (; from < s->count; from++)
        s->words[from].at = place;
    s->at = before;
    s->end = end;
    s->nested--;
    return rc;
}
