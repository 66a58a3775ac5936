// Owns the telling of what a text is: its language by its first words, its format by its own keys.
// Nothing is guessed.

#include "calc/parse/kind.h"

#include "calc/base/text.h"
#include "calc/parse/foreign.h"
#include "calc/parse/formats.h"
#include "calc/parse/parse_oom.h"
#include "calc/parse/python_settings.h"
#include "calc/parse/settings.h"

enum { LOOK = 65536 };

// The languages that a text can be in.
enum language { LINES, PYTHON, CALLS, LOG, TREE, TOML, COMMAND };

static const char *const KIND_NAMES[] = {
#define X(id, name, text) name,
    VRAM_KINDS(X)
#undef X
};

static struct span beginning(const struct parse *p)
{
    return (struct span){p->text, p->len < LOOK ? p->len : LOOK};
}

static bool says(const struct parse *p, const char *words)
{
    struct span text = beginning(p);
    return span_find(text, words) < text.len;
}

static bool named(const struct parse *p, const char *suffix)
{
    struct span name = p->file ? span_of(p->file) : (struct span){"", 0};
    size_t n = text_len(suffix);
    return name.len >= n && span_is(span_skip(name, name.len - n), suffix);
}

// ---- languages -------------------------------------------------------------------------------

static bool is_log(const struct parse *p)
{
    return says(p, "number of parameters:") || says(p, "num decayed parameter tensors:") ||
           says(p, "tokens per iteration will be") ||
           (span_starts(span_trim(beginning(p)), "iter ") && says(p, ": loss "));
}

// The lines of a text that say something, one after the other.
static bool next_line(struct span *rest, struct span *line)
{
    while (rest->len > 0) {
        size_t n = span_find(*rest, "\n");
        *line = span_trim((struct span){rest->at, n});
        *rest = span_skip(*rest, n + 1);
        if (line->len > 0 && line->at[0] != '#')
            return true;
    }
    return false;
}

// "[training]" or "[[stages]]": a header, and no list.
static bool is_header(struct span line)
{
    size_t close = span_find(line, "]");
    if (line.len < 3 || line.at[0] != '[' || close == line.len)
        return false;
    for (size_t i = 1; i < close; i++) {
        char c = line.at[i];
        bool name = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                    c == '_' || c == '-' || c == '.';
        if (!name && !(i == 1 && c == '['))
            return false;
    }
    struct span behind = span_trim(span_skip(line, close + 1));
    return behind.len == 0 || behind.at[0] == ']' || behind.at[0] == '#';
}

static bool is_toml(const struct parse *p)
{
    struct span rest = beginning(p), line;
    while (next_line(&rest, &line))
        if (is_header(line))
            return true;
    return false;
}

static bool is_yaml_line(struct span line)
{
    size_t colon = span_find(line, ":");
    bool ends = colon + 1 == line.len ||
                (colon < line.len && (line.at[colon + 1] == ' ' || line.at[colon + 1] == '\t'));
    return span_starts(line, "- ") || span_starts(line, "---") ||
           (ends && span_find(line, "=") > colon && span_find(line, " ") > colon &&
            span_find(line, "(") > colon);
}

// Its first line is "key:", and none is "key = value".
static bool is_yaml(const struct parse *p)
{
    struct span rest = beginning(p), line;
    if (!next_line(&rest, &line) || !is_yaml_line(line))
        return false;
    while (next_line(&rest, &line)) {
        struct span key = span_trim((struct span){line.at, span_find(line, "=")});
        if (key.len < line.len && parse_is_name(key))
            return false;
    }
    return true;
}

static bool is_python(const struct parse *p)
{
    return named(p, ".py") || says(p, "import ") || says(p, "wandb_log") || says(p, "out_dir =");
}

static bool is_script(const struct parse *p)
{
    return named(p, ".sh") || named(p, ".bash") || named(p, ".slurm") || named(p, ".sbatch");
}

static enum language language_of(const struct parse *p)
{
    struct span text = span_trim(beginning(p));
    bool brace = text.len > 0 && text.at[0] == '{';
    if (brace || named(p, ".json") || named(p, ".yaml") || named(p, ".yml"))
        return TREE;
    if (named(p, ".toml"))
        return TOML;
    if (is_script(p))
        return COMMAND;
    if (named(p, ".py"))
        return calls_are_in(beginning(p)) ? CALLS : PYTHON;
    if (is_log(p))
        return LOG;
    if (calls_are_in(beginning(p)))
        return CALLS;
    if (is_toml(p))
        return TOML;
    if (is_yaml(p))
        return TREE;
    if (commands_are_in(beginning(p)))
        return COMMAND;
    return is_python(p) ? PYTHON : LINES;
}

static int read_language(struct parse *p, enum language language, struct pair_list *pairs)
{
    int rc = language == TOML      ? read_toml(p, pairs)
             : language == CALLS   ? read_calls(p, pairs)
             : language == COMMAND ? read_command_line(p, pairs)
                                   : read_yaml(p, pairs);
    p->pairs = pairs->at;
    p->pair_count = pairs->count;
    return rc;
}

// ---- formats ---------------------------------------------------------------------------------

static enum vram_kind kind_of_format(enum format_id format)
{
    for (int i = 0; i < VRAM_KIND_COUNT; i++)
        if (text_equal(format_name(format), text_len(format_name(format)), KIND_NAMES[i]))
            return (enum vram_kind)i;
    return VRAM_KIND_AUTO;
}

static enum format_id format_of_kind(enum vram_kind kind)
{
    for (int i = 0; i < FORMAT_COUNT; i++)
        if (kind_of_format((enum format_id)i) == kind)
            return (enum format_id)i;
    return FORMAT_NONE;
}

static bool is_ours(struct span key)
{
    return config_field(key.at, key.len) >= 0 || span_is(key, "preset") || span_is(key, "gpu");
}

// A model's config.json, lines of ours, or a format by its keys. A config.json may hold what
// generation_config.json does. Lines are ours where half of them are: one word in common is chance.
static enum vram_kind kind_of_pairs(struct parse *p)
{
    enum format_id format = format_recognize(p);
    size_t ours = 0;
    bool model = false;
    for (size_t i = 0; i < p->pair_count; i++) {
        struct span key = span_of(p->pairs[i].key);
        model = model || span_is(key, "model_type") || span_is(key, "text_config.model_type") ||
                span_is(key, "architectures");
        ours += is_ours(key);
    }
    if (model && (format == FORMAT_NONE || format == FORMAT_GENERATION))
        return VRAM_KIND_HF;
    if (format != FORMAT_NONE)
        return kind_of_format(format);
    return 2 * ours >= p->pair_count ? VRAM_KIND_FLAT : VRAM_KIND_AUTO;
}

// Whether nanoGPT's reader would find settings: lines that begin with a name of its, or of ours. A
// script of another kind has one or two such names by chance among all that it binds.
static bool sets_something(const struct parse *p)
{
    struct span rest = {p->text, p->len};
    size_t known = 0, bound = 0;
    while (rest.len > 0) {
        struct span line = {rest.at, span_find(rest, "\n")};
        rest = span_skip(rest, line.len + 1);
        if (span_starts(line, "--"))
            line = span_skip(line, 2);
        struct span key = {line.at, parse_name_len(line)};
        struct span behind = span_trim(span_skip(line, key.len));
        bool sets = behind.len > 0 && (behind.at[0] == '=' || behind.at[0] == ':');
        bound += sets && key.len > 0;
        known += sets && (is_ours(key) || parse_is_training_key(key));
    }
    return known > 0 && 3 * known >= bound;
}

// Python of which nothing is read, for want of a call or a setting; what it reads itself is asked
// for.
static int no_training_call(struct parse *p)
{
    struct span file = python_settings((struct span){p->text, p->len});
    p->delegated = file.len > 0 && parse_is_given(p);
    if (p->delegated)
        return VRAM_OK;
    if (file.len > 0)
        return err_set(&p->v->err, MESSAGE_file_first,
                       err_pos_of(p->file, p->text, (size_t)(file.at - p->text)), NO_FIELD,
                       ARGS(arg_part("value", file.at, file.len)));
    return err_set(&p->v->err, MESSAGE_no_training_call, (struct err_pos){p->file, 1, 1}, NO_FIELD,
                   NO_ARGS);
}

enum vram_kind kind_recognize(struct parse *p, struct pair_list *pairs)
{
    static const enum vram_kind plain[] = {
        [LINES] = VRAM_KIND_FLAT, [PYTHON] = VRAM_KIND_NANOGPT, [LOG] = VRAM_KIND_LOG};
    enum language language = language_of(p);
    if (language == PYTHON && p->len > 0 && !sets_something(p)) {
        no_training_call(p);
        return VRAM_KIND_AUTO;
    }
    if (language == LINES || language == PYTHON || language == LOG)
        return plain[language];
    if (read_language(p, language, pairs) != VRAM_OK || err_is_set(&p->first) || p->delegated)
        return VRAM_KIND_AUTO;
    if ((language == TREE || language == TOML) && foreign_named(p))
        return VRAM_KIND_AUTO;
    enum vram_kind kind = kind_of_pairs(p);
    if (language == CALLS && (kind == VRAM_KIND_FLAT || kind == VRAM_KIND_AUTO)) {
        no_training_call(p);
        // adapters and how the model is loaded stand beside the settings of a file
        return p->delegated ? kind_of_format(FORMAT_TRAINER) : VRAM_KIND_AUTO;
    }
    return kind;
}

// ---- reading ---------------------------------------------------------------------------------

// A line of Jinja, or a value that begins as one, outside of a text of several lines; NULL: none.
static const char *template_in(const struct parse *p)
{
    struct span rest = beginning(p), line;
    enum language language = language_of(p);
    if (named(p, ".jinja") || named(p, ".jinja2") || named(p, ".j2"))
        return p->text;
    if (language != TREE && language != TOML && language != LINES)
        return NULL;
    while (next_line(&rest, &line)) {
        size_t colon = span_find(line, ": ");
        struct span value = span_trim(span_skip(line, colon < line.len ? colon + 2 : 0));
        if (span_starts(line, "{%") || span_starts(line, "{#") || span_starts(value, "{{"))
            return span_starts(value, "{{") ? value.at : line.at;
        if (span_is(value, "|") || span_is(value, ">") || span_starts(value, "|-"))
            return NULL;
    }
    return NULL;
}

// What stands between its brackets is not yet there.
static int template_error(struct parse *p, const char *at)
{
    return err_set(&p->v->err, MESSAGE_text_is_template,
                   err_pos_of(p->file, p->text, (size_t)(at - p->text)), NO_FIELD, NO_ARGS);
}

static int no_format(struct parse *p)
{
    return err_set(&p->v->err, MESSAGE_no_format, (struct err_pos){p->file, 1, 1}, NO_FIELD,
                   NO_ARGS);
}

// A file that a script takes values from, which says nothing by itself.
static bool is_settings(enum vram_kind kind)
{
    return kind == VRAM_KIND_SETTINGS;
}

static int read_as(struct parse *p, enum vram_kind kind)
{
    enum format_id format = format_of_kind(kind), own = format_recognize(p);
    if (own != FORMAT_NONE && kind_of_format(own) == kind)
        format = own;  // one of several of this name
    if (kind != VRAM_KIND_AUTO && format != FORMAT_NONE)
        return format_read(p, format);
    switch (kind) {
    case VRAM_KIND_FLAT: return parse_flat(p);
    case VRAM_KIND_NANOGPT: return parse_nanogpt(p);
    case VRAM_KIND_LOG: return parse_log(p);
    case VRAM_KIND_HF: return parse_hf(p);
    case VRAM_KIND_SETTINGS: return settings_keep(p);
    default: return no_format(p);
    }
}

// A text of a structured kind is read into pairs first; HF may also be flat lines, as it always
// could.
static int read_text(struct parse *p, enum vram_kind kind, struct pair_list *pairs)
{
    enum language language = language_of(p);
    int rc;
    if (kind == VRAM_KIND_AUTO) {
        kind = kind_recognize(p, pairs);
        if (kind == VRAM_KIND_AUTO && p->delegated)
            return VRAM_OK;
        if (kind == VRAM_KIND_AUTO && (err_is_set(&p->v->err) || err_is_set(&p->first)))
            return p->v->err.out.code;
        if (kind == VRAM_KIND_FLAT && language == TREE && p->text[0] != '{' && !named(p, ".json"))
            p->pairs = NULL;  // lines of ours with colons: their own reader knows arithmetic, too
        return read_as(p, kind);
    }
    bool brace = span_starts(span_trim(beginning(p)), "{") || language == COMMAND,
         lines = kind == VRAM_KIND_FLAT || kind == VRAM_KIND_HF;
    if (lines ? !brace : format_of_kind(kind) == FORMAT_NONE && !is_settings(kind))
        return read_as(p, kind);
    rc = read_language(p, language, pairs);
    return rc == VRAM_OK && !err_is_set(&p->first) ? read_as(p, kind) : rc;
}

// An out-of-memory message: it has the words of one, and is no file of settings by its name or by
// what it holds. A log's end may be a message, and a script may speak of one.
static bool is_message(const struct parse *p)
{
    struct message e;
    struct oom_message m;
    struct pair_list pairs;
    struct parse silent = *p;
    message_clear(&e);
    bool settings = named(p, ".json") || named(p, ".yaml") || named(p, ".yml") ||
                    named(p, ".toml") || named(p, ".py") || is_script(p) ||
                    span_starts(beginning(p), "#!");
    if (settings || (oom_parse(&m, &e, p->text, p->len) != VRAM_OK &&
                     text_equal(e.out.id, text_len(e.out.id), "oom_no_message")))
        return false;
    silent.each = NULL;
    pairs_init(&pairs, &p->v->mem, p->text);
    enum vram_kind kind = kind_recognize(&silent, &pairs);
    pairs_free(&pairs);
    message_clear(&p->v->err);
    message_list_free(&p->v->notes);
    return kind == VRAM_KIND_AUTO ||
           ((kind == VRAM_KIND_FLAT || kind == VRAM_KIND_NANOGPT) && !sets_something(p));
}

int kind_read(struct parse *p, enum vram_kind kind)
{
    struct pair_list pairs;
    if (p->pairs)
        return read_as(p, kind == VRAM_KIND_AUTO ? kind_of_pairs(p) : kind);
    if (span_starts(beginning(p), "version https://git-lfs.github.com/spec/"))
        return err_set(&p->v->err, MESSAGE_lfs_pointer, (struct err_pos){p->file, 1, 1}, NO_FIELD,
                       NO_ARGS);
    if (kind == VRAM_KIND_AUTO && is_message(p))
        return err_set(&p->v->err, MESSAGE_text_is_oom, (struct err_pos){p->file, 1, 1}, NO_FIELD,
                       NO_ARGS);
    const char *jinja = kind == VRAM_KIND_AUTO ? template_in(p) : NULL;
    if (jinja)
        return template_error(p, jinja);
    pairs_init(&pairs, &p->v->mem, p->text);
    int rc = read_text(p, kind, &pairs);
    pairs_free(&pairs);
    p->pairs = NULL;
    return rc;
}
