// Owns the words of command lines: flags, launchers and programs by their names, and whether a text
// is one.

#include "calc/base/text.h"
#include "calc/parse/command.h"

static const struct {
    enum launcher launcher;
    const char *words;
} LAUNCHERS[] = {
#define LAUNCHER(id, words) {id, words},
#include "calc/parse/programs.def"
#undef LAUNCHER
};

static const struct program PROGRAMS[] = {
#define PROGRAM(words, mark, first, pairs) {words, mark, first, pairs},
#include "calc/parse/programs.def"
#undef PROGRAM
};

#define ROWS(table) (sizeof(table) / sizeof *(table))

bool command_is_flag(struct shell_word w)
{
    size_t n = span_starts(w.text, "--") ? 2 : span_starts(w.text, "-") ? 1 : 0;
    char first = n < w.text.len ? w.text.at[n] : 0;
    return n > 0 &&
           ((first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || first == '_');
}

struct span command_base(struct span path)
{
    for (size_t i = path.len; i-- > 0;)
        if (path.at[i] == '/')
            return span_skip(path, i + 1);
    return path;
}

bool command_ends(struct span s, const char *end)
{
    size_t n = text_len(end);
    return s.len >= n && span_is(span_skip(s, s.len - n), end);
}

// A pattern with a * at one end, at both or at none.
static bool matches(struct span pattern, struct span s)
{
    bool before = span_starts(pattern, "*"), after = pattern.at[pattern.len - 1] == '*';
    struct span middle = {pattern.at + before, pattern.len - before - after};
    if (!before && !after)
        return span_same(pattern, s);
    for (size_t i = 0; i + middle.len <= s.len && (before || i == 0); i++)
        if (span_same((struct span){s.at + i, middle.len}, middle))
            return true;
    return false;
}

// How many words from i on are these; 0: they are others. The first may be a path.
static size_t words_here(struct command *c, size_t i, const char *words)
{
    size_t n = 0;
    for (struct span rest = span_of(words); rest.len > 0; n++) {
        struct span one = {rest.at, span_find(rest, " ")};
        if (i + n >= c->count)
            return 0;
        struct span own = command_word(c, i + n)->text;
        if (own.len == 0 || !matches(one, n == 0 ? command_base(own) : own))
            return 0;
        rest = span_skip(rest, one.len + 1);
    }
    return n;
}

const struct program *command_program(struct command *c, size_t i, size_t *len)
{
    for (size_t k = 0; k < ROWS(PROGRAMS); k++)
        if ((*len = words_here(c, i, PROGRAMS[k].words)) > 0)
            return &PROGRAMS[k];
    return NULL;
}

bool command_launcher(struct command *c, size_t i, size_t *len, enum launcher *launcher)
{
    for (size_t k = 0; k < ROWS(LAUNCHERS); k++)
        if ((*len = words_here(c, i, LAUNCHERS[k].words)) > 0) {
            *launcher = LAUNCHERS[k].launcher;
            return true;
        }
    return false;
}

// What stands in the script from a byte on, to the next blank.
struct span command_source(const struct command *c, size_t at)
{
    size_t n = 0;
    while (at + n < c->p->len && (unsigned char)c->p->text[at + n] > ' ')
        n++;
    return (struct span){c->p->text + at, n};
}

// The words of a program that is started by its name, and no script's or module's.
bool command_is_name(struct span words)
{
    return words.at[0] != '*' && (span_find(words, ".") == words.len ||
                                  command_ends(words, ".sh") || command_is_image(words));
}

bool command_is_image(struct span words)
{
    return span_find(words, ":") < words.len;
}

// ---- recognition -----------------------------------------------------------------------------

// Does a line begin with a launcher or a program of ours, behind bindings and a prompt?
static bool begins_command(struct span line)
{
    for (;;) {
        line = span_trim(line);
        size_t n = parse_name_len(line), blank = span_find(line, " ");
        if (span_starts(line, "$ ") || span_starts(line, "!") || span_starts(line, "sudo "))
            line = span_skip(line, line.at[0] == '!' ? 1 : blank + 1);
        else if (n > 0 && span_starts(span_skip(line, n), "=") && blank < line.len)
            line = span_skip(line, blank + 1);
        else
            break;
    }
    struct span first = command_base((struct span){line.at, span_find(line, " ")});
    if (first.len == line.len)
        return false;
    for (size_t i = 0; i < ROWS(LAUNCHERS); i++) {
        struct span words = span_of(LAUNCHERS[i].words);
        if (span_same(first, (struct span){words.at, span_find(words, " ")}))
            return true;
    }
    for (size_t i = 0; i < ROWS(PROGRAMS); i++) {
        struct span words = span_of(PROGRAMS[i].words);
        if (command_is_name(words) &&
            span_same(first, (struct span){words.at, span_find(words, " ")}))
            return true;
    }
    return text_has_word("srun uv docker podman", first.at, first.len);
}

bool commands_are_in(struct span text)
{
    bool found = false;
    if (span_starts(text, "#!") &&
        span_find((struct span){text.at, span_find(text, "\n")}, "sh") < span_find(text, "\n"))
        return true;
    while (text.len > 0) {
        struct span line = {text.at, span_find(text, "\n")};
        text = span_skip(text, line.len + 1);
        if (span_starts(line, "import ") || span_starts(line, "from ") ||
            span_starts(line, "def ") || span_starts(line, "class ") || span_starts(line, "\"\"\""))
            return false;
        found = found || begins_command(line);
    }
    return found;
}
