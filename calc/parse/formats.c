// Owns the tables of the training frameworks' formats: recognition by their own keys, and the
// reading of a key.

#include "calc/parse/formats.h"

#include "calc/base/text.h"
#include "calc/model/model.h"
#include "calc/parse/actions.h"
#include "calc/parse/agreement.h"
#include "calc/parse/clashes.h"
#include "calc/parse/conclude.h"
#include "calc/parse/maps.h"
#include "calc/parse/own_version.h"
#include "calc/parse/pairs.h"

static const struct format {
    const char *name, *title, *newest, *implied;
    enum format_id parent;
} FORMATS[] = {
#define FORMAT(id, name, title, parent, newest, implied) {name, title, newest, implied, parent},
#include "calc/parse/formats.def"
};

static const struct mark {
    enum format_id format;
    const char *keys;
} MARKS[] = {
#define MARK(id, keys) {FORMAT_##id, keys},
#include "calc/parse/formats.def"
};

static const struct key {
    enum format_id format;
    const char *name, *target, *map;
} KEYS[] = {
#define KEY(id, key, target, map) {FORMAT_##id, key, target, map},
#include "calc/parse/formats.def"
};

static const struct initial {
    enum format_id format;
    const char *key;
    uint32_t since, before;
    const char *value;
} DEFAULTS[] = {
#define DEFAULT(id, key, since, before, value) {FORMAT_##id, key, since, before, value},
#include "calc/parse/formats.def"
};

static const struct ignored {
    enum format_id format;
    const char *words;
} IGNORED[] = {
#define IGNORE(id, words) {FORMAT_##id, words},
#include "calc/parse/formats.def"
};

// Unknown keys that are named: more say that this is another kind of file.
enum { UNKNOWN_MAX = 100 };

#define ROWS(table) (sizeof(table) / sizeof *(table))

const char *format_name(enum format_id format)
{
    return format < FORMAT_COUNT ? FORMATS[format].name : "";
}

// ---- recognition -----------------------------------------------------------------------------

static bool has_key(const struct parse *p, struct span key)
{
    for (size_t i = 0; p->pairs && i < p->pair_count; i++)
        if (span_same(span_of(p->pairs[i].key), key))
            return true;
    return false;
}

static bool has_keys(const struct parse *p, const char *keys)
{
    for (struct span rest = span_of(keys); rest.len > 0;) {
        size_t n = span_find(rest, " ");
        if (!has_key(p, (struct span){rest.at, n}))
            return false;
        rest = span_skip(rest, n + 1);
    }
    return true;
}

enum format_id format_recognize(struct parse *p)
{
    for (size_t i = 0; i < ROWS(MARKS); i++)
        if (has_keys(p, MARKS[i].keys))
            return MARKS[i].format;
    return FORMAT_NONE;
}

// ---- one key ---------------------------------------------------------------------------------

static struct args about(const struct entry *e, struct arg room[2])
{
    room[0] = arg_part("key", e->key.at, e->key.len);
    room[1] = arg_part("value", e->value.at, e->value.len);
    return (struct args){room, 2};
}

// The signs of a map that stand for no value. Returns false for a value.
static bool read_sign(struct parse *p, const struct key *k, const struct entry *e, struct span to,
                      int *rc)
{
    struct arg room[2];
    *rc = VRAM_OK;
    if (to.len == 0)
        return true;
    if (span_is(to, "<"))
        parse_warn(p, MESSAGE_takes_less, e->value_pos, about(e, room));
    else if (span_is(to, "+"))
        parse_warn(p, MESSAGE_tower_outside, e->value_pos,
                   ARGS(arg_part("key", e->key.at, e->key.len)));
    else if (span_is(to, "^"))
        parse_warn(p, MESSAGE_file_not_opened, e->value_pos, about(e, room));
    else if (span_is(to, "!") || span_is(to, "?"))
        *rc = err_set(&p->v->err, span_is(to, "?") ? MESSAGE_which_trainer : MESSAGE_not_modelled,
                      e->value_pos, NO_FIELD, about(e, room));
    else if (!span_is(to, "@"))
        return false;
    else if (!auto_is_said(p, k->target))
        *rc = auto_alone(p, k->target, e);
    return true;
}

static int bad_word(struct parse *p, const struct entry *e, const char *words)
{
    struct arg room[3];
    struct text_line list = {0};
    about(e, room);
    if (span_find(span_of(words), "=") < text_len(words))
        map_words(&list, words);
    room[2] = arg_text("values", list.len ? list.text : words);
    return err_set(&p->v->err, MESSAGE_bad_word, e->value_pos, NO_FIELD, (struct args){room, 3});
}

static int set_fact(struct parse *p, const struct entry *e, const char *name, struct span to)
{
    int fact = facts_find(name, text_len(name));
    if (facts_set(&p->v->facts, fact, to.at, to.len))
        return VRAM_OK;
    return bad_word(p, e, *facts_words(fact) ? facts_words(fact) : "0, 1, 2, ...");
}

static int read_entry(struct parse *p, enum format_id format, const struct entry *e);

static int act(struct parse *p, const struct key *k, const struct entry *e)
{
    struct delegate as;
    int rc = action_run(p, k->target + 1, k->map, e, &as);
    return rc == VRAM_OK && as.format != FORMAT_NONE ? read_entry(p, as.format, &as.e) : rc;
}

static int read_key(struct parse *p, const struct key *k, const struct entry *e)
{
    struct span to;
    int rc;
    if (k->target[0] == '#')
        return act(p, k, e);
    if (!map_value(k->map, e->value, &to))
        return bad_word(p, e, k->map);
    if (read_sign(p, k, e, to, &rc) || k->target[0] == '-')
        return rc;
    if (k->target[0] == '@')
        return set_fact(p, e, k->target + 1, to);
    return handle_set(p->v, e->value_pos, k->target, text_len(k->target), to.at, to.len);
}

// ---- unknown keys ----------------------------------------------------------------------------

// The name of a mapping whose members are known.
static bool is_above(const char *words, struct span key)
{
    for (struct span rest = span_of(words); rest.len > key.len;) {
        struct span word = {rest.at, span_find(rest, " ")};
        if (word.len > key.len && word.at[key.len] == '.' &&
            span_same((struct span){word.at, key.len}, key))
            return true;
        rest = span_skip(rest, word.len + 1);
    }
    return false;
}

static bool is_mapping(enum format_id format, struct span key)
{
    for (size_t i = 0; i < ROWS(KEYS); i++)
        if (KEYS[i].format == format && is_above(KEYS[i].name, key))
            return true;
    for (size_t i = 0; i < ROWS(IGNORED); i++)
        if (IGNORED[i].format == format && is_above(IGNORED[i].words, key))
            return true;
    return false;
}

static bool is_ignored(enum format_id format, struct span key)
{
    for (size_t i = 0; i < ROWS(IGNORED); i++)
        if (IGNORED[i].format == format && span_in_words(IGNORED[i].words, key))
            return true;
    return false;
}

// Whether any row of the format, or of its parents, begins with the section's name and a point.
static bool section_is_known(enum format_id format, struct span section)
{
    for (enum format_id f = format; f != FORMAT_NONE; f = FORMATS[f].parent)
        if (is_mapping(f, section))
            return true;
    return false;
}

// What is in a section that the format does not have is said once, for all of it.
static bool in_unknown_section(struct parse *p, enum format_id format, const struct entry *e)
{
    struct span section = {e->key.at, span_find(e->key, ".")};
    if (section.len == e->key.len || section_is_known(format, section))
        return false;
    if (!span_same(section, p->unknown_section))
        parse_warn(p, MESSAGE_section_unknown, e->key_pos,
                   ARGS(arg_part("section", section.at, section.len),
                        arg_text("format", FORMATS[format].title)));
    p->unknown_section = section;
    return true;
}

static struct span leaf_of(struct span key)
{
    for (size_t i = key.len; i-- > 0;)
        if (key.at[i] == '.')
            return span_skip(key, i + 1);
    return key;
}

// The key of the same section whose own name is nearest, or NULL.
static const char *nearest_key(enum format_id format, struct span key)
{
    const char *leaves[ROWS(KEYS)], *names[ROWS(KEYS)];
    struct span leaf = leaf_of(key);
    size_t count = 0, above = key.len - leaf.len;
    for (enum format_id f = format; f != FORMAT_NONE; f = FORMATS[f].parent)
        for (size_t i = 0; i < ROWS(KEYS); i++) {
            struct span name = span_of(KEYS[i].name), own = leaf_of(name);
            if (KEYS[i].format != f || name.len - own.len != above ||
                !span_same((struct span){name.at, above}, (struct span){key.at, above}))
                continue;
            names[count] = KEYS[i].name;
            leaves[count++] = own.at;
        }
    const char *near = vram_nearest(leaf.at, leaf.len, leaves, count);
    for (size_t i = 0; near && i < count; i++)
        if (leaves[i] == near)
            return names[i];
    return NULL;
}

static int unknown(struct parse *p, enum format_id format, const struct entry *e)
{
    if (in_unknown_section(p, format, e))
        return VRAM_OK;
    if (p->unknown++ >= UNKNOWN_MAX) {
        if (p->unknown == UNKNOWN_MAX + 1)
            parse_warn(p, MESSAGE_keys_unknown, e->key_pos,
                       ARGS(arg_text("format", FORMATS[format].title)));
        return VRAM_OK;
    }
    const char *near = nearest_key(format, e->key);
    struct arg key = arg_part("key", e->key.at, e->key.len),
               title = arg_text("format", FORMATS[format].title);
    if (near && parse_is_slip(leaf_of(e->key), leaf_of(span_of(near))))
        return err_set(&p->v->err, MESSAGE_unknown_key_near, e->key_pos, NO_FIELD,
                       ARGS(key, arg_text("near", near)));
    if (near)
        parse_warn(p, MESSAGE_key_unknown_near, e->key_pos,
                   ARGS(key, title, arg_text("near", near)));
    else
        parse_warn(p, MESSAGE_key_unknown, e->key_pos, ARGS(key, title));
    return VRAM_OK;
}

static bool has_row(enum format_id format, struct span key)
{
    for (size_t i = 0; i < ROWS(KEYS); i++)
        if (KEYS[i].format == format && span_same(span_of(KEYS[i].name), key))
            return true;
    return false;
}

// A value that is no literal. Without its rank an adapter is none: all weights would be trained.
static void warn_unread(struct parse *p, const struct key *k, const struct entry *e)
{
    bool rank =
        text_equal(k->target, text_len(k->target), "lora_rank") || span_is(e->key, "lora_config.r");
    parse_warn(p, rank ? MESSAGE_rank_unread : MESSAGE_not_literal, e->value_pos,
               ARGS(arg_part("key", e->key.at, e->key.len)));
}

// A row with a * counts where no other one has the key.
static int read_entry(struct parse *p, enum format_id format, const struct entry *e)
{
    bool found = false;
    int rc = VRAM_OK;
    for (enum format_id f = format; f != FORMAT_NONE && !found; f = FORMATS[f].parent) {
        bool named = has_row(f, e->key) || is_ignored(f, e->key);
        for (size_t i = 0; i < ROWS(KEYS) && rc == VRAM_OK; i++) {
            struct span name = span_of(KEYS[i].name);
            if (KEYS[i].format != f ||
                !(named ? span_same(name, e->key) : span_matches(name, e->key)))
                continue;
            bool any = text_equal(KEYS[i].map, text_len(KEYS[i].map), "*=!") ||
                       span_find(span_of(KEYS[i].map), "()=") < text_len(KEYS[i].map);
            if (span_is(e->value, PAIRS_NOT_LITERAL) && any)
                rc = read_key(p, &KEYS[i], e);
            else if (span_is(e->value, PAIRS_NOT_LITERAL) && !found)
                warn_unread(p, &KEYS[i], e);
            else if (!value_is_nothing(e->value) && !span_is(e->value, PAIRS_NOT_LITERAL))
                rc = read_key(p, &KEYS[i], e);
            found = true;
        }
        found =
            found || is_ignored(f, e->key) || (value_is_nothing(e->value) && is_mapping(f, e->key));
    }
    return found || rc ? rc : unknown(p, format, e);
}

// ---- defaults --------------------------------------------------------------------------------

static bool is_set(const struct parse *p, const char *target)
{
    int field = config_field(target, text_len(target));
    if (target[0] == '@')
        return facts_get(&p->v->facts, facts_find(target + 1, text_len(target + 1))) != 0;
    return field >= 0 && p->v->places[field].line != 0;
}

// Every target of the key that nothing has set, as the format or its parent has it.
static int read_default(struct parse *p, enum format_id format, const struct initial *d)
{
    struct entry e = {span_of(d->key), span_of(d->value), NO_POS, NO_POS};
    bool found = false;
    int rc = VRAM_OK;
    for (size_t i = 0; i < ROWS(KEYS) && rc == VRAM_OK; i++) {
        if (KEYS[i].format != format || !span_is(e.key, KEYS[i].name))
            continue;
        found = true;
        if (is_set(p, KEYS[i].target))
            continue;
        rc = read_key(p, &KEYS[i], &e);
        int field = config_field(KEYS[i].target, text_len(KEYS[i].target));
        if (field >= 0)
            p->v->places[field].line = 0;
    }
    return found || rc || FORMATS[format].parent == FORMAT_NONE
               ? rc
               : read_default(p, FORMATS[format].parent, d);
}

// Has the file said something for the key? Nothing, and what is no literal, count as not said.
static bool is_said(const struct parse *p, const char *key)
{
    for (size_t i = 0; i < p->pair_count; i++)
        if (span_is(span_of(p->pairs[i].key), key) &&
            !span_is(span_of(p->pairs[i].value), PAIRS_NOT_LITERAL) &&
            !value_is_nothing(span_of(p->pairs[i].value)))
            return true;
    return false;
}

static bool is_of_version(const struct parse *p, const struct initial *d)
{
    uint64_t own = config_own_version(&p->v->config), newest = own ? own : 99998;
    uint64_t of = d->format == FORMAT_TRAINER ? p->v->config.transformers : newest;
    return of >= d->since && of < d->before;
}

// A format that has the key's default itself comes before its parent.
static bool is_overridden(const struct parse *p, enum format_id format, const struct initial *d)
{
    for (enum format_id f = format; f != d->format; f = FORMATS[f].parent)
        for (size_t i = 0; i < ROWS(DEFAULTS); i++)
            if (DEFAULTS[i].format == f && is_of_version(p, &DEFAULTS[i]) &&
                text_equal(d->key, text_len(d->key), DEFAULTS[i].key))
                return true;
    return false;
}

// A command whose settings are a file's takes the defaults of that one.
static int read_defaults(struct parse *p, enum format_id format)
{
    if (pair_find(p, "launch._config"))
        return VRAM_OK;
    int rc = VRAM_OK;
    for (enum format_id f = format; f != FORMAT_NONE; f = FORMATS[f].parent)
        for (size_t i = 0; i < ROWS(DEFAULTS) && rc == VRAM_OK; i++)
            if (DEFAULTS[i].format == f && is_of_version(p, &DEFAULTS[i]) &&
                !is_said(p, DEFAULTS[i].key) && !is_overridden(p, format, &DEFAULTS[i]))
                rc = read_default(p, f, &DEFAULTS[i]);
    return rc;
}

// ---- a file ----------------------------------------------------------------------------------

// "${batch_size}", as OmegaConf writes it: the value of another key.
static void resolve(const struct parse *p, struct entry *e)
{
    if (!span_starts(e->value, "${") || e->value.at[e->value.len - 1] != '}')
        return;
    struct span key = {e->value.at + 2, e->value.len - 3};
    for (size_t i = 0; p->pairs && i < p->pair_count; i++)
        if (span_same(span_of(p->pairs[i].key), key))
            e->value = span_of(p->pairs[i].value);
}

static bool is_trainer(enum format_id f)
{
    return f != FORMAT_ADAPTER && f != FORMAT_DEEPSPEED && f != FORMAT_ACCELERATE &&
           f != FORMAT_GENERATION && f != FORMAT_VLLM && f != FORMAT_LLAMACPP;
}

// accelerate's launcher takes the settings of an engine where it is the one. SRC: accelerate
// commands/launch.py, _validate_launch_command (use_deepspeed, use_fsdp).
static bool is_unused(const struct parse *p, enum format_id format, struct span key)
{
    const struct vram_pair *engine =
        format == FORMAT_ACCELERATE ? pair_find(p, "distributed_type") : NULL;
    return engine &&
           ((span_starts(key, "deepspeed_config.") &&
             !span_is(span_of(engine->value), "DEEPSPEED")) ||
            (span_starts(key, "fsdp_config.") && !span_is(span_of(engine->value), "FSDP")));
}

int format_read(struct parse *p, enum format_id format)
{
    struct entry e;
    int rc = handle_imply(p->v, FORMATS[format].implied);
    if (is_trainer(format))
        own_version(p, format, FORMATS[format].title, FORMATS[format].newest);
    if (rc == VRAM_OK && format == FORMAT_DEEPSPEED)
        rc = check_agreement(p);
    if (is_trainer(format))
        p->v->facts.trainer = 1;
    while (rc == VRAM_OK && parse_entry(p, &e)) {
        bool launch = span_starts(e.key, "launch.");
        e.key = span_skip(e.key, launch ? text_len("launch.") : 0);
        resolve(p, &e);
        if (is_unused(p, format, e.key))
            continue;
        if (read_entry(p, launch ? FORMAT_LAUNCH : format, &e) != VRAM_OK)
            rc = parse_report(p);
    }
    if (rc == VRAM_OK && !p->v->facts.model)
        rc = err_set(&p->v->err, MESSAGE_model_unsaid, (struct err_pos){p->file, 1, 1},
                     ABOUT("family"), NO_ARGS);
    if (rc == VRAM_OK)
        rc = read_defaults(p, format);
    for (enum format_id f = format; f != FORMAT_NONE && rc == VRAM_OK; f = FORMATS[f].parent)
        rc = check_clashes(p, f);
    conclude_command(p, format);
    return rc == VRAM_OK ? conclude(p) : rc;
}
