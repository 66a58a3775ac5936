// Message catalogs: JSON checked against the language and the source catalog, then kept packed,
// with patterns cut at their placeholders, and formatted by copying.
#include "gen/text/catalog.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "gen/base/map.h"
#include "gen/base/packed_values.h"

#define CATEGORY_COUNT 6

static const char *const categories[CATEGORY_COUNT] = {"zero", "one",  "two",
                                                       "few",  "many", "other"};

// A form is a pattern cut at its placeholders: text, name, text, name, ..., text, each packed; ""
// where the language has no such form. A plain text has only [5], "other".
struct message {
    bool is_plural;
    str forms[CATEGORY_COUNT];
};

struct catalog {
    arena arena;
    str packed;           // the hash, then key and message of each
    buf own;              // the same bytes, where they are not the caller's
    struct map messages;  // key -> its packed message in these bytes
    const struct locale *locale;
    const struct catalog *fallback;
};

struct reader {
    const struct locale *locale;
    const struct catalog *fallback;
    str json, file;
    buf packed;
    struct diag *d;
    bool failed;
};

static size_t category_index(str name)
{
    size_t i = 0;
    while (i < CATEGORY_COUNT && !str_eq(name, str_c(categories[i])))
        i++;
    return i;
}

// Where "key" is in the file: before a colon, for the caret.
static struct diag_pos key_position(const struct reader *r, str key)
{
    size_t from = 0;
    while (from < r->json.len) {
        size_t at = from + str_search(str_slice(r->json, from, r->json.len), key);
        size_t end = at + key.len;
        if (end >= r->json.len)
            break;
        if (at > 0 && r->json.ptr[at - 1] == '"' && r->json.ptr[end] == '"') {
            str rest = str_trim(str_slice(r->json, end + 1, r->json.len));
            if (rest.len && rest.ptr[0] == ':')
                return DIAG_AT(r->file, r->json, at);
        }
        from = at + 1;  // an empty key must not stand still
    }
    return DIAG_FILE(r->file);
}

static void fail(struct reader *r, enum diag_id id, str key, const char *what, str detail)
{
    diag_add(r->d, id, key_position(r, key), "%.*s: %s%.*s", STR_ARG(key), what, STR_ARG(detail));
    r->failed = true;
}

static bool is_name(str s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (!(ascii_is_alnum(c) || c == '_'))
            return false;
    }
    return s.len > 0;
}

static void pack_message(buf *out, str key, const struct message *m)
{
    buf packed = BUF_INIT;
    pack_uint(&packed, m->is_plural);
    for (size_t i = 0; i < CATEGORY_COUNT; i++)
        pack_str(&packed, m->forms[i]);
    pack_str(out, key);
    pack_str(out, buf_view(&packed));
    buf_free(&packed);
}

// False when there is no such message.
static bool find_message(const struct catalog *c, str key, struct message *m)
{
    struct unpack u = {map_get(&c->messages, key), c->packed.ptr + c->packed.len, false};
    if (!u.at)
        return false;
    u = unpack_from(unpack_str(&u));
    m->is_plural = unpack_uint(&u);
    for (size_t i = 0; i < CATEGORY_COUNT; i++)
        m->forms[i] = unpack_str(&u);
    return true;
}

// "{name}" is a placeholder; a brace by itself is an error, and ends the pattern.
static str pattern_read(struct reader *r, str key, json_t *value, arena *a)
{
    str text = {json_string_value(value), json_string_length(value)}, rest = text;
    buf pieces = BUF_INIT;
    for (;;) {
        size_t open = str_find(rest, '{');
        size_t close = str_find(str_slice(rest, open, rest.len), '}') + open;
        str name = str_slice(rest, open + 1, close);
        if (str_find(str_slice(rest, 0, open), '}') < open ||
            (open < rest.len && (close >= rest.len || !is_name(name)))) {
            fail(r, D_CATALOG_SYNTAX, key, "a brace that is no {placeholder}: ", text);
            break;
        }
        pack_str(&pieces, str_slice(rest, 0, open));
        if (open == rest.len)
            break;
        pack_str(&pieces, name);
        rest = str_slice(rest, close + 1, rest.len);
    }
    str out = arena_str(a, buf_view(&pieces));
    buf_free(&pieces);
    return out;
}

// The next piece of a pattern: its text, and the name behind that; "" behind the last.
static bool next_piece(struct unpack *pattern, str *text, str *name)
{
    if (pattern->at == pattern->end || pattern->bad)
        return false;
    *text = unpack_str(pattern);
    *name = pattern->at < pattern->end ? unpack_str(pattern) : STR_NONE;
    return true;
}

static bool message_has(const struct message *m, str wanted)
{
    str text, name;
    for (size_t i = 0; i < CATEGORY_COUNT; i++)
        for (struct unpack u = unpack_from(m->forms[i]); next_piece(&u, &text, &name);)
            if (name.len && str_eq(name, wanted))
                return true;
    return false;
}

// Every placeholder must be one that the source's message has.
static void names_check(struct reader *r, str key, const struct message *m,
                        const struct message *source)
{
    str text, name;
    for (size_t i = 0; i < CATEGORY_COUNT; i++)
        for (struct unpack u = unpack_from(m->forms[i]); next_piece(&u, &text, &name);)
            if (name.len && !message_has(source, name))
                fail(r, D_CATALOG_NAME, key, "", name);
}

static void plural_read(struct reader *r, str key, json_t *forms, arena *a, struct message *m)
{
    const char *name;
    json_t *text;
    m->is_plural = true;
    json_object_foreach(forms, name, text)
    {
        size_t i = category_index(str_c(name));
        if (i == CATEGORY_COUNT || !locale_has_plural(r->locale, str_c(name)))
            fail(r, D_CATALOG_PLURAL, key, "the language has no category ", str_c(name));
        else if (!json_is_string(text))
            fail(r, D_CATALOG_SYNTAX, key, "not a text: ", str_c(name));
        else
            m->forms[i] = pattern_read(r, key, text, a);
    }
    for (size_t i = 0; i < CATEGORY_COUNT; i++)
        if (!m->forms[i].len && locale_has_plural(r->locale, str_c(categories[i])))
            fail(r, D_CATALOG_PLURAL, key, "the language needs the category ",
                 str_c(categories[i]));
}

static void entry_read(struct reader *r, str key, json_t *value, arena *a)
{
    struct message m = {0}, source;
    arena_reset(a);
    if (json_is_string(value))
        m.forms[CATEGORY_COUNT - 1] = pattern_read(r, key, value, a);
    else if (json_is_object(value))
        plural_read(r, key, value, a, &m);
    else
        fail(r, D_CATALOG_SYNTAX, key, "neither a text nor an object of plural categories",
             STR(""));
    if (r->fallback && find_message(r->fallback, key, &source))
        names_check(r, key, &m, &source);
    pack_message(&r->packed, key, &m);
}

// The words of the calculator, its charts, its records and its accuracy. A catalog without any word
// of calc. has those of pages alone, and none of these is missed in it.
static bool is_calculator_word(str key)
{
    static const char *const groups[] = {"accuracy.", "calc.",  "chart.",
                                         "records.",  "start.", "unit."};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (str_starts(key, str_c(groups[i])))
            return true;
    return false;
}

static bool has_calculator(const struct catalog *c)
{
    for (size_t i = 0; i < c->messages.count; i++)
        if (str_starts(c->messages.entries[i].key, STR("calc.")))
            return true;
    return false;
}

static void missing_report(const struct reader *r, const struct catalog *c)
{
    const struct map *all = &c->fallback->messages;
    bool calculator = has_calculator(c);
    for (size_t i = 0; i < all->count; i++) {
        str key = all->entries[i].key;
        if (!map_has(&c->messages, key) && (calculator || !is_calculator_word(key)))
            diag_add(r->d, D_CATALOG_MISSING, DIAG_FILE(r->file), "%.*s", STR_ARG(key));
    }
}

static json_t *document_read(struct reader *r)
{
    json_error_t e;
    json_t *root =
        json_loadb(r->json.len ? r->json.ptr : "", r->json.len, JSON_REJECT_DUPLICATES, &e);
    if (!root) {
        size_t at =
            e.position > 0 && (size_t)e.position <= r->json.len ? (size_t)e.position : r->json.len;
        diag_add(r->d, D_CATALOG_SYNTAX, DIAG_AT(r->file, r->json, at ? at - 1 : 0), "%s", e.text);
    } else if (!json_is_object(root)) {
        diag_add(r->d, D_CATALOG_SYNTAX, DIAG_AT(r->file, r->json, 0), "not an object of messages");
    }
    return root;
}

struct catalog *catalog_unpack(str packed, const struct locale *l, const struct catalog *fallback)
{
    struct catalog *c = calloc(1, sizeof *c);
    if (!c)
        buf_no_memory();
    *c = (struct catalog){.packed = packed, .own = BUF_INIT, .locale = l, .fallback = fallback};
    struct unpack u = unpack_from(packed);
    for (unpack_u64(&u); u.at < u.end && !u.bad; unpack_str(&u)) {
        str key = unpack_str(&u);
        *map_put_kept(&c->messages, &c->arena, key, NULL) = (void *)(uintptr_t)u.at;
    }
    return c;
}

str catalog_packed(const struct catalog *c)
{
    return c->packed;
}

struct catalog *catalog_none(const struct locale *l, const struct catalog *fallback)
{
    return catalog_parse(STR("{}"), STR_NONE, l, fallback, NULL);
}

struct catalog *catalog_parse(str json, str file, const struct locale *l,
                              const struct catalog *fallback, struct diag *d)
{
    struct reader r = {
        .locale = l, .fallback = fallback, .json = json, .file = file, .d = d, .packed = BUF_INIT};
    arena scratch = ARENA_INIT;
    json_t *root = document_read(&r);
    r.failed = !json_is_object(root);
    const char *key;
    json_t *value;
    pack_u64(&r.packed, str_hash(json) ^ catalog_hash(fallback) * 31);
    json_object_foreach(root, key, value) entry_read(&r, str_c(key), value, &scratch);
    json_decref(root);
    arena_free(&scratch);
    if (r.failed) {
        buf_free(&r.packed);
        return NULL;
    }
    struct catalog *c = catalog_unpack(buf_view(&r.packed), l, fallback);
    c->own = r.packed;
    if (fallback && d)
        missing_report(&r, c);
    return c;
}

void catalog_free(struct catalog *c)
{
    if (!c)
        return;
    arena_free(&c->arena);
    buf_free(&c->own);
    free(c);
}

static str choose(const struct catalog *c, const struct message *m,
                  const struct catalog_argument *args, size_t count)
{
    str other = m->forms[CATEGORY_COUNT - 1];
    if (!m->is_plural)
        return other;
    for (size_t i = 0; i < count; i++) {
        if (!args[i].is_number)
            continue;
        str form = m->forms[category_index(locale_plural(c->locale, args[i].number))];
        return form.len ? form : other;
    }
    return other;
}

static void put_pattern(str pattern, const struct catalog_argument *args, size_t count, buf *out)
{
    str text, name;
    for (struct unpack u = unpack_from(pattern); next_piece(&u, &text, &name);) {
        size_t k = 0;
        buf_str(out, text);
        while (k < count && name.len && !str_eq(args[k].name, name))
            k++;
        if (name.len && k < count)
            buf_str(out, args[k].text);
        else if (name.len)
            buf_printf(out, "{%.*s}", STR_ARG(name));
    }
}

bool catalog_format(const struct catalog *c, str key, const struct catalog_argument *args,
                    size_t count, buf *out, bool *lang_differs)
{
    if (lang_differs)
        *lang_differs = false;
    for (const struct catalog *from = c; from; from = from->fallback) {
        struct message m;
        if (!find_message(from, key, &m))
            continue;
        if (lang_differs)
            *lang_differs = from != c;
        put_pattern(choose(from, &m, args, count), args, count, out);
        return true;
    }
    return false;
}

str catalog_fallback_tag(const struct catalog *c)
{
    return c && c->fallback ? locale_tag(c->fallback->locale) : STR_NONE;
}

uint64_t catalog_hash(const struct catalog *c)
{
    struct unpack u = unpack_from(c ? c->packed : STR_NONE);
    return unpack_u64(&u);
}
