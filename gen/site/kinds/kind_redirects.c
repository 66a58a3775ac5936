// Older addresses that a tree leads on: by plugins of its generator, and by files that its host
// reads. Sources: docs.netlify.com/routing/redirects and its file-based configuration.
#include <string.h>

#include "gen/site/kinds/kind_lib.h"

enum { MAX_REDIRECTS = 10000 };

static bool is_outside(str address)
{
    return str_has(address, STR("://"));
}

static bool is_plain(str address)
{
    return address.len && !is_outside(address) && !strpbrk(address.ptr, "#*:?{");
}

// A rule that its server follows for more than one address, or to another site. One for every
// address says nothing of any.
static void add_pattern(struct tree *t, str from, str to)
{
    bool stars = str_find(from, '*') + 1 < from.len;  // one that is not at the end
    if (is_outside(from) || stars || str_eq(from, STR("/*")) || from.ptr[0] != '/' ||
        strpbrk(from.ptr, "#?{") || t->pattern_count == MAX_REDIRECTS)
        return;
    t->patterns = arena_grow(t->a, t->patterns, t->pattern_count, &t->pattern_cap,
                             t->pattern_count + 1, sizeof *t->patterns);
    t->patterns[t->pattern_count++] = (struct tree_pattern){from, to};
}

static void add(struct tree *t, str from, str to, bool by_host)
{
    from = arena_str(t->a, from), to = arena_str(t->a, to);
    if (by_host && from.len && to.len && (!is_plain(from) || is_outside(to))) {
        add_pattern(t, from, to);
        return;
    }
    to = arena_str(t->a, str_slice(to, 0, str_find(to, '#')));
    if (!is_plain(from) || !is_plain(to) || t->redirect_count == MAX_REDIRECTS)
        return;
    t->redirects = arena_grow(t->a, t->redirects, t->redirect_count, &t->redirect_cap,
                              t->redirect_count + 1, sizeof *t->redirects);
    t->redirects[t->redirect_count++] = (struct tree_redirect){from, to, by_host};
}

void kind_redirect(struct tree *t, str from, str to)
{
    add(t, from, to, false);
}

void kind_redirects(struct tree *t, const struct yaml_node *map)
{
    for (size_t i = 0; map && map->kind == YAML_MAP && i < map->count; i++) {
        const struct yaml_node *value = map->pairs[i].value;
        str to = value->kind == YAML_SCALAR ? value->text : kind_text(value, "destination");
        kind_redirect(t, map->pairs[i].key->text, to);
    }
}

// Whether a status leads on: 200 shows another page in place, 404 says that there is none.
static bool leads_on(str status)
{
    return !str_starts(status, STR("200")) && !str_starts(status, STR("404"));
}

// "/old /new 301", with conditions behind it.
static void read_line(struct tree *t, str line)
{
    str words[3] = {STR_NONE, STR_NONE, STR_NONE}, rest = str_trim(line);
    for (size_t i = 0; i < 3 && rest.len && rest.ptr[0] != '#'; i++) {
        size_t end = 0;
        while (end < rest.len && !strchr(" \t", rest.ptr[end]))
            end++;
        words[i] = str_slice(rest, 0, end);
        rest = str_trim(str_slice(rest, end, rest.len));
    }
    if (words[1].len && leads_on(words[2]))
        add(t, words[0], words[1], true);
}

void kind_host_redirects(struct tree *t, str folder)
{
    str file = kind_join(t, folder, STR("_redirects")), host = kind_path(t, STR("netlify.toml")),
        line;
    str text = kind_has(t, file) && !kind_has_folder(t, file) ? kind_file(t, file) : STR_NONE;
    while (str_line(&text, &line))
        read_line(t, line);
    if (!kind_has(t, host) || kind_has_folder(t, host))
        return;
    const struct yaml_node *list = kind_get(kind_values(t, host), "redirects");
    for (size_t i = 0; list && list->kind == YAML_LIST && i < list->count; i++)
        if (leads_on(kind_text(list->items[i], "status")))
            add(t, kind_text(list->items[i], "from"), kind_text(list->items[i], "to"), true);
}

enum { MAX_CAPTURES = 8 };

// What parts of a pattern stand for.
struct captures {
    str names[MAX_CAPTURES], values[MAX_CAPTURES];
    size_t count;
};

static void capture(struct captures *c, str name, str value)
{
    if (c->count < MAX_CAPTURES)
        c->names[c->count] = name, c->values[c->count] = value, c->count++;
}

static str without_slash(str path)
{
    return path.len > 1 && str_ends(path, STR("/")) ? str_slice(path, 0, path.len - 1) : path;
}

// Part by part; ":name" is any one, a star is the rest.
static bool fits(str pattern, str path, struct captures *c)
{
    str part, own;
    pattern = str_slice(pattern, 1, pattern.len), path = str_slice(path, 1, path.len);
    while (pattern.len) {
        if (str_eq(pattern, STR("*"))) {
            capture(c, STR("splat"), path);
            return true;
        }
        if (!path.len)
            return false;
        str_cut(&pattern, '/', &part), str_cut(&path, '/', &own);
        if (part.len > 1 && part.ptr[0] == ':')
            capture(c, str_slice(part, 1, part.len), own);
        else if (!str_eq(part, own))
            return false;
    }
    return !path.len;
}

// ":name" becomes what it stands for; a colon of an address stays.
static str filled(str to, const struct captures *c, arena *a)
{
    buf b = BUF_INIT;
    for (size_t i = 0; i < to.len;) {
        size_t k = 0, name = i + 1;
        while (k < c->count &&
               !(to.ptr[i] == ':' && str_starts(str_slice(to, name, to.len), c->names[k])))
            k++;
        if (k == c->count)
            buf_char(&b, to.ptr[i++]);
        else
            buf_str(&b, c->values[k]), i = name + c->names[k].len;
    }
    str out = arena_str(a, buf_view(&b));
    buf_free(&b);
    return out;
}

str tree_moved(const struct tree *t, str path, arena *a)
{
    for (size_t i = 0; i < t->pattern_count && path.len && path.ptr[0] == '/'; i++) {
        struct captures c = {.count = 0};
        if (fits(without_slash(t->patterns[i].from), without_slash(path), &c))
            return filled(t->patterns[i].to, &c, a);
    }
    return STR_NONE;
}
