// Owns the commands of a shell script: which words are one, what is bound above. Nothing is run.

#include "calc/parse/shell.h"

#include "calc/base/text.h"

bool shell_init(struct shell *s, struct parse *p, struct pair_list *out)
{
    *s = (struct shell){.p = p, .out = out, .at = p->text, .end = p->text + p->len};
    s->words = mem_arena_new(&out->arena, SHELL_WORDS, sizeof *s->words);
    s->names = mem_arena_new(&out->arena, SHELL_NAMES, sizeof *s->names);
    s->text = mem_arena_new(&out->arena, PARSE_LIST_MAX, 1);
    return s->words && s->names && s->text;
}

static struct span rest(const struct shell *s)
{
    return (struct span){s->at, (size_t)(s->end - s->at)};
}

// ---- names -----------------------------------------------------------------------------------

const struct shell_name *shell_value(const struct shell *s, const char *name)
{
    return shell_find(s, span_of(name));
}

static void bind(struct shell *s, struct shell_name b)
{
    const struct shell_name *old = shell_find(s, b.name);
    if (s->depth > 0 && !(old && old->known && b.known && span_same(old->value, b.value)))
        b.known = false;  // it may be bound here or not
    if (s->name_count < SHELL_NAMES)
        s->names[s->name_count++] = b;
    else if (old)
        s->names[old - s->names].known = false;
}

// ---- commands --------------------------------------------------------------------------------

// bash <<EOF, cat >train.sh <<EOF: the text is commands.
static bool here_is_script(const struct shell *s)
{
    static const char *const ends[] = {".sh", ".bash", ".slurm", ".sbatch"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t n = text_len(ends[i]);
        if (s->target.len >= n && span_is(span_skip(s->target, s->target.len - n), ends[i]))
            return true;
    }
    for (size_t i = 0; i < s->count; i++)
        if (text_has_word("bash sh zsh sbatch srun qsub", s->words[i].text.at,
                          s->words[i].text.len))
            return true;
    return false;
}

// Behind the line of a <<: to the line that ends it.
static void skip_here(struct shell *s)
{
    if (here_is_script(s))
        s->here.len = 0;
    while (s->here.len > 0 && s->at < s->end) {
        struct span line = {s->at, span_find(rest(s), "\n")};
        s->at += line.len + (s->at + line.len < s->end);
        if (span_same(span_trim(line), s->here))
            break;
    }
    s->here.len = 0;
}

// A list and more of it. What may be added or not is said, and left out.
static void add_to_list(struct shell *s, const struct shell_name *old, struct span more)
{
    size_t len = old->value.len + 1 + more.len;
    char *text = s->depth == 0 ? mem_arena_new(&s->out->arena, len + 1, 1) : NULL;
    struct span word = span_trim(more);
    word.len =
        span_find(word, "\n") < span_find(word, " ") ? span_find(word, "\n") : span_find(word, " ");
    if (!text) {
        parse_warn(s->p, MESSAGE_word_unread,
                   pairs_pos(s->out, s->p->file, (size_t)(word.at - s->p->text)),
                   ARGS(arg_part("word", word.at, word.len)));
        return;
    }
    mem_copy(text, old->value.at, old->value.len);
    text[old->value.len] = ' ';
    mem_copy(text + old->value.len + 1, more.at, more.len);
    bind(s, (struct shell_name){old->name, {text, len}, true, true});
}

// NAME=(one "two three") and NAME+=(more): the source between the brackets is the value.
static bool bind_list(struct shell *s)
{
    struct span name = {s->at, parse_name_len(rest(s))}, behind = span_skip(rest(s), name.len);
    bool more = span_starts(behind, "+=(");
    if (s->open || name.len == 0 || !(more || span_starts(behind, "=(")))
        return false;
    const struct shell_name *old = shell_find(s, name);
    const char *from = behind.at + 2 + more, *close = shell_skip(from, s->end, '(', ')');
    struct span list = {from, (size_t)(close - from)};
    if (more && old && old->known && old->list)
        add_to_list(s, old, list);
    else
        bind(s, (struct shell_name){name, list, !more || !old, true});
    s->kept = s->name_count;
    s->at = close < s->end ? close + 1 : s->end;
    return true;
}

// NAME=value and NAME+=value at a command's beginning, or as words of export.
static bool bind_word(struct shell *s, struct shell_word w)
{
    struct span name = {w.text.at, parse_name_len(w.text)}, behind = span_skip(w.text, name.len);
    bool more = span_starts(behind, "+=");
    if (name.len == 0 || !(more || span_starts(behind, "=")))
        return false;
    struct shell_name b = {name, span_skip(behind, 1 + more), w.known, false};
    const struct shell_name *old = shell_find(s, name);
    if (more && old) {
        size_t len = old->value.len + b.value.len;
        char *text = len < PARSE_LIST_MAX ? mem_arena_new(&s->out->arena, len + 1, 1) : NULL;
        b.known = b.known && old->known && !old->list && text;
        if (text) {
            mem_copy(text, old->value.at, old->value.len);
            mem_copy(text + old->value.len, b.value.at, b.value.len);
            b.value = (struct span){text, len};
        }
    }
    bind(s, b);
    return true;
}

static bool binds(const struct shell *s)
{
    struct span first = s->count > 0 ? s->words[0].text : (struct span){"", 0};
    return first.len > 0 &&
           text_has_word("export local declare readonly typeset", first.at, first.len);
}

static void drop(struct shell *s, size_t n)
{
    for (size_t i = n; i < s->count; i++)
        s->words[i - n] = s->words[i];
    s->count -= n;
}

// The words that only steer: what stands between them may run or not.
static void steer(struct shell *s)
{
    while (s->count > 0) {
        struct span word = s->words[0].text;
        bool loop = span_is(word, "for") || span_is(word, "select") || span_is(word, "case");
        if (loop || span_is(word, "if") || span_is(word, "while") || span_is(word, "until") ||
            span_is(word, "{") || span_is(word, "function"))
            s->depth++;
        else if (span_is(word, "fi") || span_is(word, "done") || span_is(word, "esac") ||
                 span_is(word, "}"))
            s->depth -= s->depth > 0;
        else if (!text_has_word("then else elif do ! time $ %", word.at, word.len))
            return;
        if (loop && s->count > 1)
            bind(s, (struct shell_name){s->words[1].text, {"", 0}, false, false});
        drop(s, loop ? s->count : 1);
    }
}

// Takes the bindings off a command's beginning. They last where nothing stands behind them.
static void take_bindings(struct shell *s)
{
    size_t n = 0;
    bool all = binds(s);
    for (size_t i = all; i < s->count; i++) {
        if (!bind_word(s, s->words[i]) && !all)
            break;
        n = i + 1;
    }
    drop(s, n);
    if (s->count == 0)
        s->kept = s->name_count;
}

static int read_command(struct shell *s)
{
    int rc = VRAM_OK;
    s->count = s->target.len = 0;
    s->name_count = s->kept;
    while (rc == VRAM_OK && s->at < s->end) {
        char c = *s->at;
        if (c == '#' && !s->open) {
            s->at += span_find(rest(s), "\n");
        } else if (c == '&' && s->end - s->at > 1 && s->at[1] == '>') {
            s->at++;
        } else if (c == '\n' || c == ';' || c == '|' || c == '&' || c == '(' || c == ')') {
            s->at++;
            rc = shell_flush(s);
            if (c == '\n')
                skip_here(s);
            break;
        } else if (!((s->count == 0 || binds(s)) && bind_list(s)))
            rc = shell_step(s);
    }
    rc = rc ? rc : shell_flush(s);
    steer(s);
    take_bindings(s);
    return rc;
}

bool shell_next(struct shell *s, int *rc)
{
    *rc = VRAM_OK;
    s->count = 0;
    while (*rc == VRAM_OK && s->count == 0 && s->at < s->end)
        *rc = read_command(s);
    return *rc == VRAM_OK && s->count > 0;
}
