// What the readers of the kinds share.
#include "gen/site/kinds/kind_lib.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "gen/base/fs.h"
#include "gen/base/path.h"
#include "gen/text/front_toml.h"

enum { CONFIG_BYTES = 4 << 20, DEEPEST_VALUE = 8, MOST_VALUES = 20000 };

static str full_path(const struct tree *t, str path, arena *a)
{
    return path.len ? arena_printf(a, "%.*s/%.*s", STR_ARG(t->content), STR_ARG(path))
                    : arena_str(a, t->content);
}

str kind_peek(struct tree *t, str path)
{
    buf b = BUF_INIT;
    str out = STR_NONE;
    if (path.len && fs_read_now(full_path(t, path, t->a).ptr, CONFIG_BYTES, &b) == 0 &&
        utf8_invalid(buf_view(&b)) == b.len)
        out = arena_str(t->a, buf_view(&b));
    buf_free(&b);
    return out;
}

str kind_file(struct tree *t, str path)
{
    str out = kind_peek(t, path);
    t->hash = t->hash * 31 + str_hash(out) + str_hash(path);
    return out;
}

bool kind_has(const struct tree *t, str path)
{
    struct fs_stat st;
    return fs_stat(full_path(t, path, t->a).ptr, &st) == 0;
}

bool kind_has_folder(const struct tree *t, str path)
{
    struct fs_stat st;
    return fs_stat(full_path(t, path, t->a).ptr, &st) == 0 && st.is_dir;
}

static int by_name(const void *x, const void *y)
{
    return str_cmp(*(const str *)x, *(const str *)y);
}

static size_t list_names(struct tree *t, str folder, bool folders, str **names)
{
    DIR *dir = opendir(full_path(t, folder, t->a).ptr);
    size_t count = 0, cap = 0;
    *names = NULL;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        str name = str_c(e->d_name);
        if (name.ptr[0] == '.' || folders != kind_has_folder(t, kind_join(t, folder, name)))
            continue;
        *names = arena_grow(t->a, *names, count, &cap, count + 1, sizeof **names);
        (*names)[count++] = arena_str(t->a, name);
    }
    if (dir)
        closedir(dir);
    if (count)
        qsort(*names, count, sizeof **names, by_name);
    return count;
}

size_t kind_folders(struct tree *t, str folder, str **names)
{
    return list_names(t, folder, true, names);
}

size_t kind_files(struct tree *t, str folder, str **names)
{
    return list_names(t, folder, false, names);
}

str kind_join(struct tree *t, str folder, str path)
{
    buf joined = BUF_INIT, out = BUF_INIT;
    buf_printf(&joined, "%.*s/%.*s", STR_ARG(folder), STR_ARG(path));
    str normal = fs_normalize(buf_view(&joined), &out) ? arena_str(t->a, buf_view(&out)) : STR_NONE;
    buf_free(&joined), buf_free(&out);
    return normal;
}

str kind_path(struct tree *t, str path)
{
    return kind_join(t, t->folder, path);
}

// What is wrong first, by the place and the words of the reader's own message.
static void report(struct tree *t, str path, const struct diag *quiet)
{
    buf said = BUF_INIT;
    diag_text(quiet, &said);
    str rest = buf_view(&said), line = STR_NONE;
    str_line(&rest, &line);
    size_t words = str_search(line, STR(" cannot be read: ")) + 17, end = str_rfind(line, '[');
    line = str_slice(line, words, end);
    diag_add(t->diag, D_KIND_CONFIG, DIAG_FILE(full_path(t, path, t->a)), "%.*s",
             STR_ARG(str_trim(line)));
    buf_free(&said);
}

struct yaml_node *kind_values(struct tree *t, str path)
{
    str text = kind_file(t, path);
    struct yaml_node *root = NULL;
    if (!text.len)
        return NULL;
    struct diag *quiet = diag_new((struct diag_options){.quiet = true});
    bool ok = str_ends(path, STR(".toml"))
                  ? front_toml(text, 0, text.len, path, t->a, quiet, &root)
                  : yaml_parse(text, 0, text.len, path, t->a, quiet, &root);
    if (!ok)
        report(t, path, quiet);
    diag_free(quiet);
    return ok ? root : NULL;
}

const struct yaml_node *kind_value(const struct yaml_node *map, str key)
{
    const struct yaml_node *value = NULL;
    for (size_t i = 0; map->kind == YAML_MAP && i < map->count; i++)
        if (str_eq_nocase(map->pairs[i].key->text, key))
            value = map->pairs[i].value;
    return value;
}

const struct yaml_node *kind_get(const struct yaml_node *map, const char *path)
{
    str rest = str_c(path), key;
    while (map && str_cut(&rest, '.', &key))
        map = kind_value(map, key);
    return map;
}

static void put_values(struct tree *t, struct map *values, str prefix, const struct yaml_node *map,
                       int depth)
{
    bool is_map = map && map->kind == YAML_MAP && depth < DEEPEST_VALUE;
    for (size_t i = 0; is_map && i < map->count && values->count < MOST_VALUES; i++) {
        const struct yaml_node *value = map->pairs[i].value;
        str key = arena_join(t->a, prefix, map->pairs[i].key->text, STR_NONE);
        if (value->kind == YAML_SCALAR && !yaml_is_null(value))
            *map_put(values, t->a, key, NULL) = (void *)(uintptr_t)&value->text;
        else
            put_values(t, values, arena_join(t->a, key, STR("."), STR_NONE), value, depth + 1);
    }
}

void kind_put_values(struct tree *t, struct map *values, str prefix, const struct yaml_node *map)
{
    put_values(t, values, prefix, map, 0);
}

str kind_trim_slashes(str s)
{
    while (s.len && s.ptr[0] == '/')
        s = str_slice(s, 1, s.len);
    while (s.len && s.ptr[s.len - 1] == '/')
        s.len--;
    return s;
}

str kind_text(const struct yaml_node *map, const char *path)
{
    const struct yaml_node *n = kind_get(map, path);
    return n && n->kind == YAML_SCALAR && !yaml_is_null(n) ? n->text : STR_NONE;
}

bool kind_true(const struct yaml_node *map, const char *path, bool otherwise)
{
    const struct yaml_node *n = kind_get(map, path);
    bool b;
    return n && yaml_bool(n, &b) ? b : otherwise;
}

struct tree_root *kind_root(struct tree *t, str folder, str language, str prefix, str address)
{
    t->roots = arena_grow(t->a, t->roots, t->root_count, &t->root_cap, t->root_count + 1,
                          sizeof *t->roots);
    struct tree_root *r = &t->roots[t->root_count++];
    *r = (struct tree_root){.folder = arena_str(t->a, folder),
                            .language = arena_str(t->a, language),
                            .prefix = arena_str(t->a, prefix),
                            .address = arena_str(t->a, address)};
    return r;
}

void kind_nav(struct tree *t, uint32_t depth, str title, str file, str url)
{
    t->nav = arena_grow(t->a, t->nav, t->nav_count, &t->nav_cap, t->nav_count + 1, sizeof *t->nav);
    t->nav[t->nav_count++] =
        (struct tree_entry){.title = title, .file = file, .url = url, .depth = depth};
}

void kind_nav_address(struct tree *t, uint32_t depth, str title, str address)
{
    kind_nav(t, depth, title, STR_NONE, STR_NONE);
    t->nav[t->nav_count - 1].address = address;
}

void kind_word(struct tree *t, str language, str title, str words)
{
    if (!title.len || !words.len)
        return;
    t->words = arena_grow(t->a, t->words, t->word_count, &t->word_cap, t->word_count + 1,
                          sizeof *t->words);
    t->words[t->word_count++] = (struct tree_word){language, title, words};
}

static void add(struct tree *t, str **items, size_t *count, size_t *cap, str s)
{
    *items = arena_grow(t->a, *items, *count, cap, *count + 1, sizeof **items);
    (*items)[(*count)++] = arena_str(t->a, s);
}

void kind_static(struct tree *t, str folder)
{
    if (folder.len && kind_has_folder(t, folder))
        add(t, &t->statics, &t->static_count, &t->static_cap, folder);
}

void kind_absent(struct tree *t, str address)
{
    add(t, &t->absent, &t->absent_count, &t->absent_cap, address);
}

void kind_include(struct tree *t, str folder)
{
    add(t, &t->include_folders, &t->include_count, &t->include_cap, folder);
}

void kind_append(struct tree *t, str path)
{
    bool found = false;
    for (size_t i = 0; i < t->include_count && !found; i++)
        found = kind_has(t, kind_join(t, t->include_folders[i], path));
    if (found)
        add(t, &t->appended, &t->appended_count, &t->appended_cap, path);
    else
        kind_explain(t, "not in the tree, and so at the end of no page: %.*s", STR_ARG(path));
}

void kind_ignore(struct tree *t, str pattern)
{
    while (pattern.len && pattern.ptr[pattern.len - 1] == '/')
        pattern.len--;
    if (pattern.len)
        add(t, &t->ignored, &t->ignored_count, &t->ignored_cap, pattern);
    size_t any = str_search(pattern, STR("**/"));  // which may be no folder at all
    if (any < pattern.len)
        kind_ignore(t, arena_join(t->a, str_slice(pattern, 0, any),
                                  str_slice(pattern, any + 3, pattern.len), STR_NONE));
}

void kind_ignore_below(struct tree *t, str folder, str pattern)
{
    if (pattern.len)
        kind_ignore(t, kind_join(t, folder, pattern));
}

void kind_language(struct tree *t, str tag)
{
    if (tag.len)
        add(t, &t->languages, &t->language_count, &t->language_cap, tag);
}

void kind_site(struct tree *t, str url, str base)
{
    bool web = str_starts(url, STR("https://")) || str_starts(url, STR("http://"));
    while (url.len && url.ptr[url.len - 1] == '/')
        url.len--;
    while (base.len && base.ptr[base.len - 1] == '/')
        base.len--;
    size_t host = web ? str_search(url, STR("://")) + 3 : 0,
           slash = host + str_find(str_slice(url, host, url.len), '/');
    if (web && !base.len)
        base = str_slice(url, slash, url.len);
    if (base.len && base.ptr[0] != '/')
        base = arena_printf(t->a, "/%.*s", STR_ARG(base));
    t->base_path = arena_str(t->a, base);
    if (web)
        t->base_url = arena_join(t->a, str_slice(url, 0, slash), base, STR_NONE);
}

void kind_explain(struct tree *t, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    buf_vprintf(&t->explained, format, list);
    va_end(list);
    buf_char(&t->explained, '\n');
}

// The file that a program of the tree names: as it is written, or without its ending.
static str import_file(void *ctx, str path)
{
    static const char *const tails[] = {"", ".js", ".ts", ".cjs", ".mjs", ".json"};
    struct tree *t = ctx;
    str name = t->config_name;
    str folder = path_folder(name);
    for (size_t i = 0; str_starts(path, STR(".")) && i < sizeof tails / sizeof *tails; i++) {
        str file = kind_join(t, folder, arena_join(t->a, path, str_c(tails[i]), STR_NONE));
        if (kind_has(t, file) && !kind_has_folder(t, file))
            return kind_file(t, file);
    }
    return STR_NONE;
}

struct js_text kind_program(struct tree *t, str text)
{
    return (struct js_text){.text = text, .a = t->a, .import = import_file, .ctx = t};
}

struct js_text kind_script(struct tree *t)
{
    return kind_program(t, t->config);
}

str kind_script_text(const struct js_text *js, const char *key)
{
    const struct yaml_node *n = js_value(js, str_c(key));
    return n && n->kind == YAML_SCALAR ? n->text : STR_NONE;
}

str kind_script_top(const struct js_text *js, const char *key)
{
    struct js_text top = *js;
    top.deepest = 2;
    return kind_script_text(&top, key);
}

bool kind_is_tag(str name)
{
    return name.len >= 2 && name.len <= 7 && (name.len < 4 || strchr("-_", name.ptr[2]));
}

bool kind_siblings(struct tree *t, str docs)
{
    size_t slash = str_rfind(t->folder, '/'), from = slash == t->folder.len ? 0 : slash + 1;
    str *names, above = str_slice(t->folder, 0, slash == t->folder.len ? 0 : slash),
                own = str_slice(t->folder, from, t->folder.len);
    if (own.len < 2 || !str_starts(docs, t->folder) || docs.len == t->folder.len)
        return false;
    str below = str_slice(docs, t->folder.len + 1, docs.len);
    size_t n = kind_folders(t, above, &names), before = t->root_count;
    for (size_t i = 0; i < n; i++) {
        str folder = kind_join(t, kind_join(t, above, names[i]), below);
        if (kind_is_tag(names[i]) && kind_has_folder(t, folder))
            kind_root(t, folder, names[i], STR_NONE, str_eq(names[i], own) ? STR_NONE : names[i]);
    }
    if (t->root_count - before > 1)
        t->source_language = own;
    else
        t->root_count = before;
    return t->root_count > before;
}
