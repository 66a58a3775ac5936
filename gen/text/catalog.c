// Message catalogs: JSON checked against the language and the source catalog, patterns cut once,
// formatted by copying.
#include "gen/text/catalog.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "gen/base/map.h"

#define CATEGORY_COUNT 6

static const char *const categories[CATEGORY_COUNT] = {"zero", "one",  "two",
                                                       "few",  "many", "other"};

// A pattern cut at its placeholders: text, name, text, name, ..., text.
struct pattern {
    str *pieces;
    size_t count;  // odd: places with an odd index are names
};

struct message {
    struct pattern forms[CATEGORY_COUNT];  // a plain text has only [5], "other"
    bool is_plural;
};

struct catalog {
    arena arena;
    struct map messages;
    const struct locale *locale;
    const struct catalog *fallback;
    uint64_t hash;
};

struct reader {
    struct catalog *c;
    str json, file;
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

// "{name}" is a placeholder; a brace by itself is an error.
static bool pattern_read(struct reader *r, str key, str text, struct pattern *p)
{
    size_t cap = 0;
    str rest = text;
    for (;;) {
        size_t open = str_find(rest, '{');
        size_t close = str_find(str_slice(rest, open, rest.len), '}') + open;
        str name = str_slice(rest, open + 1, close);
        if (str_find(str_slice(rest, 0, open), '}') < open ||
            (open < rest.len && (close >= rest.len || !is_name(name)))) {
            fail(r, D_CATALOG_SYNTAX, key, "a brace that is no {placeholder}: ", text);
            return false;
        }
        p->pieces =
            arena_grow(&r->c->arena, p->pieces, p->count, &cap, p->count + 2, sizeof *p->pieces);
        p->pieces[p->count++] = arena_str(&r->c->arena, str_slice(rest, 0, open));
        if (open == rest.len)
            return true;
        p->pieces[p->count++] = arena_str(&r->c->arena, name);
        rest = str_slice(rest, close + 1, rest.len);
    }
}

static bool pattern_has(const struct pattern *p, str name)
{
    for (size_t i = 1; i < p->count; i += 2)
        if (str_eq(p->pieces[i], name))
            return true;
    return false;
}

static bool message_has(const struct message *m, str name)
{
    for (size_t i = 0; i < CATEGORY_COUNT; i++)
        if (pattern_has(&m->forms[i], name))
            return true;
    return false;
}

// Every placeholder must be one that the source's message has.
static void names_check(struct reader *r, str key, const struct message *m,
                        const struct message *source)
{
    for (size_t f = 0; f < CATEGORY_COUNT; f++)
        for (size_t i = 1; i < m->forms[f].count; i += 2)
            if (!message_has(source, m->forms[f].pieces[i]))
                fail(r, D_CATALOG_NAME, key, "", m->forms[f].pieces[i]);
}

static void plural_read(struct reader *r, str key, json_t *forms, struct message *m)
{
    const char *name;
    json_t *text;
    m->is_plural = true;
    json_object_foreach(forms, name, text)
    {
        size_t i = category_index(str_c(name));
        if (i == CATEGORY_COUNT || !locale_has_plural(r->c->locale, str_c(name)))
            fail(r, D_CATALOG_PLURAL, key, "the language has no category ", str_c(name));
        else if (!json_is_string(text))
            fail(r, D_CATALOG_SYNTAX, key, "not a text: ", str_c(name));
        else
            pattern_read(r, key, (str){json_string_value(text), json_string_length(text)},
                         &m->forms[i]);
    }
    for (size_t i = 0; i < CATEGORY_COUNT; i++)
        if (!m->forms[i].count && locale_has_plural(r->c->locale, str_c(categories[i])))
            fail(r, D_CATALOG_PLURAL, key, "the language needs the category ",
                 str_c(categories[i]));
}

static void entry_read(struct reader *r, str key, json_t *value)
{
    struct message *m = arena_new(&r->c->arena, struct message, 1);
    bool is_new;
    if (json_is_string(value)) {
        pattern_read(r, key, (str){json_string_value(value), json_string_length(value)},
                     &m->forms[CATEGORY_COUNT - 1]);
    } else if (json_is_object(value)) {
        plural_read(r, key, value, m);
    } else {
        fail(r, D_CATALOG_SYNTAX, key, "neither a text nor an object of plural categories",
             STR(""));
    }
    if (r->c->fallback) {
        const struct message *source = map_get(&r->c->fallback->messages, key);
        if (source)
            names_check(r, key, m, source);
    }
    *map_put(&r->c->messages, &r->c->arena, key, &is_new) = m;
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

static void missing_report(struct reader *r)
{
    const struct map *all = &r->c->fallback->messages;
    bool calculator = has_calculator(r->c);
    for (size_t i = 0; i < all->count; i++) {
        str key = all->entries[i].key;
        if (!map_has(&r->c->messages, key) && (calculator || !is_calculator_word(key)))
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

static struct catalog *catalog_new(str json, const struct locale *l, const struct catalog *fallback)
{
    struct catalog *c = calloc(1, sizeof *c);
    if (!c)
        buf_no_memory();
    c->locale = l;
    c->fallback = fallback;
    c->hash = str_hash(json) ^ (fallback ? fallback->hash * 31 : 0);
    return c;
}

struct catalog *catalog_none(const struct locale *l, const struct catalog *fallback)
{
    return catalog_new(STR("{}"), l, fallback);
}

struct catalog *catalog_parse(str json, str file, const struct locale *l,
                              const struct catalog *fallback, struct diag *d)
{
    struct catalog *c = catalog_new(json, l, fallback);
    struct reader r = {.c = c, .json = json, .file = file, .d = d};
    json_t *root = document_read(&r);
    r.failed = !json_is_object(root);
    const char *key;
    json_t *value;
    json_object_foreach(root, key, value) entry_read(&r, str_c(key), value);
    json_decref(root);
    if (r.failed) {
        catalog_free(c);
        return NULL;
    }
    if (fallback)
        missing_report(&r);
    return c;
}

void catalog_free(struct catalog *c)
{
    if (!c)
        return;
    arena_free(&c->arena);
    free(c);
}

static const struct pattern *choose(const struct catalog *c, const struct message *m,
                                    const struct catalog_argument *args, size_t count)
{
    const struct pattern *other = &m->forms[CATEGORY_COUNT - 1];
    if (!m->is_plural)
        return other;
    for (size_t i = 0; i < count; i++) {
        if (!args[i].is_number)
            continue;
        const struct pattern *p =
            &m->forms[category_index(locale_plural(c->locale, args[i].number))];
        return p->count ? p : other;
    }
    return other;
}

static void put_pattern(const struct pattern *p, const struct catalog_argument *args, size_t count,
                        buf *out)
{
    for (size_t i = 0; i < p->count; i++) {
        if (i % 2 == 0) {
            buf_str(out, p->pieces[i]);
            continue;
        }
        size_t k = 0;
        while (k < count && !str_eq(args[k].name, p->pieces[i]))
            k++;
        if (k < count)
            buf_str(out, args[k].text);
        else
            buf_printf(out, "{%.*s}", STR_ARG(p->pieces[i]));
    }
}

bool catalog_format(const struct catalog *c, str key, const struct catalog_argument *args,
                    size_t count, buf *out, bool *lang_differs)
{
    if (lang_differs)
        *lang_differs = false;
    for (const struct catalog *from = c; from; from = from->fallback) {
        const struct message *m = map_get(&from->messages, key);
        if (!m)
            continue;
        if (lang_differs)
            *lang_differs = from != c;
        put_pattern(choose(from, m, args, count), args, count, out);
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
    return c ? c->hash : 0;
}
