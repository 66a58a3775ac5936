// One value of site.yaml put into its member: a small function for each type that settings.def
// names.
#include "gen/site/source/settings_value.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unicode/uloc.h>
#include <unicode/ustring.h>
#include <unistd.h>

#include "gen/base/beneath.h"
#include "gen/text/address.h"
#include "gen/text/markdown.h"

static void bad(struct setting_reader *r, const struct setting *s, size_t offset,
                const char *wanted)
{
    r->failed = true;
    diag_add(r->diag, D_SETTING_VALUE, DIAG_AT(r->file, r->text, offset), "%s: wanted %s", s->key,
             wanted);
}

static void *member(struct setting_reader *r, const struct setting *s)
{
    return (char *)r->settings + s->offset;
}

static bool scalar(struct setting_reader *r, const struct setting *s, const struct yaml_node *v)
{
    if (v->kind == YAML_SCALAR)
        return true;
    bad(r, s, v->offset, "one value");
    return false;
}

static void read_str(struct setting_reader *r, const struct setting *s, const struct yaml_node *v)
{
    if (scalar(r, s, v))
        *(str *)member(r, s) = v->text;
}

str settings_base_url(str url)
{
    bool web = true;
    for (size_t i = 0; i < url.len; i++)
        web = web && (unsigned char)url.ptr[i] > ' ' && !strchr("\"<>", url.ptr[i]);
    while (url.len && url.ptr[url.len - 1] == '/')
        url.len--;
    web = web && (str_starts(url, STR("https://")) || str_starts(url, STR("http://")));
    return web ? url : STR_NONE;
}

static void read_url(struct setting_reader *r, const struct setting *s, const struct yaml_node *v)
{
    if (!scalar(r, s, v))
        return;
    str url = settings_base_url(v->text);
    if (!url.len)
        bad(r, s, v->offset, "an address that starts with https:// or http://");
    else
        *(str *)member(r, s) = arena_str(r->arena, url);
}

static void read_path(struct setting_reader *r, const struct setting *s, const struct yaml_node *v)
{
    if (!scalar(r, s, v))
        return;
    bool absolute = v->text.len && v->text.ptr[0] == '/';
    *(str *)member(r, s) =
        absolute ? v->text
                 : arena_printf(r->arena, "%.*s/%.*s", STR_ARG(r->base_dir), STR_ARG(v->text));
}

// Whether path is a folder below base, or can become one, with no link on the way.
static bool is_below(str base, str path)
{
    int root = open(base.ptr, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root < 0)
        return beneath_is_path(path);
    int fd = beneath_folder(root, path, false);
    bool below = fd >= 0 || errno == ENOENT;
    if (fd >= 0)
        close(fd);
    close(root);
    return below && path.len;
}

// A folder that is written to, or published whole: below that of the settings, so that settings of
// others reach no other.
static void read_folder(struct setting_reader *r, const struct setting *s,
                        const struct yaml_node *v)
{
    if (!scalar(r, s, v))
        return;
    str path = v->text.len && v->text.ptr[v->text.len - 1] == '/'
                   ? str_slice(v->text, 0, v->text.len - 1)
                   : v->text;
    if (is_below(r->base_dir, path))
        *(str *)member(r, s) = arena_join(r->arena, r->base_dir, STR("/"), path);
    else
        bad(r, s, v->offset, "a folder below that of the settings");
}

static str read_tag_text(struct setting_reader *r, const struct yaml_node *v)
{
    str tag = v->kind == YAML_SCALAR ? language_tag(v->text, r->arena) : STR_NONE;
    if (!tag.len) {
        r->failed = true;
        str got = v->kind == YAML_SCALAR ? v->text : STR("wanted a language");
        diag_add(r->diag, D_SETTING_VALUE, DIAG_AT(r->file, r->text, v->offset),
                 "unknown language %.*s", STR_ARG(got));
    }
    return tag;
}

static void read_tag(struct setting_reader *r, const struct setting *s, const struct yaml_node *v)
{
    *(str *)member(r, s) = read_tag_text(r, v);
}

struct str_list {
    str *items;
    size_t count;
};

static void read_words(struct setting_reader *r, const struct setting *s, const struct yaml_node *v,
                       bool tags)
{
    struct str_list *out = member(r, s);
    size_t n = v->kind == YAML_LIST ? v->count : 1;
    if (v->kind == YAML_MAP) {
        bad(r, s, v->offset, "a list");
        return;
    }
    out->items = arena_new(r->arena, str, n);
    out->count = 0;
    for (size_t i = 0; i < n; i++) {
        const struct yaml_node *item = v->kind == YAML_LIST ? v->items[i] : v;
        if (item->kind != YAML_SCALAR) {
            bad(r, s, item->offset, "a list of words");
            return;
        }
        str word = tags ? read_tag_text(r, item) : item->text;
        bool twice = false;
        for (size_t k = 0; k < out->count; k++)
            twice = twice || str_eq(out->items[k], word);
        if (twice)
            bad(r, s, item->offset, "each of the list once");
        else if (word.len)
            out->items[out->count++] = word;
    }
}

static void read_tags(struct setting_reader *r, const struct setting *s, const struct yaml_node *v)
{
    read_words(r, s, v, true);
}

static void read_list(struct setting_reader *r, const struct setting *s, const struct yaml_node *v)
{
    read_words(r, s, v, false);
}

static void put_text(struct setting_reader *r, struct map *map, str key, str value)
{
    str *copy = arena_new(r->arena, str, 1);
    *copy = value;
    *map_put(map, r->arena, key, NULL) = copy;
}

static void read_texts(struct setting_reader *r, const struct setting *s, const struct yaml_node *v)
{
    struct settings *to = r->settings;
    struct map *texts =
        s->offset == offsetof(struct settings, title) ? &to->titles : &to->descriptions;
    str *any = member(r, s);
    if (v->kind == YAML_SCALAR) {
        *any = v->text;
        return;
    }
    if (v->kind == YAML_LIST) {
        bad(r, s, v->offset, "a text, or a mapping from language to text");
        return;
    }
    for (size_t i = 0; i < v->count; i++) {
        str tag = read_tag_text(r, v->pairs[i].key);
        if (!scalar(r, s, v->pairs[i].value) || !tag.len)
            continue;
        put_text(r, texts, tag, v->pairs[i].value->text);
        if (i == 0)
            *any = v->pairs[i].value->text;
    }
}

static void read_synonyms(struct setting_reader *r, const struct setting *s,
                          const struct yaml_node *v)
{
    buf lines = BUF_INIT;
    if (v->kind != YAML_MAP)
        bad(r, s, v->offset, "a mapping from language to a list");
    for (size_t i = 0; v->kind == YAML_MAP && i < v->count; i++) {
        const struct yaml_node *list = v->pairs[i].value;
        str tag = read_tag_text(r, v->pairs[i].key);
        buf_clear(&lines);
        if (list->kind != YAML_LIST)
            bad(r, s, list->offset, "a list of lines such as OOM = out of memory");
        for (size_t k = 0; list->kind == YAML_LIST && k < list->count; k++) {
            str line = list->items[k]->kind == YAML_SCALAR ? list->items[k]->text : STR_NONE;
            if (str_find(line, '=') == line.len || str_find(line, '\n') < line.len)
                bad(r, s, list->items[k]->offset, "two words or more with = between them");
            if (lines.len)
                buf_char(&lines, '\n');
            buf_str(&lines, line);
        }
        if (tag.len)
            put_text(r, member(r, s), tag, arena_str(r->arena, buf_view(&lines)));
    }
    buf_free(&lines);
}

static void map_document(struct setting_reader *r, const struct setting *s, str key,
                         const struct yaml_node *v)
{
    if (v->kind == YAML_MAP) {
        bad(r, s, v->offset, "a file, or a list of files");
        return;
    }
    size_t n = v->kind == YAML_LIST ? v->count : 1;
    for (size_t i = 0; i < n; i++) {
        const struct yaml_node *item = v->kind == YAML_LIST ? v->items[i] : v;
        if (item->kind != YAML_SCALAR)
            bad(r, s, item->offset, "the name of a file");
        else if (map_has(&r->settings->document_of, item->text))
            bad(r, s, item->offset, "each file in one document");
        else
            put_text(r, &r->settings->document_of, item->text, key);
    }
}

// A key becomes an address, as it is.
static bool key_is_good(str key)
{
    buf b = BUF_INIT;
    bool good = key.len && address_normalize(key, &b) && str_eq(buf_view(&b), key);
    buf_free(&b);
    return good;
}

static void read_documents(struct setting_reader *r, const struct setting *s,
                           const struct yaml_node *v)
{
    if (v->kind != YAML_MAP) {
        bad(r, s, v->offset, "a mapping from document to files");
        return;
    }
    for (size_t i = 0; i < v->count; i++) {
        const struct yaml_node *key = v->pairs[i].key;
        if (key_is_good(key->text))
            map_document(r, s, key->text, v->pairs[i].value);
        else
            bad(r, s, key->offset, "a name that can be part of an address");
    }
}

static void read_bool(struct setting_reader *r, const struct setting *s, const struct yaml_node *v)
{
    if (!yaml_bool(v, member(r, s)))
        bad(r, s, v->offset, "true or false");
    if (s->offset == offsetof(struct settings, fallback))
        r->fallback_given = true;
    if (s->offset == offsetof(struct settings, remote_media))
        r->settings->remote_given = true;
}

static void read_uint(struct setting_reader *r, const struct setting *s, const struct yaml_node *v)
{
    if (!scalar(r, s, v))
        return;
    if (!str_u64(v->text, member(r, s)))
        bad(r, s, v->offset, "a whole number");
}

static void read_search(struct setting_reader *r, const struct setting *s,
                        const struct yaml_node *v)
{
    static const char *const words[] = {"auto", "full", "titles", "none"};
    if (!scalar(r, s, v))
        return;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (str_eq(v->text, str_c(words[i]))) {
            *(enum search_kind *)member(r, s) = (enum search_kind)i;
            return;
        }
    bad(r, s, v->offset, "auto, full, titles or none");
}

struct word_bit {
    str word;
    unsigned bit;
};

// A word or a list of words, each a bit of an unsigned; none: no bit.
static void read_bits(struct setting_reader *r, const struct setting *s, const struct yaml_node *v,
                      const struct word_bit *words, const char *wanted)
{
    unsigned bits = 0;
    size_t n = v->kind == YAML_LIST ? v->count : 1;
    for (size_t i = 0; i < n; i++) {
        const struct yaml_node *item = v->kind == YAML_LIST ? v->items[i] : v;
        const struct word_bit *w = words;
        while (w->word.len && (item->kind != YAML_SCALAR || !str_eq(item->text, w->word)))
            w++;
        if (!w->word.len) {
            bad(r, s, item->offset, wanted);
            return;
        }
        bits |= w->bit;
    }
    *(unsigned *)member(r, s) = bits;
}

static void read_math(struct setting_reader *r, const struct setting *s, const struct yaml_node *v)
{
    static const struct word_bit words[] = {
        {STR("none"), 0},
        {STR("dollars"), MD_MATH_DOLLARS},
        {STR("brackets"), MD_MATH_BRACKETS},
        {STR("kramdown"), MD_MATH_KRAMDOWN},
        {STR_NONE, 0},
    };
    read_bits(r, s, v, words, "dollars, brackets, kramdown, a list of these, or none");
}

static void read_admonitions(struct setting_reader *r, const struct setting *s,
                             const struct yaml_node *v)
{
    static const struct word_bit words[] = {
        {STR("none"), 0},
        {STR("mkdocs"), MD_ADMONITIONS},
        {STR("containers"), MD_CONTAINERS},
        {STR_NONE, 0},
    };
    read_bits(r, s, v, words, "mkdocs, containers, a list of these, or none");
}

static void read_kind(struct setting_reader *r, const struct setting *s, const struct yaml_node *v)
{
    if (!scalar(r, s, v))
        return;
    r->settings->kind = kind_named(v->text);
    if (!r->settings->kind)
        bad(r, s, v->offset, kind_names());
}

static bool read_level(struct setting_reader *r, const struct setting *s, const struct yaml_node *v,
                       enum diag_level *out)
{
    static const char *const words[] = {"note", "warning", "error"};
    for (size_t i = 0; v->kind == YAML_SCALAR && i < sizeof words / sizeof words[0]; i++)
        if (str_eq(v->text, str_c(words[i]))) {
            *out = (enum diag_level)i;
            return true;
        }
    bad(r, s, v->offset, "error, warning or note");
    return false;
}

static void read_links(struct setting_reader *r, const struct setting *s, const struct yaml_node *v)
{
    if (read_level(r, s, v, &r->settings->link_level))
        diag_set_links(r->diag, r->settings->link_level);
}

static void read_messages(struct setting_reader *r, const struct setting *s,
                          const struct yaml_node *v)
{
    if (v->kind != YAML_MAP) {
        bad(r, s, v->offset, "a mapping from message to level");
        return;
    }
    for (size_t i = 0; i < v->count; i++) {
        enum diag_level level;
        enum diag_id id = diag_named(v->pairs[i].key->text);
        if (id == DIAG_COUNT)
            bad(r, s, v->pairs[i].key->offset, "the name of a message, as it is in [brackets]");
        else if (read_level(r, s, v->pairs[i].value, &level))
            diag_set_level(r->diag, id, level);
    }
}

static void (*const readers[])(struct setting_reader *, const struct setting *,
                               const struct yaml_node *) = {
    [SETTING_STR] = read_str,
    [SETTING_URL] = read_url,
    [SETTING_PATH] = read_path,
    [SETTING_FOLDER] = read_folder,
    [SETTING_TEXTS] = read_texts,
    [SETTING_SYNONYMS] = read_synonyms,
    [SETTING_TAG] = read_tag,
    [SETTING_TAGS] = read_tags,
    [SETTING_LIST] = read_list,
    [SETTING_DOCUMENTS] = read_documents,
    [SETTING_BOOL] = read_bool,
    [SETTING_UINT] = read_uint,
    [SETTING_SEARCH] = read_search,
    [SETTING_MATH] = read_math,
    [SETTING_ADMONITIONS] = read_admonitions,
    [SETTING_KIND] = read_kind,
    [SETTING_LINKS] = read_links,
    [SETTING_MESSAGES] = read_messages,
};

_Static_assert(sizeof(size_t) == sizeof(uint64_t), "SETTING_UINT fills size_t and uint64_t alike");

void setting_read(struct setting_reader *r, const struct setting *s, const struct yaml_node *value)
{
    readers[s->type](r, s, value);
}

static bool subtags_are_plausible(str text)
{
    if (text.len < 2 || text.len > 35)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool letter = ascii_is_letter(c);
        if (!letter && !(i && (ascii_is_digit(c) || c == '-' || c == '_')))
            return false;
    }
    return true;
}

str language_tag(str text, arena *a)
{
    char in[40], locale[ULOC_FULLNAME_CAPACITY], tag[ULOC_FULLNAME_CAPACITY];
    UErrorCode e = U_ZERO_ERROR;
    if (!subtags_are_plausible(text))
        return STR_NONE;
    for (size_t i = 0; i < text.len; i++)
        in[i] = text.ptr[i] == '_' ? '-' : text.ptr[i];
    in[text.len] = 0;
    int32_t parsed = 0;
    uloc_forLanguageTag(in, locale, sizeof locale, &parsed, &e);
    if (U_FAILURE(e) || (size_t)parsed != text.len || !*uloc_getISO3Language(locale))
        return STR_NONE;
    char country[ULOC_COUNTRY_CAPACITY];
    int32_t n = uloc_getCountry(locale, country, sizeof country, &e);
    bool is_area = n == 3;  // a UN M.49 number: es-419
    if (U_FAILURE(e) || (n > 0 && !is_area && !*uloc_getISO3Country(locale)))
        return STR_NONE;
    int32_t len = uloc_toLanguageTag(locale, tag, sizeof tag, true, &e);
    return U_FAILURE(e) || len <= 0 ? STR_NONE : arena_str(a, (str){tag, (size_t)len});
}

// Mistakes that are made often: a country's code for its language's, a script's, an English name.
str language_meant(str text, arena *a)
{
    static const struct {
        str wrong, right;
    } known[] = {
        {STR("jp"), STR("ja")},        {STR("cn"), STR("zh-Hans")},   {STR("tw"), STR("zh-Hant")},
        {STR("kr"), STR("ko")},        {STR("ua"), STR("uk")},        {STR("gr"), STR("el")},
        {STR("cz"), STR("cs")},        {STR("dk"), STR("da")},        {STR("vn"), STR("vi")},
        {STR("hans"), STR("zh-Hans")}, {STR("hant"), STR("zh-Hant")}, {STR("iw"), STR("he")},
        {STR("br"), STR("pt-BR")},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_eq_nocase(text, known[i].wrong))
            return known[i].right;
    size_t joint = 0;
    while (joint < text.len && text.ptr[joint] != '-' && text.ptr[joint] != '_')
        joint++;
    str base = joint < text.len ? language_tag(str_slice(text, 0, joint), a) : STR_NONE;
    if (base.len)
        return base;  // en-ZZZ, ko-KO
    for (int32_t i = 0, count = uloc_countAvailable(); i < count; i++) {
        const char *locale = uloc_getAvailable(i);
        UErrorCode e = U_ZERO_ERROR;
        UChar wide[80];
        char name[160];
        int32_t n = strchr(locale, '_') ? 0 : uloc_getDisplayLanguage(locale, "en", wide, 80, &e),
                len = 0;
        u_strToUTF8(name, sizeof name, &len, wide, n, &e);
        if (U_SUCCESS(e) && len && str_eq_nocase(text, (str){name, (size_t)len}))
            return str_c(locale);
    }
    return STR_NONE;
}
