// The settings of a site: site.yaml read against settings.def, every key and value checked at its
// place.
#include "gen/site/source/settings.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gen/base/args.h"
#include "gen/base/path.h"
#include "gen/site/source/settings_value.h"
#include "gen/text/markdown.h"
#include "gen/text/yaml.h"

static const struct setting settings_table[] = {
#define X(key, type, member, help) \
    {key, sizeof(key) - 1, SETTING_##type, offsetof(struct settings, member)},
#include "gen/site/source/settings.def"
#undef X
};

enum { SETTING_COUNT = sizeof settings_table / sizeof settings_table[0] };

static const struct setting *setting_find(str key)
{
    for (size_t i = 0; i < SETTING_COUNT; i++)
        if (str_eq(key, (str){settings_table[i].key, settings_table[i].len}))
            return &settings_table[i];
    return NULL;
}

// The name of a section of settings: "limits" of "limits.page_bytes".
static bool is_section(str key)
{
    for (size_t i = 0; i < SETTING_COUNT; i++) {
        str k = {settings_table[i].key, settings_table[i].len};
        if (k.len > key.len && str_starts(k, key) && k.ptr[key.len] == '.')
            return true;
    }
    return false;
}

static void unknown(struct setting_reader *r, str key, size_t offset)
{
    const char *names[SETTING_COUNT];
    for (size_t i = 0; i < SETTING_COUNT; i++)
        names[i] = settings_table[i].key;
    buf word = BUF_INIT;
    buf_str(&word, key);
    const char *near = args_nearest(word.ptr, names, SETTING_COUNT);
    diag_add(r->diag, D_SETTING_UNKNOWN, DIAG_AT(r->file, r->text, offset), "%.*s%s%s%s",
             STR_ARG(key), near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
    buf_free(&word);
}

static void read_map(struct setting_reader *r, const struct yaml_node *map, str section)
{
    for (size_t i = 0; i < map->count; i++) {
        const struct yaml_node *key = map->pairs[i].key, *value = map->pairs[i].value;
        str name = section.len
                       ? arena_printf(r->arena, "%.*s.%.*s", STR_ARG(section), STR_ARG(key->text))
                       : key->text;
        const struct setting *s = setting_find(name);
        if (s && !yaml_is_null(value))
            setting_read(r, s, value);
        else if (!s && value->kind == YAML_MAP && is_section(name))
            read_map(r, value, name);
        else if (!s)
            unknown(r, name, key->offset);
    }
}

void settings_defaults(struct settings *s)
{
    *s = (struct settings){
        .branch = STR("main"),
        .git = true,
        .max_page_bytes = 8u << 20,
        .math = MD_MATH_DOLLARS,
        .page_timeout_ms = 30000,
        .page_memory_bytes = 1ull << 30,
    };
}

bool settings_parse(struct settings *s, str text, str file, str base_dir, arena *a, struct diag *d)
{
    struct setting_reader r = {
        .settings = s, .text = text, .file = file, .base_dir = base_dir, .arena = a, .diag = d};
    struct yaml_node *root;
    s->hash = str_hash(text);
    size_t bad = utf8_invalid(text), from = str_starts(text, STR("\xEF\xBB\xBF")) ? 3 : 0;
    if (bad < text.len) {
        diag_add(d, text.ptr[bad] ? D_UTF8_INVALID : D_UTF8_NUL, DIAG_AT(file, text, bad),
                 "the settings");
        return false;
    }
    if (!yaml_parse(text, from, text.len, file, a, d, &root))
        return false;
    if (!root || yaml_is_null(root))
        return true;
    if (root->kind != YAML_MAP) {
        diag_add(d, D_SETTING_VALUE, DIAG_AT(file, text, root->offset), "wanted key: value lines");
        return false;
    }
    read_map(&r, root, STR_NONE);
    // What is listed is meant: untranslated pages are shown unless the settings say otherwise.
    if (!r.fallback_given)
        s->fallback = s->language_count > 1;
    return !r.failed;
}

static bool is_dir(str path)
{
    struct fs_stat st;
    return path.len && fs_stat(path.ptr, &st) == 0 && st.is_dir;
}

// templates/ or i18n/ as they are beside the program: in its checkout, or where it was installed.
// *looked, when it is not NULL, becomes the list of places where there was nothing.
static str find_data(str program_dir, const char *name, str *looked, arena *a)
{
    static const char *const places[] = {"", "/..", "/../share/vramdoc"};
    str tried = STR_NONE;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        str path = arena_printf(a, "%.*s%s/%s", STR_ARG(program_dir), places[i], name);
        if (is_dir(path))
            return path;
        tried = arena_join(a, tried, tried.len ? STR(", ") : STR_NONE, path);
    }
    if (looked)
        *looked = tried;
    return arena_printf(a, "%s", name);
}

static bool read_file(struct settings *s, str file, bool wanted, arena *a, struct diag *d)
{
    buf text = BUF_INIT;
    bool ok = true;
    if (fs_read_now(file.ptr, 4u << 20, &text) < 0) {
        if (wanted)
            diag_add(d, D_IO_READ, DIAG_FILE(file), "the settings: %s",
                     errno == ENODATA ? "it has no writer" : strerror(errno));
        ok = !wanted;
    } else {
        ok = settings_parse(s, arena_str(a, buf_view(&text)), file, arena_str(a, path_parent(file)),
                            a, d);
    }
    buf_free(&text);
    return ok;
}

static str strip_slash(str path, arena *a)
{
    while (path.len > 1 && path.ptr[path.len - 1] == '/')
        path.len--;
    return arena_str(a, path);
}

bool settings_load(struct settings *s, const struct settings_paths *p, str program_dir, arena *a,
                   struct diag *d)
{
    settings_defaults(s);
    str content = strip_slash(p->content.len ? p->content : STR("content"), a);
    str file =
        p->file.len ? arena_str(a, p->file) : arena_printf(a, "%.*s/site.yaml", STR_ARG(content));
    struct fs_stat st;
    bool wanted = p->file.len > 0 || fs_stat(file.ptr, &st) == 0;
    bool ok = read_file(s, file, wanted, a, d);
    if (p->kind)
        s->kind = p->kind;
    if (p->base_url.len)
        s->base_url = settings_base_url(arena_str(a, p->base_url));
    if (wanted)
        s->file = file;
    uint64_t shown[3] = {s->hash, str_hash(content),
                         str_hash(s->base_url)};  // edit links name the folder
    s->hash = str_hash((str){(const char *)shown, sizeof shown});
    s->content_dir = content;
    s->output_dir = strip_slash(p->output.len ? p->output : STR("site"), a);
    if (p->templates.len)
        s->templates_dir = arena_str(a, p->templates);
    if (p->i18n.len)
        s->i18n_dir = arena_str(a, p->i18n);
    if (p->cache.len)
        s->cache_dir = arena_str(a, p->cache);
    if (!s->templates_dir.len)
        s->templates_dir = find_data(program_dir, "templates", &s->templates_looked, a);
    if (!s->i18n_dir.len)
        s->i18n_dir = find_data(program_dir, "i18n", NULL, a);
    if (!s->cache_dir.len) {
        str up = path_parent(s->output_dir);
        str name = path_name(s->output_dir);
        s->cache_dir = arena_printf(a, "%.*s/.%.*s.vramdoc-cache", STR_ARG(up), STR_ARG(name));
    }
    return ok;
}

static str by_language(const struct map *texts, str any, str language)
{
    str *found = map_get(texts, language);
    return found ? *found : any;
}

str settings_title(const struct settings *s, str language)
{
    return by_language(&s->titles, s->title, language);
}

str settings_synonyms(const struct settings *s, str language)
{
    return by_language(&s->synonyms, STR_NONE, language);
}

str settings_navigation(const struct settings *s, str language)
{
    return by_language(&s->navigation, STR_NONE, language);
}

str settings_description(const struct settings *s, str language)
{
    return by_language(&s->descriptions, s->description, language);
}
