// What a page's path says: finds a language's tag in one of five places, and believes it when the
// other names agree.
#include "gen/site/source/names.h"
#include "gen/base/path.h"
#include "gen/site/source/names_tag.h"

#include <string.h>

enum { MAX_SPOTS = 8, MAX_DEPTH = 3 };

// Where a tag is in a path: [from, to) is cut out, with the joint in front of or behind it.
struct spot {
    enum name_form form;
    str tag;
    size_t from, to;
};

struct names {
    struct map languages;  // base languages that ICU has data for
    struct map listed;
    struct map seen;    // form and path without the tag -> the first tag seen there
    struct map meant;   // form, place and tag -> believed
    struct map paths;   // to see whether a name without a tag is beside
    struct map levels;  // form and folder -> struct level; of dashes, what is in front of them
    arena *arena;
};

bool names_is_page(str path)
{
    return str_ends(path, STR(".md")) || str_ends(path, STR(".markdown")) ||
           str_ends(path, STR(".mdx"));
}

// The same of a page whose front matter says its language.
static bool may_be(const struct names *n, str s, str lang)
{
    return names_is_tag(&n->languages, s) || (lang.len && str_eq_nocase(s, lang));
}

// The spots of a path where a tag may stand, the most certain form first.
static size_t find_spots(const struct names *n, str path, str lang, struct spot out[MAX_SPOTS])
{
    size_t count = 0, start = 0, end = path_ending_at(path), depth = 0;
    for (size_t i = 0; i < end && depth < MAX_DEPTH; i++) {
        if (path.ptr[i] != '/')
            continue;
        str part = str_slice(path, start, i);
        size_t dot = str_rfind(part, '.');
        if (may_be(n, part, lang)) {
            out[count++] = (struct spot){NAME_FOLDER, part, start, i + 1};
        } else if (dot > 0 && dot < part.len &&
                   may_be(n, str_slice(part, dot + 1, part.len), lang)) {
            out[count++] = (struct spot){NAME_FOLDER_SUFFIX, str_slice(part, dot + 1, part.len),
                                         start + dot, i};
        }
        start = i + 1;
        depth++;
    }
    size_t name = path_name_at(path);
    str stem = str_slice(path, name, end);
    size_t dot = str_rfind(stem, '.');
    if (dot > 0 && dot < stem.len && may_be(n, str_slice(stem, dot + 1, stem.len), lang))
        out[count++] =
            (struct spot){NAME_SUFFIX, str_slice(stem, dot + 1, stem.len), name + dot, end};
    if (may_be(n, stem, lang))
        out[count++] = (struct spot){NAME_STEM, stem, name ? name - 1 : 0, end};
    for (size_t at = stem.len; at-- > 1;) {  // the longest tag behind a dash: "-pt-BR" before "-BR"
        if (stem.ptr[at] != '-' && stem.ptr[at] != '_')
            continue;
        if (stem.len - at > 13)
            break;
        if (!may_be(n, str_slice(stem, at + 1, stem.len), lang))
            continue;
        struct spot s = {NAME_DASH, str_slice(stem, at + 1, stem.len), name + at, end};
        bool longer = count && out[count - 1].form == NAME_DASH;
        char area = longer ? stem.ptr[stem.len - out[count - 1].tag.len] : 0;
        if (longer && area >= 'a' && (str_starts(s.tag, STR("en")) || !names_is_locale(s.tag)))
            break;  // "-de-es" is Spanish, "-pt-BR" and "-pt-br" are Brazilian
        if (longer)
            out[count - 1] = s;
        else
            out[count++] = s;
    }
    return count;
}

// Where a name repeats the tag of its folder, en/2016-05-03-git-en.md: what is in front of it is
// the name. Else the path's end.
static size_t tag_again(str path, const struct spot *s)
{
    size_t end = path_ending_at(path), from = end - s->tag.len;
    bool room = s->form == NAME_FOLDER && end > s->to + s->tag.len + 1;
    bool again = room && strchr("-_.", path.ptr[from - 1]) &&
                 str_eq_nocase(str_slice(path, from, end), s->tag);
    return again ? from - 1 : path.len;
}

// The path with the tag cut out, behind a byte for the form.
static str without(str path, const struct spot *s, buf *b)
{
    buf_clear(b);
    buf_char(b, (char)('0' + s->form));
    buf_str(b, str_slice(path, 0, s->from));
    buf_char(b, '\n');
    buf_str(b, str_slice(path, s->to, tag_again(path, s)));
    return buf_view(b);
}

// Where and how a tag is used: a folder's place counts, a file's does not.
static str usage(str path, const struct spot *s, buf *b)
{
    buf_clear(b);
    buf_char(b, (char)('0' + s->form));
    if (s->form == NAME_FOLDER || s->form == NAME_FOLDER_SUFFIX)
        buf_str(b, str_slice(path, 0, s->from));
    buf_char(b, '\n');
    buf_str(b, s->tag);
    return buf_view(b);
}

static void believe(struct names *n, str path, const struct spot *s, buf *b)
{
    *map_put(&n->meant, n->arena, usage(path, s, b), NULL) = n;
}

static bool stands_beside(const struct names *n, str path, const struct spot *s, buf *b)
{
    buf_clear(b);
    buf_str(b, str_slice(path, 0, s->from));
    buf_str(b, str_slice(path, s->to, path.len));
    return map_has(&n->paths, buf_view(b));
}

// The names on one level: folders of a folder, or files of one. Languages are meant by them when
// most of what says so holds.
struct level {
    struct map tags, others;  // names that are tags, and all others
    bool english, listed, beside, paired;
};

static struct level *level_of(struct names *n, char form, str folder, buf *b)
{
    buf_clear(b);
    buf_char(b, form);
    buf_str(b, folder);
    void **slot = map_put(&n->levels, n->arena, buf_view(b), NULL);
    if (!*slot)
        *slot = arena_new(n->arena, struct level, 1);
    return *slot;
}

static const struct level *level_at(const struct names *n, char form, str folder, buf *b)
{
    buf_clear(b);
    buf_char(b, form);
    buf_str(b, folder);
    return map_get(&n->levels, buf_view(b));
}

static bool is_folder_page(str stem)
{
    return str_eq_nocase(stem, STR("index")) || str_eq_nocase(stem, STR("_index")) ||
           str_eq_nocase(stem, STR("readme"));
}

static void note_name(struct names *n, struct level *l, str name)
{
    bool tag = names_is_tag(&n->languages, name);
    map_put(tag ? &l->tags : &l->others, n->arena, name, NULL);
    str base = str_slice(name, 0, 2);
    l->english = l->english || (tag && str_eq_nocase(base, STR("en")) &&
                                (name.len == 2 || !ascii_is_letter(name.ptr[2])));
    l->listed = l->listed || (tag && map_has(&n->listed, name));
}

static str stem_of(str path)
{
    return str_slice(path, path_name_at(path), path_ending_at(path));
}

static bool is_joint(char c)
{
    return c == '-' || c == '_';
}

// Notes of each dash in a name whether a tag is behind it, or neither that nor a tag at the end.
static void note_dashes(struct names *n, str path, buf *b)
{
    str stem = stem_of(path);
    size_t from = path_ending_at(path) - stem.len, last = 0, dashes = 0;
    for (size_t i = 1; i < stem.len; i++)
        last = is_joint(stem.ptr[i]) ? i : last;
    bool tagged = last && names_is_tag(&n->languages, str_slice(stem, last + 1, stem.len));
    for (size_t i = 1; i <= last && dashes < MAX_SPOTS; i++) {
        str tail = str_slice(stem, i + 1, stem.len);
        bool tag = is_joint(stem.ptr[i]) && names_is_tag(&n->languages, tail);
        if (!is_joint(stem.ptr[i]) || (tagged && !tag))
            continue;
        struct level *l = level_of(n, (char)('0' + NAME_DASH), str_slice(path, 0, from + i), b);
        map_put(tag ? &l->tags : &l->others, n->arena, tail, NULL);
        dashes++;
    }
}

// Whether most of what follows a name behind a dash is languages: git-am and git-rm are commands
// among others.
static bool is_family(const struct names *n, str path, const struct spot *s, buf *b)
{
    const struct level *l = level_at(n, (char)('0' + NAME_DASH), str_slice(path, 0, s->from), b);
    return !l || l->tags.count > l->others.count;
}

// Notes what is on the levels of a path: its folders, and its own name.
static void note_levels(struct names *n, str path, buf *b)
{
    size_t start = 0, depth = 0;
    for (size_t i = 0; i < path.len && depth < MAX_DEPTH; i++) {
        if (path.ptr[i] != '/')
            continue;
        note_name(n, level_of(n, (char)('0' + NAME_FOLDER), str_slice(path, 0, start), b),
                  str_slice(path, start, i));
        start = i + 1;
        depth++;
    }
    size_t name = path_name_at(path);
    str stem = stem_of(path);
    note_dashes(n, path, b);
    if (!is_folder_page(stem))
        note_name(n, level_of(n, (char)('0' + NAME_STEM), str_slice(path, 0, name), b), stem);
}

// Whether the names of a level are languages: English or a listed one is among them, or nothing
// else is and they are three, or what is in them is beside them without a language, too.
static bool is_level(const struct level *l, enum name_form form)
{
    bool whole = !l->others.count;
    if (form == NAME_STEM)
        return l->listed || (whole && (l->english || l->tags.count > 2));
    return l->listed || (l->paired && (l->english || l->beside || (whole && l->tags.count > 2)));
}

static bool has_level(enum name_form form)
{
    return form == NAME_FOLDER || form == NAME_STEM;
}

static str folder_above(str path, const struct spot *s)
{
    return s->form == NAME_FOLDER ? str_slice(path, 0, s->from) : path_folder_slash(path);
}

// What a folder of languages is called whose source lies beside it: index.md, lang/fr/index.md.
static bool is_holder(str folder)
{
    static const str names[] = {
        STR("lang"), STR("langs"),   STR("languages"),    STR("translations"),  STR("translation"),
        STR("i18n"), STR("locales"), STR("localization"), STR("localizations"), STR("l10n")};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_eq_nocase(folder, names[i]))
            return true;
    return false;
}

// "01_Hello_ja/readme.md" of a folder of Japanese is 01_Hello/readme.md.
static str without_tails(str path, str tag, arena *a)
{
    buf b = BUF_INIT;
    str part;
    while (str_cut(&path, '/', &part)) {
        size_t end = part.len > tag.len + 1 ? part.len - tag.len : 0;
        bool tail = end && path.len && is_joint(part.ptr[end - 1]) &&
                    str_eq_nocase(str_slice(part, end, part.len), tag);
        buf_str(&b, tail ? str_slice(part, 0, end - 1) : part);
        if (path.len)
            buf_char(&b, '/');
    }
    str out = arena_str(a, buf_view(&b));
    buf_free(&b);
    return out;
}

// The first of the names that the page of a folder has which is there; "" for none.
static str page_of_folder(const struct names *n, str folder, arena *a)
{
    static const str pages[] = {STR("README.md"), STR("readme.md"), STR("Readme.md"),
                                STR("index.md")};
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        str path = arena_join(a, folder, pages[i], STR_NONE);
        if (map_has(&n->paths, path))
            return path;
    }
    return STR_NONE;
}

// The path of the source's page that a page below such a folder is a translation of: of
// lang/fr/a.md and lang/a.fr.md it is a.md, of lang/fr.md the folder's own page. "" for none.
static str held_source(const struct names *n, str path, const struct spot *s, arena *a)
{
    bool folder = s->form == NAME_FOLDER;
    size_t end = folder ? (s->from ? s->from - 1 : 0) : str_rfind(path, '/');
    str above = end == path.len ? STR_NONE : str_slice(path, 0, end);
    size_t name = path_name_at(above);
    bool held = is_holder(str_slice(above, name, above.len)) && !str_eq_nocase(s->tag, STR("en"));
    if (!held || s->form == NAME_FOLDER_SUFFIX)
        return STR_NONE;
    str outside = str_slice(path, 0, name);
    if (s->form == NAME_STEM)
        return page_of_folder(n, outside, a);
    str below = folder ? without_tails(str_slice(path, s->to, path.len), s->tag, a)
                       : arena_join(a, str_slice(path, end + 1, s->from),
                                    str_slice(path, s->to, path.len), STR_NONE);
    str source = arena_join(a, outside, below, STR_NONE);
    return map_has(&n->paths, source) ? source : STR_NONE;
}

static void learn(struct names *n, str path, const struct spot *s, buf *b)
{
    bool is_new;
    if (s->form == NAME_DASH && !is_family(n, path, s, b))
        return;
    void **first = map_put(&n->seen, n->arena, without(path, s, b), &is_new);
    if (is_new) {
        str *tag = arena_new(n->arena, str, 1);
        *tag = s->tag;
        *first = tag;
    } else if (*first && !str_eq(*(str *)*first, s->tag)) {
        struct spot other = *s;
        other.tag = *(str *)*first;
        believe(n, path, s, b);
        believe(n, path, &other, b);
        *map_put(&n->meant, n->arena, without(path, s, b), NULL) = n;
        if (s->form == NAME_FOLDER)
            level_of(n, (char)('0' + s->form), folder_above(path, s), b)->paired = true;
        return;
    }
    struct level *l = s->form == NAME_FOLDER
                          ? level_of(n, (char)('0' + s->form), folder_above(path, s), b)
                          : NULL;
    if (l && !l->others.count && held_source(n, path, s, n->arena).len)
        l->beside = l->paired = true;  // translations/fr/a.md beside a.md
    bool beside = s->form == NAME_FOLDER_SUFFIX || s->form == NAME_SUFFIX;
    if (map_has(&n->listed, s->tag) && s->form != NAME_DASH) {
        believe(n, path, s, b);
    } else if (beside && stands_beside(n, path, s, b)) {
        believe(n, path, s, b);
    } else if (s->form == NAME_FOLDER && !is_folder_page(stem_of(path)) &&
               stands_beside(n, path, s, b)) {
        believe(n, path, s, b);
        l->beside = l->paired = true;
    }
}

struct names *names_learn(const str *paths, size_t count, const str *listed, size_t listed_count,
                          arena *a)
{
    struct names *n = arena_new(a, struct names, 1);
    struct spot spots[MAX_SPOTS];
    buf b = BUF_INIT;
    n->arena = a;
    names_languages(&n->languages, a);
    for (size_t i = 0; i < listed_count; i++)
        map_put(&n->listed, a, listed[i], NULL);
    for (size_t i = 0; i < count; i++)
        map_put(&n->paths, a, paths[i], NULL);
    for (size_t i = 0; i < count; i++)
        note_levels(n, paths[i], &b);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0, m = find_spots(n, paths[i], STR_NONE, spots); k < m; k++)
            learn(n, paths[i], &spots[k], &b);
    buf_free(&b);
    return n;
}

// Words end in "-to" and "-is", too: the very name must be shared, by another tag, or by the bare
// name when the tag is used elsewhere.
// "list-cs-cp.md" beside "list-cs.md", where Czech has no region CP: the list of another thing.
static bool is_other_thing(const struct names *n, str path, const struct spot *s, buf *b)
{
    size_t joint = 0;
    while (joint < s->tag.len && s->tag.ptr[joint] != '-' && s->tag.ptr[joint] != '_')
        joint++;
    if (joint == s->tag.len || s->tag.len - joint != 3 || names_is_locale(s->tag))
        return false;
    buf_clear(b);
    buf_str(b, str_slice(path, 0, s->to - s->tag.len + joint));
    buf_str(b, str_slice(path, s->to, path.len));
    return map_has(&n->paths, buf_view(b));
}

static bool dash_is_meant(const struct names *n, str path, const struct spot *s, buf *b)
{
    if (is_other_thing(n, path, s, b))
        return false;
    if (map_has(&n->meant, without(path, s, b)))
        return true;
    bool used = map_has(&n->meant, usage(path, s, b)) || map_has(&n->listed, s->tag);
    str stem = stem_of(path), bare = str_slice(stem, 0, stem.len - s->tag.len - 1);
    return (used || is_folder_page(bare)) && stands_beside(n, path, s, b);
}

static bool is_meant(const struct names *n, str path, const struct spot *s, str lang, buf *b)
{
    if (lang.len && str_eq_nocase(lang, s->tag))
        return true;
    if (s->form == NAME_DASH)
        return dash_is_meant(n, path, s, b);
    if (has_level(s->form)) {
        const struct level *l = level_at(n, (char)('0' + s->form), folder_above(path, s), b);
        if (!l || !is_level(l, s->form))
            return s->form != NAME_FOLDER && map_has(&n->listed, s->tag);
        if (l->paired && s->form == NAME_FOLDER && !l->others.count)
            return true;
    }
    return map_has(&n->meant, usage(path, s, b)) ||
           (s->form != NAME_FOLDER && map_has(&n->listed, s->tag));
}

static size_t base_length(str tag)
{
    size_t n = 0;
    while (n < tag.len && tag.ptr[n] != '-' && tag.ptr[n] != '_')
        n++;
    return n;
}

// Cuts a second tag of the same language out: en/2016-05-03-git-en.md, ar-AR/README_AR.md.
static void cut_again(const struct names *n, struct name *out, str ending, arena *a)
{
    struct spot spots[MAX_SPOTS];
    str path = arena_join(a, out->key, ending, STR_NONE);
    for (size_t i = 0, m = find_spots(n, path, STR_NONE, spots); i < m; i++) {
        const struct spot *s = &spots[i];
        bool behind = s->form == NAME_SUFFIX || s->form == NAME_DASH;
        size_t base = base_length(s->tag);
        bool same = base == base_length(out->tag) &&
                    str_eq_nocase(str_slice(s->tag, 0, base), str_slice(out->tag, 0, base));
        if (behind && same) {
            out->key = str_slice(path, 0, s->from);
            return;
        }
    }
}

struct name names_plain(str path, arena *a)
{
    struct name out = {.form = NAME_PLAIN, .key = str_slice(path, 0, path_ending_at(path))};
    out.key = names_strip_post(out.key, &out.date, a);
    return out;
}

struct name names_split(const struct names *n, str path, str lang, arena *a)
{
    struct spot spots[MAX_SPOTS];
    struct name out = {.form = NAME_PLAIN, .key = str_slice(path, 0, path_ending_at(path))};
    buf b = BUF_INIT;
    for (size_t i = 0, m = find_spots(n, path, lang, spots); i < m; i++) {
        const struct spot *s = &spots[i];
        if (!is_meant(n, path, s, lang, &b))
            continue;
        size_t end = out.key.len;
        out.form = s->form;
        out.tag = s->tag;
        out.key = arena_printf(a, "%.*s%.*s", STR_ARG(str_slice(path, 0, s->from)),
                               STR_ARG(str_slice(path, s->to, end)));
        str source = held_source(n, path, s, a);
        if (source.len)
            out.key = str_slice(source, 0, path_ending_at(source));
        if (s->form == NAME_FOLDER)
            cut_again(n, &out, str_slice(path, path_ending_at(path), path.len), a);
        break;
    }
    out.key = names_strip_post(out.key, &out.date, a);
    buf_free(&b);
    return out;
}
